/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting operations by kind and peer.
 *
 * Owns: the counts. Called as a layer by everything that does an operation (tmb_count), and by
 * clients. Calls nothing. Messages and signals are counted where they are sent
 * (core/progress/peer.c), all else where it is started: while tmb_job.recorded is set, the inline
 * forms find nobody mapped and come to the library. Invariants: without TOMBOLO_STATS nothing here
 * runs; a try that finds no resources is not counted; counts of one kind and peer are exact, a
 * query while others count is not a snapshot. Sums over peers lie on the status page, too, where
 * `tombolo run --stats` finds them.
 */
#include "base/atomic.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "core/check.h"
#include "core/job.h"
#include "notify/notify.h"
#include "os/sync/lock.h"

#include <stdlib.h>

struct tally {
  uint64_t count, bytes;
};

struct tmb_stats {
  struct tally (*by_peer)[GEXX_STATS_KINDS]; /* [job size] */
  uint8_t *met;                              /* [job size] 1: it is one of the peers */
};

_Static_assert(GEXX_STATS_KINDS == TMB_STATUS_KINDS && GEXX_STATS_PUT == TMB_STATUS_PUT &&
                   GEXX_STATS_ATOMIC == TMB_STATUS_ATOMIC,
               "the page has the same kinds");

/* Count one operation. */
static void count(int kind, uint32_t peer, size_t bytes) {
  if (!tmb_job.stats) return; /* events are recorded, and operations come here for that */
  struct tally *t = &tmb_job.stats->by_peer[peer][kind];
  tmb_lock_count(&t->count, 1);
  tmb_lock_count(&t->bytes, bytes);
  struct tmb_status_stats *page = &tmb_job.status->stats;
  tmb_lock_count(&page->count[kind], 1);
  tmb_lock_count(&page->bytes[kind], bytes);
  if (TMB_UNLIKELY(!tmb_load_rlx(&tmb_job.stats->met[peer])) && peer != tmb_job.rank &&
      !tmb_xchg_acq_rel(&tmb_job.stats->met[peer], (uint8_t)1))
    tmb_lock_count(&page->peers, 1);
}

static int init(void) {
  if (!tmb_cfg_bool(TMB_CFG_STATS)) return 0;
  struct tmb_stats *s = calloc(1, sizeof *s);
  if (s) s->by_peer = calloc(tmb_job.size, sizeof *s->by_peer);
  if (s) s->met = calloc(tmb_job.size, sizeof *s->met);
  if (!s || !s->by_peer || !s->met) {
    tmb_print("out of memory for the counts of %u ranks", tmb_job.size);
    return TMB_E_NOMEM;
  }
  tmb_job.stats = s;
  tmb_job.counted = tmb_job.recorded = true;
  tmb_job.special |= TMB_SPECIAL_COUNT;
  return 0;
}

const struct tmb_layer tmb_stats_layer = {.name = "stats", .init = init, .count = count};

int gexx_Stats_Query(int kind, gex_Rank_t jobrank, uint64_t *count_p, uint64_t *bytes_p) {
  if (!tmb_job.stats) return GASNET_ERR_NOT_READY;
  if (kind < 0 || kind >= GEXX_STATS_KINDS) return GASNET_ERR_BAD_ARG;
  if (jobrank != GEX_RANK_INVALID && jobrank >= tmb_job.size) return GASNET_ERR_BAD_ARG;
  const bool all = jobrank == GEX_RANK_INVALID;
  struct tally sum = {0};
  for (uint32_t r = all ? 0 : jobrank; r < (all ? tmb_job.size : jobrank + 1); r++) {
    sum.count += tmb_load_rlx(&tmb_job.stats->by_peer[r][kind].count);
    sum.bytes += tmb_load_rlx(&tmb_job.stats->by_peer[r][kind].bytes);
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
  if (!tmb_job.stats) return;
  for (uint32_t r = 0; r < tmb_job.size; r++) {
    for (int kind = 0; kind < GEXX_STATS_KINDS; kind++) {
      tmb_store_rlx(&tmb_job.stats->by_peer[r][kind].count, 0);
      tmb_store_rlx(&tmb_job.stats->by_peer[r][kind].bytes, 0);
    }
  }
}
