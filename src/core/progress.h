/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting inside the library.
 *
 * Owns: declarations of progress.c. Called by every blocking operation.
 * Loop shape: tmb_wait_begin; while (!condition) tmb_wait_step. The condition must become true
 * through progress. Invariants: as stated in progress.c; tmb_wait_retry is for conditions that
 * nobody announces (a full ring), so its sleeps are bounded.
 */
#ifndef TMB_CORE_PROGRESS_H
#define TMB_CORE_PROGRESS_H

#include "core/gex.h"

#include <stdbool.h>

/* Something was done that a thread of this process may wait for: wake those that sleep. */
void tmb_progress_made(void);

/* Begin a wait. */
void tmb_wait_begin(struct gexx_wait *wait);

/* Run progress; when nothing happened, spin, yield or sleep until something may have. */
void tmb_wait_step(struct gexx_wait *wait);

/* tmb_wait_step between attempts to get a resource whose return nobody announces. in serve:
 * TMB_SERVE_REPLIES inside request handlers, else TMB_SERVE_ALL. */
void tmb_wait_retry(struct gexx_wait *wait, int serve);

/*
 * Wait until ready(arg), which a peer's store or progress makes true; peers that store must notify
 * (conduit.h). At most timeout_ns (UINT64_MAX: no limit). Returns whether it became true.
 */
bool tmb_wait_until(bool (*ready)(void *arg), void *arg, uint64_t timeout_ns);

/* How long a sleep may be that otherwise may last timeout_ns: shorter while deferred puts wait,
 * because nobody wakes us when there is room for them. */
uint64_t tmb_sleep_bound(uint64_t timeout_ns);

/*
 * One poll on behalf of a client that may be polling in a loop: when ranks outnumber cores and many
 * polls in a row found nothing, gives the core away, so that the rank that is waited for can run.
 */
void tmb_poll(void);

/* Read the settings; after rank and size are known. */
void tmb_wait_policy_init(void);

#endif
