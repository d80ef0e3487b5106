/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit test of net_sleep.c: threads sleep over a conduit that has one descriptor and one timer, and
 * nothing else ever wakes them, so a lost wake-up is a thread that never returns.
 */
#define _GNU_SOURCE 1 /* pipe2 */
#include "base/unit_test.h"
#include "core/progress/net_sleep.h"

#include "near/near.h"
#include "net/net.h"
#include "os/memory/memfd.h"
#include "os/os.h"
#include "os/sync/lock.h"
#include "os/sync/wait_fd.h"

#include <string.h>

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { THREADS = 5, TURNS = 3000 };
#define LIMIT_NS UINT64_C(10000000000)

/* ---- a conduit */

static int wire[2]; /* messages are read from wire[0] */
static uint64_t timer_at = UINT64_MAX, arrived, fired;

static uint32_t wait_fds(struct tmb_net *net, struct pollfd *fds, uint32_t max,
                         uint64_t *timeout_ns) {
  (void)net;
  const uint64_t at = tmb_load_acq(&timer_at), now = tmb_os_now_ns();
  if (at != UINT64_MAX) *timeout_ns = TMB_MIN(*timeout_ns, at > now ? at - now : 0);
  if (max) fds[0] = (struct pollfd){.fd = wire[0], .events = POLLIN};
  return max ? 1 : 0;
}

/* Receive, and serve the timer. */
static void look(void) {
  char buf[64];
  const ssize_t got = read(wire[0], buf, sizeof buf);
  if (got > 0) tmb_fetch_add_rel(&arrived, (uint64_t)got);
  uint64_t at = tmb_load_acq(&timer_at);
  if (at <= tmb_os_now_ns() && tmb_cas_acq_rel(&timer_at, &at, UINT64_MAX))
    tmb_fetch_add_rel(&fired, 1);
}

static const struct tmb_net_ops conduit = {.name = "wire", .wait_fds = wait_fds};

/* ---- a rank */

static bool agree(void *ctx, bool ok) {
  (void)ctx;
  return ok;
}

static bool echo(void *ctx, uint64_t mine, uint64_t *all) {
  (void)ctx;
  *all = mine;
  return mine != 0;
}

static int set_up(void **state) {
  static int bell;
  (void)state;
  bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  const struct tmb_near_env env = {.count = 1,
                                   .arena_fd = tmb_memfd_create("test-arena", false),
                                   .bell_fd = &bell,
                                   .threads = true,
                                   .agree = agree,
                                   .share = echo};
  tmb_lock_init(true);
  tmb_job.threads = true;
  tmb_job.net = &conduit;
  tmb_job.boot.bell_fd = &bell;
  if (tmb_near_open(&tmb_job.near, &env) || pipe2(wire, O_NONBLOCK)) return -1;
  tmb_net_sleep_init();
  return 0;
}

/* ---- threads that wait until a word has reached a value */

static uint64_t turn, reached[THREADS];
static uint64_t *watched;

static uint64_t last_check(void *arg) {
  look();
  return tmb_load_acq(watched) >= *(const uint64_t *)arg ? 0 : UINT64_MAX;
}

static void *body(void *arg) {
  const int id = (int)(intptr_t)arg;
  for (uint64_t want = 1; want <= TURNS; want++) {
    while (tmb_load_acq(watched) < want) {
      look();
      (void)tmb_net_sleep(last_check, &want, 0);
    }
    tmb_store_rel(&reached[id], want);
  }
  return NULL;
}

/* Wait until all threads have come to `value`. Returns whether they did. */
static bool all_reach(uint64_t value) {
  const uint64_t until = tmb_os_now_ns() + LIMIT_NS;
  for (int id = 0; id < THREADS; id++)
    while (tmb_load_acq(&reached[id]) < value) {
      if (tmb_os_now_ns() > until) return false;
      tmb_os_yield();
    }
  return true;
}

static void with_threads(uint64_t *word, void (*next)(uint64_t value)) {
  pthread_t thread[THREADS];
  watched = word;
  memset(reached, 0, sizeof reached);
  for (int id = 0; id < THREADS; id++)
    assert_int_equal(pthread_create(&thread[id], NULL, body, (void *)(intptr_t)id), 0);
  for (uint64_t value = 1; value <= TURNS; value++) {
    if (value % 500 == 0) usleep(3000); /* all are asleep by then */
    next(value);
    assert_true(all_reach(value));
  }
  for (int id = 0; id < THREADS; id++) pthread_join(thread[id], NULL);
}

static void ring(uint64_t value) {
  tmb_store_rel(&turn, value);
  tmb_near_wake_self(&tmb_job.near);
}

TEST(a_bell_wakes_all) {
  with_threads(&turn, ring);
}

/* Something arrives; the thread that receives it notifies the others. */
static void arrive(uint64_t value) {
  (void)value;
  assert_int_equal(write(wire[1], "x", 1), 1);
  const uint64_t until = tmb_os_now_ns() + LIMIT_NS;
  while (tmb_load_acq(&arrived) < value && tmb_os_now_ns() < until) tmb_os_yield();
  tmb_near_wake_self(&tmb_job.near);
}

TEST(a_descriptor_wakes) {
  with_threads(&arrived, arrive);
}

/* This thread starts a timer and does nothing more: sleeping threads serve it. */
static void start_timer(uint64_t value) {
  tmb_store_rel(&timer_at, tmb_os_now_ns() + value % 7 * 20000);
  tmb_net_sleep_notify();
  const uint64_t until = tmb_os_now_ns() + LIMIT_NS;
  while (tmb_load_acq(&fired) < value && tmb_os_now_ns() < until) tmb_os_yield();
  tmb_near_wake_self(&tmb_job.near);
}

TEST(another_threads_timer_wakes) {
  with_threads(&fired, start_timer);
}

/* ---- a timer that the sleeper itself has started */

static uint64_t started_by_itself(void *arg) {
  (void)arg;
  tmb_net_sleep_notify();
  return UINT64_MAX;
}

/* The thread sleeps until then; its own bell does not wake it. */
TEST(its_own_timer_does_not_wake) {
  tmb_store_rel(&timer_at, tmb_os_now_ns() + 2000000);
  (void)tmb_net_sleep(started_by_itself, NULL, 0); /* empties the bell */
  for (int i = 0; i < 20; i++) {
    const uint64_t from = tmb_os_now_ns();
    tmb_store_rel(&timer_at, from + 2000000);
    assert_false(tmb_net_sleep(started_by_itself, NULL, 0));
    assert_cmp(tmb_os_now_ns() - from, >=, 1900000);
  }
  tmb_store_rel(&timer_at, UINT64_MAX);
}

static uint64_t nothing_comes(void *arg) {
  (void)arg;
  return UINT64_MAX;
}

/* With a conduit that names no descriptors, the caller says how long. */
TEST(blind_sleeps_end) {
  static const struct tmb_net_ops blind = {.name = "blind"};
  const struct tmb_net_ops *const before = tmb_job.net;
  tmb_job.net = &blind;
  (void)tmb_net_sleep(nothing_comes, NULL, 1); /* empties the bell */
  const uint64_t from = tmb_os_now_ns();
  assert_false(tmb_net_sleep(nothing_comes, NULL, 30000000));
  assert_cmp(tmb_os_now_ns() - from, >=, 29000000);
  tmb_job.net = before;
}

int main(void) {
  return unit_run(set_up, NULL);
}
