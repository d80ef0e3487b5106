/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the tuning of collectives from the settings, see tuning.h.
 *
 * Owns: the one struct tmb_coll_tuning. Called under the lock of collectives. Calls: base/config.
 * Invariants: a name of an algorithm that does not exist, or a table that cannot be read, is fatal
 * and says what is known.
 */
#include "coll/tuning.h"

#include "base/compiler.h"
#include "base/config.h"
#include "core/job.h"

static struct {
  bool ready;
  uint64_t chunk;
  struct tmb_coll_tuning t;
} tuning;

static void read_settings(void) {
  struct tmb_coll_tuning *t = &tuning.t;
  tuning.chunk = TMB_MIN((uint64_t)tmb_cfg_int(TMB_CFG_COLL_CHUNK), TMB_AM_MEDIUM_BYTES_MAX);
  t->eager = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_EAGER_MAX);
  t->segment = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_SEGMENT);
  t->radix = (uint32_t)tmb_cfg_int(TMB_CFG_COLL_RADIX);
  t->bcast_tree_max = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_BROADCAST_TREE_MAX);
  t->reduce_tree_max = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_REDUCE_TREE_MAX);
  t->allreduce_doubling_max = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_ALLREDUCE_DOUBLING_MAX);
  t->allgather_doubling_max = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_ALLGATHER_BRUCK_MAX);
  t->exchange_bruck_max = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_EXCHANGE_BRUCK_MAX);
  t->gather_tree_max = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_GATHER_TREE_MAX);
  tuning.ready = true;
}

const struct tmb_coll_tuning *tmb_coll_tuning(void) {
  if (TMB_UNLIKELY(!tuning.ready)) read_settings();
  return &tuning.t;
}

uint64_t tmb_coll_tuning_chunk(void) {
  if (TMB_UNLIKELY(!tuning.ready)) read_settings();
  return tuning.chunk;
}
