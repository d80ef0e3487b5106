/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit test of place.c and place.h. Which processor belongs to a rank: another one for each rank of
 * a host, and of hosts that share a machine; which ranks go there at start; whether those of all
 * hosts of a kernel outnumber its processors. A thread that has yielded to a process that computes
 * a few times leaves yielding for a while, unless most of its yields are short, or ranks of the job
 * have used the time. How long waits spin; when they look at the clock. Where a rank goes that
 * shares its processor. sched_yield, the clock and the mask are this file's own: a yield takes as
 * long as the test says.
 */
#define _GNU_SOURCE
#include "base/unit_test.h"
#include "core/progress/place.h"

#include "core/job.h"
#include "core/op/thread.h"
#include "core/progress/progress.h"
#include "core/progress/wait.h"
#include "core/shared.h"
#include "os/os.h"
#include "os/processor/ticks.h"

#include <limits.h>
#include <string.h>

#include <sched.h>
#include <time.h>
#include <unistd.h>

#define MS      UINT64_C(1000000)
#define FOREVER (1000 * MS) /* longer than it may stay away from yielding */

static uint64_t now_ns = FOREVER; /* of the clock */
static uint64_t turn_ns;          /* of the others, whenever this thread yields */
static unsigned yields;
static uint64_t look_ns; /* that each look at the clock takes */
static unsigned looks;
static unsigned turns; /* of other ranks that end, whenever this thread yields */
static struct tmb_shared_turns counts[2];

/* The counter of ticks is the machine's: a turn takes some of them. */
int sched_yield(void) {
  const struct timespec moment = {0, 1000};
  yields++;
  now_ns += turn_ns;
  for (unsigned i = 0; i < turns; i++) tmb_place_turn();
  if (turn_ns) nanosleep(&moment, NULL);
  return 0;
}

int clock_gettime(clockid_t id, struct timespec *out) {
  (void)id;
  now_ns += look_ns;
  looks++;
  *out = (struct timespec){(time_t)(now_ns / (1000 * MS)), (long)(now_ns % (1000 * MS))};
  return 0;
}

/* Yields as long as tmb_place asks for it; returns how often, at most `most` times. */
static unsigned yield_times(unsigned most) {
  yields = 0;
  while (yields < most && tmb_place_yield()) continue;
  return yields;
}

/* Whether short yields are timed by ticks in the end. One that the machine has stopped for
 * milliseconds has the next one timed by the clock. Where a tick is a reading of the clock, which
 * stands still here, none are. */
static bool ends_by_ticks(void) {
  for (int i = 0; i < 1000; i++) {
    assert_true(tmb_place_yield());
    if (tmb_thread()->short_ticks) return true;
  }
  return false;
}

TEST(test_yields) {
  for (int crowded = 0; crowded < 2; crowded++) {
    struct tmb_thread *t = tmb_thread();
    tmb_job.wait.crowded = crowded;
    turn_ns = 0;
    assert_int_equal(yield_times(200), 200);
    if (crowded) assert_int_equal(ends_by_ticks(), tmb_os_ticks_native());
    if (!crowded) assert_int_equal(t->short_ticks, 0);
    t->short_ticks = (uint64_t)crowded; /* a turn takes more, whatever the machine's rate */
    turn_ns = 2 * MS;
    assert_int_equal(yield_times(20), 4 + crowded); /* 8 ms, and one by the counter */
    assert_int_equal(t->short_ticks, 0);
    assert_false(tmb_place_yield());
    now_ns += FOREVER;
    assert_int_equal(yield_times(20), 1);
    now_ns += FOREVER;
    turn_ns = 0;
    assert_int_equal(yield_times(200), 200); /* which pay for a long one */
    t->short_ticks = 0;
    turn_ns = 2 * MS;
    assert_true(tmb_place_yield());
    assert_true(tmb_place_yield());
    now_ns += FOREVER;
  }
}

