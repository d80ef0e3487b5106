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
#include "base/log.h"
#include "coll/table.h"
#include "core/job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
  bool ready;
  uint64_t chunk;
  struct tmb_coll_tuning t;
} tuning;

#define TABLE_BYTES_MAX (1 << 20)

/* The whole file as a string; fatal when it cannot be read. */
static char *read_file(const char *path) {
  char *text = malloc(TABLE_BYTES_MAX);
  FILE *file = fopen(path, "r");
  if (!file)
    tmb_fatal_nopos("TOMBOLO_COLL_TABLE=%s: %s; name a file that `tombolo tune` has written, or "
                    "unset it",
                    path, strerror(errno));
  if (!text) tmb_fatal_nopos("TOMBOLO_COLL_TABLE=%s: out of memory", path);
  const size_t bytes = fread(text, 1, TABLE_BYTES_MAX, file);
  if (ferror(file)) tmb_fatal_nopos("TOMBOLO_COLL_TABLE=%s: %s", path, strerror(errno));
  if (bytes == TABLE_BYTES_MAX)
    tmb_fatal_nopos("TOMBOLO_COLL_TABLE=%s: %d bytes or more, which is no table of `tombolo tune`",
                    path, TABLE_BYTES_MAX);
  if (memchr(text, 0, bytes))
    tmb_fatal_nopos("TOMBOLO_COLL_TABLE=%s: no text, so no table of `tombolo tune`", path);
  fclose(file);
  text[bytes] = 0;
  return text;
}

static void read_algorithms(struct tmb_coll_tuning *t) {
  const char *forced = tmb_cfg_str(TMB_CFG_COLL_ALG), *path = tmb_cfg_str(TMB_CFG_COLL_TABLE);
  struct tmb_coll_table_error error;
  if (forced && !tmb_coll_forced_parse(forced, t->forced, &error))
    tmb_fatal_nopos("TOMBOLO_COLL_ALG=%s: %s", forced, error.why);
  if (!path || !path[0]) return;
  char *text = read_file(path);
  struct tmb_coll_rule *rules = NULL;
  if (!tmb_coll_table_parse(text, &rules, &t->rule_count, &error))
    tmb_fatal_nopos("TOMBOLO_COLL_TABLE=%s: line %u: %s; correct it or make the table anew with "
                    "`tombolo tune -o %s`",
                    path, error.line, error.why, path);
  t->rules = rules;
  free(text);
}

static void read_settings(void) {
  struct tmb_coll_tuning *t = &tuning.t;
  tuning.chunk = TMB_MIN((uint64_t)tmb_cfg_int(TMB_CFG_COLL_CHUNK), TMB_AM_MEDIUM_BYTES_MAX);
  t->eager = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_EAGER_MAX);
  t->direct_min = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_DIRECT_MIN);
  t->flat_ranks_max = (uint32_t)tmb_cfg_int(TMB_CFG_COLL_FLAT_RANKS_MAX);
  t->segment = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_SEGMENT);
  t->radix = (uint32_t)tmb_cfg_int(TMB_CFG_COLL_RADIX);
  t->bcast_tree_max = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_BROADCAST_TREE_MAX);
  t->reduce_tree_max = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_REDUCE_TREE_MAX);
  t->allreduce_doubling_max = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_ALLREDUCE_DOUBLING_MAX);
  t->allgather_doubling_max = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_ALLGATHER_BRUCK_MAX);
  t->exchange_bruck_max = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_EXCHANGE_BRUCK_MAX);
  t->gather_tree_max = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_GATHER_TREE_MAX);
  t->rscatter_halving_max = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_REDUCE_SCATTER_HALVING_MAX);
  t->nodes_max = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_NODES_MAX);
  read_algorithms(t);
  t->board_ranks_max = (uint32_t)tmb_cfg_int(TMB_CFG_COLL_BOARD_RANKS_MAX);
  t->board_max = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_BOARD_MAX);
  t->board_copy_max = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_BOARD_COPY_MAX);
  /* Messages, offers and answers are turns on a crowded processor: show even long data. */
  t->board_long = tmb_job.wait.crowded && !tmb_cfg_is_set(TMB_CFG_COLL_BOARD_MAX);
  t->verbose = tmb_cfg_bool(TMB_CFG_VERBOSE);
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
