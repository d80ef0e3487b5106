/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contexts and sessions (OpenSHMEM 1.6, 9.4), and the operations that they keep.
 *
 * Owns: the events of each context. Called by programs, and by the files that start operations.
 * Calls: events. Invariants: an operation on mapped memory is complete when its call returns, so a
 * context keeps only operations of the network; quiet waits under the lock of the context, so that
 * a second quiet does not return before the first one's operations are complete. Where one thread
 * calls, the layer below keeps the puts and gets of the default context: its implicit handles
 * belong to a thread.
 */
#include "../sh.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 64u
#define ROOM_MOST  4096u /* events that a context keeps; chosen so that a full table is 32 KiB */

struct shmem_ctx_s *sh_ctx_special(shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_INVALID)
    sh_fatal("ctx_*", "argument ctx is SHMEM_CTX_INVALID; create the context first [TMB-2315]");
  return &sh.ctx;
}

void sh_ctx_init(struct shmem_ctx_s *ctx, struct shmem_team_s *team, long options) {
  *ctx = (struct shmem_ctx_s){
      .reach = {team->memory, sh.far ? sh.nothing : team->memory, sh.inlined ? team->size : 0},
      .team = team,
      .options = options};
  pthread_mutex_init(&ctx->pending.lock, NULL);
  ctx->pending.shared = sh.threads && !(options & (SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED));
}

static void enter(struct sh_pending *p) {
  if (p->shared) pthread_mutex_lock(&p->lock);
}
static void leave(struct sh_pending *p) {
  if (p->shared) pthread_mutex_unlock(&p->lock);
}

/* Makes room for one more event. */
static void make_room(struct sh_pending *p) {
  if (p->count == ROOM_MOST) {
    gex_Event_TestAll(p->event, p->count, 0);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->count; i++)
      if (p->event[i] != GEX_EVENT_INVALID) p->event[kept++] = p->event[i];
    if (kept == ROOM_MOST) {
      gex_Event_WaitAll(p->event, kept, 0);
      kept = 0;
    }
    __atomic_store_n(&p->count, kept, __ATOMIC_RELAXED);
  }
  if (p->count < p->room) return;
  const uint32_t room = p->room ? 2 * p->room : ROOM_FIRST;
  gex_Event_t *event = realloc(p->event, room * sizeof *event);
  if (!event) sh_fatal("put", "out of memory for %u operations [TMB-0001]", room);
  p->event = event;
  p->room = room;
}

void sh_pend(struct shmem_ctx_s *ctx, gex_Event_t event) {
  if (event == GEX_EVENT_INVALID) return;
  struct sh_pending *p = &ctx->pending;
  enter(p);
  if (p->count == p->room || p->count == ROOM_MOST) make_room(p);
  p->event[p->count] = event;
  __atomic_store_n(&p->count, p->count + 1, __ATOMIC_RELAXED);
  leave(p);
}

/* Whether operations may be incomplete. */
static bool outstanding(const struct sh_pending *p) {
  return p->implied || __atomic_load_n(&p->count, __ATOMIC_RELAXED);
}

void sh_drain(struct shmem_ctx_s *ctx) {
  struct sh_pending *p = &ctx->pending;
  if (SH_LIKELY(!outstanding(p))) return;
  if (p->implied) gex_NBI_Wait(GEX_EC_PUT | GEX_EC_GET, 0);
  p->implied = false;
  enter(p);
  gex_Event_WaitAll(p->event, p->count, 0);
  __atomic_store_n(&p->count, 0, __ATOMIC_RELAXED);
  leave(p);
}

void sh_quiet(struct shmem_ctx_s *ctx) {
  sh_drain(ctx);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

SH_DEF(int, team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t *ctx)) {
  sh_need_start("team_create_ctx");
  *ctx = SHMEM_CTX_INVALID;
  struct shmem_team_s *of = sh_team(team);
  struct shmem_ctx_s *made = of ? malloc(sizeof *made) : NULL;
  if (!made) return 1;
  sh_ctx_init(made, of, options);
  pthread_mutex_lock(&sh.lock);
  made->next = of->contexts;
  made->link = &of->contexts;
  if (made->next) made->next->link = &made->next;
  of->contexts = made;
  pthread_mutex_unlock(&sh.lock);
  *ctx = made;
  gexx_check_made(0, made, "context");
  return 0;
}