/* A long yield in which many ranks had their turns is none to a process that computes. One in which
 * few had is, whatever this thread has yielded before. */
TEST(test_turns) {
  struct tmb_thread *t = tmb_thread();
  tmb_job.wait.crowded = true;
  tmb_job.boot.places.near_count = 2;
  tmb_job.turns = counts;
  turn_ns = 2 * MS;
  static const struct {
    unsigned turns, yields;
  } cases[] = {{64, 200}, {31, 200}, {29, 15}, {1, 5}, {0, 4}, {64, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (cases[i].yields) {
      now_ns += FOREVER;
      t->yield_debt_ns = 0;
    }
    t->short_ticks = 0;
    turns = cases[i].turns;
    assert_int_equal(yield_times(200), cases[i].yields);
  }
  turns = 0;
  now_ns += FOREVER;
  tmb_job.turns = NULL;
}

/* This thread's turns count for others, however it ends them. */
TEST(test_counts) {
  tmb_job.wait.crowded = true;
  tmb_job.boot.places.near_count = 2;
  tmb_job.turns = counts;
  turn_ns = 0;
  tmb_thread()->short_ticks = 0;
  tmb_thread()->yield_debt_ns = 0;
  const uint64_t before = counts[0].count + counts[1].count;
  assert_true(tmb_place_yield());
  assert_true(ends_by_ticks());
  const uint64_t timed = counts[0].count + counts[1].count;
  assert_in_range(timed - before, 2, 2000);
  assert_true(tmb_place_yield());
  tmb_place_turn();
  assert_int_equal(counts[0].count + counts[1].count, timed + 2);
  tmb_thread()->short_ticks = 0;
  tmb_job.turns = NULL;
}

/* A thread shares its processor if its last yield brought a short turn of somebody else. */
TEST(test_shared) {
  static const struct {
    uint64_t turn_ns;
    bool shared;
  } cases[] = {{0, false}, {20000, true}, {1000, false}, {20000, true}, {2 * MS, false}};
  tmb_job.wait.crowded = false;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    turn_ns = cases[i].turn_ns;
    assert_true(tmb_place_yield());
    assert_int_equal(tmb_place_shared(), cases[i].shared);
  }
}

/* Time that a wait of a client's thread spins before it yields, after a yield that took so long. */
static uint64_t spin_after(uint64_t yield_ns) {
  struct gexx_wait wait;
  tmb_thread()->yield_ns = yield_ns;
  yields = 0;
  tmb_wait_begin(&wait);
  const uint64_t start = now_ns;
  while (!yields) tmb_wait_step_client(&wait);
  return now_ns - start;
}

/* Time that a wait spins. */
static uint64_t spin_time(void) {
  struct gexx_wait wait;
  tmb_wait_begin(&wait);
  const uint64_t start = now_ns;
  while (wait.phase == 0) tmb_wait_step_client(&wait);
  return now_ns - start;
}

/* A thread that shares its processor leaves it to the others sooner; so does one whose yields went
 * to processes that compute. */
TEST(test_spins) {
  static const uint64_t no_message = 0;
  for (int i = 0; i < 2; i++) {
    tmb_job.near.inbox[i].next = &no_message;
    tmb_job.near.inbox[i].lap = 1;
  }
  tmb_job.wait =
      (struct tmb_wait_policy){.mode = GASNET_WAIT_SPINBLOCK, .yield_count = 4, .spin_ns = 20000};
  turn_ns = 0;
  look_ns = 100;
  for (int threads = 0; threads < 2; threads++) {
    tmb_job.threads = threads;
    assert_in_range(spin_after(0), 20000, 21000);
    assert_in_range(spin_after(5000), threads ? 2000 : 20000, threads ? 3000 : 21000);
    assert_in_range(spin_after(2 * MS), 20000, 21000);
    tmb_thread()->no_yield_ns = now_ns + MS;
    assert_true(tmb_place_is_busy());
    assert_in_range(spin_time(), 2000, 4000); /* each step looks at the clock twice */
    now_ns += MS;
    assert_false(tmb_place_is_busy());
    assert_in_range(spin_time(), 20000, 21000);
  }
  tmb_job.threads = false;
  look_ns = 0;
}

