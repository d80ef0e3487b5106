/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Showing the wait of this process on its status page (boot/status.h).
 *
 * Owns: declarations of status.c. Called by waits that are about to sleep, by threads that end, and
 * by teams, whose counts of calls lie on the page. Calls: boot. Invariants: a wait that ends while
 * it spins or yields writes nothing; a page or an entry that is not there makes every call here do
 * nothing, so no caller asks.
 */
#ifndef TMB_CORE_STATUS_H
#define TMB_CORE_STATUS_H

#include "base/atomic.h"
#include "core/op/op.h"
#include "core/team.h"

struct gexx_waitinfo;

/*
 * Purpose of a wait, for readers outside (`tombolo why`): describe(object, out) is called when the
 * thread is about to sleep, and fills all fields that differ from a wait of unknown kind. The
 * function may read the same data as the waiting thread, and takes no lock. NULL: nothing is known.
 */
struct tmb_why {
  void (*describe)(const void *object, struct tmb_status_wait *out);
  const void *object;
};

/* Open the page of this process; after rank and size are known. */
void tmb_status_init(void);

/* The calling thread is about to sleep. in first: something has happened since it slept last. */
void tmb_status_sleeps(struct tmb_why why, bool first);

/* Note that the calling thread has polled many times in a row in a loop of its own, without work.
 */
void tmb_status_looks(struct tmb_why why);

/* The thread does not sleep any more. */
void tmb_status_awake(void);

/* The calling thread waits and must not sleep; to be called again every few milliseconds. */
void tmb_status_polls(struct tmb_why why, bool first);

/* A layer above describes the wait of the calling thread, see include/tombolo/ext/ext_wait.h. in
 * info: NULL: the wait is over. */
void tmb_status_declare(struct gexx_waitinfo *info);

/* Time that the calling thread may sleep before its entry is to be written again, UINT64_MAX: no
 * matter. */
uint64_t tmb_status_detail_ns(void);

/* The calling thread has waited in a loop of a layer again: the details are due by and by. */
void tmb_status_lasts(void);

/* The calling thread ends: its entry is free. in entry: NULL: it had none. */
static inline void tmb_status_leave(struct tmb_status_wait *entry) {
  if (!entry) return;
  tmb_store_rlx(&entry->state, TMB_WAIT_NONE);
  tmb_store_rel(&entry->thread, 0);
}

/* The first ring of requests, and of replies, in the memory of file descriptor `fd`. */
void tmb_status_rings(const struct tmb_status_rings *rings);

/* Give a team its entry, where its calls are counted, or memory of its own when all are taken. */
void tmb_status_team_enter(struct tmb_team *team);
void tmb_status_team_name(struct tmb_team *team, const char *name);
void tmb_status_team_leave(struct tmb_team *team);

/* Say that an op is a call that all members of a team make. in number: of the call, from 1; over
 * rows: of its first chunk, + 1. */
static inline void tmb_op_name_call(struct tmb_op *op, uint32_t what, const struct tmb_team *team,
                                    uint64_t number) {
  tmb_op_name(op, what, TMB_STATUS_NOBODY);
  op->team = team->shown;
  op->number = (uint32_t)number;
  op->rows = false;
}

/* Describes an op, as object of struct tmb_why. */
void tmb_status_of_op(const void *op, struct tmb_status_wait *out);

/* As a wait for an op. */
static inline struct tmb_why tmb_why_op(const struct tmb_op *op) {
  return (struct tmb_why){tmb_status_of_op, op};
}

#endif
