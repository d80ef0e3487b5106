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

/* The memory that is watched, as two ranges, and what is called before an access there. */
struct chk_watch {
  uintptr_t shared, shared_bytes; /* of the segments of this process */
  uintptr_t busy, busy_bytes;     /* of the program's own buffers of transfers in flight */
  void (*access)(uintptr_t addr, size_t bytes, int kind, const void *pc);
  /* Before and after an atomic operation on a word. in kind: CHK_LOAD if it only reads. */
  void (*atomic_begin)(uintptr_t addr, size_t bytes, int kind, const void *pc);
  void (*atomic_end)(uintptr_t addr, int kind, const void *pc);
};

extern struct chk_watch tombolo_check_watch;

#endif
