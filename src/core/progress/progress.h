/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress: running what has arrived and what can go on.
 *
 * Owns: declarations of progress.c. Called by polls, by waits, and by sends that lack resources.
 * Returns of progress and of everything it calls are TMB_FOUND_ bits of message.h. Invariants:
 * TMB_FOUND_NOTHING means that this thread has polled everything and nothing was there; whoever
 * could not look, because another thread has the lock, or could not go on for lack of a resource
 * that nobody announces, says TMB_FOUND_BUSY, and waits do not sleep for long then.
 */
#ifndef TMB_CORE_PROGRESS_H
#define TMB_CORE_PROGRESS_H

#include <stdint.h>

/* Run what has arrived. in serve: TMB_SERVE_*. Returns TMB_FOUND_ bits. Any thread. */
int tmb_progress(int serve);

/* Something was done that a thread of this process may wait for: wake those that sleep. */
void tmb_progress_made(void);

/*
 * One poll on behalf of a client. A client that only polls may be waiting for a rank that has no
 * processor, so where ranks outnumber processors one that polls without pause gives its own away:
 * soon while that brings something, at most once in 100 us while it does not. A client that works
 * between its polls keeps its turn.
 */
void tmb_poll(void);

#endif
