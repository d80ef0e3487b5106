/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of the udp conduit: the calls between its parts.
 *
 * Owns nothing; udp_state.h has the state. Included by the parts, each of which calls those above
 * it in this file only: udp_engine (lock, buffers, completions), udp_peer, udp_pending (completion
 * of gathered operations), udp_rail, udp_resend, udp_send (packets out), udp_pieces (of long
 * packets), udp_gather, udp_probe, udp_xfer (long transfers out), udp_message, udp_small, udp_rma,
 * udp_atomic, udp_deliver (messages to core), udp_recv (packets in), udp_lost, udp_progress (the
 * loop), udp_open. Invariants: all but udp_deliver's hand-over run under engine->lock, and no call
 * into core that may call the engine again does.
 */
#ifndef TMB_UDP_ENGINE_H
#define TMB_UDP_ENGINE_H

#include "net/udp/state/udp_state.h"

/* ---- udp_engine.c */

/* Bytes of a buffer at most: the longest Medium, or packet. */
#define UDP_BUF_MAX TMB_AM_MEDIUM_BYTES_MAX

/* Memory of a packet, or a payload, of up to `bytes` bytes, at most UDP_BUF_MAX. */
struct udp_buf *udp_buf_get(struct tmb_net *e, uint32_t bytes);
/* Bytes that it holds. */
uint32_t udp_buf_bytes(const struct udp_buf *buf);
void udp_buf_put(struct tmb_net *e, struct udp_buf *buf);

/* Note a completion for op_done, or a signal; udp_engine_unlock reports it. */
void udp_done_add(struct tmb_net *e, const struct udp_done *done);

/* Memory of this process that `p` names; under a core that goes on, NULL if it may not. */
void *udp_target(struct tmb_net *e, struct udp_peer *p, uint64_t addr, uint64_t bytes);

/* Take the lock and read the clock; release it and report completions. The third takes the lock,
 * and time.now_ns is old until the fourth has been called. */
bool udp_engine_try(struct tmb_net *e) TMB_TRY_ACQUIRE(true, e->lock);
void udp_engine_lock(struct tmb_net *e) TMB_ACQUIRE(e->lock);
void udp_engine_lock_blind(struct tmb_net *e) TMB_ACQUIRE(e->lock);
void udp_engine_clock(struct tmb_net *e); /* holds the lock */
void udp_engine_unlock(struct tmb_net *e) TMB_RELEASE(e->lock);

/* ---- udp_peer.c */

/* The peer's state, made if need be. NULL without memory. */
struct udp_peer *udp_peer_get(struct tmb_net *e, uint32_t rank);
void udp_peer_busy(struct tmb_net *e, struct udp_peer *p);
/* An acknowledgement is owed at once: with the next packet, or alone at the next poll. */
void udp_ack_owe(struct tmb_net *e, struct udp_peer *p);

/* ---- udp_peer.c: credit */

/* Cost of a request in credit. */
static inline uint32_t udp_cost(uint64_t nbytes) {
  return 1 + (uint32_t)(nbytes / 256);
}
/* Whether the peer takes a request of this cost now, by its progress thread or its client; if not,
 * it is asked after a while. */
bool udp_credit(struct tmb_net *e, struct udp_peer *p, uint32_t cost, bool by_thread);
/* A request of this cost has been handled. */
void udp_credit_back(struct tmb_net *e, struct udp_peer *p, uint32_t cost);

/* ---- udp_pending.c */

/* Count one more part of (op, category) in the open packet. in signal: it is complete when all
 * packets before are acknowledged, too. */
void udp_pending_add(struct tmb_net *e, struct udp_peer *p, void *op, uint32_t category,
                     bool signal);
