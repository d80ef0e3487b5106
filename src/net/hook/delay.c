/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hook `delay`: messages arrive later.
 *
 * Owns: the messages in progress. Called through its table and upcalls. Calls: hold.c. Each message
 * that arrives is kept for `us` microseconds and a random part of `jitter` more, so with jitter
 * they overtake each other. Data of puts and gets are not delayed. Options: us, jitter, seed.
 * Invariant: a thread that waits knows when the next message is due.
 */
#include "net/hook/hook.h"

#include "base/error.h"
#include "os/os.h"

enum { DELAY_US, JITTER_US, SEED };
static struct tmb_hook *const self = &tmb_hooks.hook[TMB_HOOK_DELAY];

static void up_am(const struct tmb_am_in *in) {
  const uint64_t fixed = (uint64_t)self->option[DELAY_US] * 1000;
  const uint64_t most = (uint64_t)self->option[JITTER_US] * 1000;
  const uint64_t random = most ? tmb_hook_random(self, self->option[SEED]) % most : 0;
  if (!tmb_hold_put(self->hold, in, tmb_os_now_ns() + fixed + random)) self->outer_up->am(in);
}

static int progress(struct tmb_net *net, int serve) {
  (void)net;
  return self->inner->progress(self->net, serve) | tmb_hold_progress(self->hold, serve);
}

static void begin(struct tmb_hook *hook) {
  tmb_hold_begin(hook);
  hook->up.am = up_am;
  hook->table.progress = progress;
}

static const struct tmb_hook_option options[] = {[DELAY_US] = {"us", 100, 0, 10000000},
                                                 [JITTER_US] = {"jitter", 0, 0, 10000000},
                                                 [SEED] = {"seed", 1, 0, INT64_MAX},
                                                 {0}};

const struct tmb_hook_kind tmb_hook_delay = {
    .name = "delay", .id = TMB_HOOK_DELAY, .options = options, .begin = begin};
