/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting operations by kind and peer.
 *
 * Owns: the counts, and a table that wraps the conduit's while they are wanted. Called by client.c
 * once (as a layer), by everything that uses tmb_job.ops or tmb_count, and by clients. Calls: the
 * wrapped table. Messages and signals are counted where they reach the table, all else where it is
 * started: while tmb_job.counted is set, the inline forms find nobody mapped and come to the
 * library. Invariants: without TOMBOLO_STATS nothing here runs; a try that finds no
 * resources is not counted; counts of one kind and peer are exact, a query while others count is
 * not a snapshot.
 */
#include "base/atomic.h"
#include "base/config.h"
#include "base/log.h"
#include "core/check.h"
#include "core/job.h"
#include "notify/notify.h"

#include <stdlib.h>

struct tally {
  uint64_t count, bytes;
};

static struct {
  const struct tmb_conduit_ops *inner;
  struct tmb_conduit_ops table;
  struct tally (*by_peer)[GEXX_STATS_KINDS]; /* [job size] */
} stats;

/* Count one operation. Also called as the layer's, for operations that do not reach the conduit. */
static void count(int kind, uint32_t peer, size_t bytes) {
  struct tally *t = &stats.by_peer[peer][kind];
  tmb_fetch_add_rlx(&t->count, 1);
  tmb_fetch_add_rlx(&t->bytes, bytes);
}

static int am_send(struct tmb_conduit *c, struct tmb_am_out *out) {
  const int rc = stats.inner->am_send(c, out);
  if (rc == 0)
    count(GEXX_STATS_AM_SHORT + out->category, out->peer,
          out->category == TMB_AM_SHORT ? 0 : out->nbytes);
  return rc;
}

static int put_signal(struct tmb_conduit *c, const struct tmb_rma *rma,
                      const struct tmb_signal *signal) {
  const int rc = stats.inner->put_signal(c, rma, signal);
  if (rc == 0) count(GEXX_STATS_PUT_SIGNAL, rma->peer, rma->nbytes);
  return rc;
}

static int get_signal(struct tmb_conduit *c, const struct tmb_rma *rma,
                      const struct tmb_signal *signal) {
  const int rc = stats.inner->get_signal(c, rma, signal);
  if (rc == 0) count(GEXX_STATS_GET_SIGNAL, rma->peer, rma->nbytes);
  return rc;
}

static void wake(struct tmb_conduit *c, uint32_t peer) {
  stats.inner->notify(c, peer);
  count(GEXX_STATS_WAKE, peer, 0);
}

static bool wake_unindexed(struct tmb_conduit *c, uint32_t peer) {
  if (!stats.inner->notify_unindexed(c, peer))
    return false; /* the caller then uses notify, which is counted */
  count(GEXX_STATS_WAKE, peer, 0);
  return true;
}

static const struct tmb_conduit_ops *wrap(const struct tmb_conduit_ops *ops) {
  if (!tmb_cfg_bool(TMB_CFG_STATS)) return ops;
  stats.by_peer = calloc(tmb_job.size, sizeof *stats.by_peer);
  if (!stats.by_peer) tmb_fatal("out of memory for the counts of %u ranks", tmb_job.size);
  stats.inner = ops;
  tmb_job.counted = true;
  stats.table = *ops;
  stats.table.am_send = am_send;
  stats.table.put_signal = put_signal;
  stats.table.get_signal = get_signal;
  stats.table.notify = wake;
  stats.table.notify_unindexed = wake_unindexed;
  return &stats.table;
}

const struct tmb_layer tmb_stats_layer = {.name = "stats", .wrap = wrap, .count = count};

int gexx_Stats_Query(int kind, gex_Rank_t jobrank, uint64_t *count_p, uint64_t *bytes_p) {
  if (!stats.by_peer) return GASNET_ERR_NOT_READY;
  if (kind < 0 || kind >= GEXX_STATS_KINDS) return GASNET_ERR_BAD_ARG;
  if (jobrank != GEX_RANK_INVALID && jobrank >= tmb_job.size) return GASNET_ERR_BAD_ARG;
  const bool all = jobrank == GEX_RANK_INVALID;
  struct tally sum = {0};
  for (uint32_t r = all ? 0 : jobrank; r < (all ? tmb_job.size : jobrank + 1); r++) {
    sum.count += tmb_load_rlx(&stats.by_peer[r][kind].count);
    sum.bytes += tmb_load_rlx(&stats.by_peer[r][kind].bytes);
  }
  if (count_p) *count_p = sum.count;
  if (bytes_p) *bytes_p = sum.bytes;
  return GASNET_OK;
}

const char *gexx_Stats_Name(int kind) {
  static const char *const names[GEXX_STATS_KINDS] = {"am_short",   "am_medium", "am_long",
                                                      "put",        "get",       "put_signal",
                                                      "get_signal", "wake",      "atomic"};
  return kind >= 0 && kind < GEXX_STATS_KINDS ? names[kind] : "unknown";
}

void gexx_Stats_Reset(void) {
  if (!stats.by_peer) return;
  for (uint32_t r = 0; r < tmb_job.size; r++) {
    for (int kind = 0; kind < GEXX_STATS_KINDS; kind++) {
      tmb_store_rlx(&stats.by_peer[r][kind].count, 0);
      tmb_store_rlx(&stats.by_peer[r][kind].bytes, 0);
    }
  }
}
