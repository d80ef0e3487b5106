/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accessors: functions of the program that access a coindexed object where it can be reached.
 *
 * Owns: the arguments of an access, and the answer of an accessor. Included by compiler15.c,
 * accessor.c and remote.c. Calls nothing. Invariants: accessors are known by a hash that the
 * compiler gives them, and by an index that is equal on all images, as all images register equal
 * ones. An accessor may make a coindexed access itself, with its token: to the image that asks, for
 * the memory of `add` there. So it never runs in a message handler.
 */
#ifndef CAF_ACCESSOR_H
#define CAF_ACCESSOR_H

#include "caf.h"

#include <string.h>

enum caf_access { CAF_ACCESS_GET, CAF_ACCESS_PUT, CAF_ACCESS_PRESENT };

/* An access. Pointers are valid until it ends. */
struct caf_ask {
  int kind, index;               /* enum caf_access; of the accessor */
  const struct caf_desc *object; /* shape of the coarray; NULL: the accessor takes its address */
  bool direct;                   /* the accessor may run here on a structure of another image */
  bool by_pointer;               /* the accessor takes the address of a pointer to the object */
  bool has_object_chars, has_data_chars;
  size_t object_chars;              /* length of the object in characters */
  const void *add;                  /* [add_bytes] values that the accessor uses */
  size_t add_bytes;                 /* */
  const void *data;                 /* put: [data_bytes] */
  size_t data_bytes;                /* */
  const struct caf_desc *data_desc; /* put: of the data, or NULL; its base is that of the data */
  size_t data_chars;                /* put: length in characters */
  size_t result_bytes;              /* get, without descriptor: of the result, or of a character */
  size_t result_chars;           /* get: length that the asking image expects, 0: no characters */
  const struct caf_desc *result; /* get: of the result; with a base: that it may be put there */
};

/* The image that asks. */
struct caf_asker {
  uint32_t rank;
  uint64_t add; /* address of ask.add there */
};

/* Data that an accessor has found. */
struct caf_found {
  void *at;             /* get: NULL: it is not allocated */
  bool owned;           /* `at` is malloc'ed for the caller */
  size_t chars;         /* get: length in characters; 0: not of characters */
  int present;          /* present: whether it is allocated */
  struct caf_desc desc; /* get, with ask.result: of the result, at desc.base */
};

void caf_accessor_add(int hash, void (*accessor)(void));
void caf_accessors_sort(void);

/* Whether there are any. */
bool caf_accessors_any(void);

/* A subscript: a value of an accessor that chooses the word which it follows. */
struct caf_subscript {
  uint32_t first, count; /* values */
  uint32_t stride;       /* bytes from one word to the next, modulo 2**32 */
  uint16_t at;           /* where in the values of the accessor */
  uint16_t wide;         /* it has 8 bytes, of the same value */
};

/* The addresses that an accessor follows: of one word of the coarray, which subscripts choose, and
 * of one word each of what these lead to. */
enum { CAF_LINKS_MAX = 2, CAF_SUBSCRIPTS_MAX = 4 };
struct caf_path {
  uint64_t sizes; /* of its coarrays, as in their tokens; 0: there are several subscripts */
  uint32_t form;  /* caf_form_of their descriptors */
  uint32_t word;  /* where, with the first value of each subscript */
  struct caf_subscript one;     /* count 0: there is none, and always the same word */
  uint16_t link[CAF_LINKS_MAX]; /* where each is, from the address in the one before */
  uint8_t links, mores;         /* further words; further subscripts */
  struct caf_subscript more[CAF_SUBSCRIPTS_MAX - 1]; /* as of x(i,j)%c(k) */
  uint64_t all_sizes;                                /* of its coarrays; 0: there is no path */
};

/* Results of trial runs of an accessor of structures: compiler/trial.c. */
struct caf_trials {
  bool direct, done; /* it needs nothing but their bytes; there is no further trial */
  uint8_t tries;     /* trials so far */
  uint8_t words;     /* of an element, when `followed` was found */
  uint16_t calls;    /* accesses so far */
  uint16_t offset;   /* of the object in an element then */
  struct caf_path path;
  uint64_t followed; /* bits of words of each element whose addresses it may follow; 0: not known */
};

/* An accessor; all but further subscripts in one line of the cache. */
struct caf_accessor {
  void (*function)(void);
  int hash;
  struct caf_trials trials;
};
_Static_assert(sizeof(struct caf_accessor) == 128, "an accessor is found by a shift");

