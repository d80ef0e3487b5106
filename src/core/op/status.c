/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The status page of this process, see status.h.
 *
 * Owns: which team or thread has which entry of the page. Called as status.h says. Calls: boot, the
 * clock when a wait sleeps for the first time. An entry is written by one thread; a reader that
 * finds it ASLEEP before and after, with an unchanged count of waits, has read one wait.
 * Invariants: an entry that is taken has a thread number, which is written first and cleared last.
 */
#define _GNU_SOURCE
#include "core/op/status.h"

#include "boot/boot.h"
#include "core/job.h"
#include "core/op/op.h"
#include "core/op/record.h"
#include "core/op/thread.h"
#include "core/shared.h"
#include "os/os.h"
#include "os/sync/lock.h"

#include <gasnetex_ext.h>
#include <string.h>
#include <unistd.h>

/* Polls further apart are not in one loop. Both chosen, not measured. */
#define LOOKS_FRESH_NS UINT64_C(1000000000)
/* A layer is asked for details of a wait that has lasted so long. */
#define DETAIL_NS      UINT64_C(200000000)

/* A thread waits for a lock, perhaps inside of another wait, which it goes on with afterwards. */
static void describe_lock(const void *lock, struct tmb_status_wait *out) {
  const struct tmb_thread *t = tmb_thread_self;
  out->kind = TMB_WAIT_LOCK;
  out->addr = (uintptr_t)lock;
  if (t && (const void *)t->hsl_wanted == lock)
    out->value = tmb_load_rlx(&t->hsl_wanted->gexx_owner);
}

static void on_lock(const struct tmb_lock *lock, bool begins) {
  if (!tmb_thread_self) return; /* not entered yet, or leaving */
  if (begins)
    tmb_status_sleeps((struct tmb_why){describe_lock, lock}, true);
  else
    tmb_status_awake();
}

void tmb_status_init(void) {
  struct tmb_status *s = tmb_boot_status(&tmb_job.boot);
  tmb_job.status = s;
  s->pid = tmb_job.boot.pid;
  s->rank = tmb_job.rank;
  s->size = tmb_job.size;
  strncpy(s->host, tmb_os_hostname(), sizeof s->host - 1);
  tmb_lock_on_sleep = on_lock;
  tmb_store_rel(&s->layout, TMB_STATUS_LAYOUT);
}

void tmb_status_rings(const struct tmb_status_rings *rings) {
  tmb_job.status->rings = *rings;
  tmb_store_rel(&tmb_job.status->rings.ready, 1u);
}

/* ---- threads */

/* The calling thread's entry; NULL when all are taken. */
static struct tmb_status_wait *entry(void) {
  struct tmb_thread *t = tmb_thread();
  if (TMB_LIKELY(t->shown != NULL) || !tmb_job.status) return t->shown;
  const int32_t self = (int32_t)gettid();
  for (int i = 0; i < TMB_STATUS_WAITS && !t->shown; i++) {
    int32_t nobody = 0;
    if (tmb_cas_acq_rel(&tmb_job.status->wait[i].thread, &nobody, self))
      t->shown = &tmb_job.status->wait[i];
  }
  return t->shown;
}

static void copy_text(char *to, size_t room, const char *from) {
  memset(to, 0, room);
  if (from) strncpy(to, from, room - 1);
}

/* Write the description of this wait by a layer above. Returns whether the entry already described
 * this wait. */
static bool show_declared(struct tmb_status_wait *w, const struct tmb_thread *t) {
  const gexx_WaitInfo_t *d = t->declared;
  struct tmb_status_layer *l = &w->layer;
  if (!d || w->kind == TMB_WAIT_LOCK) {
    tmb_store_rlx(&l->begun, 0u);
    return false;
  }
  if (d->polls)
    w->kind = TMB_WAIT_LAYER;
  else if (d->event > GEX_EVENT_NO_OP)
    tmb_status_of_op(tmb_op_of_event(d->event), w);
  l->peer = d->peer;
  if (d->polls) w->peer = d->peer;
  if (l->begun == t->declared_count) return true;
  tmb_store_rlx(&l->begun, t->declared_count);
  l->needs = (uint8_t)d->needs;
  l->polls = d->polls != 0;
  l->home = d->home;
  l->number = d->number;
  l->object_id = d->object_id;
  l->caller = (uintptr_t)d->caller;
  copy_text(l->call, sizeof l->call, d->call);
  copy_text(l->object, sizeof l->object, d->object);
  return false;
}