SH_DEF(int, ctx_create, (long options, shmem_ctx_t *ctx)) {
  return pshmem_team_create_ctx(SHMEM_TEAM_WORLD, options, ctx);
}

void sh_ctx_end(struct shmem_ctx_s *ctx) {
  gexx_check_ended(0, ctx);
  sh_quiet(ctx);
  pthread_mutex_lock(&sh.lock);
  *ctx->link = ctx->next;
  if (ctx->next) ctx->next->link = ctx->link;
  pthread_mutex_unlock(&sh.lock);
  pthread_mutex_destroy(&ctx->pending.lock);
  free(ctx->pending.event);
  ctx->pending.event = NULL;
  ctx->pending.room = 0;
  if (!sh.debug) free(ctx);
}

/* The context of a handle, for calls that name no PE. */
static struct shmem_ctx_s *known(const char *call, shmem_ctx_t ctx) {
  struct shmem_ctx_s *const c = sh_ctx(ctx);
  if (SH_UNLIKELY(sh.debug)) sh_ctx_check(call, c);
  return c;
}

SH_DEF(void, ctx_destroy, (shmem_ctx_t ctx)) {
  if (ctx == SHMEM_CTX_DEFAULT)
    sh_fatal("ctx_destroy",
             "argument ctx is SHMEM_CTX_DEFAULT, which lives as long as the program [TMB-2314]");
  if (ctx != SHMEM_CTX_INVALID) sh_ctx_end(known("ctx_destroy", ctx));
}

SH_DEF(int, ctx_get_team, (shmem_ctx_t ctx, shmem_team_t *team)) {
  *team = SHMEM_TEAM_INVALID;
  if (ctx == SHMEM_CTX_INVALID) return 1;
  struct shmem_team_s *of = sh_ctx(ctx)->team;
  *team = of == &sh.world ? SHMEM_TEAM_WORLD : of == &sh.shared ? SHMEM_TEAM_SHARED : of;
  if (of == &sh.node) *team = SHMEM_TEAM_NODE;
  return 0;
}

/* Sessions are hints, and operations go out at once: there is nothing to prepare. */
SH_DEF(void, ctx_session_start,
       (shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config,
        long config_mask)) {
  (void)ctx;
  (void)options;
  (void)config;
  (void)config_mask;
}

SH_DEF(void, ctx_session_stop, (shmem_ctx_t ctx)) {
  (void)ctx;
}

/* ---- order and completion (OpenSHMEM 1.6, 9.11) */

static void fence(struct shmem_ctx_s *ctx) {
  if (outstanding(&ctx->pending))
    sh_quiet(ctx);
  else
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
}

SH_DEF(void, fence, (void)) {
  fence(&sh.ctx);
}

SH_DEF(void, quiet, (void)) {
  sh_quiet(&sh.ctx);
}

SH_DEF(void, pe_quiet, (int target_pe)) {
  (void)target_pe; /* all PEs are more than the one */
  sh_quiet(&sh.ctx);
}

SH_DEF(void, ctx_fence, (shmem_ctx_t ctx)) {
  if (ctx != SHMEM_CTX_INVALID) fence(known("ctx_fence", ctx));
}

SH_DEF(void, ctx_quiet, (shmem_ctx_t ctx)) {
  if (ctx != SHMEM_CTX_INVALID) sh_quiet(known("ctx_quiet", ctx));
}

SH_DEF(void, ctx_pe_quiet, (shmem_ctx_t ctx, int target_pe)) {
  (void)target_pe;
  if (ctx != SHMEM_CTX_INVALID) sh_quiet(known("ctx_pe_quiet", ctx));
}

void sh_barrier(void) {
  sh_complete(gex_Coll_BarrierNB(sh.tm, 0));
}
