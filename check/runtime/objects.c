/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams, segments and the other objects of a program: names for the checker, and leaks.
 *
 * Owns: tables of this process's teams and objects. These are calls of the library that
 * make and end objects. Calls: clock.c: the calls that all members of a team make order them.
 * Invariants: a team has the same name on all members: a hash of its members, and a number among
 * the teams with the same members, which it gets when it is made; each object remembers the line
 * that made it.
 */
#include "check/runtime/chk.h"

#include <tombolo/check_hook.h>

#include <stdlib.h>

struct team {
  struct team *next;
  gex_TM_t tm;
  uint64_t members, number; /* hash; among the teams with these members, from 1 */
  uint64_t calls;           /* of all members, so far */
};

struct object {
  struct object *next;
  const void *object;
  const void *kind; /* of a segment of device memory: its kind, GEX_MK_HOST, or NULL */
  const char *what;
  uint32_t site;
};

static struct team *teams;
static struct object *objects;

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
  uint64_t last = 0;
  for (struct team *u = teams; u; u = u->next)
    if (u->members == members && u->number > last) last = u->number;
  *t = (struct team){teams, tm, members, last + 1, 0};
  return teams = t;
}

uint64_t chk_team_key(gex_TM_t tm) {
  struct team *const t = team_of(tm);
  return chk_key(chk_key(CHK_KEY_COLL, t->members, t->number), ++t->calls, 0);
}

static void team_ended(gex_TM_t tm) {
  struct team **at = &teams;
  while (*at && (*at)->tm != tm) at = &(*at)->next;
  struct team *const t = *at;
  chk_near_forget();
  if (!t) return;
  *at = t->next;
  free(t);
}

static void keep(struct object it, const char *call, const void *pc) {
  struct object *const o = chk.area ? malloc(sizeof *o) : NULL;
  if (!o) return;
  chk_guard();
  it.next = objects;
  it.site = chk_site(call, pc);
  *o = it;
  objects = o;
  chk_unguard();
}

/* Objects that the library, or a run-time library, makes for itself need not be ended by the
 * program. */
static void made(struct object it, const char *call, const void *pc) {
  if (chk.area && it.object && !chk_of_library(pc)) keep(it, call, pc);
}

void chk_made(const void *object, const char *what, const char *call, const void *pc) {
  made((struct object){.object = object, .what = what}, call, pc);
}

/* An object is ended. Returns the kind of a segment, or NULL. */
static const void *end(const void *object) {
  chk_guard();
  struct object **at = &objects;
  while (*at && (*at)->object != object) at = &(*at)->next;
  struct object *const o = *at;
  const void *const kind = o ? o->kind : NULL;
  if (o) *at = o->next;
  chk_unguard();
  free(o);
  return kind;
}

void chk_ended(const void *object) {
  (void)end(object);
}

/* An object of a run-time library: no address that is one in this process. */
static const void *name_of(gex_Rank_t rank, const void *object) {
  return (const void *)((uintptr_t)object ^ ((uintptr_t)rank + 1) << 48);
}

void gexx_check_made(gex_Rank_t rank, const void *object, const char *what) {
  keep((struct object){.object = name_of(rank, object), .what = what}, what,
       __builtin_return_address(0));
}

void gexx_check_ended(gex_Rank_t rank, const void *object) {
  if (chk.area) chk_ended(name_of(rank, object));
}

/* Memory that is allocated is what another thread or rank has freed before: the heap has a lock. */
static void heap_takes(gex_Rank_t rank, const void *pc) {
  chk_order_take((uintptr_t)&objects);
  if (!chk_on()) return;
  chk_enter();
  chk_acquire(chk_key(CHK_KEY_HEAP, rank, 0), chk_site("an allocation", pc));
  chk_exit();
}

static void heap_gives(gex_Rank_t rank, const void *pc) {
  chk_order_give((uintptr_t)&objects);
  if (!chk_on()) return;
  chk_enter();
  chk_release(chk_key(CHK_KEY_HEAP, rank, 0), chk_site("the end of an allocation", pc), 0);
  chk_exit();
}

void gexx_check_allocated(gex_Rank_t rank, uintptr_t block) {
  if (block) heap_takes(rank, __builtin_return_address(0));
  if (!chk.area || !chk.leaks || !block) return;
  chk_enter();
  const uint32_t site = CHK_SITE("an allocation");
  if (site) chk_block_made(chk_key(CHK_KEY_BLOCK, rank, block), site);
  chk_exit();
}

void gexx_check_freed(gex_Rank_t rank, uintptr_t block) {
  heap_gives(rank, __builtin_return_address(0));
  if (!chk.area || !chk.leaks) return;
  chk_enter();
  chk_block_ended(chk_key(CHK_KEY_BLOCK, rank, block));
  chk_exit();
}

