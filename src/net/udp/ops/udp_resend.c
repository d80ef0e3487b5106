/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Retransmission: the rail of a packet that is sent again, its length, and its pieces.
 *
 * Owns nothing. Called by udp_progress.c. Calls udp_rail.c, udp_pieces.c, udp_send.c. Invariant: a
 * packet keeps its number and its bytes; where the path has become narrower it goes in pieces.
 */
#include "net/udp/ops/udp_engine.h"

/* Datagrams get shorter where long ones vanish: a packet, or its pieces. */
static void lower_length(struct tmb_net *e, struct udp_peer *p, struct udp_slot *slot) {
  const uint32_t bytes = TMB_MIN(slot->head_bytes + slot->tail_bytes, p->mtu.bytes);
  if (TMB_LIKELY(!udp_mtu_lost(&p->mtu, bytes, slot->tries, slot->sent_ns))) return;
  slot->tries = 1; /* at this length */
  udp_rail_set_bytes(e, p);
  udp_mtu_want(&p->mtu, e->time.now_ns);
}

void udp_packet_resend(struct tmb_net *e, struct udp_peer *p, uint64_t number) {
  struct udp_slot *slot = udp_tx_slot(&p->tx, number);
  if (TMB_UNLIKELY(udp_rail_is_stream(e, slot->rail)))
    udp_rail_broke(e, p, slot);
  else
    lower_length(e, p, slot);
  struct udp_out out = {.peer = p->rank,
                        .rail = udp_rail_again(e, p, slot),
                        .head = slot->buf->data,
                        .head_bytes = slot->head_bytes,
                        .tail = slot->tail,
                        .tail_bytes = slot->tail_bytes,
                        /* The peer may have refused the packet because the program wrote to its
                         * data. */
                        .changes = !slot->xfer || !slot->xfer->copy};
  const uint32_t bytes = slot->head_bytes + slot->tail_bytes;
  slot->rail = (uint8_t)out.rail;
  udp_count(&e->stats->retransmits, 1);
  if (TMB_UNLIKELY(e->up->packet != NULL)) e->up->packet("resent", p->rank, bytes);
  if (TMB_UNLIKELY(udp_pieces_due(e, p, slot, out.rail))) {
    udp_pieces_send(e, p, slot, number);
    udp_tx_sent(&p->tx, slot, e->time.now_ns);
    return;
  }
  udp_packet_again(e, p, slot, number, &out);
}
