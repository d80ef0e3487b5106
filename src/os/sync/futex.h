/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping on a word of shared memory, and a fence on all processors (membarrier) that saves
 * whoever wakes sleepers a fence of its own.
 *
 * Owns nothing. Called by boot (barrier) and the shared-memory engine (doorbells). Calls futex(2)
 * and membarrier(2). Invariants: words may be shared between processes; waits may return early, so
 * callers re-check; nothing here ends the process. Source: futex(2), membarrier(2).
 */
#ifndef TMB_OS_FUTEX_H
#define TMB_OS_FUTEX_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Sleep while *word == expected, at most timeout_ns (UINT64_MAX: no limit).
 * Returns 0 when woken or when the word differed, TMB_E_TIMEOUT, or TMB_E_SYS after a signal.
 */
int tmb_futex_wait(const uint32_t *word, uint32_t expected, uint64_t timeout_ns);

/* Wake up to count sleepers of word. Returns how many were woken. */
int tmb_futex_wake(const uint32_t *word, int count);

/*
 * Register this process for tmb_membarrier. Returns false where the kernel has no such call
 * (before 4.16, or forbidden): then wakers must fence themselves.
 */
bool tmb_membarrier_register(void);

/* Full fence on every processor that runs a registered process. Call only if registered. */
void tmb_membarrier(void);

#endif
