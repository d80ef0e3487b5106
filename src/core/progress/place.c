/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On which processor a thread waits, see place.h.
 *
 * Owns: the policy; its state is in struct tmb_thread. Called by wait.c. Calls: the scheduler. With
 * more ranks than processors, two ranks that talk may share one while others idle: the kernel sees
 * both as running and lets them be; with a processor for each rank, foreign load has that effect,
 * too. Where yields keep ending waits, one of the two moves. Ranks count their turns by processor:
 * a yield is long because of a process that computes, or because many ranks had their turns in it.
 * Invariants: see place.h.
 */
#include "core/progress/place.h"

#include "base/error.h"
#include "base/log.h"
#include "core/job.h"
#include "core/op/thread.h"
#include "core/shared.h"
#include "os/os.h"
#include "os/processor/ticks.h"

#include <stdlib.h>
#include <string.h>

/* Limits after which a rank moves to another processor, or a wait no longer yields. Chosen, not
 * measured one by one; `tombolo bench oversubscribed` shows their effect. */
#define MOVE_AFTER \
 8u /* waits ended by yields, less those ended by spinning, after which a rank moves */
#define MOVE_EVERY_NS 2000000u /* at most one move in this time */
#define SPREAD_AFTER  2u /* with a processor for each rank: they spin long before they yield */
#define LEAVE_AFTER   4u /* with threads: leave the home, too; chosen */
#define CONFINED_YIELDS \
 64u /* without a turn of another rank, then waits spin; between sums of turns */
#define SWITCH_NS      2000u     /* a longer yield has let another thread run */
#define COMPUTE_NS     500000u   /* one that takes this long went to a process that computes */
#define COMPUTE_NS_MAX 10000000u /* longer ones count as this */
#define SHORT_PART     2u        /* one below this part of it is short by the tick counter, too */
#define GAIN_NS        50000u    /* gain of a shorter yield: a sleep and a wake-up */
#define DEBT_NS        8000000u  /* most time lost in long yields, less the gains of short ones */
#define NO_YIELD_TIMES 16u /* then waits sleep without yielding for so many times the last one */

/* What ranks tell each other. Most machines have no more processors than `few` has bits: with 1024
 * ranks each copies and reads 1024 reports. */
struct report {
  uint64_t few; /* the first processors that it may use, as in the bits */
  uint64_t kernel;
  double quota;
  uint32_t cpu;
  uint32_t more; /* 1: it may use others, too */
};

void tmb_place_rank_read(struct tmb_place_rank *mine, bool kernel, uint8_t *bits) {
  tmb_os_cpu_bits(bits, TMB_PLACE_BYTES);
  mine->bits = bits;
  mine->cpu = (uint32_t)tmb_os_cpu_current();
  mine->quota = tmb_os_cpu_quota();
  mine->kernel = kernel ? tmb_os_kernel() : 0;
}

static bool allows(const struct tmb_place_rank *rank, uint32_t cpu) {
  return cpu < 8 * TMB_PLACE_BYTES && rank->bits[cpu / 8] >> cpu % 8 & 1;
}

/* Number of processors below `cpu` that a rank may use. */
static uint32_t index_of(const struct tmb_place_rank *rank, uint32_t cpu) {
  uint32_t index = 0;
  for (uint32_t i = 0; i < cpu; i++) index += allows(rank, i);
  return index;
}

/* Number of bits that are set. */
static uint32_t count_of(const uint8_t bits[TMB_PLACE_BYTES]) {
  uint32_t count = 0;
  for (size_t i = 0; i < TMB_PLACE_BYTES; i++) count += (uint32_t)__builtin_popcount(bits[i]);
  return count;
}

struct tmb_place_plan tmb_place_plan(const struct tmb_place_rank *ranks, uint32_t count,
                                     uint32_t mine) {
  struct tmb_place_plan plan = {0};
  uint8_t all[TMB_PLACE_BYTES] = {0}, taken[TMB_PLACE_BYTES] = {0};
  const uint8_t *last = NULL;
  for (uint32_t r = 0; r < count; r++) {
    const uint32_t cpu = ranks[r].cpu % (8 * TMB_PLACE_BYTES);
    const uint8_t bit = (uint8_t)(1u << cpu % 8);
    plan.spread = plan.spread || (taken[cpu / 8] & bit);
    taken[cpu / 8] |= bit;
    plan.crowded = plan.crowded || (ranks[r].quota > 0 && ranks[r].quota < count);
    for (size_t i = 0; i < sizeof all && ranks[r].bits != last; i++) all[i] |= ranks[r].bits[i];
    last = ranks[r].bits;
  }
  plan.cpus = count_of(all);
  plan.spread = plan.spread || 2 * count > plan.cpus;
  plan.crowded = plan.crowded || plan.cpus < count;
  plan.home = index_of(&ranks[mine], ranks[0].cpu) + mine;
  return plan;
}

