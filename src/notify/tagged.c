/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged notification, the target's side: requests, matching, kept notifications.
 *
 * Owns: the list of active requests in the order in which they were started, the list of kept
 * notifications in the order of arrival. For each sender on another host: the number of its next
 * notification, and those that came too early. For each sender: its credit to be returned. Called
 * by clients and by the message handler of tagged_send.c. Calls: tagged_credit.c to give credit
 * back. Both lists are searched from their heads. Notifications whose team has ended are dropped:
 * those that are kept when it ends, and those that come later. A team that is not known here may
 * also be one that this process is still making; a notification for it is kept until the call that
 * makes the team has ended. Invariants: everything is guarded by one lock, under which nothing is
 * sent; no kept notification matches an active request; at most credits * processes notifications
 * are kept or early.
 */
#include "notify/tagged.h"

#include "base/atomic.h"
#include "base/container/list.h"
#include "base/log.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/op/lost.h"
#include "core/progress/progress.h"
#include "core/team.h"
#include "os/sync/lock.h"

#include <stdlib.h>

#define MAGIC_REQ 0x6e746631u

enum { INACTIVE, ACTIVE, COMPLETE };

struct gexx_notify_s {
  uint32_t magic;
  uint32_t state; /* INACTIVE .. COMPLETE; atomic */
  uint64_t uid;
  uint32_t target;         /* rank of this member in its team */
  uint32_t source, tag;    /* that match; may be GEXX_NOTIFY_ANY_* */
  uint32_t jobrank;        /* of the source; GEX_RANK_INVALID: any */
  bool lost;               /* complete because the source is lost */
  uint32_t expected, left; /* notifications of one activation, still missing */
  gexx_Notify_Status_t last;
  struct gexx_notify_s *next; /* active */
};

/* Most that a process may have in progress; the range of TOMBOLO_NOTIFY_CREDITS. */
#define UNDER_WAY_MAX 65536u

struct sender {
  uint32_t owed;            /* credit to give back */
  uint32_t next;            /* number that follows those that were entered */
  struct tmb_tagged *early; /* come before that one; by number */
};

static struct tmb_lock box_lock;
static struct {
  struct gexx_notify_s *active, **active_end;
  struct tmb_tagged *kept, **kept_end, *spare;
  struct sender *senders; /* [job size] */
  gexx_Notify_Stats_t stats;
} box TMB_GUARDED_BY(box_lock);
static bool used; /* whether the box was ever locked; atomic */

/* Lock the box, made at first use. */
TMB_ACQUIRE(box_lock) static void lock(void) {
  tmb_lock_acquire(&box_lock);
  if (TMB_LIKELY(box.senders != NULL)) return;
  box.active_end = &box.active;
  box.kept_end = &box.kept;
  struct sender *senders = calloc(tmb_job.size, sizeof *senders);
  if (!senders) tmb_fatal("out of memory for notifications of %u ranks", tmb_job.size);
  box.senders = senders;
  tmb_store_rel(&used, true);
}

TMB_RELEASE(box_lock) static void unlock(void) {
  tmb_lock_release(&box_lock);
}

static bool matches(const struct gexx_notify_s *req, const struct tmb_tagged *tagged) {
  return req->uid == tagged->uid && req->target == tagged->target &&
         (req->source == GEXX_NOTIFY_ANY_SOURCE || req->source == tagged->source) &&
         (req->tag == GEXX_NOTIFY_ANY_TAG || req->tag == tagged->tag);
}

/* Count a notification that was matched or dropped. Returns the credit to give back to its
 * sender now: a whole batch, or 0. */
TMB_REQUIRES(box_lock) static uint32_t owe(const struct tmb_tagged *tagged) {
  uint32_t *owed = &box.senders[tagged->jobrank].owed;
  if (++*owed < tmb_tagged_credits() / 2) return 0;
  const uint32_t credit = *owed;
  *owed = 0;
  return credit;
}

