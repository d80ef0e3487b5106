/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hook `fault`: a conduit at its worst that still keeps the contract.
 *
 * Owns: the next disturbance, by seed. Called through its table and upcalls. Calls: hold.c.
 * Options, in percent: `again`, sends and remote accesses that find no room; `reorder`, messages
 * that are overtaken by those of the next `us` microseconds; `skip`, calls of progress that say
 * that another thread is at work. `credits`: sends between two calls of progress, requests and
 * replies apart; 0: any number. Invariants: nothing is lost or doubled, since messages of a table
 * are reliable (loss on the wire is a matter of the conduit); a Long or put that has begun is not
 * refused where it may not be.
 */
#include "net/hook/hook.h"

#include "base/atomic.h"
#include "base/error.h"
#include "os/os.h"

enum option { AGAIN, REORDER, REORDER_US, SKIP, CREDITS, SEED };
static struct tmb_hook *const self = &tmb_hooks.hook[TMB_HOOK_FAULT];

/* Whether a disturbance with a percentage happens now. */
static bool happens(enum option what) {
  const int64_t percent = self->option[what];
  return percent && tmb_hook_random(self, self->option[SEED]) % 100 < (uint64_t)percent;
}

/* Whether a send finds no room. */
static bool refuses(bool is_reply) {
  const int64_t credits = self->option[CREDITS];
  if (credits && tmb_fetch_add_rlx(&self->used[is_reply], 1) >= credits) return true;
  return happens(AGAIN);
}

static int am_send(struct tmb_net *net, struct tmb_am_out *out) {
  (void)net;
  return refuses(out->is_reply) ? TMB_AGAIN : self->inner->am_send(self->net, out);
}

static void *am_stage(struct tmb_net *net, struct tmb_am_out *out) {
  (void)net;
  return happens(AGAIN) ? NULL : self->inner->am_stage(self->net, out);
}

static int am_long(struct tmb_net *net, struct tmb_am_out *out) {
  (void)net;
  const bool begun = out->resume && out->resume->at;
  if (!(out->immediate && begun) && refuses(out->is_reply)) return TMB_AGAIN;
  return self->inner->am_long(self->net, out);
}

static int put(struct tmb_net *net, const struct tmb_rma *rma) {
  (void)net;
  return refuses(false) ? TMB_AGAIN : self->inner->put(self->net, rma);
}

static int get(struct tmb_net *net, const struct tmb_rma *rma) {
  (void)net;
  return refuses(false) ? TMB_AGAIN : self->inner->get(self->net, rma);
}

static int put_signal(struct tmb_net *net, const struct tmb_rma *rma,
                      const struct tmb_signal *signal) {
  (void)net;
  return refuses(false) ? TMB_AGAIN : self->inner->put_signal(self->net, rma, signal);
}

static int get_signal(struct tmb_net *net, const struct tmb_rma *rma,
                      const struct tmb_signal *signal) {
  (void)net;
  return refuses(false) ? TMB_AGAIN : self->inner->get_signal(self->net, rma, signal);
}

static int atomic_op(struct tmb_net *net, const struct tmb_net_atomic *atomic) {
  (void)net;
  return refuses(false) ? TMB_AGAIN : self->inner->atomic(self->net, atomic);
}

static void up_am(const struct tmb_am_in *in) {
  const uint64_t late_ns = happens(REORDER) ? (uint64_t)self->option[REORDER_US] * 1000 : 0;
  if (!late_ns || !tmb_hold_put(self->hold, in, tmb_os_now_ns() + late_ns)) self->outer_up->am(in);
}

static int progress(struct tmb_net *net, int serve) {
  (void)net;
  tmb_store_rlx(&self->used[0], 0);
  tmb_store_rlx(&self->used[1], 0);
  if (happens(SKIP)) return TMB_FOUND_BUSY;
  return self->inner->progress(self->net, serve) | tmb_hold_progress(self->hold, serve);
}

static const struct tmb_net_ops disturbed = {TMB_HOOK_ACCESSES, .am_stage = am_stage,
                                             .am_long = am_long};

static void begin(struct tmb_hook *hook) {
  struct tmb_net_ops *t = &hook->table;
  tmb_hold_begin(hook);
  hook->up.am = up_am;
  t->am_send = am_send;
  t->progress = progress;
  tmb_hook_replace(t, &disturbed);
}

static const struct tmb_hook_option options[] = {[AGAIN] = {"again", 10, 0, 95},
                                                 [REORDER] = {"reorder", 10, 0, 100},
                                                 [REORDER_US] = {"us", 50, 1, 10000000},
                                                 [SKIP] = {"skip", 0, 0, 95},
                                                 [CREDITS] = {"credits", 0, 0, 1000000},
                                                 [SEED] = {"seed", 1, 0, INT64_MAX},
                                                 {0}};

const struct tmb_hook_kind tmb_hook_fault = {
    .name = "fault", .id = TMB_HOOK_FAULT, .options = options, .begin = begin};
