/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash tables of structs, and hashes of numbers and texts.
 *
 * Owns: the entries of a table. Included by every file that keeps one. Entries are structs of one
 * kind, copied into the table; the first word of an entry is never 0, which marks a free slot.
 * Linear probing, at most half full; deletion moves followers back, so there are no tombstones
 * (D. E. Knuth, The Art of Computer Programming 3, 6.4, algorithm R). Callers hold the lock of the
 * table and keep no pointer to an entry over a call that adds or erases. A table of zeros is empty.
 */
#ifndef TMB_BASE_CONTAINER_HASH_H
#define TMB_BASE_CONTAINER_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a of 64 bits (draft-eastlake-fnv): from TMB_HASH_START on, over one text or several. */
#define TMB_HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t tmb_hash_bytes(uint64_t hash, const void *data, size_t bytes) {
  const unsigned char *const p = data;
  for (size_t i = 0; i < bytes; i++) hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
  return hash;
}

static inline uint64_t tmb_hash_text(uint64_t hash, const char *text) {
  return tmb_hash_bytes(hash, text, strlen(text));
}

/* Spreads a number: Knuth's multiplicative hashing, by the golden ratio. */
static inline uint64_t tmb_hash_word(uint64_t key) {
  return (key * UINT64_C(0x9e3779b97f4a7c15)) >> 20;
}

/* Comparison of entries: constant. */
struct tmb_hash_kind {
  size_t bytes; /* of an entry */
  uint64_t (*hash)(const void *entry);
  bool (*same)(const void *a, const void *b);
};

struct tmb_hash {
  void *entry;
  size_t capacity, used; /* capacity: 0 or a power of two */
};

static inline void *tmb_hash_at(const struct tmb_hash *t, const struct tmb_hash_kind *kind,
                                size_t i) {
  return (char *)t->entry + i * kind->bytes;
}

static inline bool tmb_hash_is_free(const void *entry) {
  return *(const uintptr_t *)entry == 0;
}

/* The slot of an entry: the one that has it, or the free one where it belongs. NULL: an empty
 * table. */
static inline void *tmb_hash_place(const struct tmb_hash *t, const struct tmb_hash_kind *kind,
                                   const void *like) {
  if (!t->capacity) return NULL;
  size_t i = (size_t)kind->hash(like) & (t->capacity - 1);
  while (!tmb_hash_is_free(tmb_hash_at(t, kind, i)) && !kind->same(tmb_hash_at(t, kind, i), like))
    i = (i + 1) & (t->capacity - 1);
  return tmb_hash_at(t, kind, i);
}

/* The entry that equals `like`, or NULL. */
static inline void *tmb_hash_find(const struct tmb_hash *t, const struct tmb_hash_kind *kind,
                                  const void *like) {
  void *const at = tmb_hash_place(t, kind, like);
  return at && !tmb_hash_is_free(at) ? at : NULL;
}

/* Doubles the table. Returns false without memory, and the table stays as it is. */
static inline bool tmb_hash_grow(struct tmb_hash *t, const struct tmb_hash_kind *kind) {
  struct tmb_hash wide = {.capacity = t->capacity ? 2 * t->capacity : 64, .used = t->used};
  wide.entry = calloc(wide.capacity, kind->bytes);
  if (!wide.entry) return false;
  for (size_t i = 0; i < t->capacity; i++) {
    const void *const old = tmb_hash_at(t, kind, i);
    if (!tmb_hash_is_free(old)) memcpy(tmb_hash_place(&wide, kind, old), old, kind->bytes);
  }
  free(t->entry);
  *t = wide;
  return true;
}

/* The entry that equals `like`, which is added where there is none: then t->used grows.
 * Returns NULL without memory. */
static inline void *tmb_hash_add(struct tmb_hash *t, const struct tmb_hash_kind *kind,
                                 const void *like) {
  if (2 * (t->used + 1) > t->capacity && !tmb_hash_grow(t, kind)) return NULL;
  void *const at = tmb_hash_place(t, kind, like);
  if (tmb_hash_is_free(at)) {
    memcpy(at, like, kind->bytes);
    t->used++;
  }
  return at;
}

/* Takes an entry out of the table; its slot may hold another one afterwards. */
static inline void tmb_hash_erase(struct tmb_hash *t, const struct tmb_hash_kind *kind,
                                  void *entry) {
  const size_t mask = t->capacity - 1;
  size_t i = (size_t)((char *)entry - (char *)t->entry) / kind->bytes;
  for (size_t next = (i + 1) & mask; !tmb_hash_is_free(tmb_hash_at(t, kind, next));
       next = (next + 1) & mask) {
    const size_t wanted = (size_t)kind->hash(tmb_hash_at(t, kind, next)) & mask;
    if (((next - wanted) & mask) < ((next - i) & mask)) continue; /* it would not be found at i */
    memcpy(tmb_hash_at(t, kind, i), tmb_hash_at(t, kind, next), kind->bytes);
    i = next;
  }
  memset(tmb_hash_at(t, kind, i), 0, kind->bytes);
  t->used--;
}

static inline void tmb_hash_free(struct tmb_hash *t) {
  free(t->entry);
  *t = (struct tmb_hash){0};
}

#endif
