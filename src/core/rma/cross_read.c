/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether ranks may read each other's memory, see cross_read.h.
 *
 * Owns nothing. Called by client.c. Calls: os/memory/peer_copy.h, the bootstrap all-gather. Each
 * rank reads a random number in the memory of the next rank of its host; those ranks have one
 * parent and equal rights, so a rank that may read one other may read all. Process numbers and
 * addresses of other hosts mean nothing here and are never tried. Invariants: the number stays in
 * place until all ranks have read.
 */
#include "core/rma/cross_read.h"

#include "base/log.h"
#include "boot/boot.h"
#include "core/job.h"
#include "os/memory/peer_copy.h"
#include "os/os.h"

#include <stdlib.h>

struct card {
  uint64_t address, cookie;
  int32_t pid, zero; /* no padding: others get all bytes */
};

static bool reads(const struct card *next) {
  uint64_t seen = 0;
  return tmb_os_peer_read(next->pid, &seen, next->address, sizeof seen) && seen == next->cookie;
}

void tmb_cross_read_init(void) {
  tmb_job.pid = tmb_os_pid();
  if (tmb_job.size < 2) return;
  tmb_os_peer_allow();
  const uint64_t cookie =
      (tmb_os_now_ns() ^ (uint64_t)tmb_job.pid << 40) * UINT64_C(0x9e3779b97f4a7c15);
  tmb_job.peer_copy_proof = cookie;
  const struct card mine = {(uint64_t)(uintptr_t)&tmb_job.peer_copy_proof, cookie, tmb_job.pid, 0};
  struct card cards[TMB_BOOT_RANKS_MAX];
  uint8_t good[TMB_BOOT_RANKS_MAX];
  tmb_boot_allgather(&tmb_job.boot, &mine, sizeof mine, cards);
  const struct tmb_places *places = &tmb_job.boot.places;
  const uint32_t next = places->near_rank[(places->near_index + 1) % places->near_count];
  const uint8_t ok = reads(&cards[next]);
  tmb_boot_allgather(&tmb_job.boot, &ok, 1, good);
  tmb_job.peer_copy = true;
  for (uint32_t i = 0; i < places->near_count; i++)
    tmb_job.peer_copy = tmb_job.peer_copy && good[places->near_rank[i]];
}
