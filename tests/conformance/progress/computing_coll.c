/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 7 */
/* env: TOMBOLO_PLACES=cyclic:7 TOMBOLO_CONDUIT=udp */
/* again: TOMBOLO_TEST_UDP_CREDITS=1 TOMBOLO_TEST_UDP_CREDITS=8 */
/*
 * docs/PROGRESS.md: collectives between hosts end for all other members while one that has called
 * them computes and makes no call: short and long broadcasts from it and from others, gather,
 * all-gather, exchange, reduction to all. It computes until the others have said that theirs are
 * complete; then its own complete, with the right data. Each rank is that member in turn. Skipped
 * on one host: its ranks wait for each other.
 */
#include "job.h"

#include <gasnet_coll.h>
#include <gasnetex_ext.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 200000, CALLS = 6 };

struct buffers {
  char *src, *all; /* [size][bytes] what this rank gives to each */
  char *dst[CALLS];
};

static char value(gex_Rank_t from, gex_Rank_t to, size_t i) {
  return (char)(from * 31 + to * 7 + i / 1000);
}

static void check(const char *data, gex_Rank_t from, gex_Rank_t to, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 97) CHECK_EQ(data[i], value(from, to, i));
}

static void begin(const struct buffers *b, gex_Rank_t busy, size_t bytes, gex_Event_t *event) {
  const gex_Rank_t other = (busy + 1) % job.size;
  event[0] = gex_Coll_BroadcastNB(job.tm, busy, b->dst[0], b->src, bytes, 0);
  event[1] = gex_Coll_BroadcastNB(job.tm, other, b->dst[1], b->src, bytes, 0);
  event[2] = gexx_Coll_GatherNB(job.tm, other, b->dst[2], b->src, bytes, 0);
  event[3] = gexx_Coll_AllGatherNB(job.tm, b->dst[3], b->src, bytes, 0);
  event[4] = gexx_Coll_ExchangeNB(job.tm, b->dst[4], b->all, bytes, 0);
  event[5] = gex_Coll_ReduceToAllNB(job.tm, b->dst[5], b->src, GEX_DT_U32, 4, bytes / 4, GEX_OP_XOR,
                                    NULL, NULL, 0);
}

static void check_all(const struct buffers *b, gex_Rank_t busy, size_t bytes) {
  const gex_Rank_t other = (busy + 1) % job.size;
  check(b->dst[0], busy, 0, bytes);
  check(b->dst[1], other, 0, bytes);
  for (gex_Rank_t r = 0; r < job.size; r++) {
    if (job.rank == other) check(b->dst[2] + r * bytes, r, 0, bytes);
    check(b->dst[3] + r * bytes, r, 0, bytes);
    check(b->dst[4] + r * bytes, r, job.rank, bytes);
  }
  for (size_t i = 0; i < bytes; i += 97) {
    char sum = 0;
    for (gex_Rank_t r = 0; r < job.size; r++) sum = (char)(sum ^ value(r, 0, i));
    CHECK_EQ(b->dst[5][i], sum);
  }
}

/* Makes no call until the others have changed the word often enough. */
static void compute(uint64_t until) {
  const volatile uint64_t *word = (uint64_t *)(void *)job.base;
  while (*word < until) usleep(1000);
}

static void turn(const struct buffers *b, gex_Rank_t busy, size_t bytes, uint64_t turns) {
  gex_Event_t event[CALLS];
  job_barrier();
  for (int i = 0; i < CALLS; i++) memset(b->dst[i], 0, job.size * bytes);
  for (size_t i = 0; i < bytes; i++) b->src[i] = value(job.rank, 0, i);
  for (gex_Rank_t r = 0; r < job.size; r++)
    for (size_t i = 0; i < bytes; i++) b->all[r * bytes + i] = value(job.rank, r, i);
  begin(b, busy, bytes, event);
  if (job.rank == busy) compute(turns * (job.size - 1));
  gex_Event_WaitAll(event, CALLS, 0);
  check_all(b, busy, bytes);
  if (job.rank != busy)
    gex_Event_Wait(gexx_RMA_PutSignalNB(job.tm, busy, job.peer[busy], NULL, 0, GEX_EVENT_DEFER,
                                        (uint64_t *)(void *)job.peer[busy], GEXX_SIG_ADD, 1, 0));
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 4096, NULL, 0);
  gex_Rank_t here = 0;
  gex_System_QueryNbrhdInfo(NULL, &here, NULL);
  if (here > 1 || !job_has_thread()) {
    if (job.rank == 0) puts("skipped: needs a host for each rank, and a conduit with a thread");
    gasnet_exit(77);
  }
  struct buffers b = {NULL, NULL, {NULL}};
  char *const memory = malloc((1 + (1 + CALLS) * job.size) * LONG);
  REQUIRE(memory != NULL);
  b.src = memory;
  b.all = b.src + LONG;
  for (size_t i = 0; i < CALLS; i++) b.dst[i] = b.all + (1 + i) * job.size * LONG;
  for (gex_Rank_t busy = 0; busy < job.size; busy++) {
    turn(&b, busy, 64, 1);
    turn(&b, busy, LONG, 2);
  }
  job_barrier();
  free(memory);
  return job_finish();
}
