/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams (OpenSHMEM 1.6, 9.2).
 *
 * Owns: the predefined teams. Called by programs and start.c. Calls: gex_TM_Split. Invariants: a
 * team has a team of the layer below with its members in their order; tables name its PEs in the
 * world and where they are mapped, so that a call with a context needs no translation.
 */
#include "../sh.h"

#include <stdlib.h>
#include <string.h>

/* Fills the tables of a team from `tm`. Returns false without memory. */
static bool fill(struct shmem_team_s *team, gex_TM_t tm) {
  team->tm = tm;
  team->size = gex_TM_QuerySize(tm);
  team->rank = gex_TM_QueryRank(tm);
  team->pe = malloc(team->size * sizeof *team->pe);
  team->memory = malloc(team->size * sizeof *team->memory);
  team->number = malloc(sh.size * sizeof *team->number);
  if (!team->pe || !team->memory || !team->number) return false;
  for (uint32_t pe = 0; pe < sh.size; pe++) team->number[pe] = -1;
  for (uint32_t i = 0; i < team->size; i++) {
    team->pe[i] = gex_TM_TranslateRankToJobrank(tm, i);
    team->number[team->pe[i]] = (int)i;
    char *const here = sh_long_way() ? NULL : sh.near[team->pe[i]];
    team->memory[i] = here ? here : &sh.closed.end;
  }
  return true;
}

static void fill_special(struct shmem_team_s *team, gex_TM_t tm) {
  if (!fill(team, tm)) sh_fatal("init", "out of memory for the teams [TMB-0001]");
}

/* Team of the PEs with one colour. Threads may use two teams at once, in different orders, so each
 * needs a team of its own below; without threads all PEs may share the one. */
