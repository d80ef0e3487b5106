/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which thread may be in this library: that of the program, or the one that serves accessors while
 * the program computes.
 *
 * Owns nothing. Included by every file with functions that programs call. Calls: inside.c.
 * Invariants: one of the two is in this library, and in the layer below, at a time. The program
 * marks that it is inside, and reads whether the other one is; the serving thread marks first, then
 * runs a fence on all processors, then reads: so the program needs no fence. Without a serving
 * thread a mark costs a test.
 */
#ifndef CAF_INSIDE_H
#define CAF_INSIDE_H

#include "caf.h"

/* The program is inside until caf_go_outside, or to its end. Calls nest. Waits while the serving
 * thread is inside. Returns whether caf_go_outside is to be called. */
void caf_go_inside_slow(void);
static inline bool caf_go_inside(void) {
  if (!caf.serves || caf_is_server) return false;
  if (caf.mark.depth++) return true;
  __atomic_store_n(&caf.mark.inside, 1, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const bool taken = __atomic_load_n(&caf.mark.taken, __ATOMIC_ACQUIRE) != 0;
  if (__builtin_expect(taken || caf.mark.fences, 0)) caf_go_inside_slow();
  return true;
}

/* [in] inside: what caf_go_inside has returned. */
static inline void caf_go_outside(const bool *inside) {
  if (*inside && --caf.mark.depth == 0) __atomic_store_n(&caf.mark.inside, 0, __ATOMIC_RELEASE);
}

/* At the begin of a function that programs call and that uses the layer below. */
#define CAF_INSIDE \
 const bool caf_inside __attribute__((cleanup(caf_go_outside), unused)) = caf_go_inside()

/* Of the serving thread: takes the place of the program, unless that is inside. Returns whether it
 * has, until caf_give_inside. */
bool caf_take_inside(void);
void caf_give_inside(void);

/* Before there is a serving thread. */
void caf_inside_start(void);

/* Starts the serving thread, once, where the program has accessors and progress threads are on. */
void caf_serve_start(void);

#endif
