/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers of all PEs and of teams (OpenSHMEM 1.6, 9.9).
 *
 * Owns nothing. Called by programs. Calls: gex_Coll_BarrierNB. Invariant: shmem_barrier_all
 * completes the operations of the default context before this PE enters the barrier.
 */
#include "../sh.h"

SH_DEF(void, barrier_all, (void)) {
  sh_need_start("barrier_all");
  sh_drain(&sh.ctx);
  sh_barrier();
}

SH_DEF(void, sync_all, (void)) {
  sh_need_start("sync_all");
  sh_barrier();
}

SH_DEF(int, team_sync, (shmem_team_t team)) {
  const struct shmem_team_s *t = sh_member("team_sync", team);
  if (!t) return 1;
  sh_complete(gex_Coll_BarrierNB(t->tm, 0));
  return 0;
}
