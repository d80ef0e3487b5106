/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conduits of this build, in order of preference.
 *
 * Owns: the list. Called by core at initialisation. Calls: conduit/defaults to fill empty slots.
 * Invariant: every table that is returned has all slots filled.
 */
#include "base/compiler.h"
#include "base/config.h"
#include "base/log.h"
#include "conduit/conduit.h"

extern const struct tmb_conduit_ops tmb_conduit_smp;

const struct tmb_conduit_ops *const *tmb_conduit_list(size_t *count) {
  static struct tmb_conduit_ops table[1];
  static const struct tmb_conduit_ops *const list[] = {&table[0]};
  table[0] = tmb_conduit_smp;
  if (!tmb_cfg_bool(TMB_CFG_SHM)) {
    /* Everything through messages: what a network without remote memory access has. */
    table[0].flag_post = NULL;
    table[0].notify = NULL;
    table[0].notify_unindexed = NULL;
    table[0].index_begin = NULL;
    table[0].index_area = NULL;
    table[0].shared_word = NULL;
    table[0].shared_area = NULL;
    table[0].shared_areas = NULL;
  }
  tmb_conduit_complete(&table[0]);
  *count = TMB_ARRAY_LEN(list);
  return list;
}
