/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads and stores of a program that is compiled with `--check`, and the checker that
 * hears of them.
 *
 * Included by check/client, which is linked into the program, and by check/runtime. The compiler
 * puts a call before each load and store (-fsanitize=thread); the client passes on those in memory
 * that the checker watches. An access is not passed on again in the same epoch: between two
 * releases of a rank, and between the transfers that it begins, a second access to the same bytes
 * is in no race that the first one is not in (FastTrack). `seen` says so for each 8 bytes of the
 * segment. Invariants: the checker owns tombolo_check_watch; without a checker, or without races to
 * look for, it watches nothing, and a load costs a comparison.
 */
#ifndef TMB_CHECK_LOCAL_H
#define TMB_CHECK_LOCAL_H

#include <stddef.h>
#include <stdint.h>

/* Kinds of accesses. */
enum { CHK_LOAD, CHK_STORE };

struct chk_extent {
  uintptr_t base, bytes;
};

/* The memory that is watched, and what is called before an access there. */
struct chk_watch {
  size_t size;              /* of this structure: a program of another version is not watched */
  struct chk_extent all;    /* covers all that is watched */
  struct chk_extent own;    /* the segment of this process that has `seen`; base: multiple of 8 */
  uint32_t *seen;           /* of 8 bytes: epoch << 16, bytes stored << 8, bytes loaded or stored */
  uint32_t now;             /* epoch << 16 | 0xffff */
  uint32_t files;           /* not 0: the program has files that are compiled with `--check` */
  struct chk_extent others; /* other segments, second places, buffers of transfers in flight */
  void (*access)(uintptr_t addr, size_t bytes, int kind, const void *pc);
  /* Before and after an atomic operation on a word. in kind: CHK_LOAD if it only reads. */
  void (*atomic_begin)(uintptr_t addr, size_t bytes, int kind, const void *pc);
  void (*atomic_end)(uintptr_t addr, int kind, const void *pc);
};

extern struct chk_watch tombolo_check_watch;

/* Bits that `seen` has where an access within 8 bytes need not be passed on. */
static inline uint32_t chk_need(uintptr_t addr, size_t bytes, int kind) {
  const uint32_t mask = bytes >= 8 ? 0xff : ((1u << bytes) - 1) << addr % 8;
  return kind == CHK_STORE ? mask << 8 : mask;
}

/* Whether those bits are set, in this epoch. */
static inline int chk_has(uint32_t seen, uint32_t now, uint32_t need) {
  return !((seen ^ now) & (0xffff0000u | need));
}

#endif
