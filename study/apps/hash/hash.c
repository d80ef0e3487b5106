/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inserts into a distributed hash table: many small accesses to random places.
 *
 * Each rank inserts keys of its own, which belong to any rank, then reads those that another rank
 * has inserted and compares. Ways: a remote compare-and-swap takes a slot, a put fills it; a short
 * message that inserts at the owner; the same for many keys in one message. Calls: bench/lib, the
 * public API. Invariants: a handler inserts in its own rank's slots only; in the ways with messages
 * nobody else does. Exit codes: 0 verified, 1 failed, 2 refused.
 */
#include "apps/hash/table.h"
#include "lib/app.h"
#include "lib/links_gex.h"

#include <gasnet_ratomic.h>

#include <stdlib.h>
#include <string.h>

enum { ATOMIC, MESSAGE, BATCH, WAYS };
static const struct job_way ways[] = {
    {"atomic", "remote compare-and-swap, then a put"},
    {"message", "a message for each key"},
    {"batch", "a message for many keys"},
};

enum { AM_INSERT = JOB_HANDLERS, AM_BATCH };
enum { BATCH_KEYS = 64 };

static struct {
  struct entry *slot;        /* [slots] in the segment */
  uint64_t slots, inserts;   /* per rank */
  volatile uint64_t arrived; /* keys that came in messages */
  gex_AD_t domain;
  uint64_t (*batch)[BATCH_KEYS]; /* [size] keys that wait for a message */
  uint32_t *filled;              /* [size] how many */
} table;

static void insert_here(uint64_t key) {
  uint64_t i = table_slot(key, table.slots);
  while (table.slot[i].key) i = (i + 1) & (table.slots - 1);
  table.slot[i] = (struct entry){key, table_value(key)};
  table.arrived++;
}

