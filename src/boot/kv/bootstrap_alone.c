/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bootstrap of a process that is the only rank.
 *
 * Owns: no process state. Called through its table by boot. Calls: libc. Invariants: nobody else is
 * there, so nothing waits.
 */
#include "boot/kv/bootstrap.h"

#include <string.h>

static bool alone_barrier(struct tmb_boot *b) {
  (void)b;
  return true;
}

static bool alone_gather(struct tmb_boot *b, const void *mine, size_t bytes, void *all) {
  (void)b;
  memcpy(all, mine, bytes);
  return true;
}

static int alone_record_exit(struct tmb_boot *b, int code) {
  (void)b;
  return code;
}

static void alone_note_explained(struct tmb_boot *b) {
  (void)b;
}

static bool alone_ordered_to_end(const struct tmb_boot *b) {
  (void)b;
  return false;
}

static pid_t alone_peer_pid(const struct tmb_boot *b, uint32_t rank) {
  (void)rank;
  return b->pid;
}

static void alone_report(struct tmb_boot *b, bool report, const struct tmb_boot_doors *doors) {
  (void)b;
  (void)report;
  (void)doors;
}

static const uint32_t *alone_changes(const struct tmb_boot *b) {
  static const uint32_t never;
  (void)b;
  return &never;
}

static uint32_t alone_fate(const struct tmb_boot *b, uint32_t rank) {
  (void)b;
  (void)rank;
  return TMB_FATE(TMB_FATE_ALIVE, 0, 0);
}

static void alone_stop(struct tmb_boot *b) {
  (void)b;
}

const struct tmb_bootstrap_ops tmb_bootstrap_alone = {
    .name = "alone",
    .barrier = alone_barrier,
    .gather = alone_gather,
    .record_exit = alone_record_exit,
    .note_explained = alone_note_explained,
    .ordered_to_end = alone_ordered_to_end,
    .peer_pid = alone_peer_pid,
    .report = alone_report,
    .changes = alone_changes,
    .fate = alone_fate,
    .stop = alone_stop,
};