/* The open packet gets this number. Returns its list. */
struct udp_pending *udp_pending_take(struct udp_peer *p, uint64_t number);
/* The packet of an entry has been acknowledged. */
void udp_pending_acked(struct tmb_net *e, struct udp_peer *p, struct udp_pending *pending);
/* All packets below tx.una have been acknowledged. */
void udp_pending_passed(struct tmb_net *e, struct udp_peer *p);
/* Forget a list. */
void udp_pending_drop(struct tmb_net *e, struct udp_pending **pending);

/* ---- udp_rail.c */

#define UDP_NO_RAIL    UINT32_MAX
#define UDP_RAIL_ASKED 0x80000000u /* of a probe's id: whether the rail carries this length */

/* The rail of a transfer's next packet, UDP_NO_RAIL: none now; lowers *due_ns to when by time. */
uint32_t udp_rail_bulk(struct tmb_net *e, struct udp_peer *p, uint64_t *due_ns);
/* Whether a rail is the connection. */
static inline bool udp_rail_is_stream(const struct tmb_net *e, uint32_t r) {
  return r == e->io.rails; /* without one no rail has this number */
}
/* Whether the first of the transfers takes the connection: it is long, and the connection works. */
bool udp_rail_streams(const struct tmb_net *e, const struct udp_peer *p);
/* Whether something is in flight through the connection. */
static inline bool udp_rail_flows(const struct tmb_net *e, const struct udp_peer *p) {
  return e->io.has_stream && p->tx.rail[e->io.rails].in_flight;
}
/* The rail of a packet that is retransmitted. */
uint32_t udp_rail_again(struct tmb_net *e, struct udp_peer *p, const struct udp_slot *slot);
/* Whether a window leaves room for a packet that is retransmitted. */
bool udp_rail_open(struct tmb_net *e, struct udp_peer *p, const struct udp_slot *slot);
/* A packet that the connection had is retransmitted. */
void udp_rail_broke(const struct tmb_net *e, struct udp_peer *p, const struct udp_slot *slot);
/* Nothing of a rail has been acknowledged for its time-out. */
void udp_rail_timeout(struct tmb_net *e, struct udp_peer *p, uint32_t r);
/* Whether it is to be asked now whether rail `r` carries packets of the length that is used. */
bool udp_rail_ask(struct tmb_net *e, struct udp_peer *p, uint32_t r);
/* The length of packets has changed. */
void udp_rail_set_bytes(const struct tmb_net *e, struct udp_peer *p);
/* A rail carries packets of this length. */
void udp_rail_answered(struct udp_peer *p, uint32_t r, uint32_t bytes);

/* ---- udp_resend.c */

/* Send a packet again that was not acknowledged in time. */
void udp_packet_resend(struct tmb_net *e, struct udp_peer *p, uint64_t number);

/* ---- udp_send.c */

/* Make a numbered packet of the bytes in `buf` and at `tail`, and send it. There is room. */
struct udp_slot *udp_packet_send(struct tmb_net *e, struct udp_peer *p, const struct udp_out *out,
                                 struct udp_buf *buf, uint32_t control, uint8_t flags);
/* The same of a packet for which udp_packet_is_lone, when none waits to be handed over: it does
 * then. in end: of its control part. */
struct udp_slot *udp_packet_lone(struct tmb_net *e, struct udp_peer *p, struct udp_buf *buf,
                                 uint32_t end, uint8_t flags);
static inline bool udp_packet_is_lone(const struct tmb_net *e, uint32_t control, uint32_t tail) {
  return control <= UDP_AUTH_DIRECT && !tail && !e->out.count && !e->config.cipher;
}
/* Send a numbered packet again as it is, where `out` says, with the newest acknowledgement. */
void udp_packet_again(struct tmb_net *e, struct udp_peer *p, struct udp_slot *slot, uint64_t number,
                      struct udp_out *out);
/* Send an acknowledgement alone. */
void udp_ack_send(struct tmb_net *e, struct udp_peer *p, uint8_t flags);
/* Send a packet without a number, whose control part ends at `end`; `buf` is freed after it. */
void udp_loose_send(struct tmb_net *e, struct udp_peer *p, struct udp_buf *buf,
                    const struct udp_out *made, uint32_t end);
