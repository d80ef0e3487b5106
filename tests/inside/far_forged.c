/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 */
/* timeout: 120 */
/*
 * Internal messages of a rank on another host whose addresses, lengths or places are wrong end the
 * job with words that say so, before memory is touched. Each case hands such a message to the
 * library as a conduit does.
 */
#include "core/am/am.h"
#include "core/am/kit.h"
#include "core/job.h"
#include "dbg_case.h"
#include "net/up.h"
#include "vis/vis.h"
#include "vis/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES(fn)           DBG_CASE_WITH(fn, 2, NULL, "rank 1 names", "check the remote address")
#define MALFORMED(fn, what) DBG_CASE_WITH(fn, 2, NULL, "a message of rank 1", "malformed", what)
#define OUTSIDE             UINT64_C(0x10) /* no memory of any process */

/* As in notify/mk_signal.c. */
struct signal_head {
  uint64_t remote, local, op, signal, value, total;
  uint32_t bytes, id, signal_op, category, ep, ep_there;
};

static _Alignas(16) char payload[1024];

static void arrives(uint8_t handler, const int32_t *args, uint8_t nargs, size_t nbytes) {
  const struct tmb_am_in in = {.src = !tmb_job.rank,
                               .category = nbytes ? TMB_AM_MEDIUM : TMB_AM_SHORT,
                               .handler = handler,
                               .nargs = nargs,
                               .args = args,
                               .payload = nbytes ? payload : NULL,
                               .nbytes = nbytes};
  if (tmb_is_near(in.src)) exit(3);
  if (tmb_job.rank == 0) tmb_up_am(&in);
  for (;;) { /* the other rank, until it is ended */
    gasnet_AMPoll();
    usleep(1000);
  }
}

/* ---- memory kinds */

static void mk_put(uint64_t addr, int32_t ep) {
  int32_t args[6] = {0};
  tmb_kit_pack64(args, addr);
  args[5] = ep;
  arrives(TMB_KIT_MK_PUT, args, 6, 64);
}

NAMES(mk_put_address) {
  mk_put(OUTSIDE, 0);
}

MALFORMED(mk_put_endpoint, "endpoint") {
  mk_put((uintptr_t)dbg.base, GASNET_MAXEPS);
}

MALFORMED(mk_put_no_endpoint, "endpoint") {
  mk_put((uintptr_t)dbg.base, GASNET_MAXEPS - 1);
}

static void mk_get(uint64_t addr, uint32_t bytes) {
  int32_t args[10] = {0};
  tmb_kit_pack64(args, addr);
  args[2] = (int32_t)bytes;
  arrives(TMB_KIT_MK_GET, args, 10, 0);
}

NAMES(mk_get_address) {
  mk_get(OUTSIDE, 64);
}

MALFORMED(mk_get_length, "length") {
  mk_get((uintptr_t)dbg.base, UINT32_MAX);
}

static void mk_signal(uint8_t handler, uint64_t remote, uint64_t signal, uint32_t bytes) {
  const struct signal_head h = {
      .remote = remote, .signal = signal, .bytes = bytes, .total = bytes, .id = 1};
  memcpy(payload, &h, sizeof h);
  arrives(handler, NULL, 0, sizeof h + 64);
}

NAMES(mk_put_signal_address) {
  mk_signal(TMB_KIT_MK_PUT_SIGNAL, OUTSIDE, (uintptr_t)dbg.base, 64);
}

NAMES(mk_put_signal_word) {
  mk_signal(TMB_KIT_MK_PUT_SIGNAL, (uintptr_t)dbg.base, OUTSIDE, 64);
}

MALFORMED(mk_put_signal_length, "length") {
  mk_signal(TMB_KIT_MK_PUT_SIGNAL, (uintptr_t)dbg.base, (uintptr_t)dbg.base, 65);
}

NAMES(mk_get_signal_address) {
  mk_signal(TMB_KIT_MK_GET_SIGNAL, OUTSIDE, (uintptr_t)dbg.base, 64);
}

/* ---- strided */

static void strided(uint64_t base, uint64_t count, int64_t stride, uint64_t at) {
  const struct tmb_vis_head h = {
      .base = base, .elem = 8, .at = at, .bytes = 16, .total = 16, .count = 1, .strided = 1};
  const struct tmb_vis_wire_dim dim = {count, stride};
  memcpy(payload, &h, sizeof h);
  memcpy(payload + sizeof h, &dim, sizeof dim);
  arrives(TMB_KIT_VIS_PUT, NULL, 0, sizeof h + sizeof dim + 16);
}

NAMES(strided_base) {
  strided(OUTSIDE, 2, 16, 0);
}

NAMES(strided_far) {
  strided((uintptr_t)dbg.base, 2, INT64_C(1) << 45, 0);
}

NAMES(strided_before) {
  strided((uintptr_t)dbg.base, 2, -(INT64_C(1) << 45), 0);
}

MALFORMED(strided_overflow, "shape") {
  strided((uintptr_t)dbg.base, UINT64_MAX, INT64_MAX, 0);
}

MALFORMED(strided_none, "shape") {
  strided((uintptr_t)dbg.base, 0, 16, 0);
}

MALFORMED(strided_beyond, "shape") {
  strided((uintptr_t)dbg.base, 2, 16, 8);
}

/* ---- collectives and teams */

MALFORMED(offer, "offer") {
  int32_t args[11] = {0};
  arrives(TMB_KIT_COLL_OFFER, args, 11, 0);
}

MALFORMED(gather_place, "place") {
  const int32_t args[5] = {0, 0, 0, 0, -64};
  arrives(TMB_KIT_GATHER, args, 5, 64);
}

MALFORMED(gather_round, "place") {
  const int32_t args[5] = {0, 0, 0, 0xff, 0};
  arrives(TMB_KIT_GATHER, args, 5, 64);
}

MALFORMED(atomic_length, "length") {
  int32_t args[8] = {0};
  tmb_kit_pack64(args + 3, (uintptr_t)dbg.base);
  args[5] = -1;
  arrives(TMB_KIT_ATOMIC_DONE, args, 8, 0);
}

int main(int argc, char **argv) {
#if defined(__SANITIZE_THREAD__)
  printf("skipped: each case ends its process, and has one thread\n");
  return 77;
#endif
  setenv("TOMBOLO_PLACES", "2", 1);
  setenv("TOMBOLO_CONDUIT", "loop", 1);
  return dbg_main(argc, argv, dbg_setup);
}