static bool counts_down(void *arg) {
  unsigned *left = arg;
  return !*left || !--*left;
}

/* A wait with a time limit that ends soon does not look at the clock. One that does not end returns
 * when the time has passed. */
TEST(test_limit) {
  unsigned soon = 7, never = UINT_MAX;
  tmb_job.wait = (struct tmb_wait_policy){.mode = GASNET_WAIT_SPIN};
  looks = 0;
  assert_true(tmb_wait_until(counts_down, &soon, MS, NULL));
  assert_int_equal(looks, 0);
  look_ns = 1000;
  const uint64_t start = now_ns;
  assert_false(tmb_wait_until(counts_down, &never, MS, NULL));
  assert_in_range(now_ns - start, MS, MS + MS / 10);
  look_ns = 0;
}

enum { CPUS = 4 };
static int on_cpu;
static cpu_set_t mask;

int sched_getcpu(void) {
  return on_cpu;
}

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *out) {
  (void)pid;
  memcpy(out, &mask, bytes < sizeof mask ? bytes : sizeof mask);
  return 0;
}

int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *set) {
  (void)pid;
  memcpy(&mask, set, bytes < sizeof mask ? bytes : sizeof mask);
  while (!CPU_ISSET(on_cpu, &mask)) on_cpu = (on_cpu + 1) % CPUS;
  return 0;
}

/* Where a rank is that starts on a processor and ends so many waits by yields of `ns`. */
static int goes_to(int cpu, unsigned waits, uint64_t ns) {
  struct tmb_thread *t = tmb_thread();
  on_cpu = cpu;
  t->yields_paid = 0;
  t->moved_ns = 0;
  t->yield_ns = ns;
  for (unsigned i = 0; i < waits; i++) tmb_place_learn(true);
  assert_int_equal(CPU_COUNT(&mask), CPUS);
  return on_cpu;
}

/* A rank that shares its processor goes home. Where others have threads it leaves its home, too,
 * later. A rank that has run beside a process that computes stays there, with threads. */
TEST(test_moves) {
  CPU_ZERO(&mask);
  for (int c = 0; c < CPUS; c++) CPU_SET(c, &mask);
  tmb_job.wait.crowded = false;
  tmb_job.wait.home = 2;
  for (int threads = 0; threads < 2; threads++) {
    tmb_job.threads = threads;
    assert_int_equal(goes_to(0, 1, 20000), 0);
    assert_int_equal(goes_to(0, 2, 20000), 2);
    assert_int_equal(goes_to(0, 20, 1000), 0);
    assert_int_equal(goes_to(0, 2, 2 * MS), threads ? 0 : 2);
    assert_int_equal(goes_to(2, 3, 20000), 2);
    assert_int_equal(goes_to(2, 4, 20000), threads ? 3 : 2);
    assert_int_equal(goes_to(2, 100, 20000), threads ? 3 : 2); /* at most one move in 2 ms */
  }
  tmb_job.threads = false;
}

/* A wait that ends by yields: others have so many turns in each, which takes so long. Returns for
 * how long the next wait spins. */
static uint64_t spin_beside(unsigned others, uint64_t ns) {
  struct tmb_thread *t = tmb_thread();
  turns = others;
  turn_ns = ns;
  for (unsigned i = 0; i < 2; i++) {
    t->moved_ns = 0;
    assert_true(tmb_place_yield());
    tmb_place_learn(true);
  }
  turns = 0;
  turn_ns = 0;
  look_ns = 100;
  const uint64_t ns_spun = spin_time();
  look_ns = 0;
  return ns_spun;
}

