/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accessors: functions of the program that run on the image whose coarray is accessed.
 *
 * Owns: what is asked of another image, and its answer. Included by compiler15.c and remote.c.
 * Calls nothing. Invariants: accessors are known by a hash that the compiler gives them, and by an
 * index that is the same on all images, as every image registers the same ones.
 */
#ifndef CAF_REMOTE_H
#define CAF_REMOTE_H

#include "caf.h"

enum caf_access { CAF_ACCESS_GET, CAF_ACCESS_PUT, CAF_ACCESS_PRESENT };

/* What is asked: a descriptor of the coarray, without address, and of the data. */
struct caf_ask {
  int kind, index; /* enum caf_access; of the accessor */
  const struct caf_token *token;
  const struct caf_desc *object; /* of the coarray; NULL: it has none */
  const size_t *object_chars;    /* its length in characters, or NULL */
  const void *add;               /* [add_bytes] values that the accessor uses */
  size_t add_bytes;
  const void *data; /* put: [data_bytes] */
  size_t data_bytes;
  const struct caf_desc *data_desc; /* put: of the data, which lie in `data` without gaps */
  const size_t *data_chars;
  size_t result_bytes; /* get, without descriptor: bytes of the result, or of a character */
  bool result_desc;    /* get: the result has a descriptor */
};

/* The answer; the caller frees data. */
struct caf_answer {
  void *data; /* [bytes], without gaps */
  size_t bytes, chars;
  struct caf_desc desc; /* its shape, where a descriptor was asked for */
  int present;
};

void caf_accessor_add(int hash, void (*accessor)(void));
void caf_accessors_sort(void);

/* Index of the accessor with a hash; -1: there is none. */
int caf_accessor_index(int hash);

/* Asks an image and waits for the answer. Returns 0 or a STAT code. */
int caf_remote_call(uint32_t rank, const struct caf_ask *ask, struct caf_answer *answer);

#endif