TMB_REQUIRES(box_lock)
static uint32_t take(struct gexx_notify_s *req, const struct tmb_tagged *tagged) {
  req->last = (gexx_Notify_Status_t){tagged->source, tagged->tag, tagged->nbytes};
  tmb_store_rlx(&req->left, req->left - 1); /* read without the lock by describe */
  return owe(tagged);
}

/* Whether the member that is notified is there, or may yet be. */
static bool has_target(const struct tmb_tagged *tagged) {
  const bool making = tmb_team_in_making(); /* asked first: a team made between the two questions is
                                               found by the second */
  return tmb_team_find(tagged->uid, tagged->target, NULL) || making;
}

TMB_REQUIRES(box_lock) static struct tmb_tagged *copy(const struct tmb_tagged *tagged) {
  struct tmb_tagged *n = TMB_LIST_POP(&box.spare);
  if (!n) n = malloc(sizeof *n);
  if (!n) tmb_fatal("out of memory for a notification");
  *n = *tagged;
  return n;
}

TMB_REQUIRES(box_lock) static void release(struct tmb_tagged *n) {
  TMB_LIST_PUSH(&box.spare, n);
}

TMB_REQUIRES(box_lock) static void keep(const struct tmb_tagged *tagged) {
  struct tmb_tagged *n = copy(tagged);
  TMB_LIST_EXTEND(&box.kept_end, n);
  box.stats.gexx_kept_total++;
  if (++box.stats.gexx_kept > box.stats.gexx_kept_max)
    box.stats.gexx_kept_max = box.stats.gexx_kept;
}

/* Match, keep or drop the next notification of its sender. Returns credit to give back now. */
TMB_REQUIRES(box_lock) static uint32_t enter(const struct tmb_tagged *tagged) {
  struct gexx_notify_s **p = &box.active;
  while (*p && !matches(*p, tagged)) p = &(*p)->next;
  struct gexx_notify_s *req = *p;
  if (!req && has_target(tagged)) {
    keep(tagged);
    return 0;
  }
  if (!req) {
    box.stats.gexx_dropped++;
    return owe(tagged);
  }
  const uint32_t credit = take(req, tagged);
  box.stats.gexx_matched++;
  if (!req->left) {
    (void)TMB_LIST_POP(p);
    if (!*p) box.active_end = p;
    tmb_store_rel(&req->state, COMPLETE);
  }
  return credit;
}

/* Put aside a notification that overtook another one. */
TMB_REQUIRES(box_lock) static void wait_turn(struct sender *s, const struct tmb_tagged *tagged) {
  const uint32_t ahead = tagged->number - s->next;
  struct tmb_tagged **p = &s->early;
  while (*p && (*p)->number - s->next < ahead) p = &(*p)->next;
  if (ahead > UNDER_WAY_MAX || (*p && (*p)->number == tagged->number))
    tmb_fatal_nopos("rank %u sent notification number %u while number %u is next: the ranks run "
                    "different versions of the library, or memory is damaged",
                    tagged->jobrank, tagged->number, s->next);
  struct tmb_tagged *n = copy(tagged);
  TMB_LIST_PUSH(p, n);
}

/* Enter those whose turn has come; with `all`, also those that follow a gap. Returns credit. */
TMB_REQUIRES(box_lock) static uint32_t enter_early(struct sender *s, bool all) {
  uint32_t credit = 0;
  for (struct tmb_tagged *n; (n = s->early) && (all || n->number == s->next); s->next++) {
    (void)TMB_LIST_POP(&s->early);
    s->next = n->number;
    credit += enter(n);
    release(n);
  }
  return credit;
}

/* Enters a notification from another host: in the order of the numbers. */
TMB_REQUIRES(box_lock) static uint32_t enter_in_turn(const struct tmb_tagged *tagged) {
  struct sender *s = &box.senders[tagged->jobrank];
  if (tagged->number != s->next) {
    wait_turn(s, tagged);
    return 0;
  }
  const uint32_t credit = enter(tagged);
  s->next++;
  return credit + enter_early(s, false);
}

