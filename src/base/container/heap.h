/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of a segment, given out in blocks.
 *
 * Owns: blocks that fill the memory, each with a header of 64 bytes, and lists of the free ones by
 * size. Included by the runtimes of coarray Fortran, OpenSHMEM and UPC. A block is named by the
 * offset of the memory behind its header from `base`, so that processes which map the memory at
 * different addresses can share a heap. Invariants: blocks lie end to end; no two neighbours are
 * free; a free block of b bytes is in bin floor(log2 b). The caller locks. Memory that was never
 * given out is not written, save for headers, so that a large segment costs nothing. Algorithm:
 * boundary tags (D. Knuth, The Art of Computer Programming, volume 1, 2.5).
 */
#ifndef TMB_BASE_CONTAINER_HEAP_H
#define TMB_BASE_CONTAINER_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __has_include
# if __has_include(<sys/single_threaded.h>)
#  include <sys/single_threaded.h>
#  define TMB_HEAP_KNOWS_THREADS
# endif
#endif

#define TMB_HEAP_ALIGN 64u
#define TMB_HEAP_BINS  64
#define TMB_HEAP_USED  UINT64_C(0x746f6d626f6c6f00)

struct tmb_heap { /* all 0 before tmb_heap_init */
  uint64_t begin, end;
  uint64_t bin[TMB_HEAP_BINS]; /* first free block, 0: none */
};

struct tmb_heap_block {
  uint64_t bytes;        /* header included; multiple of TMB_HEAP_ALIGN */
  uint64_t before_bytes; /* of the block before, 0: first */
  uint64_t next, prev;   /* free: in its bin, 0: none */
  uint64_t used;         /* TMB_HEAP_USED ^ its name, or 0 */
  uint64_t owner;        /* for the caller; 0 in a new block */
  char pad[TMB_HEAP_ALIGN - 6 * sizeof(uint64_t)];
};
_Static_assert(sizeof(struct tmb_heap_block) == TMB_HEAP_ALIGN, "memory behind it is aligned");

static inline struct tmb_heap_block *tmb_heap_block(char *base, uint64_t at) {
  return (struct tmb_heap_block *)(void *)(base + at) - 1;
}

/* Whether the caller has to lock a heap of this process: a lock takes as long as the rest. A
 * process of one thread gets another only by a call of that thread, which is in the heap. A C
 * library that does not tell (before glibc 2.32, musl) has several threads. */
static inline bool tmb_heap_needs_lock(void) {
#ifdef TMB_HEAP_KNOWS_THREADS
  return !__libc_single_threaded;
#else
  return true;
#endif
}

static inline unsigned tmb_heap_bin(uint64_t bytes) {
  return 63u - (unsigned)__builtin_clzll(bytes);
}

static inline bool tmb_heap_is_free(const struct tmb_heap *h, char *base, uint64_t at) {
  return at < h->end && !tmb_heap_block(base, at)->used;
}

/* Whether a block in use has this name; any value may be asked for. */
static inline bool tmb_heap_is_used(const struct tmb_heap *h, char *base, uint64_t at) {
  return at >= h->begin && at < h->end && (at - h->begin) % TMB_HEAP_ALIGN == 0 &&
         tmb_heap_block(base, at)->used == (TMB_HEAP_USED ^ at);
}

static inline void tmb_heap_link(struct tmb_heap *h, char *base, uint64_t at) {
  struct tmb_heap_block *b = tmb_heap_block(base, at);
  uint64_t *bin = &h->bin[tmb_heap_bin(b->bytes)];
  b->used = 0;
  b->prev = 0;
  b->next = *bin;
  if (b->next) tmb_heap_block(base, b->next)->prev = at;
  *bin = at;
  if (at + b->bytes < h->end) tmb_heap_block(base, at + b->bytes)->before_bytes = b->bytes;
}

static inline void tmb_heap_unlink(struct tmb_heap *h, char *base, uint64_t at) {
  const struct tmb_heap_block *b = tmb_heap_block(base, at);
  if (b->prev)
    tmb_heap_block(base, b->prev)->next = b->next;
  else
    h->bin[tmb_heap_bin(b->bytes)] = b->next;
  if (b->next) tmb_heap_block(base, b->next)->prev = b->prev;
}

/* Makes the memory from offset `begin`, a multiple of TMB_HEAP_ALIGN, to `end` one free block. */
static inline void tmb_heap_init(struct tmb_heap *h, char *base, uint64_t begin, uint64_t end) {
  const uint64_t bytes = end < begin ? 0 : (end - begin) / TMB_HEAP_ALIGN * TMB_HEAP_ALIGN;
  h->begin = begin + sizeof(struct tmb_heap_block);
  h->end = h->begin + bytes;
  if (!bytes) return;
  tmb_heap_block(base, h->begin)->bytes = bytes;
  tmb_heap_block(base, h->begin)->before_bytes = 0;
  tmb_heap_link(h, base, h->begin);
}