/* The wait of a layer has lasted: its details are wanted, once. */
static void ask_details(struct tmb_status_wait *w, struct tmb_thread *t) {
  gexx_WaitInfo_t *d = t->declared;
  if (!d || !d->detail || t->detailed || w->layer.begun != t->declared_count) return;
  if (tmb_os_now_ns() - w->since_ns < DETAIL_NS) return;
  t->detailed = true;
  d->detail(d);
  w->layer.peer = d->peer;
  copy_text(w->layer.object, sizeof w->layer.object, d->object);
}

void tmb_status_lasts(void) {
  struct tmb_thread *t = tmb_thread();
  if (TMB_UNLIKELY(t->declared != NULL) && t->shown) ask_details(t->shown, t);
}

/* Write the purpose of the thread's wait. A call that all members of a team make keeps the time at
 * which the thread first slept for it; other waits cannot be distinguished once something has
 * happened. */
static void show(struct tmb_status_wait *w, struct tmb_why why, bool first, uint32_t state) {
  const bool counted = first && w->number;
  const struct {
    uint64_t number, since_ns;
    uint32_t kind, team, what;
  } before = {w->number, w->since_ns, w->kind, w->team, w->what};
  w->kind = w->what = w->cmp = 0;
  w->team = TMB_STATUS_NO_TEAM;
  w->peer = TMB_STATUS_NOBODY;
  w->count = 0;
  w->number = w->addr = w->value = w->found = 0;
  memset(w->missing, 0, sizeof w->missing);
  if (why.describe) why.describe(why.object, w);
  const bool lasts = show_declared(w, tmb_thread());
  if (first) {
    tmb_store_rlx(&w->waits, w->waits + 1);
    w->at_ns = tmb_os_now_ns();
    const bool same = counted && before.number == w->number && before.kind == w->kind &&
                      before.team == w->team && before.what == w->what;
    w->since_ns = same || lasts ? before.since_ns : w->at_ns;
  }
  if (lasts) ask_details(w, tmb_thread());
  w->progress = tmb_load_rlx(&tmb_job.progress_count);
  tmb_store_rel(&w->state, state);
}

void tmb_status_sleeps(struct tmb_why why, bool first) {
  struct tmb_status_wait *w = entry();
  if (w) show(w, why, first, TMB_WAIT_ASLEEP);
}

void tmb_status_polls(struct tmb_why why, bool first) {
  struct tmb_status_wait *w = entry();
  if (!w) return;
  show(w, why, first, TMB_WAIT_POLLS);
  if (!first) w->at_ns = tmb_os_now_ns();
}

void tmb_status_looks(struct tmb_why why) {
  struct tmb_status_wait *w = entry();
  if (!w) return;
  const uint64_t now = tmb_os_now_ns(), seen = tmb_load_rlx(&tmb_job.progress_count);
  const bool on = w->kind == TMB_WAIT_PROGRAM && w->state == TMB_WAIT_POLLS &&
                  w->progress == seen && now - w->at_ns < LOOKS_FRESH_NS;
  show(w, why, !on && !tmb_thread()->declared, TMB_WAIT_POLLS);
  w->at_ns = now;
}

/* A wait that a layer has named goes on until the layer ends it, whatever is done meanwhile. */
void tmb_status_awake(void) {
  const struct tmb_thread *t = tmb_thread();
  if (!t->shown) return;
  const bool on = t->declared && t->shown->layer.begun == t->declared_count;
  tmb_store_rel(&t->shown->state, on ? TMB_WAIT_POLLS : TMB_WAIT_NONE);
}

uint64_t tmb_status_detail_ns(void) {
  const struct tmb_thread *t = tmb_thread();
  return t->declared && t->declared->detail && !t->detailed ? DETAIL_NS : UINT64_MAX;
}

void tmb_status_declare(gexx_WaitInfo_t *info) {
  struct tmb_thread *t = tmb_thread();
  if (tmb_recording()) tmb_record_statement(info);
  t->declared = info;
  t->detailed = false;
  if (!info) {
    if (t->shown) {
      tmb_store_rlx(&t->shown->state, TMB_WAIT_NONE);
      tmb_store_rlx(&t->shown->layer.begun, 0u);
    }
    return;
  }
  if (++t->declared_count == 0) t->declared_count = 1;
  if (info->polls) tmb_status_polls((struct tmb_why){NULL, NULL}, true);
}

