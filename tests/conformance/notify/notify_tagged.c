/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 TOMBOLO_NOTIFY_CREDITS=2 */
/* again: TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop+TOMBOLO_TEST_NET_HOOK=fault:reorder=40:us=300
 */
/* again: TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop+TOMBOLO_TEST_NET_HOOK=delay:us=0:jitter=500
 */
/* timeout: 60 */
/*
 * Tagged notification: matching by source and tag, any of them, counts, arrival order, kept
 * notifications, the bound on them and its back-pressure; data are there when a notification is
 * matched; a team whose ranks differ from the job's; get with notification in all forms.
 */
#include "job.h"

#include <gasnetex_ext.h>

enum { BYTES = 70000, ROUNDS = 12, FLOOD = 700 };

static char *local;

static char *slot(gex_Rank_t to, gex_Rank_t from) {
  return job.peer[to] + (size_t)from * BYTES;
}

static gexx_Notify_t request(gex_TM_t tm, gex_Rank_t source, uint32_t tag, uint32_t count) {
  gexx_Notify_t req;
  REQUIRE(gexx_Notify_Init(tm, source, tag, count, &req) == GASNET_OK);
  return req;
}

static void put(gex_Rank_t to, size_t n, unsigned round) {
  pattern_fill(local, n, job.rank * 100 + round);
  if (round % 3 == 0) {
    CHECK_EQ(gexx_RMA_PutNotify(job.tm, to, slot(to, job.rank), local, n, round, 0), 0);
    memset(local, 1, n);
  } else if (round % 3 == 1) {
    CHECK_EQ(
        gexx_RMA_PutNotifyNBI(job.tm, to, slot(to, job.rank), local, n, GEX_EVENT_DEFER, round, 0),
        0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
  } else {
    gex_Event_t leaf;
    const gex_Event_t e =
        gexx_RMA_PutNotifyNB(job.tm, to, slot(to, job.rank), local, n, &leaf, round, 0);
    CHECK(e != GEX_EVENT_NO_OP);
    gex_Event_Wait(leaf);
    gex_Event_Wait(e);
  }
}

/* A ring of puts; the request is sometimes started before, sometimes after the arrival. */
static void ring(void) {
  static const size_t sizes[] = {0, 8, 1000, 65535, BYTES};
  const gex_Rank_t to = (job.rank + 1) % job.size, from = (job.rank + job.size - 1) % job.size;
  gexx_Notify_Status_t status;
  for (unsigned round = 0; round < ROUNDS; round++) {
    const size_t n = sizes[round % 5];
    const gexx_Notify_t req = request(job.tm, from, round, 1);
    if (round % 2) gexx_Notify_Start(req);
    put(to, n, round);
    if (round % 2 == 0) gexx_Notify_Start(req);
    if (round % 4 < 2)
      gexx_Notify_Wait(req, &status);
    else
      while (gexx_Notify_Test(req, &status) != GASNET_OK) continue;
    CHECK_EQ(status.gexx_source, from);
    CHECK_EQ(status.gexx_tag, round);
    CHECK_EQ(status.gexx_nbytes, n);
    CHECK_BYTES(slot(job.rank, from), n, from * 100 + round);
    gexx_Notify_Free(req);
    job_barrier();
  }
}

/* Everybody notifies rank 0, which first takes those with tag 2, whatever came before. */
static void choose(void) {
  job_barrier();
  if (job.rank)
    for (uint32_t tag = 1; tag <= 2; tag++)
      CHECK_EQ(gexx_RMA_PutNotify(job.tm, 0, NULL, NULL, 0, tag, 0), 0);
  if (job.rank == 0 && job.size > 1) {
    gexx_Notify_Status_t status;
    const gexx_Notify_t two = request(job.tm, GEXX_NOTIFY_ANY_SOURCE, 2, job.size - 1);
    const gexx_Notify_t any = request(job.tm, GEXX_NOTIFY_ANY_SOURCE, GEXX_NOTIFY_ANY_TAG, 1);
    const gexx_Notify_t last = request(job.tm, job.size - 1, GEXX_NOTIFY_ANY_TAG, 1);
    gexx_Notify_Start(two);
    gexx_Notify_Wait(two, &status);
    CHECK_EQ(status.gexx_tag, 2);
    gexx_Notify_Start(last);
    gexx_Notify_Wait(last, &status);
    CHECK_EQ(status.gexx_source, job.size - 1);
    CHECK_EQ(status.gexx_tag, 1);
    for (gex_Rank_t i = 2; i < job.size; i++) {
      gexx_Notify_Start(any);
      gexx_Notify_Wait(any, &status);
      CHECK_EQ(status.gexx_tag, 1);
      CHECK(status.gexx_source < job.size - 1 && status.gexx_source > 0);
    }
    gexx_Notify_Start(any);
    CHECK_EQ(gexx_Notify_Test(any, NULL), GASNET_ERR_NOT_READY);
    CHECK_EQ(gexx_RMA_PutNotify(job.tm, 0, NULL, NULL, 0, 9, 0), 0); /* ends it */
    gexx_Notify_Wait(any, &status);
    CHECK_EQ(status.gexx_tag, 9);
    gexx_Notify_Free(two);
    gexx_Notify_Free(any);
    gexx_Notify_Free(last);
  }
  job_barrier();
}

/* Many more than may be kept: in order, bounded, none lost; two requests share them. */
static void flood(void) {
  gexx_Notify_Stats_t stats;
  const gex_Rank_t to = job.rank ^ 1u;
  if (to < job.size && job.rank % 2)
    for (uint32_t i = 0; i < FLOOD; i++)
      CHECK_EQ(gexx_RMA_PutNotify(job.tm, to, NULL, NULL, 0, i, 0), 0);
  if (to < job.size && job.rank % 2 == 0) {
    const gexx_Notify_t a = request(job.tm, to, GEXX_NOTIFY_ANY_TAG, 1);
    const gexx_Notify_t b = request(job.tm, GEXX_NOTIFY_ANY_SOURCE, GEXX_NOTIFY_ANY_TAG, 3);
    gexx_Notify_Status_t status;
    sleep_ms(20); /* let the bound be reached */
    for (uint32_t i = 0; i < FLOOD; i += 4) {
      gexx_Notify_Start(a);
      gexx_Notify_Start(b);
      gexx_Notify_Wait(b, &status);
      CHECK_EQ(status.gexx_tag, i + 3);
      gexx_Notify_Wait(a, &status);
      CHECK_EQ(status.gexx_tag, i);
    }
    gexx_Notify_Free(a);
    gexx_Notify_Free(b);
    gexx_Notify_QueryStats(&stats);
    CHECK_EQ(stats.gexx_kept, 0);
    CHECK_CMP(stats.gexx_kept_max, <=, stats.gexx_credits * job.size);
    CHECK_CMP(stats.gexx_matched + stats.gexx_kept_total, >=, FLOOD);
  }
  job_barrier();
}

/* Immediate sends stop at the limit; what was sent is all there. */
static void limit(void) {
  gexx_Notify_Stats_t stats;
  gexx_Notify_QueryStats(&stats);
  uint32_t sent = 0;
  const gexx_Notify_t req = request(job.tm, job.rank, 77, 1);
  while (!gexx_RMA_PutNotify(job.tm, job.rank, NULL, NULL, 0, 77, GEX_FLAG_IMMEDIATE)) sent++;
  CHECK(sent >= stats.gexx_credits / 2 && sent <= stats.gexx_credits);
  for (uint32_t i = 0; i < sent; i++) {
    gexx_Notify_Start(req);
    gexx_Notify_Wait(req, NULL);
  }
  gexx_Notify_Free(req);
  gexx_Notify_QueryStats(&stats);
  CHECK_EQ(stats.gexx_kept, 0);
}

/* A team in reverse order: ranks in calls and status are those of the team. */
static void team(void) {
  gex_TM_t tm;
  (void)gex_TM_Split(&tm, job.tm, 0, -(int)job.rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  const gex_Rank_t me = gex_TM_QueryRank(tm);
  CHECK_EQ(me, job.size - 1 - job.rank);
  const gexx_Notify_t req = request(tm, (me + 1) % job.size, 5, 1);
  const gexx_Notify_t whole = request(job.tm, GEXX_NOTIFY_ANY_SOURCE, 5, 1);
  gexx_Notify_Status_t status;
  gexx_Notify_Start(whole);
  gexx_Notify_Start(req);
  const gex_Rank_t to = (me + job.size - 1) % job.size;
  CHECK_EQ(gexx_RMA_PutNotify(tm, to, NULL, NULL, 0, 5, 0), 0);
  gexx_Notify_Wait(req, &status);
  CHECK_EQ(status.gexx_source, (me + 1) % job.size);
  CHECK_EQ(gexx_Notify_Test(whole, NULL), GASNET_ERR_NOT_READY); /* another team's */
  CHECK_EQ(gexx_RMA_PutNotify(job.tm, job.rank, NULL, NULL, 0, 5, 0), 0);
  gexx_Notify_Wait(whole, NULL);
  gexx_Notify_Free(req);
  gexx_Notify_Free(whole);
  job_barrier();
  (void)gex_TM_Destroy(tm, NULL, 0);
}

/* One get with notification, in the form that `round` says; the data are here on return. */
static void get(gex_Rank_t from, const char *src, size_t n, unsigned round) {
  memset(local, 0, n);
  if (round % 3 == 0) {
    CHECK_EQ(gexx_RMA_GetNotify(job.tm, local, from, (void *)(uintptr_t)src, n, round, 0), 0);
  } else if (round % 3 == 1) {
    CHECK_EQ(gexx_RMA_GetNotifyNBI(job.tm, local, from, (void *)(uintptr_t)src, n, round, 0), 0);
    gex_NBI_Wait(GEX_EC_GET, 0);
  } else {
    const gex_Event_t e =
        gexx_RMA_GetNotifyNB(job.tm, local, from, (void *)(uintptr_t)src, n, round, 0);
    CHECK(e != GEX_EVENT_NO_OP);
    gex_Event_Wait(e);
  }
}

/* The owner rewrites its data as soon as they were read. */
static void readers(void) {
  static const size_t sizes[] = {5000, 0, 1, BYTES, 65536, 65537};
  const gex_Rank_t from = (job.rank + 1) % job.size, reader = (job.rank + job.size - 1) % job.size;
  const gexx_Notify_t req = request(job.tm, GEXX_NOTIFY_ANY_SOURCE, GEXX_NOTIFY_ANY_TAG, 1);
  char *const mine = slot(job.rank, 0);
  gexx_Notify_Status_t status;
  pattern_fill(mine, BYTES, job.rank);
  job_barrier();
  for (unsigned round = 0; round < 2 * ROUNDS; round++) {
    const size_t n = sizes[round % 6];
    if (round % 2) gexx_Notify_Start(req);
    get(from, slot(from, 0), n, round);
    CHECK_BYTES(local, n, from + round * 1000);
    if (round % 2 == 0) gexx_Notify_Start(req);
    gexx_Notify_Wait(req, &status);
    pattern_fill(mine, BYTES, job.rank + (round + 1) * 1000); /* read by then */
    CHECK_EQ(status.gexx_source, reader);
    CHECK_EQ(status.gexx_tag, round);
    CHECK_EQ(status.gexx_nbytes, n);
    job_barrier();
  }
  gexx_Notify_Free(req);
}

enum { READS = 20 };

static unsigned next_tag;

/* Take what has come; notifications come in the order of the calls. The request is active until the
 * last, of tag READS, has come. */
static void take_next(gexx_Notify_t req) {
  gexx_Notify_Status_t status;
  if (next_tag > READS) gasnet_AMPoll();
  if (next_tag > READS || gexx_Notify_Test(req, &status) != GASNET_OK) return;
  CHECK_EQ(status.gexx_tag, next_tag);
  if (next_tag++ < READS) gexx_Notify_Start(req);
}

/* Many gets in flight at once, offsets into segments, and a put after them: in order. */
static void many_reads(void) {
  enum { EACH = 3000, OFFSETS = GEX_FLAG_PEER_SEG_OFFSET };
  const gex_Rank_t from = (job.rank + 1) % job.size, reader = (job.rank + job.size - 1) % job.size;
  gex_Event_t events[READS];
  const gexx_Notify_t req = request(job.tm, reader, GEXX_NOTIFY_ANY_TAG, 1);
  pattern_fill(slot(job.rank, 0), (size_t)READS * EACH, job.rank + 5);
  job_barrier();
  gexx_Notify_Start(req);
  for (unsigned i = 0; i < READS; i++) {
    void *const at = (void *)(uintptr_t)(slot(from, 0) - job.peer[from] + (size_t)i * EACH);
    do { /* without credit, the owner has to match some, as this rank does meanwhile */
      events[i] = gexx_RMA_GetNotifyNB(job.tm, local + (size_t)i * EACH, from, at, EACH, i,
                                       OFFSETS | GEX_FLAG_IMMEDIATE);
      if (events[i] == GEX_EVENT_NO_OP) take_next(req);
    } while (events[i] == GEX_EVENT_NO_OP);
  }
  gex_Event_WaitAll(events, READS, 0);
  CHECK_BYTES(local, (size_t)READS * EACH, from + 5);
  while (gexx_RMA_PutNotify(job.tm, from, NULL, NULL, 0, READS, GEX_FLAG_IMMEDIATE)) take_next(req);
  while (next_tag <= READS) take_next(req);
  gexx_Notify_Free(req);
  job_barrier();
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach((uintptr_t)BYTES * job.size);
  local = (char *)check_room(1, BYTES);
  job_barrier();
  ring();
  choose();
  flood();
  limit();
  team();
  readers();
  many_reads();
  return job_finish();
}