bool tmb_place_outnumber(const struct tmb_place_rank *ranks, uint32_t count, uint32_t mine) {
  uint8_t all[TMB_PLACE_BYTES] = {0};
  uint32_t same = 0;
  if (!ranks[mine].kernel) return false;
  for (uint32_t r = 0; r < count; r++) {
    if (ranks[r].kernel != ranks[mine].kernel) continue;
    same++;
    for (size_t i = 0; i < sizeof all; i++) all[i] |= ranks[r].bits[i];
  }
  return same > count_of(all);
}

uint32_t tmb_place_beside(uint32_t here, uint32_t cpus, uint32_t sharers) {
  cpus = TMB_MAX(cpus, 1u);
  return TMB_MIN(here, TMB_MIN(sharers, cpus) * ((here + cpus - 1) / cpus));
}

/* Give each rank its bits: those of the rank before, where they are the same. in all, bits: [job
 * size]; the bits are zero. */
static void spread_few(const struct report *all, struct tmb_place_rank *ranks,
                       uint8_t (*bits)[TMB_PLACE_BYTES]) {
  for (uint32_t r = 0; r < tmb_job.size; r++) {
    ranks[r].bits = r && all[r].few == all[r - 1].few ? ranks[r - 1].bits : bits[r];
    if (ranks[r].bits == bits[r]) memcpy(bits[r], &all[r].few, sizeof all[r].few);
  }
}

/* Collective. in mine: this rank. out ranks, bits: [job size], bits zero. in all: [job size], for
 * use here. */
static void exchange(const struct tmb_place_rank *mine, struct report *all,
                     struct tmb_place_rank *ranks, uint8_t (*bits)[TMB_PLACE_BYTES]) {
  struct report own = {.kernel = mine->kernel, .quota = mine->quota, .cpu = mine->cpu};
  memcpy(&own.few, mine->bits, sizeof own.few);
  for (size_t i = sizeof own.few; i < TMB_PLACE_BYTES; i++) own.more |= mine->bits[i] != 0;
  tmb_boot_allgather(&tmb_job.boot, &own, sizeof own, all);
  bool more = false;
  for (uint32_t r = 0; r < tmb_job.size; r++) {
    ranks[r] = (struct tmb_place_rank){bits[r], all[r].cpu, all[r].quota, all[r].kernel};
    more = more || all[r].more;
  }
  if (more)
    tmb_boot_allgather(&tmb_job.boot, mine->bits, TMB_PLACE_BYTES, bits);
  else
    spread_few(all, ranks, bits);
}

/* Decide by the reports. inout ranks: [job size]; those of this machine come to the front. */
static void decide(struct tmb_place_rank *ranks) {
  struct tmb_wait_policy *w = &tmb_job.wait;
  const struct tmb_boot *boot = &tmb_job.boot;
  const bool outnumber = tmb_place_outnumber(ranks, tmb_job.size, tmb_job.rank);
  uint32_t here = 0;
  for (uint32_t r = 0; r < tmb_job.size; r++)
    if (tmb_boot_here(boot, r)) ranks[here++] = ranks[r];
  const struct tmb_place_plan plan = tmb_place_plan(ranks, here, boot->here_index);
  w->cpus = plan.cpus;
  w->crowded = w->polls_yield = plan.crowded;
  w->outnumber = plan.crowded || outnumber;
  w->one_cpu = here > 1 && plan.cpus == 1;
  const bool one_host = boot->here == boot->size;
  w->home = one_host ? plan.home : tmb_place_home(boot);
  w->spread = here > 1 && (plan.spread || !one_host);
}

