/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts and neighbourhoods, see nbrhd.h.
 *
 * Owns: tmb_job.near_of and tmb_job.nbrhd. Called by client.c. Calls: settings. Invariant: with one
 * host, near_of is the table of places, in which every rank has its own number.
 */
#include "core/nbrhd.h"

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "core/job.h"

#include <stdlib.h>

/* Ranks of each host. out count: [hosts] */
static void count_hosts(const struct tmb_places *places, uint32_t *count) {
  for (uint32_t h = 0; h < places->hosts; h++) count[h] = 0;
  for (uint32_t r = 0; r < places->size; r++) count[places->host_of[r]]++;
}

int tmb_nbrhd_init(void) {
  const struct tmb_places *places = &tmb_job.boot.places;
  struct tmb_nbrhds *n = &tmb_job.nbrhd;
  const int64_t most = tmb_cfg_int(TMB_CFG_SUPERNODE_MAXSIZE);
  tmb_job.near_memory = tmb_cfg_bool(TMB_CFG_SHM);
  tmb_job.near_of = places->hosts == 1 ? places->near_of : malloc(places->size * sizeof(uint32_t));
  n->first = malloc(places->hosts * sizeof *n->first);
  if (!tmb_job.near_of || !n->first) {
    tmb_print("out of memory for the places of %u ranks", places->size);
    return TMB_E_NOMEM;
  }
  for (uint32_t r = 0; r < places->size && places->hosts > 1; r++)
    tmb_job.near_of[r] = tmb_places_near(places, r) ? places->near_of[r] : TMB_FAR;
  n->most = !tmb_job.near_memory              ? 1
            : most > 0 && most < places->size ? (uint32_t)most
                                              : places->size;
  count_hosts(places, n->first);
  for (uint32_t h = 0; h < places->hosts; h++) {
    const uint32_t groups = (n->first[h] + n->most - 1) / n->most;
    n->first[h] = n->count;
    n->count += groups;
  }
  const uint32_t start = places->near_index / n->most * n->most;
  n->size = TMB_MIN(n->most, places->near_count - start);
  n->members = places->near_rank + start;
  return 0;
}
