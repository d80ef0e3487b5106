/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 4 */
/* debug: both */
/* again: TOMBOLO_TEST_RING_SLOTS=64 */
/* timeout: 120 */
/*
 * API 02.5: each thread prepares, fills, cancels and commits its own negotiated messages while the
 * others do so, too.
 */
#include "job.h"
#include "threads.h"

enum { THREADS = 8, COUNT = 800, BYTES_MAX = 20000 };

static gex_AM_Index_t request_index, reply_index;
static uint64_t requests, replies[THREADS];

static void on_request(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t thread,
                       gex_AM_Arg_t id) {
  CHECK_BYTES(buf, nbytes, (uint32_t)id);
  __atomic_fetch_add(&requests, 1, __ATOMIC_SEQ_CST);
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, NULL, 64, 64, NULL, 0, 2);
  REQUIRE(sd != GEX_AM_SRCDESC_NO_OP);
  pattern_fill(gex_AM_SrcDescAddr(sd), 64, ~(uint64_t)(uint32_t)id);
  gex_AM_CommitReplyMedium2(sd, reply_index, 64, thread, id);
}

static void on_reply(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t thread,
                     gex_AM_Arg_t id) {
  (void)token;
  CHECK_EQ(nbytes, 64);
  CHECK_BYTES(buf, nbytes, ~(uint64_t)(uint32_t)id);
  __atomic_fetch_add(&replies[thread], 1, __ATOMIC_SEQ_CST);
}

static void body(int thread) {
  uint64_t random = test_seed() * 3 + job.rank * 100 + (unsigned)thread;
  char *client = (char *)check_room(1, BYTES_MAX);
  for (int i = 0; i < COUNT; i++) {
    const gex_Rank_t to = (job.rank + (gex_Rank_t)i) % job.size;
    const size_t n = 1 + rng_below(&random, i % 4 ? 500 : BYTES_MAX);
    const uint32_t id = (uint32_t)rng_next(&random);
    const int lib = rng_next(&random) % 2;
    gex_AM_SrcDesc_t sd;
    do {
      sd = gex_AM_PrepareRequestMedium(job.tm, to, lib ? NULL : client, n < 512 ? n : 512, n,
                                       lib ? NULL : GEX_EVENT_NOW, 0, 2);
      REQUIRE(sd != GEX_AM_SRCDESC_NO_OP);
      if (rng_next(&random) % 8) break;
      memset(gex_AM_SrcDescAddr(sd), 0x55, gex_AM_SrcDescSize(sd));
      CHECK_EQ(gex_AM_CancelRequestMedium(sd, 0), 0);
    } while (1);
    const size_t size = gex_AM_SrcDescSize(sd);
    CHECK_CMP(size, <=, n);
    pattern_fill(gex_AM_SrcDescAddr(sd), size, id);
    gex_AM_CommitRequestMedium2(sd, request_index, size, thread, id);
  }
  GASNET_BLOCKUNTIL(__atomic_load_n(&replies[thread], __ATOMIC_SEQ_CST) == COUNT);
  free(client);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  request_index = job_handler((gex_AM_Fn_t)on_request, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 2);
  reply_index = job_handler((gex_AM_Fn_t)on_reply, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 2);
  job_barrier();
  run_threads(THREADS, body);
  job_barrier();
  CHECK_EQ(requests, THREADS * COUNT);
  for (int t = 0; t < THREADS; t++) CHECK_EQ(replies[t], COUNT);
  return job_finish();
}
