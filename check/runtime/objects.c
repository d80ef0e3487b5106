/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams, segments and the other objects of a program: names for the checker, and leaks.
 *
 * Owns: tables of this process's teams and objects. These are calls of the library that
 * make and end objects. Calls: clock.c: the calls that all members of a team make order them.
 * Invariants: a team has the same name on all members: a hash of its members, and how many teams of
 * the same members were made before; each object remembers the line that made it.
 */
#include "check/runtime/chk.h"

#include <stdlib.h>

struct team {
  struct team *next;
  gex_TM_t tm;
  uint64_t name, calls;
};

struct object {
  struct object *next;
  const void *object;
  const char *what;
  uint32_t site;
};

static struct team *teams;
static struct object *objects;
uint32_t chk_jobrank(gex_TM_t tm, gex_Rank_t rank) {
  return tm->jobrank ? tm->jobrank[rank] : rank;
}

static uint64_t members_of(gex_TM_t tm) {
  uint64_t h = tm->size;
  for (gex_Rank_t r = 0; r < tm->size; r++) h = chk_key(h, chk_jobrank(tm, r), r);
  return h;
}

static struct team *team_of(gex_TM_t tm) {
  for (struct team *t = teams; t; t = t->next)
    if (t->tm == tm) return t;
  struct team *const t = calloc(1, sizeof *t);
  if (!t) abort();
  const uint64_t members = members_of(tm);
  uint64_t before = 0;
  for (struct team *u = teams; u; u = u->next)
    if (u->tm && members_of(u->tm) == members) before++;
  *t = (struct team){teams, tm, chk_key(CHK_KEY_COLL, members, before), 0};
  return teams = t;
}

uint64_t chk_team_key(gex_TM_t tm) {
  struct team *const t = team_of(tm);
  return chk_key(CHK_KEY_COLL, t->name, ++t->calls);
}

static void team_ended(gex_TM_t tm) {
  struct team **at = &teams;
  while (*at && (*at)->tm != tm) at = &(*at)->next;
  struct team *const t = *at;
  if (!t) return;
  *at = t->next;
  free(t);
}

static void made(const void *object, const char *what, const char *call, const void *pc) {
  struct object *const o = chk.area && object ? calloc(1, sizeof *o) : NULL;
  if (!o) return;
  pthread_mutex_lock(&chk.lock);
  *o = (struct object){objects, object, what, chk_site(call, pc)};
  objects = o;
  pthread_mutex_unlock(&chk.lock);
}

static void ended(const void *object) {
  pthread_mutex_lock(&chk.lock);
  struct object **at = &objects;
  while (*at && (*at)->object != object) at = &(*at)->next;
  struct object *const o = *at;
  if (o) *at = o->next;
  pthread_mutex_unlock(&chk.lock);
  free(o);
}

void chk_objects_leaks(void) {
  for (const struct object *o = objects; o; o = o->next)
    if (o->site) chk_leak(o->what, o->site); /* others are a run-time library's own */
}

/* ---- segments */

static void add_segment(gex_Segment_t segment) {
  if (chk.area && segment != GEX_SEGMENT_INVALID)
    chk_segment_add((uintptr_t)gex_Segment_QueryAddr(segment), gex_Segment_QuerySize(segment));
}

static void attached(void) {
  if (!chk.area || chk_segments()) return;
  gasnet_seginfo_t *const all = calloc(chk.ranks, sizeof *all);
  if (all && gasnet_getSegmentInfo(all, (int)chk.ranks) == GASNET_OK)
    chk_segments_set(all);
  else
    free(all);
}

/* ---- calls that all members make */

/* Each member's call is before the end of all others' calls. */
static struct chk_pending meet(gex_TM_t tm, const char *call, const void *pc) {
  struct chk_pending p = {.members = tm->size, .acquires = true};
  pthread_mutex_lock(&chk.lock);
  p.site = chk_site(call, pc);
  p.acquire = chk_team_key(tm);
  chk_release(p.acquire, p.site, 0);
  pthread_mutex_unlock(&chk.lock);
  return p;
}

static void met(const struct chk_pending *p) {
  pthread_mutex_lock(&chk.lock);
  chk_end(p);
  pthread_mutex_unlock(&chk.lock);
}

#define MEET(tm, call)                                                                 \
 const struct chk_pending p =                                                          \
     chk_on() ? meet(tm, call, __builtin_return_address(0)) : (struct chk_pending){0}; \
 const void *const pc = __builtin_return_address(0)
