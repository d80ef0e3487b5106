/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bootstrap of ranks that a supervisor of this machine has started: everything goes through the
 * control block, which the supervisor shares, and where there are other machines completes.
 *
 * Owns: no process state. Called through its table by boot. Calls: ctl, base. Invariants: the
 * supervisor is woken only where it has to report to others.
 */
#include "boot/kv/bootstrap.h"

#include "base/atomic.h"
#include "base/log.h"
#include "boot/page/ctl.h"

#include <string.h>
#include <unistd.h>

static bool agent_barrier(struct tmb_boot *b) {
  return tmb_ctl_barrier(b->ctl, &(struct tmb_ctl_round){.agent_fd = b->agent_fd});
}

/* Alternating slots: a slot is written again only after a barrier that all of its readers reached.
 */
static bool agent_gather(struct tmb_boot *b, const void *mine, size_t bytes, void *all) {
  tmb_assert_cmp(bytes, <=, TMB_CTL_PART_BYTES);
  const struct tmb_ctl_round round = {
      .part_bytes = (uint32_t)bytes, .part_slot = b->gathers++ & 1, .agent_fd = b->agent_fd};
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

static void agent_note_explained(struct tmb_boot *b) {
  tmb_store_rel(&tmb_ctl_rank(b->ctl, b->rank)->explained, 1u);
}

static bool agent_ordered_to_end(const struct tmb_boot *b) {
  return TMB_RANK_STATE(tmb_ctl_state(b->ctl, b->rank)) == TMB_RANK_ORDERED;
}

static pid_t agent_peer_pid(const struct tmb_boot *b, uint32_t rank) {
  return tmb_ctl_record_of(b->ctl)[rank] == TMB_CTL_ELSEWHERE ? 0 : tmb_ctl_pid(b->ctl, rank);
}

static void agent_report(struct tmb_boot *b, bool report, const struct tmb_boot_doors *doors) {
  if (doors) {
    tmb_store_rlx(&b->ctl->door_offset, doors->offset);
    tmb_store_rlx(&b->ctl->door_stride, doors->stride);
  }
  tmb_store_rel(&tmb_ctl_rank(b->ctl, b->rank)->report, (uint32_t)report);
  tmb_ctl_ring(b->agent_fd);
}

static const uint32_t *agent_changes(const struct tmb_boot *b) {
  return &b->ctl->changes;
}

static uint32_t agent_fate(const struct tmb_boot *b, uint32_t rank) {
  return tmb_load_acq(&tmb_ctl_fate(b->ctl)[rank]);
}

static void agent_stop(struct tmb_boot *b) {
  tmb_ctl_unmap(b->ctl);
}

const struct tmb_bootstrap_ops tmb_bootstrap_agent = {
    .name = "agent",
    .barrier = agent_barrier,
    .gather = agent_gather,
    .record_exit = agent_record_exit,
    .note_explained = agent_note_explained,
    .ordered_to_end = agent_ordered_to_end,
    .peer_pid = agent_peer_pid,
    .report = agent_report,
    .changes = agent_changes,
    .fate = agent_fate,
    .stop = agent_stop,
};
