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
 * segment. A line that goes through memory in order has a run: the client makes it longer, and the
 * checker enters it as a whole when the epoch ends, so that no access costs more than another one.
 * Invariants: the checker owns tombolo_check_watch and the lines; without a checker, or without
 * races to look for, it watches nothing, and a load costs a comparison; the client changes the
 * length of a run and nothing else.
 */
#ifndef TMB_CHECK_LOCAL_H
#define TMB_CHECK_LOCAL_H

#include <stddef.h>
#include <stdint.h>

/* A thread's variable with a fixed place: of a program, or of a library that is loaded at start. */
#define CHK_FAST __attribute__((tls_model("initial-exec")))

/* Kinds of accesses. */
enum { CHK_LOAD, CHK_STORE };

struct chk_extent {
  uintptr_t base, bytes;
};

/* Loads, or stores, that one call of the program makes in a thread, and their run. */
struct chk_line {
  uintptr_t key;         /* of chk_line_key; 0: none */
  uintptr_t base, bytes; /* of the run; base CHK_NO_RUN: none */
  /* The checker's: the record of its accesses, and the clock for which it holds. */
  uint64_t clock, number;
  const void *access;
  uintptr_t next;              /* address behind its last access that was passed on */
  uint32_t in_order, is_listed; /* accesses in order so far; its run is among those to enter */
};

#define CHK_LINES  512u /* of a thread; power of two */
#define CHK_NO_RUN ((uintptr_t)1)

/* The memory that is watched, and what is called before an access there. */
struct chk_watch {
  size_t size;              /* of this structure: a program of another version is not watched */
  struct chk_extent all;    /* covers all that is watched */
  struct chk_extent own;    /* the segment of this process that has `seen`; base: multiple of 8 */
  uint32_t *seen;           /* of 8 bytes: epoch << 16, bytes stored << 8, bytes loaded or stored */
  uint32_t now;             /* epoch << 16 | 0xffff */
  uint32_t files;           /* not 0: the program has files that are compiled with `--check` */
  struct chk_extent others; /* other segments, second places, buffers of transfers in flight */
  /* Returns the lines of this thread, [CHK_LINES]. */
  struct chk_line *(*access)(uintptr_t addr, size_t bytes, int kind, const void *pc);
  /* Before and after an atomic operation on a word. in kind: CHK_LOAD if it only reads. */
  void (*atomic_begin)(uintptr_t addr, size_t bytes, int kind, const void *pc);
  void (*atomic_end)(uintptr_t addr, int kind, const void *pc);
};

extern struct chk_watch tombolo_check_watch;

static inline uintptr_t chk_line_key(const void *pc, int kind) {
  return (uintptr_t)pc << 1 | (uintptr_t)kind;
}

/* The place of a line. Two calls are at least 5 bytes apart. */
static inline struct chk_line *chk_line_of(struct chk_line *lines, uintptr_t key) {
  return &lines[key >> 3 & (CHK_LINES - 1)];
}

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