static void split_special(struct shmem_team_s *team, int color, bool all) {
  gex_TM_t tm = sh.tm;
  if (!all || sh.threads)
    gex_TM_Split(&tm, sh.tm, color, (int)sh.pe, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  fill_special(team, tm);
}

void sh_teams_start(void) {
  fill_special(&sh.world, sh.tm);
  gex_Rank_t nbrhds, nbrhd, hosts, host;
  gex_System_QueryMyPosition(&nbrhds, &nbrhd, &hosts, &host);
  split_special(&sh.shared, (int)nbrhd, nbrhds == 1);
  split_special(&sh.node, (int)host, hosts == 1);
}

SH_DEF(int, team_my_pe, (shmem_team_t team)) {
  const struct shmem_team_s *t = sh_team(team);
  return t ? (int)t->rank : -1;
}

SH_DEF(int, team_n_pes, (shmem_team_t team)) {
  const struct shmem_team_s *t = sh_team(team);
  return t ? (int)t->size : -1;
}

SH_DEF(int, team_get_config, (shmem_team_t team, long config_mask, shmem_team_config_t *config)) {
  const struct shmem_team_s *t = sh_team(team);
  if (!t) return 1;
  if (config && (config_mask & SHMEM_TEAM_NUM_CONTEXTS)) config->num_contexts = t->contexts_max;
  return 0;
}

SH_DEF(int, team_translate_pe, (shmem_team_t src_team, int src_pe, shmem_team_t dest_team)) {
  const struct shmem_team_s *from = sh_team(src_team), *to = sh_team(dest_team);
  if (!from || !to || (uint32_t)src_pe >= from->size) return -1;
  return to->number[from->pe[src_pe]];
}

static void free_team(struct shmem_team_s *team) {
  free(team->pe);
  free(team->memory);
  free(team->number);
  free(team);
}

/* The members of `parent` with number i >= 0 make a team, in which each is number i; those with -1
 * make none. Collective over the parent. Returns 0 or 1. */
static int split(struct shmem_team_s *parent, int color, int i, int contexts,
                 shmem_team_t *new_team) {
  gex_TM_t tm = GEX_TM_INVALID;
  *new_team = SHMEM_TEAM_INVALID;
  gex_TM_Split(i < 0 ? NULL : &tm, parent->tm, color, i < 0 ? 0 : i, NULL, 0,
               GEX_FLAG_TM_NO_SCRATCH);
  if (i < 0) return 0;
  struct shmem_team_s *made = tm == GEX_TM_INVALID ? NULL : calloc(1, sizeof *made);
  if (!made) return 1;
  if (!fill(made, tm)) {
    free_team(made);
    return 1;
  }
  made->contexts_max = contexts;
  pthread_mutex_lock(&sh.lock);
  made->next = sh.teams;
  made->link = &sh.teams;
  if (made->next) made->next->link = &made->next;
  sh.teams = made;
  pthread_mutex_unlock(&sh.lock);
  *new_team = made;
  gexx_check_made(0, made, "team");
  return 0;
}

/* An argument that all PEs of the parent must give alike. */
struct argument {
  const char *name;
  int value;
};

/* Whether the members agree; else one of them reports it. Collective over the parent. */
static bool agree(const struct shmem_team_s *parent, const char *call, const struct argument *args,
                  int count) {
  int64_t mine[6], least[6]; /* of the values, and of their complements: the largest ones */
  for (int i = 0; i < count; i++) {
    mine[i] = args[i].value;
    mine[count + i] = ~(int64_t)args[i].value;
  }
  sh_complete(gex_Coll_ReduceToAllNB(parent->tm, least, mine, GEX_DT_I64, sizeof *mine,
                                     2 * (size_t)count, GEX_OP_MIN, NULL, NULL, 0));
  for (int i = 0; i < count; i++) {
    if (least[i] == ~least[count + i]) continue;
    if (parent->rank == 0)
      sh_say("shmem_%s: argument %s is %lld on one PE of parent_team and %lld on another; give the "
             "same on all. No team is made [TMB-2337]",
             call, args[i].name, (long long)least[i], (long long)~least[count + i]);
    return false;
  }
  return true;
}

static int contexts_of(const shmem_team_config_t *config, long mask) {
  return config && (mask & SHMEM_TEAM_NUM_CONTEXTS) ? config->num_contexts : 0;
}

SH_DEF(int, team_split_strided,
       (shmem_team_t parent_team, int start, int stride, int size,
        const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team)) {
  sh_need_start("team_split_strided");
  *new_team = SHMEM_TEAM_INVALID;
  if (parent_team == SHMEM_TEAM_INVALID) return 1;
  struct shmem_team_s *parent = sh_member("team_split_strided", parent_team);
  const struct argument args[] = {{"start", start}, {"stride", stride}, {"size", size}};
  if (!agree(parent, "team_split_strided", args, 3)) return 1;
  if (size < 1 || (stride == 0 && size != 1)) return 1;
  const int64_t last = start + (int64_t)stride * (size - 1);
  const int64_t end = (int64_t)parent->size;
  if (start < 0 || start >= end || last < 0 || last >= end) return 1;
  const int64_t away = (int64_t)parent->rank - start;
  int i = stride ? (int)(away / stride) : 0;
  if (stride ? away % stride != 0 || i < 0 || i >= size : away != 0) i = -1;
  return split(parent, 0, i, contexts_of(config, config_mask), new_team);
}

/* tidy-allow: parameters because OpenSHMEM has them */
SH_DEF(int, team_split_2d,
       (shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config,
        long xaxis_mask, shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config,
        long yaxis_mask, shmem_team_t *yaxis_team)) {
  sh_need_start("team_split_2d");
  *xaxis_team = *yaxis_team = SHMEM_TEAM_INVALID;
  if (parent_team == SHMEM_TEAM_INVALID) return 1;
  struct shmem_team_s *parent = sh_member("team_split_2d", parent_team);
  if (!agree(parent, "team_split_2d", &(struct argument){"xrange", xrange}, 1)) return 1;
  if (xrange < 1) return 1;
  const int x = (int)parent->rank % xrange, y = (int)parent->rank / xrange;
  const int rc = split(parent, y, x, contexts_of(xaxis_config, xaxis_mask), xaxis_team);
  return split(parent, x, y, contexts_of(yaxis_config, yaxis_mask), yaxis_team) | rc;
}

SH_DEF(void, team_destroy, (shmem_team_t team)) {
  if (team == SHMEM_TEAM_INVALID) return;
  struct shmem_team_s *t = sh_member("team_destroy", team);
  if (t != team)
    sh_fatal("team_destroy", "argument team is a predefined team, which lives as long as the "
                             "program [TMB-2322]");
  gexx_check_ended(0, t);
  while (t->contexts) sh_ctx_end(t->contexts);
  gex_TM_Destroy(t->tm, NULL, 0);
  pthread_mutex_lock(&sh.lock);
  *t->link = t->next;
  if (t->next) t->next->link = t->link;
  pthread_mutex_unlock(&sh.lock);
  if (!sh.debug) free_team(t);
}
