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
static struct tmb_hold *hold;

static void up_am(const struct tmb_am_in *in) {
  const uint64_t random =
      jitter_us ? tmb_hook_random(self, seed) % (uint64_t)(jitter_us * 1000) : 0;
  if (!tmb_hold_put(hold, in, tmb_os_now_ns() + (uint64_t)delay_us * 1000 + random))
    self->outer_up->am(in);
}

static int progress(struct tmb_net *net, int serve) {
  (void)net;
  return self->inner->progress(self->net, serve) | tmb_hold_progress(hold, serve);
}

static uint32_t wait_fds(struct tmb_net *net, struct pollfd *fds, uint32_t max,
                         uint64_t *timeout_ns) {
  (void)net;
  tmb_hold_timeout(hold, timeout_ns);
  return self->inner->wait_fds(self->net, fds, max, timeout_ns);
}

static int lost(struct tmb_net *net, uint32_t peer) {
  (void)net;
  const int rc = self->inner->lost ? self->inner->lost(self->net, peer) : 0;
  return rc || !tmb_hold_has(hold, peer) ? rc : TMB_AGAIN;
}

static void close_hook(struct tmb_net *net) {
  (void)net;
  self->inner->close(self->net);
  tmb_hold_free(hold);
}

static void begin(struct tmb_hook *hook) {
  self = hook;
  hold = tmb_hold_new(hook);
  hook->up.am = up_am;
  hook->table.progress = progress;
  if (hook->inner->wait_fds) hook->table.wait_fds = wait_fds;
  hook->table.lost = lost;
  hook->table.close = close_hook;
}

static const struct tmb_hook_option options[] = {{"us", &delay_us, 0, 10000000},
                                                 {"jitter", &jitter_us, 0, 10000000},
                                                 {"seed", &seed, 0, INT64_MAX},
                                                 {0}};

const struct tmb_hook_kind tmb_hook_delay = {.name = "delay", .options = options, .begin = begin};
