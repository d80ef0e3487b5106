/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing into the receiver's buffer, see direct.h.
 *
 * Owns: this process's cookie and what is known of each peer. Called by the engine under the lock
 * of collectives. Calls: os/peer_copy.h, base/config. Single-copy transfers through the kernel as
 * in B. Goglin, S. Moreaud, "KNEM: a generic and scalable kernel-assisted intra-node MPI
 * communication framework", J. Parallel Distrib. Comput. 73(2), 2013,
 * doi:10.1016/j.jpdc.2012.09.016. Invariants: a peer is asked for its cookie once; a peer that once
 * refused is not tried again.
 */
#include "coll/direct.h"

#include "base/config.h"
#include "base/log.h"
#include "core/job.h"
#include "os/os.h"
#include "os/peer_copy.h"

#include <stdlib.h>

enum { UNKNOWN, WORKS, REFUSED };

static struct {
  uint64_t cookie;
  int32_t pid;
  uint8_t *peer; /* [job size] */
  bool ready, wanted;
} direct;

static void prepare(void) {
  if (direct.ready) return;
  direct.ready = true;
  direct.wanted = tmb_cfg_bool(TMB_CFG_COLL_DIRECT);
  direct.pid = tmb_os_pid();
  direct.cookie = (tmb_os_now_ns() ^ (uint64_t)direct.pid << 40) * UINT64_C(0x9e3779b97f4a7c15);
  direct.peer = calloc(tmb_job.size, 1);
  if (!direct.peer) tmb_fatal("out of memory for the collectives' table of %u ranks", tmb_job.size);
}

void tmb_direct_offer(int32_t *args, const void *address) {
  prepare();
  args[0] = direct.pid;
  tmb_team_args64(args + 1, direct.wanted ? (uint64_t)(uintptr_t)address : 0);
  tmb_team_args64(args + 3, (uint64_t)(uintptr_t)&direct.cookie);
  tmb_team_args64(args + 5, direct.cookie);
}

struct tmb_direct tmb_direct_take(uint32_t jobrank, const int32_t *args) {
  const struct tmb_direct none = {0, 0};
  const struct tmb_direct offer = {tmb_team_join64(args + 1), args[0]};
  prepare();
  if (!offer.address || !direct.wanted) return none;
  uint8_t *state = &direct.peer[jobrank];
  if (*state == UNKNOWN) {
    uint64_t seen = 0;
    const bool ok = tmb_os_peer_read(offer.pid, &seen, tmb_team_join64(args + 3), sizeof seen) &&
                    seen == tmb_team_join64(args + 5);
    *state = ok ? WORKS : REFUSED;
  }
  return *state == WORKS ? offer : none;
}

bool tmb_direct_write(uint32_t jobrank, const struct tmb_direct *d, uint64_t at, const void *src,
                      size_t bytes) {
  if (tmb_os_peer_write(d->pid, d->address + at, src, bytes)) return true;
  direct.peer[jobrank] = REFUSED;
  return false;
}