/* ---- teams */

void tmb_status_team_enter(struct tmb_team *team) {
  struct tmb_status_team *const table = tmb_job.status ? tmb_job.status->team : NULL;
  team->shown = TMB_STATUS_NO_TEAM;
  team->calls = &team->own_calls;
  for (uint32_t i = 0; table && i < TMB_STATUS_TEAMS && team->shown == TMB_STATUS_NO_TEAM; i++) {
    uint32_t unused = 0;
    if (tmb_load_rlx(&table[i].used) || !tmb_cas_acq_rel(&table[i].used, &unused, 1u)) continue;
    team->shown = (uint8_t)i;
    team->calls = &table[i];
    tmb_job.shown.team[i] = team;
  }
  struct tmb_status_team *t = team->calls;
  t->rank = team->head.rank;
  t->size = team->head.size;
  t->parent = team->parent;
  t->order = team->order;
  memset(t->name, 0, sizeof t->name);
  t->barriers = t->named = t->colls = t->gathers = 0;
  tmb_store_rel(&t->uid, team->uid);
}

void tmb_status_team_name(struct tmb_team *team, const char *name) {
  copy_text(team->calls->name, sizeof team->calls->name, name);
}

void tmb_status_team_leave(struct tmb_team *team) {
  if (team->shown < TMB_STATUS_TEAMS) tmb_job.shown.team[team->shown] = NULL;
  tmb_store_rel(&team->calls->used, 0u);
}

/* ---- kinds of ops */

/* Number of a call from its low half and the count of calls so far. */
static uint64_t number_of(uint32_t low, uint64_t calls) {
  const uint64_t number = (calls & ~UINT64_C(0xffffffff)) | low;
  return number > calls && number > UINT32_MAX ? number - (UINT64_C(1) << 32) : number;
}

/* The parts that are outstanding. */
static uint32_t parts_of(const struct tmb_op *op) {
  uint32_t parts = 0;
  for (uint32_t c = 0; c < TMB_CAT_COUNT; c++) parts += tmb_load_rlx(&op->pending[c]);
  return parts;
}

/* The members whose data of a collective over rows have not come. */
static void describe_rows(const struct tmb_op *op, struct tmb_status_wait *out) {
  const struct tmb_team *team = tmb_job.shown.team[op->team];
  if (!team || !team->shared) return;
  for (uint32_t r = 0; r < team->head.size && r < 64 * TMB_STATUS_MISSING; r++) {
    if (op->peer != TMB_STATUS_NOBODY && op->peer != tmb_team_jobrank(team, r)) continue;
    const struct tmb_shared_row *row = tmb_shared_row(team, r);
    const uint64_t shown = tmb_load_acq(&row->head[(op->number - 1) % TMB_SHARED_HEADS].number);
    if ((int32_t)((uint32_t)shown - op->number) < 0) out->missing[r / 64] |= UINT64_C(1) << r % 64;
  }
}

static void describe_call(const struct tmb_op *op, struct tmb_status_wait *out) {
  const struct tmb_status_team *t = &tmb_job.status->team[op->team];
  out->kind = op->what == TMB_WHAT_BARRIER ? TMB_WAIT_BARRIER : TMB_WAIT_COLLECTIVE;
  if (op->rows) {
    out->count = 0; /* number and missing are of the rows */
    out->number = op->number;
    describe_rows(op, out);
    return;
  }
  out->number = number_of(op->number, op->what == TMB_WHAT_BARRIER ? t->barriers : t->colls);
}

void tmb_status_of_op(const void *object, struct tmb_status_wait *out) {
  const struct tmb_op *op = object;
  const bool implicit = op->kind == TMB_OP_IMPLICIT || op->kind == TMB_OP_REGION;
  out->kind = implicit ? TMB_WAIT_IMPLICIT : TMB_WAIT_OPERATION;
  out->count = parts_of(op);
  out->what = op->what;
  if (implicit || !op->what) return;
  out->peer = op->peer;
  out->team = op->what >= TMB_WHAT_BARRIER ? op->team : TMB_STATUS_NO_TEAM;
  if (out->team < TMB_STATUS_TEAMS) describe_call(op, out);
}