/* A rank that is bound to one processor after the start does not spin, where other ranks have their
 * turns there: neither where it is alone, nor beside a process of somebody else, nor where it may
 * use another processor. Where the others leave it spins again. */
TEST(test_bound_late) {
  static const uint64_t no_message = 0;
  struct tmb_thread *t = tmb_thread();
  for (int i = 0; i < 2; i++) {
    tmb_job.near.inbox[i].next = &no_message;
    tmb_job.near.inbox[i].lap = 1;
  }
  tmb_job.wait =
      (struct tmb_wait_policy){.mode = GASNET_WAIT_SPINBLOCK, .yield_count = 4, .spin_ns = 20000};
  tmb_job.boot.places.near_count = 2;
  tmb_job.turns = counts;
  t->no_yield_ns = t->yield_debt_ns = 0;
  on_cpu = 0;
  for (int cpus = 1; cpus < 3; cpus++) {
    CPU_ZERO(&mask);
    for (int c = 0; c < cpus; c++) CPU_SET(c, &mask);
    assert_in_range(spin_beside(0, 0), 20000, 21000);
    assert_in_range(spin_beside(0, 20000), 20000, 21000);
    assert_in_range(spin_beside(1, 500), 20000, 21000);
    assert_in_range(spin_beside(1, 20000), cpus == 1 ? 0 : 20000, cpus == 1 ? 500 : 21000);
    assert_in_range(spin_beside(0, 20000), cpus == 1 ? 0 : 20000, cpus == 1 ? 500 : 21000);
    for (int i = 0; i < 64; i++) assert_true(tmb_place_yield());
    assert_in_range(spin_beside(0, 0), 20000, 21000);
  }
  tmb_job.turns = NULL;
}

/* Ranks outnumber processors: this one does not spin while all turns are had on its only one. */
TEST(test_bound_many) {
  struct tmb_thread *t = tmb_thread();
  tmb_job.wait = (struct tmb_wait_policy){
      .mode = GASNET_WAIT_SPINBLOCK, .yield_count = 4, .spin_ns = 20000, .crowded = true};
  tmb_job.boot.places.near_count = 2;
  tmb_job.turns = counts;
  look_ns = 100;
  on_cpu = 0;
  t->looks = t->confined = 0;
  t->turns_elsewhere = counts[1].count;
  for (int cpus = 1; cpus < 3; cpus++) {
    CPU_ZERO(&mask);
    for (int c = 0; c < cpus; c++) CPU_SET(c, &mask);
    for (int others = 0; others < 2; others++) {
      counts[1].count += (uint64_t)others;
      for (int i = 0; i < 64; i++) tmb_place_learn(true);
      const uint64_t least = cpus == 1 && !others ? 0 : 20000;
      assert_in_range(spin_time(), least, least + 1000);
    }
  }
  look_ns = 0;
  tmb_job.turns = NULL;
}

/* Yields of so many polls that find nothing, each `ns` behind the one before, where others have so
 * many turns in a yield. */
static unsigned poll_yields(unsigned polls, uint64_t ns, unsigned others) {
  turns = others;
  turn_ns = others ? 20000 : 0;
  yields = 0;
  for (unsigned i = 0; i < polls; i++) {
    now_ns += ns;
    tmb_poll();
  }
  turns = 0;
  turn_ns = 0;
  return yields;
}

/* A thread that only polls gives its only processor to ranks that have their turns there, from the
 * 1024th poll on; not while it works between its polls, nor where it may use another processor.
 * Where the others have left, it no longer does. */
