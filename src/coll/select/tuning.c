/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the tuning of collectives from the settings, see tuning.h.
 *
 * Owns: the one struct tmb_coll_tuning. Called under the lock of collectives. Calls: base/config.
 * Invariants: a name of an algorithm that does not exist, or a table that cannot be read, is fatal
 * and lists the known ones.
 */
#include "coll/select/tuning.h"

#include "base/compiler.h"
#include "base/config.h"
#include "base/log.h"
#include "coll/select/table.h"
#include "core/job.h"
#include "core/shared.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
  bool ready;
  uint64_t chunk;
  struct tmb_coll_tuning t;
} tuning;

/* Largest team, in ranks, that uses its shared memory where ranks outnumber processors. Measured up
 * to here (study/compare/forms.py --ranks 64 on 2 processors). */
#define CROWDED_RANKS_MAX 64u

/* Limits in ns, measured at start-up: of a hand-off and back, and of writing TMB_SHARED_BYTES that
 * another processor has read; for teams of two, where that was measured, the latter is higher.
 * Processors under one cache are below both. There two copies through shared memory are faster than
 * one by the kernel, which takes about 1000 ns for as much. Farther apart, a line takes longer than
 * its copy. From study/journal/0025. */
#define NEAR_NS           250u
#define NEAR_WRITE_NS     600u
#define PAIR_WRITE_NS     1000u

#define TABLE_BYTES_MAX   (1 << 20)

/* The whole file as a string; fatal when it cannot be read. */
static char *read_file(const char *path) {
  char *text = malloc(TABLE_BYTES_MAX);
  FILE *file = fopen(path, "r");
  if (!file)
    tmb_wrong_setting("TOMBOLO_COLL_TABLE=%s: %s; name a file that `tombolo tune` has written, or "
                      "unset it",
                      path, strerror(errno));
  if (!text) tmb_fatal_nopos("TOMBOLO_COLL_TABLE=%s: out of memory", path);
  const size_t bytes = fread(text, 1, TABLE_BYTES_MAX, file);
  if (ferror(file)) tmb_wrong_setting("TOMBOLO_COLL_TABLE=%s: %s", path, strerror(errno));
  if (bytes == TABLE_BYTES_MAX)
    tmb_wrong_setting(
        "TOMBOLO_COLL_TABLE=%s: %d bytes or more, which is not a table of `tombolo tune`", path,
        TABLE_BYTES_MAX);
  if (memchr(text, 0, bytes))
    tmb_wrong_setting("TOMBOLO_COLL_TABLE=%s: not a text file, so not a table of `tombolo tune`",
                      path);
  fclose(file);
  text[bytes] = 0;
  return text;
}

/* The job, as tables say for which jobs their rules hold: equal on all ranks. */
static struct tmb_coll_site site_of_job(void) {
  const struct tmb_places *places = &tmb_job.boot.places;
  const uint32_t hosts = places->hosts;
  struct tmb_coll_site site = {.hosts = {hosts, hosts}};
  uint32_t most = 0;
  for (uint32_t r = 0; r < places->size; r++)
    if (places->near_of[r] >= most) most = places->near_of[r] + 1;
  site.near[0] = site.near[1] = most;
  snprintf(site.network, sizeof site.network, "%s", tmb_job_network());
  return site;
}

static void read_algorithms(struct tmb_coll_tuning *t) {
  const char *forced = tmb_cfg_str(TMB_CFG_COLL_ALG), *path = tmb_cfg_str(TMB_CFG_COLL_TABLE);
  struct tmb_coll_table_error error;
  if (forced && !tmb_coll_forced_parse(forced, t->forced, &error))
    tmb_wrong_setting("setting TOMBOLO_COLL_ALG=\"%s\" is not valid: %s", forced, error.why);
  if (!path || !path[0]) return;
  char *text = read_file(path);
  struct tmb_coll_rule *rules = NULL;
  if (!tmb_coll_table_parse(text, &rules, &t->rule_count, &error))
    tmb_wrong_setting("TOMBOLO_COLL_TABLE=%s: line %u: %s; correct it or make the table anew with "
                      "`tombolo tune -o %s`",
                      path, error.line, error.why, path);
  const struct tmb_coll_site site = site_of_job();
  tmb_coll_table_keep(rules, &t->rule_count, &site);
  t->rules = rules;
  free(text);
}

static void read_settings(void) {
  struct tmb_coll_tuning *t = &tuning.t;
  *t = tmb_coll_thresholds;
  tuning.chunk = TMB_MIN((uint64_t)tmb_cfg_int(TMB_CFG_COLL_CHUNK), TMB_AM_MEDIUM_BYTES_MAX);
  t->eager = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_EAGER_MAX);
  read_algorithms(t);
  t->shared_max = (uint64_t)tmb_cfg_int(TMB_CFG_COLL_BOARD_MAX);
  /* Where ranks outnumber processors each message, offer and answer costs a turn on a processor,
   * so even long data are shown in shared memory. */
  t->shared_long = tmb_job.wait.crowded && !tmb_cfg_is_set(TMB_CFG_COLL_BOARD_MAX);
  t->crowded_read = tmb_cfg_is_set(TMB_CFG_COLL_DIRECT) || tmb_shared_kernel_faster();
  if (tmb_job.wait.crowded) t->shared_ranks_max = CROWDED_RANKS_MAX;
  const uint64_t handoff_ns = tmb_shared_handoff_ns();
  t->shared_near = handoff_ns && handoff_ns <= NEAR_NS && tmb_shared_write_ns() <= NEAR_WRITE_NS &&
                   !tmb_cfg_is_set(TMB_CFG_COLL_BOARD_MAX);
  t->pairs_near = handoff_ns && handoff_ns <= NEAR_NS && tmb_shared_write_ns() <= PAIR_WRITE_NS &&
                  !tmb_cfg_is_set(TMB_CFG_COLL_BOARD_MAX) && !tmb_cfg_is_set(TMB_CFG_COLL_DIRECT);
  t->shared_pairs = !tmb_cfg_is_set(TMB_CFG_COLL_BOARD_MAX);
  t->shared_far = handoff_ns > NEAR_NS;
  t->shared_streams = tmb_shared_streams() && !tmb_cfg_is_set(TMB_CFG_COLL_BOARD_MAX);
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
