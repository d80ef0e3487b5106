/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path to a peer: near, by the on-node engine, or far, by the conduit.
 *
 * Owns: declarations of peer.c (one attempt, no wait) and peer_access.c (waits). Called by
 * everything that sends a message, accesses remote memory that is not mapped, or wakes a rank.
 * Calls: src/near, the conduit's table (net/net.h), and net/defaults where the conduit has nothing
 * of its own, or a near rank's memory is not mapped. Invariants: tmb_is_near decides, but for an
 * atomic that the conduit's hardware performs and for device memory; a message is counted, and one
 * to a lost rank dropped, here.
 */
#ifndef TMB_CORE_PEER_H
#define TMB_CORE_PEER_H

#include "base/error.h"
#include "core/job.h"
#include "near/near.h"
#include "net/up.h"

/* tmb_peer_send where messages are counted or peers may be lost, and to a rank of another host. */
int tmb_peer_send_special(struct tmb_am_out *out);
int tmb_peer_send_far(struct tmb_am_out *out);

/* Try once to send a message that is no Long with data for memory that is not mapped. 0: the
 * payload has been read. TMB_AGAIN: no resources now; out->staged may hold a buffer, call again
 * with this struct or release it. Never blocks, never runs handlers. Any thread. */
static inline int tmb_peer_send(struct tmb_am_out *out) {
  if (TMB_UNLIKELY(tmb_job.special & TMB_SPECIAL_SENDS)) return tmb_peer_send_special(out);
  if (TMB_UNLIKELY(!tmb_is_near(out->peer))) return tmb_peer_send_far(out);
  return tmb_near_am_send(&tmb_job.near, tmb_near_of(out->peer), out);
}

/* Send a client's Short without a route to another rank of this host, by the shortest path; flags
 * and lc_opt of a Short mean nothing there. Returns false, with nothing done, where that is not
 * enough. */
static inline bool tmb_peer_send_short(uint32_t peer, bool is_reply, const struct gexx_am_msg *m) {
  return !(tmb_job.special & TMB_SPECIAL_SENDS) && peer != tmb_job.rank && tmb_is_near(peer) &&
         tmb_near_send_short(&tmb_job.near, tmb_near_of(peer), is_reply, m->handler, m->nargs,
                             m->args);
}

/* The same for a Medium without flags that name offsets. */
static inline bool tmb_peer_send_medium(uint32_t peer, bool is_reply, const struct gexx_am_msg *m) {
  return !(tmb_job.special & TMB_SPECIAL_SENDS) && peer != tmb_job.rank && tmb_is_near(peer) &&
         tmb_near_send_medium(&tmb_job.near, tmb_near_of(peer),
                              tmb_am_head(m->handler, m->nargs, is_reply), m->args, m->src,
                              m->nbytes);
}

/* Ends the program because the network refuses. in what: the operation, with "to", "on" or so at
 * its end; rc: the result of a slot of the conduit. */
_Noreturn void tmb_peer_fatal(const char *what, uint32_t peer, int rc) TMB_COLD;

/* tmb_peer_send, where an error ends the program. in what: as of tmb_peer_fatal. Returns whether
 * the message is sent. */
static inline bool tmb_peer_try(struct tmb_am_out *out, const char *what) {
  const int rc = tmb_peer_send(out);
  if (TMB_UNLIKELY(rc && rc != TMB_AGAIN)) tmb_peer_fatal(what, out->peer, rc);
  return rc == 0;
}

/* Whether the network carries each Medium to a rank of another host as one message. */
bool tmb_peer_takes_whole(uint32_t peer);

/* Whether the conduit itself sends Longs to a rank of another host, and no rank may be lost. */
bool tmb_peer_has_long(uint32_t peer);

/* Have the conduit know memory outside of segments that Longs of ranks of other hosts will write.
 * in key: for them; conceal it when all is written. Returns false if no key is needed, or none can
 * be had. */
bool tmb_peer_expose(void *base, size_t nbytes, struct tmb_net_key *key);
void tmb_peer_conceal(const struct tmb_net_key *key);

/* Try once to send a Long to such a rank. in out: with out->resume; the same for each try. Returns
 * 0 when the payload has been read, TMB_AGAIN, or TMB_E_UNSUPPORTED at the first try; other errors
 * end the program. in what: as of tmb_peer_fatal. Never blocks, never runs handlers. */