TEST(test_bound_polls) {
  static const uint64_t no_message = 0;
  struct tmb_thread *t = tmb_thread();
  for (int i = 0; i < 2; i++) {
    tmb_job.near.inbox[i].next = &no_message;
    tmb_job.near.inbox[i].lap = 1;
  }
  tmb_job.wait = (struct tmb_wait_policy){.mode = GASNET_WAIT_SPINBLOCK};
  tmb_job.boot.here = tmb_job.boot.places.near_count = 2;
  tmb_job.turns = counts;
  t->no_yield_ns = t->yield_debt_ns = 0;
  t->confined = 0;
  t->short_ticks = 0;
  on_cpu = 0;
  CPU_ZERO(&mask);
  CPU_SET(0, &mask);
  CPU_SET(1, &mask);
  assert_int_equal(poll_yields(1024, 20, 1), 0);
  CPU_CLR(1, &mask);
  assert_int_equal(poll_yields(1024, 20, 1), 1);
  assert_in_range(poll_yields(1000, 20, 1), 990, 1000);
  assert_int_equal(poll_yields(1000, 1000, 1), 0);
  assert_in_range(poll_yields(1000, 20, 0), 64, 66);
  assert_int_equal(poll_yields(20, 20, 1), 0); /* until it asks again */
  tmb_job.turns = NULL;
  tmb_job.boot.here = 0;
}

static uint32_t home(uint32_t host, uint32_t here, uint32_t index, uint32_t size) {
  const struct tmb_boot boot = {
      .size = size, .here = here, .here_index = index, .places = {.host = host}};
  return tmb_place_home(&boot);
}

/* Ranks of one host, and of hosts that are pretended on one: their numbers. */
TEST(one_machine) {
  for (uint32_t r = 0; r < 3; r++) {
    assert_int_equal(home(0, 3, r, 3), r);
    assert_int_equal(home(r, 3, r, 3), r);
  }
}

/* Two hosts that are namespaces of one machine: all ranks differ. */
TEST(namespaces) {
  uint32_t taken = 0;
  for (uint32_t host = 0; host < 2; host++)
    for (uint32_t i = 0; i < 2; i++) taken |= 1u << home(host, 2, i, 4) % 4;
  assert_int_equal(taken, 0xf);
}

/* Processors of the ranks of a test. */
static uint8_t bits_of[8][TMB_PLACE_BYTES];

/* Ranks that may use the first `cpus` processors, and run on those of `on` (one digit each). */
static uint32_t ranks_on(struct tmb_place_rank *ranks, uint32_t cpus, const char *on) {
  uint32_t count = 0;
  memset(bits_of, 0, sizeof bits_of);
  for (; on[count]; count++) {
    ranks[count] =
        (struct tmb_place_rank){.bits = bits_of[count], .cpu = (uint32_t)(on[count] - '0')};
    for (uint32_t i = 0; i < cpus; i++) bits_of[count][i / 8] |= (uint8_t)(1u << i % 8);
  }
  return count;
}

/* Ranks that share a processor of many move: to different ones, from that of the first rank on. */
TEST(plan_of_few) {
  struct tmb_place_rank ranks[8];
  const uint32_t count = ranks_on(ranks, 64, "515");
  for (uint32_t r = 0; r < count; r++) {
    const struct tmb_place_plan plan = tmb_place_plan(ranks, count, r);
    assert_int_equal(plan.cpus, 64);
    assert_int_equal(plan.spread, 1);
    assert_int_equal(plan.home % 64, 5 + r);
  }
  assert_int_equal(tmb_place_plan(ranks, ranks_on(ranks, 64, "513"), 0).spread, 0);
}

/* Where ranks need most processors or outnumber them, they are dealt round. */
TEST(plan_of_many) {
  struct tmb_place_rank ranks[8];
  assert_int_equal(tmb_place_plan(ranks, ranks_on(ranks, 4, "012"), 0).spread, 1);
  const uint32_t count = ranks_on(ranks, 2, "00000000");
  uint32_t on[2] = {0, 0};
  for (uint32_t r = 0; r < count; r++) on[tmb_place_plan(ranks, count, r).home % 2]++;
  assert_int_equal(on[0], 4);
  assert_int_equal(on[1], 4);
  assert_true(tmb_place_plan(ranks, count, 0).crowded);
}

