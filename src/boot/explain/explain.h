/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a job makes progress, and which rank waits for which.
 *
 * Owns: struct tmb_explain. Called by `tombolo why` and by the watchdog of the supervisor. Calls:
 * snapshot. Two snapshots some time apart are compared. A rank is live if it runs, or sleeps in a
 * system call of its own, or has made progress, or if packets for it have not been acknowledged. It
 * is also live if live ranks can end its wait: all of those that have not made a call, the peer of
 * an operation, or, where anybody may be the one (a signal, a condition), at least one. The other
 * ranks hang. A rank that polls in a loop of its own may end that by itself, save when the watchdog
 * asks.
 * Invariants: a rank that is not live cannot go on unless something outside of the job helps it; a
 * job that computes is never said to hang.
 */
#ifndef TMB_BOOT_EXPLAIN_H
#define TMB_BOOT_EXPLAIN_H

#include "boot/explain/snapshot.h"

#include <stdio.h>

enum tmb_verdict {
  TMB_VERDICT_PROGRESS, /* ranks go on, or nobody waits */
  TMB_VERDICT_BUSY,     /* ranks wait for others, which are not waiting in the library */
  TMB_VERDICT_HANG      /* ranks wait for events that cannot come */
};

/* Condition of a rank. */
enum tmb_condition {
  TMB_SEEN_ELSEWHERE, /* on another machine: unknown here */
  TMB_SEEN_ABSENT,    /* has not joined yet */
  TMB_SEEN_ENDED,     /* has ended */
  TMB_SEEN_STOPPED,   /* suspended by a signal, or held by a debugger */
  TMB_SEEN_RUNS,      /* its own code, or it polls */
  TMB_SEEN_POLLS,     /* in a loop of its own, and finds nothing */
  TMB_SEEN_SLEEPS,    /* in a system call of its own */
  TMB_SEEN_MOVES,     /* waits, and something has happened meanwhile */
  TMB_SEEN_WAITS,     /* in the library, for one event all the time */
  TMB_SEEN_COUNT
};

struct tmb_explain {
  const struct tmb_snapshot *before, *now;
  bool polls_wait; /* ranks that poll in loops of their own wait for others */
  bool idle;       /* nothing is in flight to any rank */
  enum tmb_verdict verdict;
  uint8_t *condition; /* [size] enum tmb_condition */
  uint8_t *live;      /* [size] 1: may go on */
  uint8_t *coming;    /* [size] 1: packets from or to this rank are sent again and again */
  uint8_t *looked_at; /* [size] 1: others poll an object of this rank */
};

/* Ranks that must act before a wait can end: all, or any. */
enum tmb_needs { TMB_NEEDS_ALL, TMB_NEEDS_ANY };

/* Compare. in polls_wait: whether a rank that polls in a loop of its own and finds nothing waits
 * for other ranks; so it is when nothing has happened in the job for long. out e: to be released
 * with tmb_explain_free; the snapshots must live as long. Returns 0 or TMB_E_NOMEM. */
int tmb_explain(struct tmb_explain *e, const struct tmb_snapshot *before,
                const struct tmb_snapshot *now, bool polls_wait);
void tmb_explain_free(struct tmb_explain *e);

/* The i-th thing that a rank waits for, NULL if its i-th thread does not wait. in i: <
 * TMB_STATUS_WAITS. */
const struct tmb_status_wait *tmb_explain_wait(const struct tmb_snapshot *s, uint32_t rank, int i);

/* Whether a rank waits in the call of wait w, which is of a team with this uid. */
bool tmb_explain_in_call(const struct tmb_snapshot *s, uint32_t rank, uint64_t uid,
                         const struct tmb_status_wait *w);

/* For how long a rank has polled in a loop of its own and found nothing, in ns, at least 1; 0: it
 * does not. */
uint64_t tmb_explain_polls(const struct tmb_snapshot *s, uint32_t rank);

/* Marks the ranks that must act before this wait can end. out mark: [size] 1: this rank; none
 * marked with NEEDS_ALL: nobody must, so a wake-up was lost. */
enum tmb_needs tmb_explain_needs(const struct tmb_explain *e, uint32_t rank,
                                 const struct tmb_status_wait *w, uint8_t *mark);

/* Whether the condition on a word holds already; w->found is the word, if it could be read. */
bool tmb_explain_holds(const struct tmb_snapshot *s, uint32_t rank,
                       const struct tmb_status_wait *w);

/* The peer to which a rank sends packets again and again, because they are not acknowledged. out
 * silent_ns: for how long it had said nothing when the rank last looked for packets; it may be
 * little, when only one direction is cut. Returns false if there is none. */
bool tmb_explain_asks(const struct tmb_snapshot *s, uint32_t rank, uint32_t *peer,
                      uint64_t *silent_ns);

#define TMB_EXPLAIN_STALL_MS 200u /* a peer that has said nothing for so long does not answer */

/* The peer from which a rank gets no answer on the network. out silent_ns: for how long. Returns
 * false if there is none. */
bool tmb_explain_stalled(const struct tmb_snapshot *s, uint32_t rank, uint32_t *peer,
                         uint64_t *silent_ns);

/* Whether a layer above describes this wait, and the ranks that must act. */
static inline bool tmb_explain_is_layer(const struct tmb_status_wait *w) {
  return w->layer.begun && w->layer.needs != TMB_LAYER_AS_SHOWN;
}

/* Index of a team on a rank's page, or -1. */
int tmb_explain_team(const struct tmb_snapshot *s, uint32_t rank, uint64_t uid);

/* Calls that a rank has made, of the kind that a wait is for. in team: index on its page. */
uint64_t tmb_explain_calls(const struct tmb_snapshot *s, uint32_t rank, int team,
                           const struct tmb_status_wait *w);

/* Whether ranks have done anything in the library between two snapshots. */
bool tmb_explain_moved(const struct tmb_snapshot *before, const struct tmb_snapshot *now);

/* ---- explain_text.c */

/* Print a line for each rank. in out: a stream; in all: also ranks that are just like the one
 * before. */
void tmb_explain_ranks(const struct tmb_explain *e, FILE *out, bool all);

/* Print the causes of waiting, for the job as a whole. */
void tmb_explain_causes(const struct tmb_explain *e, FILE *out);

/* ---- explain_net.c */

/* Print which hosts the network has cut off, and in which direction. */
void tmb_explain_network(const struct tmb_explain *e, FILE *out);

#endif