static void on_insert(gex_Token_t token, gex_AM_Arg_t low, gex_AM_Arg_t high) {
  (void)token;
  insert_here((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
}

static void on_batch(gex_Token_t token, void *keys, size_t bytes) {
  (void)token;
  for (size_t i = 0; i < bytes / sizeof(uint64_t); i++) insert_here(((const uint64_t *)keys)[i]);
}

static struct entry *slot_at(int rank, uint64_t i) {
  return (struct entry *)(void *)job_base(rank) + i;
}

static void insert_atomic(const struct job *job, uint64_t key) {
  const int rank = table_rank(key, job->size);
  uint64_t i = table_slot(key, table.slots), before = 1;
  for (;; i = (i + 1) & (table.slots - 1)) {
    gex_Event_Wait(gex_AD_OpNB_U64(table.domain, &before, (gex_Rank_t)rank, &slot_at(rank, i)->key,
                                   GEX_OP_FCAS, 0, key, 0));
    if (before == 0) break;
  }
  gex_RMA_PutBlockingVal(job_team(), (gex_Rank_t)rank, &slot_at(rank, i)->value, table_value(key),
                         sizeof key, 0);
}

static void send_batch(int rank) {
  if (!table.filled[rank]) return;
  gex_AM_RequestMedium0(job_team(), (gex_Rank_t)rank, AM_BATCH, table.batch[rank],
                        table.filled[rank] * sizeof(uint64_t), GEX_EVENT_NOW, 0);
  table.filled[rank] = 0;
}

static void insert(const struct job *job, int way, uint64_t key) {
  const int rank = table_rank(key, job->size);
  if (way == ATOMIC) {
    insert_atomic(job, key);
  } else if (way == MESSAGE) {
    gex_AM_RequestShort2(job_team(), (gex_Rank_t)rank, AM_INSERT, 0, (gex_AM_Arg_t)(uint32_t)key,
                         (gex_AM_Arg_t)(uint32_t)(key >> 32));
  } else {
    table.batch[rank][table.filled[rank]++] = key;
    if (table.filled[rank] == BATCH_KEYS) send_batch(rank);
  }
}

/* All that has been sent is in the tables. */
static void settle(struct job *job, int way) {
  for (int r = 0; r < job->size && way == BATCH; r++) send_batch(r);
  const double all = (double)table.inserts * job->size;
  while (way != ATOMIC && job_sum(job, (double)table.arrived) < all) gasnet_AMPoll();
  job_barrier(job);
}

static bool is_found(const struct job *job, uint64_t key) {
  const int rank = table_rank(key, job->size);
  struct entry e;
  for (uint64_t i = table_slot(key, table.slots);; i = (i + 1) & (table.slots - 1)) {
    gex_RMA_GetBlocking(job_team(), &e, (gex_Rank_t)rank, slot_at(rank, i), sizeof e, 0);
    if (e.key == key) return e.value == table_value(key);
    if (!e.key) return false;
  }
}

static bool run(struct job *job, const struct app_options *o, int way) {
  job->way = way;
  double best = 0;
  for (long i = 0; app_iteration(job, o, i); i++) { /* the first one warms up */
    memset(table.slot, 0, table.slots * sizeof *table.slot);
    table.arrived = 0;
    job_barrier(job);
    const double begin = job_now();
    app_enter(job, APP_SEND);
    for (uint64_t n = 0; n < table.inserts; n++)
      insert(job, way, table_key((uint64_t)job->rank, n));
    app_enter(job, APP_WAIT);
    settle(job, way);
    double seconds = job_now() - begin;
    app_stop(job);
    seconds = job_max(job, seconds);
    if (i && i <= o->iterations && (best == 0 || seconds < best)) best = seconds;
  }
  for (uint64_t i = 0; o->inject_error && i < table.slots; i++) table.slot[i].value ^= 1;
  job_barrier(job);
  uint64_t missing = 0;
  for (uint64_t n = 0; n < table.inserts; n++)
    if (!is_found(job, table_key((uint64_t)((job->rank + 1) % job->size), n))) missing++;
  const bool good = job_sum(job, (double)missing) == 0;
  app_report(job, o,
             &(struct app_result){.seconds = best,
                                  .work = (double)table.inserts * job->size,
                                  .verified = good,
                                  .share = 0});
  return good;
}

static void prepare(struct job *job, const struct app_options *o) {
  gex_AM_Entry_t handlers[] = {{AM_INSERT, (gex_AM_Fn_t)on_insert,
                                GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, NULL, "insert"},
                               {AM_BATCH, (gex_AM_Fn_t)on_batch,
                                GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "batch"}};
  if (gex_EP_RegisterHandlers(job_endpoint(), handlers, 2) != GASNET_OK)
    job_refuse(job, "handlers cannot be registered");
  table.inserts = (uint64_t)o->n[0];
  table.slots = table_slots(table.inserts);
  job_attach(job, table.slots * sizeof(struct entry));
  table.slot = (struct entry *)(void *)job->mine;
  table.batch = calloc((size_t)job->size, sizeof *table.batch);
  table.filled = table.batch ? calloc((size_t)job->size, sizeof *table.filled) : NULL;
  if (job_sum(job, table.filled ? 0 : 1) != 0)
    job_refuse(job, "out of memory for %d ranks", job->size);
  gex_AD_Create(&table.domain, job_team(), GEX_DT_U64, GEX_OP_FCAS, 0);
}

static const struct app_number numbers[] = {
    {"inserts", 'n', 20000, 1, 0, "Keys that each rank inserts"}};
static const struct app_program program =
    APP_PROGRAM("hash", "Inserts into a distributed hash table", numbers, 3, APP_WAYS(ways),
                .unit = "M inserts/s");

static bool run_all(struct job *job, const struct app_options *options) {
  prepare(job, options);
  bool good = true;
  app_head(job, options);
  APP_EACH_WAY(options, WAYS) good = run(job, options, way) && good;
  gex_AD_Destroy(table.domain);
  return good;
}

int main(int argc, char **argv) {
  app_main(argc, argv, &program, run_all);
}
