/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads and stores of a program that is compiled with `--check`, and the checker that
 * hears of them.
 *
 * Included by check/client, which is linked into the program, and by check/runtime. The compiler
 * puts a call before each load and store (-fsanitize=thread); the client passes on those in memory
 * that the checker watches. Invariants: the checker owns tombolo_check_watch; without a checker, or
 * without races to look for, it watches nothing, and a load costs a comparison.
 */
#ifndef TMB_CHECK_LOCAL_H
#define TMB_CHECK_LOCAL_H

#include <stddef.h>
#include <stdint.h>

/* Kinds of accesses. */
enum { CHK_LOAD, CHK_STORE };

/* Ranges of memory. */
enum {
  CHK_WATCH_SEGMENTS, /* of this process */
  CHK_WATCH_ALIASES,  /* where segments are a second time */
  CHK_WATCH_BUFFERS,  /* of the program, of transfers in flight */
  CHK_WATCHES
};

/* The memory that is watched, and what is called before an access there. */
struct chk_watch {
  size_t size; /* of this structure: a program of another version is not watched */
  struct {
    uintptr_t base, bytes;
  } range[CHK_WATCHES];
  void (*access)(uintptr_t addr, size_t bytes, int kind, const void *pc);
  /* Before and after an atomic operation on a word. in kind: CHK_LOAD if it only reads. */
  void (*atomic_begin)(uintptr_t addr, size_t bytes, int kind, const void *pc);
  void (*atomic_end)(uintptr_t addr, int kind, const void *pc);
};

extern struct chk_watch tombolo_check_watch;

#endif
