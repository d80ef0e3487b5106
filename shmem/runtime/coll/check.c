/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of collectives and handles with SHMEM_DEBUG.
 *
 * Owns nothing. Called by collectives, and by calls with a context. Calls: the lists of teams and
 * contexts, messages. Invariants: nothing is checked without SHMEM_DEBUG; with it a team or context
 * that was destroyed stays in memory, so that no other gets its handle.
 */
#include "../sh.h"

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

bool sh_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
  return a_bytes && b_bytes && (uintptr_t)a < (uintptr_t)b + b_bytes &&
         (uintptr_t)b < (uintptr_t)a + a_bytes;
}

void sh_arrays_check(const char *call, const struct sh_arrays *a) {
  if (a->dest_bytes) (void)sh_find(&sh.ctx, call, "dest", a->dest, a->dest_bytes, (int)sh.pe);
  if (a->source_bytes)
    (void)sh_find(&sh.ctx, call, "source", a->source, a->source_bytes, (int)sh.pe);
  if (a->same && a->dest == a->source) return;
  if (sh_overlap(a->dest, a->dest_bytes, a->source, a->source_bytes))
    sh_fatal(call,
             "arguments dest and source are %p and %p, with %zu and %zu bytes, which overlap; use "
             "%s [TMB-2332]",
             a->dest, a->source, a->dest_bytes, a->source_bytes,
             a->same ? "one array, or two that do not overlap" : "arrays that do not overlap");
}
