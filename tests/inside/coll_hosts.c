/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 4 5 */
/* env: TOMBOLO_TEST_COLL_BOARD_MAX=0 */
/* again: TOMBOLO_PLACES=2+TOMBOLO_CONDUIT=loop TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_PLACES=2+TOMBOLO_CONDUIT=loop+TOMBOLO_COLL_ALG=all=nodes */
/* timeout: 90 */
/*
 * Long data of collectives are read in the sender's memory by ranks of its host, and come as
 * messages to ranks of other hosts. Each host decides for itself: when all ranks of one host, and
 * not those of the others, forbid to be read (another user, run by root, or prctl), the others go
 * on reading. Ranks of different pretended hosts could read each other, so what they offer is seen
 * in schedules.
 */
#include "coll/calls/call.h"
#include "coll/engine/engine.h"
#include "coll/engine/pull.h"
#include "coll_sum.h"
#include "core/rma/cross_read.h"
#include "core/team.h"
#include "job.h"
#include "os/memory/peer_copy.h"

#include <gasnet_coll.h>
#include <gasnetex_ext.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { BYTES_MIN = 64 << 10, BYTES_MAX = 1 << 20, NOBODY = 65534 };

static uint64_t *in, *out;

static uint64_t word(gex_Rank_t rank, int round, size_t i) {
  return mix64(rank * 1000003 + (uint64_t)round * 77 + i);
}

static void fill(int round, size_t count) {
  for (size_t i = 0; i < count; i++) in[i] = word(job.rank, round, i);
}

static void allgather(int round, size_t n) {
  size_t bad = 0;
  fill(round, n);
  gex_Event_Wait(gexx_Coll_AllGatherNB(job.tm, out, in, 8 * n, 0));
  for (size_t r = 0; r < job.size; r++)
    for (size_t i = 0; i < n; i++) bad += out[r * n + i] != word((gex_Rank_t)r, round, i);
  CHECK_EQ(bad, 0);
}

static void broadcast(int round, size_t n) {
  const gex_Rank_t root = (gex_Rank_t)round % job.size;
  size_t bad = 0;
  fill(round, n);
  gex_Event_Wait(gex_Coll_BroadcastNB(job.tm, root, out, in, 8 * n, 0));
  for (size_t i = 0; i < n; i++) bad += out[i] != word(root, round, i);
  CHECK_EQ(bad, 0);
}

static void allreduce(int round, size_t n, gex_OP_t op) {
  fill(round, n);
  sum_check(out, in, n, op, round, word);
}

static void exchange(int round, size_t n) {
  size_t bad = 0;
  fill(round, n * job.size);
  gex_Event_Wait(gexx_Coll_ExchangeNB(job.tm, out, in, 8 * n, 0));
  for (size_t r = 0; r < job.size; r++)
    for (size_t i = 0; i < n; i++)
      bad += out[r * n + i] != word((gex_Rank_t)r, round, job.rank * n + i);
  CHECK_EQ(bad, 0);
}

static void all_kinds(int round) {
  for (size_t n = BYTES_MIN / 8; n <= BYTES_MAX / 8; n *= 4) {
    allgather(round, n);
    broadcast(round, n);
    allreduce(round, n, GEX_OP_ADD);
    exchange(round, n);
    allreduce(round, n, GEX_OP_USER);
  }
}

/* Count messages of a collective to and from ranks of this host that are read in the sender's
 * memory; to and from others none may be. */
static uint32_t read_near(uint32_t kind) {
  struct tmb_team *team = (struct tmb_team *)job.tm;
  struct tmb_coll_call call = {.kind = kind, .bytes = BYTES_MIN, .commutes = true};
  uint32_t near = 0, far = 0;
  call.reducer.elem = 8;
  struct tmb_coll_plan *plan = tmb_coll_plan_get(team, &call, false);
  for (uint32_t i = 0; i < plan->sched.count; i++) {
    const struct tmb_step *step = &plan->sched.step[i];
    if (!(step->flags & TMB_STEP_PULL)) continue;
    if (tmb_is_near(tmb_team_jobrank(team, step->peer)))
      near++;
    else
      far++;
  }
  tmb_coll_plan_release(plan);
  CHECK_EQ(far, 0);
  return near;
}

/* in reads: whether ranks of this host read each other. */
static void check_schedules(bool reads) {
  const bool one_host = tmb_job.boot.places.hosts == 1;
  uint32_t near = read_near(TMB_COLL_BROADCAST);
  if (one_host && job.size > 1) CHECK_EQ(near > 0, reads);
  near += read_near(TMB_COLL_ALLGATHER) + read_near(TMB_COLL_ALLREDUCE) +
          read_near(TMB_COLL_EXCHANGE) + read_near(TMB_COLL_SYNC);
  CHECK_EQ(near > 0, reads && tmb_job.boot.places.near_count > 1);
}

/* All ranks of the last host forbid to be read; everybody finds out again who may read whom. */
static void forbid_on_last_host(void) {
  const struct tmb_places *places = &tmb_job.boot.places;
  if (places->host == places->hosts - 1) {
    if (geteuid() == 0) REQUIRE(setuid(NOBODY) == 0);
    REQUIRE(prctl(PR_SET_DUMPABLE, 0) == 0);
  }
  job_barrier();
  tmb_cross_read_init();
  job_barrier();
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, GASNET_PAGESIZE, NULL, 0);
  const struct tmb_places *places = &tmb_job.boot.places;
  in = malloc((size_t)BYTES_MAX * job.size);
  out = malloc((size_t)BYTES_MAX * job.size);
  REQUIRE(in && out);
  if (job.size > 1 && !tmb_job.peer_copy) {
    printf("the kernel lets nobody read here\n");
    gasnet_exit(77);
  }
  check_schedules(tmb_pull_works());
  all_kinds(0);
  forbid_on_last_host();
  if (places->host < places->hosts - 1) CHECK(tmb_job.peer_copy);
  if (places->host == places->hosts - 1 && places->near_count > 1) CHECK(!tmb_job.peer_copy);
  check_schedules(tmb_pull_works());
  all_kinds(1);
  free(in);
  free(out);
  return job_finish();
}