uint32_t tmb_tagged_arrive(const struct tmb_tagged *tagged) {
  lock();
  const uint64_t dropped = box.stats.gexx_dropped;
  const uint32_t credit =
      TMB_LIKELY(tmb_is_near(tagged->jobrank)) ? enter(tagged) : enter_in_turn(tagged);
  const uint64_t count = box.stats.gexx_dropped - dropped;
  unlock();
  if (TMB_UNLIKELY(count) && tmb_job.debug)
    tmb_warn("a notification with tag %u from rank %u of team 0x%llx came for rank %u after "
             "gex_TM_Destroy there, and was dropped%s",
             tagged->tag, tagged->source, (unsigned long long)tagged->uid, tagged->target,
             count > 1 ? ", and so were others that had overtaken it" : "");
  return credit;
}

/* Take a kept notification out; under the lock. */
TMB_REQUIRES(box_lock) static void unlink_kept(struct tmb_tagged **p) {
  release(TMB_LIST_POP(p));
  if (!*p) box.kept_end = p;
  box.stats.gexx_kept--;
}

/* Match one kept notification; under the lock. Returns whether there was one; *credit and *jobrank
 * are the credit to return, and its owner. */
TMB_REQUIRES(box_lock)
static bool take_kept(struct gexx_notify_s *req, uint32_t *jobrank, uint32_t *credit) {
  struct tmb_tagged **p = &box.kept;
  while (*p && !matches(req, *p)) p = &(*p)->next;
  struct tmb_tagged *n = *p;
  if (!n) return false;
  *jobrank = n->jobrank;
  *credit = take(req, n);
  unlink_kept(p);
  return true;
}

/* ---- teams end */

/* Drop kept notifications, with their credit given back. in team: the team that ends here: those
 * for its member; NULL: those whose team does not exist here. */
static void drop(const struct tmb_team *team) {
  struct tmb_tagged last = {0};
  uint64_t count = 0;
  if (!tmb_load_acq(&used)) return; /* no notification has ever come */
  lock();
  for (struct tmb_tagged **p = &box.kept; *p;) {
    const bool drops =
        team ? (*p)->uid == team->uid && (*p)->target == team->head.rank : !has_target(*p);
    if (!drops) {
      p = &(*p)->next;
      continue;
    }
    last = **p;
    unlink_kept(p);
    count++;
    box.stats.gexx_dropped++;
    const uint32_t credit = owe(&last);
    if (!credit) continue;
    unlock();
    tmb_tagged_give(last.jobrank, credit);
    lock();
    p = &box.kept;
  }
  unlock();
  if (count && tmb_job.debug)
    tmb_warn(
        "gex_TM_Destroy of rank %u of team 0x%llx: %llu notifications that nobody awaited were "
        "dropped, the last with tag %u from rank %u",
        last.target, (unsigned long long)last.uid, (unsigned long long)count, last.tag,
        last.source);
}

static void all_made(void) {
  drop(NULL);
}

/* ---- requests */

static void check_req(const char *call, gexx_Notify_t req, bool started) {
  if (TMB_LIKELY(!tmb_job.debug)) return;
  tmb_check_context_at(call);
  if (!req || req->magic != MAGIC_REQ)
    tmb_fatal_nopos("%s: argument req (%p) is not a live request", call, (void *)req);
  const bool inactive = tmb_load_acq(&req->state) == INACTIVE;
  if (started && inactive)
    tmb_fatal_nopos("%s: argument req (%p) is inactive; start it with gexx_Notify_Start", call,
                    (void *)req);
  if (!started && !inactive)
    tmb_fatal_nopos("%s: argument req (%p) is active; complete it with gexx_Notify_Wait first",
                    call, (void *)req);
}