int tmb_place_init(void) {
  struct tmb_place_rank mine;
  uint8_t own[TMB_PLACE_BYTES];
  struct report *const all = malloc(tmb_job.size * sizeof *all);
  struct tmb_place_rank *const ranks = calloc(tmb_job.size, sizeof *ranks);
  void *const bits = calloc(tmb_job.size, TMB_PLACE_BYTES);
  if (all && ranks && bits) {
    tmb_place_rank_read(&mine, tmb_job.boot.here != tmb_job.boot.size, own);
    exchange(&mine, all, ranks, bits);
    decide(ranks);
  } else {
    tmb_print("out of memory for the processors of %u ranks", tmb_job.size);
  }
  const int rc = all && ranks && bits ? 0 : TMB_E_NOMEM;
  free(bits);
  free(ranks);
  free(all);
  return rc;
}

void tmb_place_begin(void) {
  if (tmb_job.wait.spread) (void)tmb_os_cpu_visit((int)tmb_job.wait.home);
}

/* The word that counts the turns of ranks on this processor; NULL: there is none. */
TMB_HOT static uint64_t *turns_here(void) {
  if (!tmb_job.turns) return NULL;
  return &tmb_job.turns[(uint32_t)tmb_os_cpu_current() % tmb_job.boot.places.near_count].count;
}

TMB_HOT void tmb_place_turn(void) {
  uint64_t *const turns = turns_here();
  if (turns) tmb_fetch_add_rlx(turns, 1);
}

/* Learn from the last yield. in turns: of other ranks, that ended during it. A long yield among
 * many short ones is no loss: to sleep each time would take longer. A yield is no loss, either,
 * when it is long because many ranks had their turns: GAIN_NS of it is allowed for each. Without
 * that, 32 ranks on a processor slept for good after a few long yields: woken ranks run before one
 * that yields, so the more ranks slept, the longer the yields of the others became. */
static void learn_yield(struct tmb_thread *t, uint64_t end, uint64_t turns) {
  const uint64_t theirs = turns * GAIN_NS;
  if (TMB_LIKELY(t->yield_ns < COMPUTE_NS + theirs)) {
    t->yield_debt_ns -= TMB_MIN(t->yield_debt_ns, (uint64_t)GAIN_NS);
    return;
  }
  const uint64_t lost = TMB_MIN(t->yield_ns - theirs, (uint64_t)COMPUTE_NS_MAX);
  t->yield_debt_ns += lost;
  if (t->yield_debt_ns < DEBT_NS) return;
  t->yield_debt_ns = DEBT_NS;
  t->no_yield_ns = end + NO_YIELD_TIMES * lost;
}

/* Whether a yield has run another rank: somebody has counted a turn, and the yield was not short.
 * Both are asked, because ranks of two processors may count in one word. in turns: of others. */
static void learn_confined(struct tmb_thread *t, uint64_t turns) {
  t->yield_ran = turns && t->yield_ns >= SWITCH_NS / 2;
  if (TMB_LIKELY(!t->confined)) return;
  t->confined = t->yield_ran ? CONFINED_YIELDS : t->confined - 1;
}

/* A yield by the clock. A short one says for the next ones how many ticks of the counter are short:
 * to read the counter takes less than the clock, above all in a turn that begins with cold caches.
 */
TMB_HOT static bool yield_timed(struct tmb_thread *t) {
  const uint64_t start = tmb_os_now_ns();
  if (TMB_UNLIKELY(start < t->no_yield_ns)) return false;
  uint64_t *const turns = turns_here();
  const uint64_t first = turns ? tmb_fetch_add_rlx(turns, 1) + 1 : 0;
  const uint64_t before = tmb_os_ticks_now();
  tmb_os_yield();
  const uint64_t ticks = tmb_os_ticks_now() - before, end = tmb_os_now_ns();
  t->yield_ns = end - start;
  const uint64_t others = turns ? tmb_load_rlx(turns) - first : 0;
  learn_yield(t, end, others);
  learn_confined(t, others);
  if (tmb_job.wait.crowded && !t->yield_debt_ns && t->yield_ns < COMPUTE_NS / SHORT_PART)
    t->short_ticks = ticks * (COMPUTE_NS / SHORT_PART) / TMB_MAX(t->yield_ns, UINT64_C(1));
  return true;
}

TMB_HOT bool tmb_place_yield(void) {
  struct tmb_thread *t = tmb_thread();
  if (!t->short_ticks) return yield_timed(t);
  tmb_place_turn();
  const uint64_t before = tmb_os_ticks_now();
  tmb_os_yield();
  if (TMB_UNLIKELY(tmb_os_ticks_now() - before > t->short_ticks)) t->short_ticks = 0;
  return true;
}

