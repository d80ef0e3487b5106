/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short and Medium messages that leave.
 *
 * Owns nothing. Called through the slot am_send. Calls udp_gather.c, and udp_xfer.c for a Medium
 * that does not fit into a packet: it is copied and sent in parts. Invariants: a request finds
 * credit before it is sent; requests leave slots of the window to replies.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/error.h"

/* Bytes of copied payloads that wait for one peer, at most. Chosen, not measured. */
#define COPIED_MAX (512u << 10)

/* A Medium of so many bytes is cut in two where the open packet has room for three quarters of it:
 * the target puts it together. Chosen; floods of 730 bytes in packets of 1472 take 0.78 of the
 * time, of 1000 bytes 1.06 of it if they are cut, too. */
#define SPLIT_MIN  512u

/* A Medium that does not fit into a packet: gathered in parts, or copied, then sent in parts. */
static int send_parts(struct tmb_net *e, struct udp_peer *p, struct udp_record *r,
                      const struct tmb_am_out *out) {
  if (p->bulk.copied && p->bulk.copied + out->nbytes > COPIED_MAX * (out->is_reply ? 2u : 1u))
    return TMB_AGAIN;
  udp_engine_clock(e);
  r->type = UDP_PART;
  r->action = UDP_ACT_MEDIUM;
  r->flags &= UDP_REPLY;
  r->total = out->nbytes;
  if (udp_parts_are(p, out->nbytes))
    return udp_gather_parts(e, p, r, out->src, 0, out->is_reply ? 0 : UDP_REPLY_SLOTS) ? 0
                                                                                       : TMB_AGAIN;
  struct udp_xfer *x = udp_xfer_new(e, p, r, out->src, out->nbytes);
  udp_xfer_copy(e, p, x);
  udp_xfer_add(e, p, x);
  return 0;
}

static int send_record(struct tmb_net *e, struct udp_peer *p, struct udp_record *r,
                       const struct tmb_am_out *out) {
  const uint32_t reserve = out->is_reply ? 0 : UDP_REPLY_SLOTS;
  if (r->bytes <= UDP_FIRST_MAX && udp_gather_first(e, p, r, reserve)) return 0;
  if (r->bytes > udp_payload_max(p, r) ||
      (r->bytes >= SPLIT_MIN && udp_gather_splits(p, r, r->bytes / 4 * 3)))
    return send_parts(e, p, r, out);
  return udp_gather(e, p, r, 0, reserve) ? 0 : TMB_AGAIN;
}

static int send_locked(struct tmb_net *e, struct udp_peer *p, struct tmb_am_out *out) {
  const uint32_t cost = out->is_reply ? 0 : udp_cost(out->nbytes);
  out->lacks = TMB_LACKS_CREDIT;
  const bool by_thread = tmb_net_out_by_thread(e->thread_handlers, out);
  if (cost && !udp_credit(e, p, cost, by_thread)) return TMB_AGAIN;
  out->lacks = TMB_LACKS_WINDOW;
  struct udp_record r = {.type = UDP_AM,
                         .handler = out->handler,
                         .nargs = out->nargs,
                         .route = out->route,
                         .args = out->args};
  if (out->is_reply) r.flags |= UDP_REPLY;
  if (out->category == TMB_AM_MEDIUM) {
    r.flags |= UDP_MEDIUM;
    r.bytes = (uint32_t)out->nbytes;
    r.payload = out->src;
  }
  const int rc = send_record(e, p, &r, out);
  if (rc) return rc;
  p->credit.sent += cost;
  udp_count(&e->stats->sent, 1);
  udp_count(&e->stats->bytes_out, r.bytes);
  return 0;
}

/* Inside handlers the clock is not read: their messages leave after the batch. */
int udp_am_send(struct tmb_net *e, struct tmb_am_out *out) {
  udp_engine_lock_blind(e);
  if (!e->kept.threads) udp_engine_clock(e);
  struct udp_peer *p = udp_peer_get(e, out->peer);
  int rc = 0;
  if (TMB_LIKELY(!p->lost)) {
    rc = send_locked(e, p, out);
    udp_gather_settle(e, p);
  }
  udp_engine_unlock(e);
  return rc;
}