/* Note an arrived signal whose acknowledgement nobody waits for. */
void udp_ack_quiet(struct tmb_net *e, struct udp_peer *p);
/* Whether a due acknowledgement for a signal waits for the client's answer, until its next poll. */
bool udp_ack_delayed(const struct tmb_net *e, struct udp_peer *p);
/* The due acknowledgement is about to be sent alone. */
void udp_ack_alone(const struct tmb_net *e, struct udp_peer *p);
/* Hand over the packets that were made. */
void udp_out_flush(struct tmb_net *e);
/* Hand over packets that were held back since an earlier call: their time runs from now on. */
void udp_out_held(struct tmb_net *e);

/* A packet that is about to be sent. */
struct udp_ask {
  uint32_t rail;
  uint64_t bytes;
  bool stops; /* nothing more may be sent after it for now, whatever its rail's window says */
  bool ends;  /* somebody waits until all has come */
};

/* True if a packet requests an acknowledgement: at the end of a transfer, UDP_ASKS times a window,
 * and where the window is full and no acknowledgement is in flight. Without the last condition a
 * full window would be acknowledged, and refilled, packet by packet. */
bool udp_packet_asks(struct udp_peer *p, const struct udp_ask *ask);

/* ---- udp_pieces.c */

/* Whether a packet that is retransmitted on `rail` is too long for it, or may be: it was lost
 * often. */
bool udp_pieces_due(const struct tmb_net *e, const struct udp_peer *p, const struct udp_slot *slot,
                    uint32_t rail);
/* Send a packet in pieces, on slot->rail. */
void udp_pieces_send(struct tmb_net *e, struct udp_peer *p, const struct udp_slot *slot,
                     uint64_t number);
/* A piece of packet `number` has come, which is new. Returns the packet if it is whole, else NULL;
 * it lives until the batch ends, and its header is not checked. */
uint8_t *udp_pieces_take(struct tmb_net *e, struct udp_batch *b, struct udp_peer *p,
                         const struct udp_record *r, uint64_t number);
void udp_pieces_free(struct udp_peer *p);

/* ---- udp_gather.c */

#define UDP_QUIET 0x80u /* beside UDP_ACK_NOW: a signal whose end nobody awaits */

/* Whether a packet is in flight whose acknowledgement is worth waiting for. */
static inline bool udp_gather_waits(const struct tmb_net *e, const struct udp_peer *p) {
  return p->tx.una < p->gather.soon_end && e->time.now_ns < p->gather.soon_ns;
}
/* The time of this call, less the time that packets have taken to be handed over, and that puts
 * have waited for room: puts to several peers in turn are as close as those to one. */
static inline uint64_t udp_gather_clock(const struct tmb_net *e) {
  return e->time.now_ns - e->time.handed_ns;
}
/* Add a record with its payload to the open packet; sets UDP_TAIL where it must. in flags:
 * UDP_ACK_NOW, UDP_QUIET; reserve: slots of the window to leave free. Returns false if there is no
 * room now. */
bool udp_gather(struct tmb_net *e, struct udp_peer *p, struct udp_record *r, uint8_t flags,
                uint32_t reserve);
/* Open a packet with a message of up to UDP_FIRST_MAX bytes of payload, if none is open. in
 * reserve: as for udp_gather. Returns false, with nothing done, if one is, or there is no room. */
#define UDP_FIRST_MAX 64u /* fixed: it fits into the shortest packet */
bool udp_gather_first(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r,
                      uint32_t reserve);
/* Whether an operation of `total` bytes can be gathered in parts, once the window has room. */
bool udp_parts_are(const struct udp_peer *p, uint64_t total);
/* Whether the open packet has no room for `r`, but for a part of `least` bytes or more. */
bool udp_gather_splits(const struct udp_peer *p, const struct udp_record *r, uint32_t least);
/* Gather an operation of r->total bytes in parts, for which udp_parts_are. in r: a PUT, PART or
 * DATA without payload; src: free on return; flags, reserve: as for udp_gather. Returns false, with
 * nothing done, if the window does not take all of it now. */