/* Makes a block free, one with its free neighbours. */
static inline void tmb_heap_free(struct tmb_heap *h, char *base, uint64_t at) {
  struct tmb_heap_block *b = tmb_heap_block(base, at);
  const uint64_t next = at + b->bytes, before = at - b->before_bytes;
  if (tmb_heap_is_free(h, base, next)) {
    tmb_heap_unlink(h, base, next);
    b->bytes += tmb_heap_block(base, next)->bytes;
  }
  if (before != at && tmb_heap_is_free(h, base, before)) {
    tmb_heap_unlink(h, base, before);
    tmb_heap_block(base, before)->bytes += b->bytes;
    b->used = 0;
    at = before;
  }
  tmb_heap_link(h, base, at);
}

/* Bytes of a block for `bytes` of memory, or UINT64_MAX: more than any heap has. */
static inline uint64_t tmb_heap_need(uint64_t bytes) {
  if (bytes > UINT64_MAX / 4) return UINT64_MAX;
  return (bytes + TMB_HEAP_ALIGN - 1) / TMB_HEAP_ALIGN * TMB_HEAP_ALIGN +
         sizeof(struct tmb_heap_block);
}

/* Divides a block in use: from `bytes` on it becomes another block in use. Returns its name. */
static inline uint64_t tmb_heap_split(const struct tmb_heap *h, char *base, uint64_t at,
                                      uint64_t bytes) {
  struct tmb_heap_block *b = tmb_heap_block(base, at);
  struct tmb_heap_block *rest = tmb_heap_block(base, at + bytes);
  rest->bytes = b->bytes - bytes;
  rest->before_bytes = b->bytes = bytes;
  rest->used = TMB_HEAP_USED ^ (at + bytes);
  rest->owner = 0;
  if (at + bytes + rest->bytes < h->end)
    tmb_heap_block(base, at + bytes + rest->bytes)->before_bytes = rest->bytes;
  return at + bytes;
}

/* Lets a block in use keep room for `bytes` only. False: it has less room. */
static inline bool tmb_heap_cut(struct tmb_heap *h, char *base, uint64_t at, uint64_t bytes) {
  const uint64_t need = tmb_heap_need(bytes), has = tmb_heap_block(base, at)->bytes;
  if (has < need) return false;
  if (has - need >= 2 * sizeof(struct tmb_heap_block))
    tmb_heap_free(h, base, tmb_heap_split(h, base, at, need));
  return true;
}

/* Bytes of memory of a block in use. */
static inline uint64_t tmb_heap_room(char *base, uint64_t at) {
  return tmb_heap_block(base, at)->bytes - sizeof(struct tmb_heap_block);
}

/* Takes a block: the first of its bin that fits, else of a larger bin. `alignment` is a power of
 * two, of the address. Returns its name, or 0: none has room. */
static inline uint64_t tmb_heap_alloc(struct tmb_heap *h, char *base, uint64_t alignment,
                                      uint64_t bytes) {
  const bool wide = alignment > TMB_HEAP_ALIGN;
  if (bytes > UINT64_MAX / 4 || alignment > UINT64_MAX / 4) return 0;
  const uint64_t need =
      tmb_heap_need(bytes) + (wide ? alignment + sizeof(struct tmb_heap_block) : 0);
  for (unsigned k = tmb_heap_bin(need); k < TMB_HEAP_BINS; k++)
    for (uint64_t at = h->bin[k]; at; at = tmb_heap_block(base, at)->next) {
      if (tmb_heap_block(base, at)->bytes < need) continue;
      tmb_heap_unlink(h, base, at);
      tmb_heap_block(base, at)->used = TMB_HEAP_USED ^ at;
      tmb_heap_block(base, at)->owner = 0;
      const uint64_t skip = -(uint64_t)(uintptr_t)(base + at) & (alignment - 1);
      if (wide && skip) {
        const uint64_t head = at;
        at = tmb_heap_split(h, base, head, skip);
        tmb_heap_free(h, base, head);
      }
      tmb_heap_cut(h, base, at, bytes);
      return at;
    }
  return 0;
}

/* Bytes of memory that the largest free block has room for. */
static inline uint64_t tmb_heap_largest(const struct tmb_heap *h, char *base) {
  uint64_t largest = 0;
  for (unsigned k = TMB_HEAP_BINS; k-- > 0 && !largest;)
    for (uint64_t at = h->bin[k]; at; at = tmb_heap_block(base, at)->next)
      if (tmb_heap_block(base, at)->bytes > largest) largest = tmb_heap_block(base, at)->bytes;
  return largest ? largest - sizeof(struct tmb_heap_block) : 0;
}

#endif
