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

static int64_t delay_us = 100, jitter_us, seed = 1;
static struct tmb_hook *self;

static void up_am(const struct tmb_am_in *in) {
  const uint64_t random =
      jitter_us ? tmb_hook_random(self, seed) % (uint64_t)(jitter_us * 1000) : 0;
  if (!tmb_hold_put(self->hold, in, tmb_os_now_ns() + (uint64_t)delay_us * 1000 + random))
    self->outer_up->am(in);
}

static int progress(struct tmb_net *net, int serve) {
  (void)net;
  return self->inner->progress(self->net, serve) | tmb_hold_progress(self->hold, serve);
}

static void begin(struct tmb_hook *hook) {
  self = hook;
  tmb_hold_begin(hook);
  hook->up.am = up_am;
  hook->table.progress = progress;
}

static const struct tmb_hook_option options[] = {{"us", &delay_us, 0, 10000000},
                                                 {"jitter", &jitter_us, 0, 10000000},
                                                 {"seed", &seed, 0, INT64_MAX},
                                                 {0}};

const struct tmb_hook_kind tmb_hook_delay = {.name = "delay", .options = options, .begin = begin};
