/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bootstrap of ranks that a supervisor of this machine has started: everything goes through the
 * control block, which the supervisor shares, and where there are other machines completes.
 *
 * Owns: no process state. Called through its table by boot. Calls: ctl, base. Invariants: the
 * supervisor is woken only where it has to report to others.
 */
#include "boot/meet/bootstrap.h"

#include "base/log.h"
#include "boot/page/ctl.h"

#include <string.h>

static bool agent_barrier(struct tmb_boot *b) {
  return tmb_ctl_barrier(b->ctl, &(struct tmb_ctl_round){.agent_fd = b->agent_fd, .idle = b->idle});
}

/* Alternating slots: a slot is written again only after a barrier that all of its readers reached.
 */
static bool agent_gather(struct tmb_boot *b, const void *mine, size_t bytes, void *all) {
  tmb_assert_cmp(bytes, <=, TMB_CTL_PART_BYTES);
  const struct tmb_ctl_round round = {.part_bytes = (uint32_t)bytes,
                                      .part_slot = b->gathers++ & 1,
                                      .agent_fd = b->agent_fd,
                                      .idle = b->idle};
  char *parts = tmb_ctl_parts(b->ctl, round.part_slot);
  memcpy(parts + b->rank * bytes, mine, bytes);
  if (!tmb_ctl_barrier(b->ctl, &round)) return false;
  memcpy(all, parts, b->size * bytes);
  return true;
}

static int agent_record_exit(struct tmb_boot *b, int code) {
  tmb_ctl_record_exit(b->ctl, b->rank, code);
  return code;
}

const struct tmb_bootstrap_ops tmb_bootstrap_agent = {
    .barrier = agent_barrier,
    .gather = agent_gather,
    .record_exit = agent_record_exit,
};