bool udp_gather_parts(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r,
                      const void *src, uint8_t flags, uint32_t reserve);
/* Add a record to the open packet, which there is. Sends nothing and needs no clock. Returns false,
 * with nothing done, if it does not fit. */
bool udp_gather_join(struct tmb_net *e, struct udp_peer *p, const struct udp_short *s);
/* Send the open packet, if the window allows. Returns false if not. */
bool udp_gather_flush(struct tmb_net *e, struct udp_peer *p, uint32_t reserve);
/* Hand over the packets that were made. Those that follow closely are handed over together: a few
 * for a peer, or all at the next call of progress. in bursts: more operations are likely to follow.
 */
void udp_gather_hand(struct tmb_net *e, struct udp_peer *p, bool bursts);
/* Send the open packet if nothing is in flight, else let it wait for company; udp_gather_hand. */
void udp_gather_settle(struct tmb_net *e, struct udp_peer *p);
/* Payload of one packet at most, with such a record. */
uint32_t udp_payload_max(const struct udp_peer *p, const struct udp_record *r);
/* Payload, if packets have so many bytes at most. */
uint32_t udp_payload_of(uint32_t packet_bytes, const struct udp_record *r);

/* ---- udp_probe.c */

/* Go on with the search for the length of packets. Returns when to call again. */
uint64_t udp_probe_push(struct tmb_net *e, struct udp_peer *p);
/* Answer a probe; take an answer. */
void udp_probe_take(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r);

/* ---- udp_xfer.c */

struct udp_xfer *udp_xfer_new(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r,
                              const void *src, uint64_t total);
/* Copy the source, so that it is free. */
void udp_xfer_copy(struct tmb_net *e, struct udp_peer *p, struct udp_xfer *x);
void udp_xfer_add(struct tmb_net *e, struct udp_peer *p, struct udp_xfer *x);
/* Make packets of the transfers of `p` while the windows allow. Returns when to go on, for pacing;
 * UINT64_MAX: not by time. */
uint64_t udp_xfer_push(struct tmb_net *e, struct udp_peer *p);
/* A packet of it has been acknowledged. */
void udp_xfer_acked(struct tmb_net *e, struct udp_peer *p, struct udp_xfer *x);
/* Note that all packets below tx.una were acknowledged: signals that waited for that have changed.
 */
void udp_xfer_passed(struct tmb_net *e, struct udp_peer *p);
/* Held: mark it complete; else free it. */
void udp_xfer_free(struct tmb_net *e, struct udp_peer *p, struct udp_xfer *x);
/* A transfer that its caller asks for. Returns NULL if it is none. */
struct udp_xfer *udp_xfer_held(struct tmb_net *e, uint32_t id);
void udp_xfer_hold(struct tmb_net *e, struct udp_xfer *x);
void udp_xfer_unhold(struct tmb_net *e, struct udp_xfer *x);

/* ---- udp_message.c */

int udp_am_send(struct tmb_net *e, struct tmb_am_out *out);

/* ---- udp_small.c */

static inline uint8_t udp_action_of(const struct tmb_signal *signal) {
  return signal->op == TMB_SIGNAL_SET ? UDP_ACT_SET : UDP_ACT_ADD;
}

/* Gather a put of up to UDP_COPY_MAX bytes; its source is free on return. in r: the record
 * without its payload. Returns 0, or TMB_AGAIN if the window has no room. */
int udp_small_put(struct tmb_net *e, struct udp_peer *p, struct udp_record *r,
                  const struct tmb_rma *rma);
/* A put of a burst that the open packet has room for joins it. The clock need not have been read.
 * in signal: or NULL. Returns whether it was one; if not, nothing is done. */
