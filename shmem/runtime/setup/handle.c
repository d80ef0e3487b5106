/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams and contexts by their handles.
 *
 * Owns nothing. Called by whatever gets a handle. Calls: messages. Invariants: handles are checked
 * with SHMEM_DEBUG only; with it a team or context that was destroyed stays in memory, so that no
 * other gets its handle.
 */
#include "../sh.h"

struct shmem_team_s *sh_team(shmem_team_t team) {
  if ((uintptr_t)team > (uintptr_t)SHMEM_TEAM_NODE) return team;
  struct shmem_team_s *const known[] = {NULL, &sh.world, &sh.shared, &sh.node};
  return known[(uintptr_t)team];
}

static bool is_team(const struct shmem_team_s *team) {
  bool found = team == &sh.world || team == &sh.shared || team == &sh.node;
  pthread_mutex_lock(&sh.lock);
  for (const struct shmem_team_s *t = sh.teams; t && !found; t = t->next) found = t == team;
  pthread_mutex_unlock(&sh.lock);
  return found;
}

static bool has_ctx(const struct shmem_team_s *team, const struct shmem_ctx_s *ctx) {
  for (const struct shmem_ctx_s *c = team->contexts; c; c = c->next)
    if (c == ctx) return true;
  return false;
}

void sh_ctx_check(const char *call, const struct shmem_ctx_s *ctx) {
  if (ctx == &sh.ctx) return;
  pthread_mutex_lock(&sh.lock);
  bool found = has_ctx(&sh.world, ctx) || has_ctx(&sh.shared, ctx) || has_ctx(&sh.node, ctx);
  for (const struct shmem_team_s *t = sh.teams; t && !found; t = t->next) found = has_ctx(t, ctx);
  pthread_mutex_unlock(&sh.lock);
  if (!found)
    sh_fatal(
        call,
        "argument ctx is %p, which is no context, or was destroyed, or its team was [TMB-2335]",
        (const void *)ctx);
}

struct shmem_team_s *sh_team_checked(const char *call, shmem_team_t team) {
  sh_need_start(call);
  if (team == SHMEM_TEAM_INVALID)
    sh_fatal(call,
             "argument team is SHMEM_TEAM_INVALID; only members of a team may call [TMB-2334]");
  struct shmem_team_s *const t = sh_team(team);
  if (!is_team(t))
    sh_fatal(call, "argument team is %p, which is no team, or was destroyed [TMB-2333]",
             (void *)team);
  return t;
}