TMB_HOT bool tmb_place_is_busy(void) {
  struct tmb_thread *t = tmb_thread();
  if (TMB_LIKELY(!t->no_yield_ns)) return false;
  if (tmb_os_now_ns() < t->no_yield_ns) return true;
  t->no_yield_ns = 0;
  return false;
}

bool tmb_place_shared(void) {
  const uint64_t took = tmb_thread()->yield_ns;
  return took >= SWITCH_NS && took < COMPUTE_NS;
}

TMB_HOT bool tmb_place_confined(void) {
  return tmb_thread()->confined;
}

bool tmb_place_ask(void) {
  struct tmb_thread *t = tmb_thread();
  if (!t->confined && tmb_os_cpus_mask() == 1 && tmb_place_yield() && t->yield_ran)
    t->confined = CONFINED_YIELDS;
  return t->confined;
}

/* More ranks than processors: of two ranks that keep waiting for each other by yields, the
 * higher one moves to another processor. */
static void consider_move(bool yielded) {
  struct tmb_thread *t = tmb_thread();
  const uint32_t src = t->src_last;
  t->src_last = tmb_job.rank;
  if (src == tmb_job.rank) return; /* no message from a peer */
  if (!yielded) {
    if (t->yields_paid) t->yields_paid--;
    return;
  }
  if (++t->yields_paid < MOVE_AFTER || tmb_job.rank < src) return;
  const uint64_t now = tmb_os_now_ns();
  if (now - t->moved_ns < MOVE_EVERY_NS) return;
  t->moved_ns = now;
  t->yields_paid = 0;
  (void)tmb_os_cpu_next();
}

/*
 * There is a processor for each rank, and yet a yield ended a wait, and took so long that another
 * process has run: this rank and the one that it waits for share a processor. Each rank has one of
 * its own; move there. A rank that is at home already shares it with threads of the one that it
 * waits for, which the kernel lets be for 8 ms, even while another processor is idle: move to the
 * next one. A rank with several threads stays, see tmb_os_cpu_visit. A rank that was bound to its
 * only processor after the start cannot move: where others have their turns there, it is confined.
 */
static void consider_spread(void) {
  struct tmb_thread *t = tmb_thread();
  if (t->yield_ns < SWITCH_NS || ++t->yields_paid < SPREAD_AFTER) return;
  if (tmb_job.threads && !tmb_place_shared()) return;
  const uint64_t now = tmb_os_now_ns();
  if (now - t->moved_ns < MOVE_EVERY_NS) return;
  const int cpu = tmb_os_cpu_current();
  (void)tmb_os_cpu_visit((int)tmb_job.wait.home);
  const bool moved = tmb_os_cpu_current() != cpu;
  if (!moved && t->yield_ran && tmb_os_cpus_mask() == 1) t->confined = CONFINED_YIELDS;
  if (!moved && tmb_job.threads && t->yields_paid < LEAVE_AFTER) return;
  if (!moved && tmb_job.threads) (void)tmb_os_cpu_next();
  t->moved_ns = now;
  t->yields_paid = 0;
}

/* Where ranks outnumber processors: the sum of the turns on other processors. If it has not
 * changed since the last sum, all ranks that run share this processor. */
static void consider_turns(void) {
  struct tmb_thread *t = tmb_thread();
  const uint32_t count = tmb_job.boot.places.near_count;
  uint64_t elsewhere = 0;
  if (++t->looks % CONFINED_YIELDS || !tmb_job.turns) return;
  const uint32_t here = (uint32_t)tmb_os_cpu_current() % count;
  for (uint32_t i = 0; i < count; i++)
    if (i != here) elsewhere += tmb_load_rlx(&tmb_job.turns[i].count);
  const bool all_here = elsewhere == t->turns_elsewhere && tmb_os_cpus_mask() == 1;
  t->confined = all_here ? CONFINED_YIELDS : 0;
  t->turns_elsewhere = elsewhere;
}

TMB_HOT void tmb_place_learn(bool yielded) {
  if (tmb_job.wait.crowded) {
    consider_move(yielded);
    if (yielded && tmb_job.wait.spin_ns) consider_turns();
  } else if (TMB_UNLIKELY(yielded && !tmb_job.wait.outnumber)) {
    consider_spread();
  }
}