bool udp_small_join(struct tmb_net *e, const struct tmb_rma *rma, const struct tmb_signal *signal);
/* Whether a put may be gathered: it is short, fits into a packet, and no transfer waits. */
static inline bool udp_small_is(const struct udp_peer *p, const struct tmb_rma *rma) {
  const uint32_t fields = UDP_HEADER_BYTES + UDP_RECORD_MAX - UDP_INLINE_MAX;
  return rma->nbytes <= TMB_MIN(p->mtu.bytes - fields, UDP_COPY_MAX) && !p->bulk.first;
}
/* Gather a put in parts, for which udp_parts_are. Returns 0, or TMB_AGAIN. */
int udp_small_parts(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r,
                    const struct tmb_rma *rma);
/* Send the open packet, unless more puts are likely to come at once. in nbytes: of the last one;
 * rc: TMB_AGAIN if it found no room, which ends no burst. */
void udp_small_settle(struct tmb_net *e, struct udp_peer *p, uint64_t nbytes, int rc);

/* ---- udp_rma.c */

int udp_put(struct tmb_net *e, const struct tmb_rma *rma);
int udp_get(struct tmb_net *e, const struct tmb_rma *rma);
int udp_put_signal(struct tmb_net *e, const struct tmb_rma *rma, const struct tmb_signal *signal);
int udp_get_signal(struct tmb_net *e, const struct tmb_rma *rma, const struct tmb_signal *signal);
int udp_am_long(struct tmb_net *e, struct tmb_am_out *out);
/* A get has come from `p`; data of a get of ours. */
void udp_get_serve(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r);
void udp_get_end(struct tmb_net *e, uint32_t index);
/* Without r->payload: they lie in their place. Returns false if they are of none of ours. */
bool udp_get_data(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r);
/* Make an entry for a get or the value of an atomic operation, and send its record, whose id is
 * set. Returns 0, or TMB_AGAIN without credit or room. */
int udp_get_ask(struct tmb_net *e, struct udp_peer *p, struct udp_record *r,
                const struct udp_get *get);
/* Destination of a get's data, or NULL. */
uint8_t *udp_get_place(struct tmb_net *e, const struct udp_peer *p, const struct udp_record *r);

/* ---- udp_atomic.c */

int udp_atomic(struct tmb_net *e, const struct tmb_net_atomic *atomic);
/* Serve an atomic operation that has come from `p`. */
void udp_atomic_serve(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r);

/* ---- udp_deliver.c */

void udp_batch_free(struct udp_batch *b);
struct udp_batch *udp_batch_get(struct tmb_net *e);
void udp_batch_put(struct tmb_net *e, struct udp_batch *b);
/* Empty a batch: free its memory. */
void udp_batch_end(struct udp_batch *b);
/* Free `memory` when the batch ends. */
void udp_batch_keep(struct tmb_net *e, struct udp_batch *b, void *memory);
/* An aligned copy of a packet; lives until the batch ends. */
uint8_t *udp_batch_copy(struct tmb_net *e, struct udp_batch *b, const uint8_t *data,
                        uint32_t bytes);
/* Note something to be delivered; memory behind its pointers lives until the end of the batch. */
void udp_deliver_add(struct tmb_net *e, struct udp_batch *b, const struct udp_delivery *d);
/* What core gets of a message. */
static inline struct tmb_am_in udp_message_of(const struct udp_peer *p, const struct udp_record *r,
                                              enum tmb_am_category category, const void *payload,
                                              size_t nbytes) {
  return (struct tmb_am_in){.src = p->rank,
                            .category = (uint8_t)category,
                            .handler = r->handler,
                            .nargs = r->nargs,
                            .is_reply = (r->flags & UDP_REPLY) != 0,
                            .route = r->route,
                            .args = r->args,
                            .payload = (void *)(uintptr_t)payload,
                            .nbytes = nbytes};
}
/* The same of a record AM. */
void udp_deliver_message(struct tmb_net *e, struct udp_batch *b, struct udp_peer *p,
                         const struct udp_record *r);