void chk_objects_leaks(void) {
  for (const struct object *o = objects; o; o = o->next)
    if (o->site) chk_leak(o->what, o->site); /* other clients belong to run-time libraries */
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
  chk_enter();
  p.site = chk_site(call, pc);
  p.acquire = chk_team_key(tm);
  chk_release(p.acquire, p.site, 0);
  chk_exit();
  return p;
}

static void met(const struct chk_pending *p) {
  chk_enter();
  chk_end(p);
  chk_exit();
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
  if (rc == GASNET_OK && all) chk_segment_add((uintptr_t)all[chk.rank].addr, all[chk.rank].size);
  return rc;
}

int gex_Segment_Create(gex_Segment_t *segment_p, gex_Client_t client, gex_Addr_t address,
                       uintptr_t length, gex_MK_t kind, gex_Flags_t flags) {
  const int rc = chk_real.gex_Segment_Create(segment_p, client, address, length, kind, flags);
  if (rc != GASNET_OK) return rc;
  add_segment(*segment_p);
  made((struct object){.object = *segment_p, .kind = kind, .what = "segment"}, "gex_Segment_Create",
       __builtin_return_address(0));
  return rc;
}

void gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags) {
  chk_ended(segment);
  if (chk.area) chk_segment_remove((uintptr_t)gex_Segment_QueryAddr(segment));
  chk_real.gex_Segment_Destroy(segment, flags);
}

/* An endpoint lasts as long as the job, and what is bound to it, too. */
int gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags) {
  const int rc = chk_real.gex_EP_BindSegment(ep, segment, flags);
  if (rc == GASNET_OK) chk_ended(end(segment));
  return rc;
}

int gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t *eps, size_t num_eps, gex_Flags_t flags) {
  MEET(tm, "gex_EP_PublishBoundSegment");
  (void)pc;
  const int rc = chk_real.gex_EP_PublishBoundSegment(tm, eps, num_eps, flags);
  MET();
  return rc;
}

/* A program that is compiled with `--check` asks where a segment is mapped: its loads and stores
 * there are seen from now on. C++ programs ask for nothing else, for each rank as they start. */
static void may_use(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p, void **localaddr_p,
                    uintptr_t *size_p, const void *pc) {
  const uint32_t owner = chk_jobrank(tm, rank);
  void *at = NULL, *memory = NULL;
  uintptr_t bytes = 0;
  if (!localaddr_p || (!owneraddr_p && !size_p) || owner == chk.rank) return;
  if (!tombolo_check_watch.files || chk_of_library(pc)) return;
  if (!chk_real.gex_Segment_QueryBound(tm, rank, &memory, &at, &bytes) && at)
    gexx_check_alias(owner, at, bytes, memory);
}

int gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p, void **localaddr_p,
                           uintptr_t *size_p) {
  const int rc = chk_real.gex_Segment_QueryBound(tm, rank, owneraddr_p, localaddr_p, size_p);
  if (chk_on() && !rc)
    may_use(tm, rank, owneraddr_p, localaddr_p, size_p, __builtin_return_address(0));
  return rc;
}

gex_Event_t gex_EP_QueryBoundSegmentNB(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p,
                                       void **localaddr_p, uintptr_t *size_p, gex_Flags_t flags) {
  const gex_Event_t event =
      chk_real.gex_EP_QueryBoundSegmentNB(tm, rank, owneraddr_p, localaddr_p, size_p, flags);
  if (chk_on()) may_use(tm, rank, owneraddr_p, localaddr_p, size_p, __builtin_return_address(0));
  if (!chk_on() || event == GEX_EVENT_NO_OP) return event;
  chk_enter();
  chk_pend(event, &(struct chk_pending){.site = CHK_SITE("gex_EP_QueryBoundSegmentNB")});
  chk_exit();
  return event;
}

int gex_MK_Create(gex_MK_t *kind_p, gex_Client_t client, const gex_MK_Create_args_t *args,
                  gex_Flags_t flags) {
  const int rc = chk_real.gex_MK_Create(kind_p, client, args, flags);
  if (rc == GASNET_OK)
    chk_made(*kind_p, "memory kind", "gex_MK_Create", __builtin_return_address(0));
  return rc;
}

void gex_MK_Destroy(gex_MK_t kind, gex_Flags_t flags) {
  chk_ended(kind);
  chk_real.gex_MK_Destroy(kind, flags);
}

/* ---- teams */

/* Flags of calls that make no team, and that need not be made by all. */
#define QUERY (GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED | GEX_FLAG_TM_SCRATCH_SIZE_MIN)

void chk_team_made(gex_TM_t tm) {
  if (!chk_on() || tm == GEX_TM_INVALID) return;
  chk_enter();
  (void)team_of(tm);
  chk_near_forget();
  chk_exit();
}