/* A number of a descriptor that tells apart where elements lie: of its offset and strides. */
static inline uint32_t caf_form_of(const struct caf_desc *desc) {
  uint32_t form = (uint32_t)desc->offset;
  for (int i = 0; i < desc->dtype.rank; i++)
    form = form * 2654435761u + (uint32_t)desc->dim[i].stride; /* the golden section of 2**32 */
  return form;
}

/* Kinds of accessors: get a scalar; get an array; put; tell whether an object is allocated. */
typedef void caf_getter(const void *add, const int *image, void **result, int32_t *owned,
                        void *object, void *token, size_t offset, size_t *chars,
                        const size_t *object_chars);
typedef void caf_array_getter(const void *add, const int *image, struct caf_desc *result,
                              int32_t *owned, void *object, void *token, size_t offset,
                              size_t *chars, const size_t *object_chars);
typedef void caf_setter(const void *add, const int *image, void *object, const void *data,
                        void *token, size_t offset, const size_t *object_chars,
                        const size_t *data_chars);
typedef void caf_asking(const void *add, const int *image, int32_t *present, void *object,
                        void *token, size_t offset);

/* NULL: there is no such accessor. */
static inline struct caf_accessor *caf_accessor_at(int index) {
  return (uint32_t)index < caf.accessor_count ? &caf.accessors[index] : NULL;
}

/* An accessor that takes numbers or texts needs nothing but their bytes, whatever they are part of:
 * notes that. */
static inline void caf_accessor_note(struct caf_accessor *a, const struct caf_token *t) {
  if (t->elem_type > 0 && t->elem_type <= CAF_CHARACTER && t->elem_type != CAF_DERIVED)
    a->trials.direct = true;
}

/* A token that stands for the image that asks: what is read of such a token, see `find` of
 * compiler15.c and caf_place_short. To clear the rest would take half of the time of a scalar.
 * [in] type: CAF_OF_ASKER: `asker` is to be set, too. */
static inline void caf_token_of_asker(struct caf_token *t, int type, uint64_t add) {
  t->type = type;
  t->here = NULL;
  t->base = (void *)(uintptr_t)add;
}

/* Index of the accessor with a hash; -1: there is none. */
int caf_accessor_index(int hash);

/* Calls the accessor of an access for an object at `base` in this process. May access the image
 * that asks. Returns 0, or CAF_STAT_ERROR: there is no such accessor. */
int caf_accessor_call(const struct caf_ask *ask, char *base, const struct caf_asker *asker,
                      struct caf_found *found);

/* A descriptor of elements that lie together, with the shape of another, at `base`. */
struct caf_desc caf_desc_packed(const struct caf_desc *desc, void *base);

/* Bytes of a descriptor with a rank. */
static inline size_t caf_desc_bytes(const struct caf_desc *desc) {
  return offsetof(struct caf_desc, dim) + (size_t)desc->dtype.rank * sizeof desc->dim[0];
}

/* Copies 8 bytes, which the program may just have stored: 16 at once would wait for the cache. */
static inline void caf_word_copy(void *to, const void *from) {
  uint64_t word;
  memcpy(&word, from, sizeof word);
  memcpy(to, &word, sizeof word);
}

/* Copies all but the dimensions. A memcpy of so many bytes may become a string instruction, which
 * takes as long as the rest of an access. */
static inline void caf_desc_copy_head(struct caf_desc *to, const struct caf_desc *from) {
  to->base = from->base;
  to->offset = from->offset;
  caf_word_copy(&to->dtype.elem_len, &from->dtype.elem_len);
  caf_word_copy(&to->dtype.version, &from->dtype.version);
  to->span = from->span;
}

static inline void caf_dim_copy(struct caf_dim *to, const struct caf_dim *from) {
  caf_word_copy(&to->stride, &from->stride);
  caf_word_copy(&to->lb, &from->lb);
  caf_word_copy(&to->ub, &from->ub);
}

/* Copies a descriptor up to its rank, in few instructions for few dimensions: a copy of a number of
 * bytes that is not known takes as long as a scalar. */
static inline void caf_desc_copy(struct caf_desc *to, const struct caf_desc *from) {
  caf_desc_copy_head(to, from);
  if (from->dtype.rank > 0) caf_dim_copy(&to->dim[0], &from->dim[0]);
  for (int i = 1; i < from->dtype.rank; i++) caf_dim_copy(&to->dim[i], &from->dim[i]);
}

#endif