#define MET() \
 if (chk_on()) met(&p)

int gex_Segment_Attach(gex_Segment_t *segment_p, gex_TM_t tm, uintptr_t length) {
  MEET(tm, "gex_Segment_Attach");
  (void)pc;
  const int rc = chk_real.gex_Segment_Attach(segment_p, tm, length);
  MET();
  if (rc == GASNET_OK) add_segment(*segment_p);
  if (rc == GASNET_OK) attached();
  return rc;
}

int gasnet_attach(gasnet_handlerentry_t *table, int numentries, uintptr_t segsize,
                  uintptr_t minheapoffset) {
  MEET(gexx_coll_team_all(), "gasnet_attach");
  (void)pc;
  const int rc = chk_real.gasnet_attach(table, numentries, segsize, minheapoffset);
  MET();
  if (rc == GASNET_OK) attached();
  const gasnet_seginfo_t *const all = chk_segments();
  if (rc == GASNET_OK && all)
    chk_segment_add((uintptr_t)all[chk.rank].addr, all[chk.rank].size);
  return rc;
}

int gex_Segment_Create(gex_Segment_t *segment_p, gex_Client_t client, gex_Addr_t address,
                       uintptr_t length, gex_MK_t kind, gex_Flags_t flags) {
  const int rc = chk_real.gex_Segment_Create(segment_p, client, address, length, kind, flags);
  if (rc != GASNET_OK) return rc;
  add_segment(*segment_p);
  made(*segment_p, "segment", "gex_Segment_Create", __builtin_return_address(0));
  return rc;
}

void gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags) {
  ended(segment);
  if (chk.area) chk_segment_remove((uintptr_t)gex_Segment_QueryAddr(segment));
  chk_real.gex_Segment_Destroy(segment, flags);
}

int gex_EP_Create(gex_EP_t *ep_p, gex_Client_t client, gex_EP_Capabilities_t capabilities,
                  gex_Flags_t flags) {
  return chk_real.gex_EP_Create(ep_p, client, capabilities, flags);
}

size_t gex_TM_Split(gex_TM_t *new_tm_p, gex_TM_t parent, int color, int key, void *scratch_addr,
                    size_t scratch_size, gex_Flags_t flags) {
  MEET(parent, "gex_TM_Split");
  const size_t size =
      chk_real.gex_TM_Split(new_tm_p, parent, color, key, scratch_addr, scratch_size, flags);
  MET();
  if (new_tm_p && *new_tm_p != GEX_TM_INVALID && !(flags & GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED))
    made(*new_tm_p, "team", "gex_TM_Split", pc);
  return size;
}

int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t *scratch_p, gex_Flags_t flags) {
  ended(tm);
  MEET(tm, "gex_TM_Destroy");
  (void)pc;
  const int rc = chk_real.gex_TM_Destroy(tm, scratch_p, flags);
  MET();
  pthread_mutex_lock(&chk.lock);
  team_ended(tm);
  pthread_mutex_unlock(&chk.lock);
  return rc;
}

void gex_AD_Create(gex_AD_t *ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags) {
  MEET(tm, "gex_AD_Create");
  chk_real.gex_AD_Create(ad_p, tm, dt, ops, flags);
  MET();
  made(*ad_p, "atomic domain", "gex_AD_Create", pc);
}

void gex_AD_Destroy(gex_AD_t ad) {
  ended(ad);
  chk_real.gex_AD_Destroy(ad);
}

int gexx_Sem_Alloc(gexx_Sem_t *sem_p, unsigned flags) {
  const int rc = chk_real.gexx_Sem_Alloc(sem_p, flags);
  if (rc == GASNET_OK) made(*sem_p, "semaphore", "gexx_Sem_Alloc", __builtin_return_address(0));
  return rc;
}

void gexx_Sem_Free(gexx_Sem_t sem) {
  ended(sem);
  chk_real.gexx_Sem_Free(sem);
}

int gexx_Notify_Init(gex_TM_t tm, gex_Rank_t source, uint32_t tag, uint32_t expected_count,
                     gexx_Notify_t *req_p) {
  const int rc = chk_real.gexx_Notify_Init(tm, source, tag, expected_count, req_p);
  if (rc == GASNET_OK)
    made(*req_p, "notify request", "gexx_Notify_Init", __builtin_return_address(0));
  return rc;
}

void gexx_Notify_Free(gexx_Notify_t req) {
  ended(req);
  chk_real.gexx_Notify_Free(req);
}
