/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 3 4 */
/* env: TOMBOLO_PLACES=2 TOMBOLO_CONDUIT=loop */
/* again: TOMBOLO_PLACES=cyclic:2 TOMBOLO_TEST_NET_HOOK=trace/fault:again=20:reorder=30 */
/* timeout: 60 */
/*
 * A conduit that has atomics of its own is asked for those of ranks of other hosts, and for no
 * others; what it does not do is done by messages, and the two agree; one that has no room is asked
 * again, but for an immediate operation. The conduit is loop, with a slot that this program adds:
 * it sends the operation to the owner as a message of the program's.
 */
#include "base/error.h"
#include "core/am/kit.h"
#include "core/job.h"
#include "job.h"
#include "net/net.h"
#include "net/up.h"
#include "ratomic/ratomic.h"

#include <string.h>

enum { ROUNDS = 200, OP_ARGS = 14 };

static struct tmb_net_ops table;
static unsigned asked, refused, done, unsupported;
static bool no_room; /* for good */

/* Request: remote(0,1) opcode(2) dt(3) operands(4..7) op(8,9) category(10) result(11,12) 0(13).
 * Reply: the same with the value before in (4,5), and 1 in (13). */
static void on_atomic(const struct tmb_am_in *in) {
  int32_t a[OP_ARGS];
  memcpy(a, in->args, sizeof a);
  if (a[13]) {
    void *const result = tmb_kit_unpack_ptr(a + 11);
    if (result) memcpy(result, a + 4, 8);
    tmb_up_peer_done(tmb_kit_unpack_ptr(a + 8), (uint32_t)a[10], in->src);
    return;
  }
  const uint64_t operand[2] = {tmb_kit_unpack64(a + 4), tmb_kit_unpack64(a + 6)};
  const void *const operands[2] = {&operand[0], &operand[1]};
  uint64_t old = 0;
  tmb_ratomic_apply(&(struct tmb_ratomic_rmw){.dt = (gex_DT_t)a[3],
                                              .opcode = (gex_OP_t)a[2],
                                              .addr = tmb_kit_unpack_ptr(a),
                                              .operand = operands,
                                              .old = &old});
  tmb_kit_pack64(a + 4, old);
  a[13] = 1;
  tmb_kit_reply(in->src, TMB_KIT_TEST, a, OP_ARGS);
}

static int atomic_slot(struct tmb_net *net, const struct tmb_net_atomic *atomic) {
  int32_t a[OP_ARGS] = {0};
  CHECK(!tmb_is_near(atomic->peer));
  if (no_room || ++asked % 3 == 0) {
    refused++;
    return TMB_AGAIN;
  }
  if (atomic->opcode == GEX_OP_SET || atomic->opcode == GEX_OP_FSUB) {
    unsupported++;
    return TMB_E_UNSUPPORTED;
  }
  tmb_kit_pack_ptr(a, atomic->remote);
  a[2] = (int32_t)atomic->opcode;
  a[3] = (int32_t)atomic->dt;
  tmb_kit_pack64(a + 4, atomic->operand[0]);
  tmb_kit_pack64(a + 6, atomic->operand[1]);
  tmb_kit_pack_ptr(a + 8, atomic->op);
  a[10] = (int32_t)atomic->category;
  tmb_kit_pack_ptr(a + 11, atomic->result);
  struct tmb_am_out out = {
      .peer = atomic->peer, .handler = TMB_KIT_TEST, .nargs = OP_ARGS, .staged = -1, .args = a};
  const int rc = table.am_send(net, &out);
  if (rc == 0) done++;
  return rc;
}

static uint64_t *word_of(gex_Rank_t rank) {
  return (uint64_t *)(void *)job.peer[rank];
}

/* All ranks change all words: by the slot, by messages and, on the word's host, by instructions. */
static void together(gex_AD_t ad) {
  uint64_t old;
  for (int i = 0; i < ROUNDS; i++)
    for (gex_Rank_t r = 0; r < job.size; r++) {
      gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, r, word_of(r), GEX_OP_FADD, 5, 0, 0));
      gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, r, word_of(r), GEX_OP_FSUB, 2, 0, 0));
      CHECK_CMP(old, >=, 5);
      CHECK_EQ(gex_AD_OpNBI_U64(ad, NULL, r, word_of(r), GEX_OP_ADD, 1, 0, 0), 0);
    }
  gex_NBI_Wait(GEX_EC_ALL, 0);
  job_barrier();
  CHECK_EQ(*word_of(job.rank), (uint64_t)4 * ROUNDS * job.size);
  job_barrier();
}

static void immediate(gex_AD_t ad) {
  uint64_t old = 0;
  const gex_Rank_t far = (job.rank + job.size / 2) % job.size;
  if (tmb_is_near(far)) return;
  no_room = true;
  const unsigned before = refused;
  CHECK(gex_AD_OpNB_U64(ad, &old, far, word_of(far), GEX_OP_FADD, 1, 0, GEX_FLAG_IMMEDIATE) ==
        GEX_EVENT_NO_OP);
  CHECK_CMP(gex_AD_OpNBI_U64(ad, &old, far, word_of(far), GEX_OP_FADD, 1, 0, GEX_FLAG_IMMEDIATE),
            !=, 0);
  CHECK_EQ(refused, before + 2);
  no_room = false;
}

int main(int argc, char **argv) {
  gex_AD_t ad;
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach(4096);
  REQUIRE(tmb_job.net != NULL);
  table = *tmb_job.net;
  table.atomic = atomic_slot;
  tmb_up_set_internal(TMB_KIT_TEST, on_atomic);
  tmb_job.net = &table;
  *word_of(job.rank) = 0;
  gex_AD_Create(&ad, job.tm, GEX_DT_U64, GEX_OP_FADD | GEX_OP_FSUB | GEX_OP_ADD | GEX_OP_SET, 0);
  job_barrier();
  together(ad);
  immediate(ad);
  job_barrier();
  CHECK_EQ(*word_of(job.rank), (uint64_t)4 * ROUNDS * job.size);
  CHECK(done && unsupported && refused);
  gex_AD_Destroy(ad);
  return job_finish();
}
