/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchange (all-to-all), with blocks of one length or of many.
 *
 * Owns nothing. Called through select.c's table. Calls: schedule.h. Bruck: J. Bruck et al., IEEE
 * Trans. Parallel Distrib. Syst. 8(11), 1997, doi:10.1109/71.642949. Pairwise: R. Thakur, R.
 * Rabenseifner, W. Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005,
 * doi:10.1177/1094342005051521. Invariants: in pairwise round k a rank sends to rank + k and
 * receives from rank - k.
 */
#include "coll/algorithms/alg.h"

#include "base/compiler.h"

/* Block i of a buffer. */
static struct tmb_msg block(const struct tmb_coll_shape *c, const struct tmb_coll_blocks *v,
                            struct tmb_ref buf, uint32_t i) {
  if (!v->bytes)
    return (struct tmb_msg){
        .peer = i, .at = tmb_ref_at(buf, tmb_coll_span(c, 0, i)), .bytes = tmb_coll_span(c, i, 1)};
  return (struct tmb_msg){.peer = i, .at = tmb_ref_at(buf, v->at[i]), .bytes = v->bytes[i]};
}

static void local_copy(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  const struct tmb_msg to = block(c, &c->recv, c->dst, c->rank);
  const struct tmb_msg from = block(c, &c->send, c->src, c->rank);
  tmb_sched_copy(s, to.at, from.at, TMB_MIN(to.bytes, from.bytes));
}

/* Send to and receive from the members at distance k. */
static void exchange_at(struct tmb_sched *s, const struct tmb_coll_shape *c, uint32_t k) {
  struct tmb_msg in = block(c, &c->recv, c->dst, tmb_coll_up(c, c->rank, c->size - k));
  in.flags = TMB_STEP_EARLY;
  tmb_sched_send(s, c, block(c, &c->send, c->src, tmb_coll_up(c, c->rank, k)));
  tmb_sched_recv(s, c, in);
}

void tmb_alg_exchange_flat(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  for (uint32_t k = 1; k < c->size; k++) exchange_at(s, c, k);
  local_copy(s, c);
}

void tmb_alg_exchange_pairwise(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  for (uint32_t k = 1; k < c->size; k++) {
    tmb_sched_next(s);
    exchange_at(s, c, k);
    if (k == 1) local_copy(s, c);
  }
  if (c->size == 1) local_copy(s, c);
}

/* Copy the blocks whose distance has the bit `mask` from `work` to `packed`, or back. Returns how
 * many. */
static uint64_t pack(struct tmb_sched *s, const struct tmb_coll_shape *c,
                     const struct tmb_ref at[2], uint32_t mask, bool back) {
  uint64_t n = 0;
  for (uint32_t i = mask; i < c->size; i++) {
    if (!(i & mask)) continue;
    const struct tmb_ref w = tmb_ref_at(at[0], i * c->bytes), p = tmb_ref_at(at[1], n * c->bytes);
    tmb_sched_copy(s, back ? w : p, back ? p : w, c->bytes);
    n++;
  }
  return n;
}

void tmb_alg_exchange_bruck(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  const struct tmb_ref work = tmb_sched_tmp(s, c->size * c->bytes);
  const struct tmb_ref out = tmb_sched_tmp(s, (c->size + 1) / 2 * c->bytes);
  const struct tmb_ref in = tmb_sched_tmp(s, (c->size + 1) / 2 * c->bytes);
  uint32_t tag = 0;
  /* `work` holds the blocks by distance: block i is to go to the member i ranks above. */
  tmb_sched_copy(s, work, tmb_ref_at(c->src, c->rank * c->bytes), (c->size - c->rank) * c->bytes);
  tmb_sched_copy(s, tmb_ref_at(work, (c->size - c->rank) * c->bytes), c->src, c->rank * c->bytes);
  for (uint32_t mask = 1; mask && mask < c->size; mask <<= 1, tag++) {
    tmb_sched_next(s);
    const uint64_t bytes = pack(s, c, (struct tmb_ref[]){work, out}, mask, false) * c->bytes;
    tmb_sched_send(s, c, (struct tmb_msg){tmb_coll_up(c, c->rank, mask), tag, out, bytes, 0});
    tmb_sched_recv(
        s, c,
        (struct tmb_msg){tmb_coll_up(c, c->rank, c->size - mask), tag, in, bytes, TMB_STEP_FREE});
    tmb_sched_next(s);
    (void)pack(s, c, (struct tmb_ref[]){work, in}, mask, true);
  }
  for (uint32_t i = 0; i < c->size; i++)
    tmb_sched_copy(s, tmb_ref_at(c->dst, tmb_coll_up(c, c->rank, c->size - i) * c->bytes),
                   tmb_ref_at(work, i * c->bytes), c->bytes);
}