/* Ranks that are bound to a processor each: their processors count together. */
TEST(plan_of_bound) {
  static const uint8_t bits[2][TMB_PLACE_BYTES] = {{1 << 2}, {1 << 6}};
  struct tmb_place_rank ranks[2] = {{.bits = bits[0], .cpu = 2}, {.bits = bits[1], .cpu = 6}};
  assert_int_equal(tmb_place_plan(ranks, 2, 0).cpus, 2);
  assert_false(tmb_place_plan(ranks, 2, 0).crowded);
  ranks[1].quota = 1.5; /* of one rank's cgroup: all must come to one result */
  assert_true(tmb_place_plan(ranks, 2, 0).crowded);
  assert_true(tmb_place_plan(ranks, 2, 1).crowded);
  ranks[1].quota = 2;
  assert_false(tmb_place_plan(ranks, 2, 1).crowded);
}

/* Ranks that share a cache: one for each of its processors, or more where ranks outnumber them. */
TEST(beside) {
  assert_int_equal(tmb_place_beside(2, 2, 2), 2);
  assert_int_equal(tmb_place_beside(2, 64, 4), 2);
  assert_int_equal(tmb_place_beside(64, 64, 4), 4);
  assert_int_equal(tmb_place_beside(4, 2, 2), 4);
  assert_int_equal(tmb_place_beside(8, 2, 2), 8);
  assert_int_equal(tmb_place_beside(3, 2, 4), 3);
  assert_int_equal(tmb_place_beside(128, 64, 4), 8);
  assert_int_equal(tmb_place_beside(4, 0, 2), 4); /* the masks could not be read */
}

/* Hosts of one kernel share its processors, whatever each of them has; hosts of others do not, and
 * where the kernel is not known, nobody does. */
TEST(kernels) {
  struct tmb_place_rank ranks[8];
  const uint32_t count = ranks_on(ranks, 2, "0101");
  assert_false(tmb_place_outnumber(ranks, count, 3));
  for (uint32_t r = 0; r < count; r++) ranks[r].kernel = 1 + r % 2;
  for (uint32_t r = 0; r < count; r++) assert_false(tmb_place_outnumber(ranks, count, r));
  ranks[1].kernel = ranks[0].kernel;
  for (uint32_t r = 0; r < count; r++)
    assert_int_equal(tmb_place_outnumber(ranks, count, r), r != 3);
  bits_of[2][0] = 1 << 2; /* a container with another processor */
  assert_false(tmb_place_outnumber(ranks, count, 0));
  ranks[1].quota = 1; /* which the other containers do not share */
  assert_false(tmb_place_outnumber(ranks, count, 0));
}

/* The processors above those of a rank's first report count as well. */
TEST(reports) {
  static const int highest[] = {1, 63, 64, 8 * TMB_PLACE_BYTES - 1};
  assert_int_equal(tmb_boot_start(&tmb_job.boot), 0);
  tmb_job.size = tmb_job.boot.size;
  for (size_t i = 0; i < sizeof highest / sizeof *highest; i++) {
    CPU_ZERO(&mask);
    CPU_SET(0, &mask);
    CPU_SET(highest[i], &mask);
    assert_int_equal(tmb_place_init(), 0);
    assert_int_equal(tmb_job.wait.cpus, 2);
    assert_false(tmb_job.wait.crowded);
  }
  tmb_boot_stop(&tmb_job.boot);
}

/* A rank is of the kernel that it asks, at each call. */
TEST(own_kernel) {
  struct tmb_place_rank mine, again;
  tmb_place_rank_read(&mine, true, bits_of[0]);
  tmb_place_rank_read(&again, true, bits_of[1]);
  assert_int_equal(mine.kernel, again.kernel);
  if (access("/proc/sys/kernel/random/boot_id", R_OK) == 0) assert_int_not_equal(mine.kernel, 0);
}

int main(void) {
  return unit_run(NULL, NULL);
}