int tmb_peer_try_long(struct tmb_am_out *out, const char *what);

/* Reserve a buffer of TMB_AM_MEDIUM_BYTES_MAX bytes for a message to out->peer: out->is_reply is
 * read, out->staged set, and out->src to the buffer. Returns it, or NULL when none is free now. */
void *tmb_peer_stage(struct tmb_am_out *out);

/* Give back the buffer, if any, of a message that will not be sent. */
void tmb_peer_release(struct tmb_am_out *out);

/* Drop a message for a process that has ended: release its buffer. Returns 0, as if sent. */
int tmb_peer_drop(struct tmb_am_out *out);

/* ---- peer_access.c: may run progress */

/* Send a Long whose destination is not mapped here; contract of tmb_up_am_send. */
int tmb_peer_am_long(struct tmb_am_out *out);

/* Remote memory access that is not a copy here; contracts of tmb_default_put and so on. */
int tmb_peer_put(const struct tmb_rma *rma);
int tmb_peer_get(const struct tmb_rma *rma);
/* One with device memory. Returns 0, TMB_AGAIN, or TMB_E_UNSUPPORTED: nothing was done, and the
 * conduit cannot, now or ever. */
int tmb_peer_device_rma(const struct tmb_rma *rma, bool is_get);
int tmb_peer_put_signal(const struct tmb_rma *rma, const struct tmb_signal *signal);
int tmb_peer_get_signal(const struct tmb_rma *rma, const struct tmb_signal *signal);

/* Whether the conduit performs all operations of an atomic domain: its slot `offloads`. */
bool tmb_peer_offloads(uint32_t dt, uint32_t ops);

/* An atomic operation by the conduit; contract of its slot `atomic`, and waits for room unless it
 * is immediate. TMB_E_UNSUPPORTED also for a near rank, one that is lost, and where there is no
 * such slot: it is to be done by a message to the owner. */
int tmb_peer_atomic(const struct tmb_net_atomic *atomic);

/* ---- peer.c, near ranks, progress */

/* Count a wake-up. */
void tmb_peer_count_wake(uint32_t jobrank);

/* Wake a near rank that may be waiting for memory which was just written. */
static inline void tmb_peer_wake(uint32_t jobrank) {
  tmb_near_notify(&tmb_job.near, tmb_near_of(jobrank));
  if (TMB_UNLIKELY(tmb_job.counted)) tmb_peer_count_wake(jobrank);
}

/* Wake for a signal; returns false, with nothing done, where the rank has an index of its signals:
 * the caller enters the signal there first, then wakes. */
static inline bool tmb_peer_wake_unindexed(uint32_t jobrank) {
  if (!tmb_near_notify_unindexed(&tmb_job.near, tmb_near_of(jobrank))) return false;
  if (TMB_UNLIKELY(tmb_job.counted)) tmb_peer_count_wake(jobrank);
  return true;
}

/* Whether a near rank neither sleeps nor has an index of its signals: waking it does nothing. */
static inline bool tmb_peer_is_awake(uint32_t jobrank) {
  const struct tmb_near_ctl *ctl = tmb_near_ctl(&tmb_job.near, tmb_near_of(jobrank));
  return !(tmb_load_rlx(&ctl->door.sleeping) | tmb_load_rlx(&ctl->door.indexed));
}

/* Wake threads of this process that sleep. Cheap when there are none. */
static inline void tmb_wake_self(void) {
  tmb_near_wake_self(&tmb_job.near);
}

/* Memory of a rank of this host in a region of the on-node engine, or NULL: the rank is far, or
 * such memory is not used (TOMBOLO_TEST_SHM=0). */
static inline void *tmb_peer_region(uint32_t region, uint32_t jobrank) {
  return tmb_is_near(jobrank) && tmb_job.near_memory
             ? tmb_near_at(&tmb_job.near, region, tmb_near_of(jobrank))
             : NULL;
}

/* A rank is lost: take back the resources of its messages. Returns 0 once everything that it had
 * sent has been delivered, TMB_AGAIN before: call again after progress. One thread at a time. */
int tmb_peer_lost_drain(uint32_t jobrank);

/* Poll the conduit. Returns TMB_FOUND_ bits. */
int tmb_peer_progress(int serve);

#endif