/* Take messages that were kept before and are served now. Returns whether there may be more of it:
 * then nothing is to be received before it. */
bool udp_deliver_kept(struct tmb_net *e, struct udp_batch *b, int serve);
/* Keep the messages that are not served. in serve: TMB_SERVE_*, 0: nothing. */
void udp_deliver_hold(struct tmb_net *e, struct udp_batch *b, int serve);
/* Hand up, without the lock. */
void udp_deliver_run(const struct udp_batch *b, void (*am)(const struct tmb_am_in *in));
/* Give the credit of delivered messages back; with the lock. */
void udp_deliver_credit(struct tmb_net *e, struct udp_batch *b);

/* ---- udp_recv.c */

/* Take the packets of a datagram in. in data: [bytes], aligned to 8. */
void udp_datagram_take(struct tmb_net *e, struct udp_batch *b, uint8_t *data, uint32_t bytes);
/* Process the received datagrams. */
void udp_batch_take(struct tmb_net *e, struct udp_batch *b);
/* See udp_datagrams.lends: a long packet whose records are put in place while the lock is held. in
 * placer: the engine. */
bool udp_packet_lends(const void *placer, const uint8_t *packet, uint32_t bytes);
/* Where the tail of a packet belongs, see udp_datagrams.place. NULL, too, if the packet is not
 * authentic, has come before, is encrypted, or has a tag: it is lent, then checked and copied in
 * one go. in placer: the engine. */
uint8_t *udp_tail_place(void *placer, const uint8_t *head, uint32_t bytes);

/* ---- udp_lost.c */

void udp_peer_free(struct tmb_net *e, struct udp_peer *p);
int udp_peer_lost(struct tmb_net *e, uint32_t rank);
/* A packet has to be answered; asks counts from the first. Reports a lost peer to core. */
void udp_peer_asked(struct tmb_net *e, struct udp_peer *p);
/* Ask peers that have been silent for long whether they are there. */
void udp_peer_keep(struct tmb_net *e);
/* For `tombolo why`: peers that have been asked and acknowledge nothing. add: of one for which
 * life.vain_ns is set; note: publishes them. */
struct udp_vain {
  uint64_t count;                 /* for a while already */
  const struct udp_peer *longest; /* the one that was heard least lately; NULL: none */
};
void udp_vain_add(const struct tmb_net *e, const struct udp_peer *p, struct udp_vain *v);
void udp_vain_note(struct tmb_net *e, const struct udp_vain *v);
void udp_peer_explain(struct tmb_net *e, uint32_t rank, char *text, size_t bytes);

/* ---- udp_progress.c */

int udp_progress(struct tmb_net *e, int serve);
uint32_t udp_wait_fds(struct tmb_net *e, struct pollfd *fds, uint32_t max, uint64_t *timeout_ns);
bool udp_drained(struct tmb_net *e);
/* Do the work of the client's calls, except to deliver, if it has not called since `tick`. Lowers
 * *ns to the next timer. Returns whether it did. */
bool udp_tend(struct tmb_net *e, uint64_t tick, uint64_t *ns);
/* Whether long transfers are in progress. A hint. */
bool udp_busy_transfers(const struct tmb_net *e);

/* Send for the busy peers, and find the next timer. in flush: also open packets that wait for more
 * operations; acks: also acknowledgements alone. */
void udp_push_all(struct tmb_net *e, bool flush, bool acks);

/* ---- udp_open.c */

/* in env: as at open, without its functions; config, io: copied. Returns the engine or NULL. */
struct tmb_net *udp_engine_new(const struct tmb_net_env *env, const struct udp_config *config,
                               const struct udp_io *io);
void udp_engine_free(struct tmb_net *e);

#endif