/* Teams that a call has made. in tm: [count], also invalid ones. */
static void teams_made(const gex_TM_t *tm, size_t count, const char *call, const void *pc) {
  for (size_t i = 0; tm && i < count; i++) {
    if (tm[i] == GEX_TM_INVALID) continue;
    chk_team_made(tm[i]);
    chk_made(tm[i], "team", call, pc);
  }
}

size_t gex_TM_Split(gex_TM_t *new_tm_p, gex_TM_t parent, int color, int key, void *scratch_addr,
                    size_t scratch_size, gex_Flags_t flags) {
  if (flags & QUERY)
    return chk_real.gex_TM_Split(new_tm_p, parent, color, key, scratch_addr, scratch_size, flags);
  MEET(parent, "gex_TM_Split");
  const size_t size =
      chk_real.gex_TM_Split(new_tm_p, parent, color, key, scratch_addr, scratch_size, flags);
  MET();
  teams_made(new_tm_p, 1, "gex_TM_Split", pc);
  return size;
}

size_t gex_TM_Dup(gex_TM_t *new_tm_p, gex_TM_t tm, gex_Addr_t scratch_addr, size_t scratch_size,
                  gex_Flags_t flags) {
  if (flags & QUERY) return chk_real.gex_TM_Dup(new_tm_p, tm, scratch_addr, scratch_size, flags);
  MEET(tm, "gex_TM_Dup");
  const size_t size = chk_real.gex_TM_Dup(new_tm_p, tm, scratch_addr, scratch_size, flags);
  MET();
  teams_made(new_tm_p, 1, "gex_TM_Dup", pc);
  return size;
}

size_t gex_TM_Create(gex_TM_t *new_tms, size_t num_new_tms, gex_TM_t parent,
                     gex_EP_Location_t *args, size_t numargs, gex_Addr_t *scratch_addrs,
                     size_t scratch_size, gex_Flags_t flags) {
  if (flags & QUERY)
    return chk_real.gex_TM_Create(new_tms, num_new_tms, parent, args, numargs, scratch_addrs,
                                  scratch_size, flags);
  MEET(parent, "gex_TM_Create");
  const size_t size = chk_real.gex_TM_Create(new_tms, num_new_tms, parent, args, numargs,
                                             scratch_addrs, scratch_size, flags);
  MET();
  teams_made(new_tms, numargs ? num_new_tms : 0, "gex_TM_Create", pc);
  return size;
}

int gexx_TM_Shrink(gex_TM_t tm, gex_TM_t *new_tm_p) {
  MEET(tm, "gexx_TM_Shrink");
  const int rc = chk_real.gexx_TM_Shrink(tm, new_tm_p);
  MET();
  if (rc == GASNET_OK) teams_made(new_tm_p, 1, "gexx_TM_Shrink", pc);
  return rc;
}

int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t *scratch_p, gex_Flags_t flags) {
  chk_ended(tm);
  MEET(tm, "gex_TM_Destroy");
  (void)pc;
  const int rc = chk_real.gex_TM_Destroy(tm, scratch_p, flags);
  MET();
  chk_enter();
  team_ended(tm);
  chk_exit();
  return rc;
}

void gex_AD_Create(gex_AD_t *ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags) {
  MEET(tm, "gex_AD_Create");
  chk_real.gex_AD_Create(ad_p, tm, dt, ops, flags);
  MET();
  chk_made(*ad_p, "atomic domain", "gex_AD_Create", pc);
}

void gex_AD_Destroy(gex_AD_t ad) {
  chk_ended(ad);
  chk_guard();
  chk_near_forget();
  chk_exit();
  chk_real.gex_AD_Destroy(ad);
}

int gexx_Sem_Alloc(gexx_Sem_t *sem_p, unsigned flags) {
  const int rc = chk_real.gexx_Sem_Alloc(sem_p, flags);
  if (rc == GASNET_OK) chk_made(*sem_p, "semaphore", "gexx_Sem_Alloc", __builtin_return_address(0));
  return rc;
}

void gexx_Sem_Free(gexx_Sem_t sem) {
  chk_ended(sem);
  chk_real.gexx_Sem_Free(sem);
}

int gexx_Notify_Init(gex_TM_t tm, gex_Rank_t source, uint32_t tag, uint32_t expected_count,
                     gexx_Notify_t *req_p) {
  const int rc = chk_real.gexx_Notify_Init(tm, source, tag, expected_count, req_p);
  if (rc == GASNET_OK)
    chk_made(*req_p, "notify request", "gexx_Notify_Init", __builtin_return_address(0));
  return rc;
}

void gexx_Notify_Free(gexx_Notify_t req) {
  chk_ended(req);
  chk_real.gexx_Notify_Free(req);
}