int gexx_Notify_Init(gex_TM_t tm, gex_Rank_t source, uint32_t tag, uint32_t expected_count,
                     gexx_Notify_t *req_p) {
  static const char call[] = "gexx_Notify_Init";
  if (TMB_UNLIKELY(tmb_job.debug)) {
    tmb_check_context_at(call);
    tmb_check_tm(call, tm, false);
    if (source != GEXX_NOTIFY_ANY_SOURCE) tmb_check_tm_rank(call, tm, source);
    if (!expected_count) tmb_fatal_nopos("%s: argument expected_count is 0; give at least 1", call);
    if (!req_p) tmb_fatal_nopos("%s: argument req_p is NULL", call);
  }
  struct gexx_notify_s *req = malloc(sizeof *req);
  if (!req) return GASNET_ERR_RESOURCE;
  *req = (struct gexx_notify_s){
      .magic = MAGIC_REQ,
      .uid = tmb_team_of(tm)->uid,
      .target = tm->rank,
      .source = source,
      .jobrank = source == GEXX_NOTIFY_ANY_SOURCE ? GEX_RANK_INVALID : tmb_jobrank(tm, source),
      .tag = tag,
      .expected = expected_count};
  *req_p = req;
  return GASNET_OK;
}

void gexx_Notify_Start(gexx_Notify_t req) {
  check_req("gexx_Notify_Start", req, false);
  req->left = req->expected;
  tmb_store_rlx(&req->state, ACTIVE);
  lock();
  uint32_t jobrank = 0, credit = 0;
  while (req->left && take_kept(req, &jobrank, &credit)) {
    if (!credit) continue;
    unlock();
    tmb_tagged_give(jobrank, credit);
    lock();
  }
  req->lost = req->left && req->jobrank != GEX_RANK_INVALID && tmb_peer_lost(req->jobrank);
  if (req->left && !req->lost) {
    TMB_LIST_EXTEND(&box.active_end, req);
  } else {
    tmb_store_rel(&req->state, COMPLETE);
  }
  unlock();
}

/* Complete, in error, the requests that only the lost process could satisfy; everything of it that
 * came has been handled before this call. Notifications behind one that never comes are entered. */
static void on_lost(uint32_t jobrank) {
  lock();
  (void)enter_early(&box.senders[jobrank], true);
  for (struct gexx_notify_s **p = &box.active, *req; (req = *p) != NULL;) {
    if (req->jobrank != jobrank) {
      p = &req->next;
      continue;
    }
    (void)TMB_LIST_POP(p);
    if (!*p) box.active_end = p;
    req->lost = true;
    tmb_store_rel(&req->state, COMPLETE);
  }
  unlock();
}

const struct tmb_layer tmb_tagged_layer = {
    .name = "tagged", .team_closed = drop, .teams_made = all_made, .peer_lost = on_lost};

static bool is_complete(void *arg) {
  const struct gexx_notify_s *req = arg;
  return tmb_load_acq(&req->state) == COMPLETE;
}

static int finish(gexx_Notify_t req, gexx_Notify_Status_t *status) {
  if (status) *status = req->last;
  tmb_store_rlx(&req->state, INACTIVE);
  return req->lost ? tmb_lost_record(req->jobrank) : GASNET_OK;
}

int gexx_Notify_Test(gexx_Notify_t req, gexx_Notify_Status_t *status) {
  check_req("gexx_Notify_Test", req, true);
  if (!is_complete(req)) {
    tmb_poll();
    if (!is_complete(req)) return GASNET_ERR_NOT_READY;
  }
  return finish(req, status);
}

static void describe(const void *arg, struct tmb_status_wait *out) {
  const struct gexx_notify_s *req = arg;
  out->kind = TMB_WAIT_NOTIFICATION;
  out->peer = req->jobrank;
  out->value = req->tag;
  out->count = tmb_load_rlx(&req->left);
}

void gexx_Notify_Wait(gexx_Notify_t req, gexx_Notify_Status_t *status) {
  check_req("gexx_Notify_Wait", req, true);
  tmb_signal_wait(is_complete, req, describe);
  (void)finish(req, status);
}

void gexx_Notify_Free(gexx_Notify_t req) {
  check_req("gexx_Notify_Free", req, false);
  req->magic = 0;
  free(req);
}

void gexx_Notify_QueryStats(gexx_Notify_Stats_t *stats) {
  TMB_CHECK(stats, "gexx_Notify_QueryStats: argument stats is NULL");
  lock();
  *stats = box.stats;
  unlock();
  stats->gexx_stalls = tmb_tagged_stalls();
  stats->gexx_credits = tmb_tagged_credits();
}
