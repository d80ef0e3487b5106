/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* again: TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 TMB_DEVICE=cuda
 * TMB_DEVICE=cuda+TOMBOLO_TEST_MK_PEER=0 */
/* timeout: 120 */
/*
 * API 04, 07.2: strided, vector and indexed transfers between host memory and the memory of a
 * simulated device, on either side or both, to every rank: transposed, with unequal pieces,
 * immediate, with peer completion. Any access to the device beside its copy functions ends the
 * process.
 */
#include "job.h"
#include "mk_pair.h"

#include <gasnet_vis.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT = 1 << 14, N = 12, PIECES = 9 };

static uintptr_t bytes;
static uint64_t notes;
static gex_AM_Index_t note;

static void poke(int e, char *addr, const void *from, size_t n) {
  if (e)
    dev_write(addr, from, n);
  else
    memcpy(addr, from, n);
}

static void peek(int e, void *to, const char *addr, size_t n) {
  if (e)
    dev_read(to, addr, n);
  else
    memcpy(to, addr, n);
}

static void on_note(gex_Token_t token, void *buf, size_t nbytes) {
  (void)token;
  CHECK_BYTES(buf, nbytes, 4);
  notes++;
}

/* Local buffers 0 and 1 of endpoint e, and my slot at endpoint e of a rank. */
static char *local(int e, int which) {
  return own[e] + ((size_t)job.size + (size_t)which) * SLOT;
}
static char *remote(int e, gex_Rank_t r) {
  return base[e][r] + (size_t)job.rank * SLOT;
}

/* A matrix of words goes out transposed and comes back. */
static void strided(int l, int e, gex_Rank_t r) {
  const gex_TM_t tm = gex_TM_Pair(ep[l], (gex_EP_Index_t)e);
  const ptrdiff_t across[2] = {8, N * 8}, straight[2] = {N * 8, 8};
  const size_t count[2] = {N, N};
  uint64_t out[N * N], in[N * N];
  gex_Event_t ev;
  for (size_t i = 0; i < N * N; i++) out[i] = i | (uint64_t)(job.rank + 1) << 32;
  poke(l, local(l, 0), out, sizeof out);
  while ((ev = gex_VIS_StridedPutNB(tm, r, remote(e, r), across, local(l, 0), straight, 8, count, 2,
                                    GEX_FLAG_IMMEDIATE | GEX_FLAG_ENABLE_LEAF_LC)) ==
         GEX_EVENT_NO_OP)
    gasnet_AMPoll();
  gex_Event_Wait(gex_Event_QueryLeaf(ev, GEX_EC_LC));
  gex_Event_Wait(ev);
  CHECK_EQ(gex_VIS_StridedGetBlocking(tm, local(l, 1), straight, r, remote(e, r), straight, 8,
                                      count, 2, 0),
           0);
  peek(l, in, local(l, 1), sizeof in);
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) CHECK_EQ(in[j * N + i], out[i * N + j]);
}

static void listed(int l, int e, gex_Rank_t r) {
  const gex_TM_t tm = gex_TM_Pair(ep[l], (gex_EP_Index_t)e);
  gex_Memvec_t far[PIECES], near[2] = {{local(l, 0), 100}, {local(l, 0) + 100, 80}};
  void *far_addr[PIECES], *near_addr[1] = {local(l, 1)};
  char out[180], in[180];
  for (size_t i = 0; i < PIECES; i++) {
    far_addr[i] = remote(e, r) + (PIECES - i) * 50;
    far[i].gex_addr = far_addr[i];
    far[i].gex_len = 20;
  }
  pattern_fill(out, sizeof out, job.rank + 50u);
  poke(l, local(l, 0), out, sizeof out);
  CHECK_EQ(gex_VIS_VectorPutNBI(tm, r, PIECES, far, 2, near, 0), 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  gex_Event_Wait(gex_VIS_IndexedGetNB(tm, 1, near_addr, 180, r, PIECES, far_addr, 20, 0));
  peek(l, in, local(l, 1), sizeof in);
  CHECK_BYTES(in, sizeof in, job.rank + 50u);
}

/* From the device here to the host there, so that a handler may run at the primordial endpoint. */
static void notified(void) {
  const gex_Rank_t r = (job.rank + 1) % job.size;
  const gex_TM_t tm = gex_TM_Pair(ep[1], 0);
  const ptrdiff_t wide = 24, tight = 8;
  const size_t count = 10;
  char payload[40];
  pattern_fill(payload, sizeof payload, 4);
  gex_VIS_SetPeerCompletionHandler(note, payload, sizeof payload, 0);
  gex_VIS_StridedPutNBI(tm, r, remote(0, r), &wide, local(1, 0), &tight, 8, &count, 1, 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  GASNET_BLOCKUNTIL(notes >= 1);
  CHECK_EQ(notes, 1);
}

int main(int argc, char **argv) {
  dev_select();
  job_start(&argc, &argv, 0, NULL, 0);
  note = job_handler((gex_AM_Fn_t)on_note, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0);
  job_barrier();
  bytes = ((uintptr_t)job.size + 2) * SLOT;
  make_endpoints(bytes);
  job_barrier();
  for (int l = 0; l < 2; l++)
    for (int e = 0; e < 2; e++)
      for (gex_Rank_t r = 0; r < job.size; r++) {
        strided(l, e, r);
        listed(l, e, r);
      }
  notified();
  job_barrier();
  return job_finish();
}
