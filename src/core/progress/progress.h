/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress: running the handlers of arrived messages and continuing operations.
 *
 * Owns: declarations of progress.c and later.c. Called by polls, by waits, and by sends that lack
 * resources. Returns of progress and of everything it calls are TMB_FOUND_ bits of message.h.
 * Invariants: TMB_FOUND_NOTHING means that this thread has polled everything and nothing was there;
 * whoever could not look, because another thread has the lock, or could not go on for lack of a
 * resource that nobody announces, says TMB_FOUND_BUSY, and waits do not sleep for long then.
 */
#ifndef TMB_CORE_PROGRESS_H
#define TMB_CORE_PROGRESS_H

#include "net/message.h"

#include <stdbool.h>
#include <stdint.h>

/* Run handlers of arrived messages and continue operations. in serve: TMB_SERVE_*. Returns
 * TMB_FOUND_ bits. Any thread. */
int tmb_progress(int serve);

/* Something was done that a thread of this process may wait for: wake those that sleep. */
void tmb_progress_made(void);

/* Progress in a thread of the conduit, which wakes sleepers by itself. */
void tmb_progress_by_thread(void);

/*
 * One poll on behalf of a client. A client that only polls may be waiting for a rank that has no
 * processor, so where ranks outnumber processors one that polls without pause gives its own away:
 * soon while that brings something, at most once in 100 us while it does not. A client that works
 * between its polls keeps its turn.
 */
void tmb_poll(void);

/*
 * Work of an immediate operation before it reports that it found no resources: one poll, so that a
 * client that repeats it without a poll of its own goes on, although its peers repeat theirs, too.
 * Not in handlers, nor between Prepare and Commit. Takes and returns the operation's code.
 */
int tmb_poll_refused(int rc);

/* ---- later.c: messages to the client that a thread of the conduit has received */

/* Before the conduit is open: internal handlers that may always run in such a thread, and those
 * that may only while there is room for the work that they leave to the client. in: [2], as
 * env->thread_handlers. */
void tmb_later_init(const uint64_t always[2], const uint64_t if_room[2]);

/* Keep a message until the client polls. In a thread of the conduit. */
void tmb_later_add(const struct tmb_am_in *in);

/* Take the first message out whose handler may run now; NULL: there is none. in serve: TMB_SERVE_*.
 * The caller frees it. */
struct tmb_am_in *tmb_later_take(int serve);

/* Whether a message of a rank waits. */
bool tmb_later_has(uint32_t jobrank);

#endif
