/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers, bytes and texts one behind the other in one buffer, as agents send them to each other.
 *
 * Owns: the buffer of a struct pack. Called by the tree of agents (tree.h). Calls: libc.
 * Invariants: nothing is read beyond the end of the data: after the first wrong length `bad` is set
 * and every further read gives 0 or an empty text. Numbers travel in the byte order of the machine;
 * agents of another order are refused when they greet.
 */
#ifndef TMB_TOOL_PACK_H
#define TMB_TOOL_PACK_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pack {
  char *data; /* writing: owned, grows; reading: the caller's */
  size_t bytes, capacity;
  size_t at; /* reading: next byte */
  bool bad;  /* reading: something did not fit */
};

/* Writing. Ends the process when memory runs out. */
void pack_bytes(struct pack *p, const void *data, size_t bytes);
void pack_u32(struct pack *p, uint32_t value);
void pack_u64(struct pack *p, uint64_t value);
void pack_text(struct pack *p, const char *text); /* NULL as "" */
void pack_free(struct pack *p);

/* Reading of packed data, in the order of writing. */
struct pack pack_reader(const void *data, size_t bytes);
void unpack_bytes(struct pack *p, void *data, size_t bytes);
uint32_t unpack_u32(struct pack *p);
uint64_t unpack_u64(struct pack *p);
char *unpack_text(struct pack *p); /* malloc'd */

#endif
