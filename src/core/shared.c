/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of this process that are in use, and the distance between ranks, see shared.h.
 *
 * Owns: tmb_job.row_use, one bit per row. Called by client.c (init), team_make.c, team.c (dispose),
 * coll's tuning. Calls: the on-node engine. The first and the last rank measure a hand-off at
 * start-up, because the system does not report, least of all to a virtual machine, which processors
 * share a cache; a limit of time bounds that. Where ranks outnumber processors, the first two
 * ranks, which go to different ones, compare two ways to copy instead. Invariants: row 0 is never
 * taken or given; whoever takes a row clears it before anybody else knows that it is taken; its
 * descriptors of chunks and notes are clear when it is given back.
 */
#include "core/shared.h"

#include "near/near.h"
#include "os/memory/peer_copy.h"
#include "os/os.h"

#include <stdlib.h>
#include <string.h>

/* The measurement of a hand-off: the least mean of TRIPS trips, of ROUNDS means; then COPIES times
 * the first rank writes a slot, and the last reads it, and as often by stores that go past the
 * caches. These are used where such a pass takes at most 4/5 of the time. A pass that takes more
 * than BROKEN_NS was interrupted, and is made again. The measurement takes 0.1 ms while both ranks
 * run. On a loaded machine it waits until the other rank has started and both run at once, but not
 * longer than MEASURE_NS. It reads the clock each CLOCK_EVERY polls. Chosen. */
#define TRIPS       8u
#define ROUNDS      8u
#define COPIES      4u
#define BROKEN_NS   50000u
#define MEASURE_NS  30000000u
#define CLOCK_EVERY 64u

/* The trip that ends the measurement. */
#define TRIP_END    UINT64_MAX

/* The comparison of copies: so many times, of so much, and the time after which it ends in any
 * case. Its waits yield: meanwhile other ranks start. Chosen: with 16 KiB the cost of a
 * call hides that of its pages. */
#define RACES       8u
#define RACE_SLOTS  4u
#define RACE_BYTES  (RACE_SLOTS * sizeof(struct tmb_shared_slot))
#define RACE_NS     20000000u

/* Read a word until it is that of a trip, or of the end, until a time. Returns the word; 0: the
 * time is over. */
static uint64_t await(const uint64_t *word, uint64_t trip, uint64_t until) {
  for (;;) {
    for (uint32_t i = 0; i < CLOCK_EVERY; i++) {
      const uint64_t seen = tmb_load_acq(word);
      if (seen == trip || seen == TRIP_END) return seen;
    }
    if (tmb_os_now_ns() >= until) return 0;
  }
}

static bool trip_to(struct tmb_shared_row *row, uint64_t trip, uint64_t until) {
  tmb_store_rel(&row->ask.word, trip);
  return await(&row->answer.word, trip, until) == trip;
}

/* Times in ns, of COPIES slots but the first, which finds no page: the most for its writes, the
 * least until the last rank has read it. */
struct passes {
  uint64_t write_most, least;
};

static bool measure_passes(struct tmb_shared_row *row, struct passes *p, bool past, uint64_t *trip,
                           uint64_t until) {
  char data[TMB_SHARED_BYTES];
  *p = (struct passes){0, UINT64_MAX};
  memset(data, 0, sizeof data);
  for (uint32_t i = 0; i < COPIES;) {
    const uint64_t start = tmb_os_now_ns();
    if (past)
      tmb_os_copy_past(row->slot[0].data, data, sizeof data);
    else
      memcpy(row->slot[0].data, data, sizeof data);
    const uint64_t written = tmb_os_now_ns();
    if (!trip_to(row, ++*trip, until)) return false;
    const uint64_t took = tmb_os_now_ns() - start;
    if (i && took > BROKEN_NS) continue;
    if (i++) p->write_most = TMB_MAX(p->write_most, written - start);
    if (i > 1) p->least = TMB_MIN(p->least, took);
  }
  return true;
}

/* Make all trips. Returns whether the time was enough. */
static bool make_trips(struct tmb_shared_row *row, uint64_t until) {
  uint64_t least = UINT64_MAX, trip = 0;
  for (uint32_t i = 0; i < ROUNDS; i++) {
    const uint64_t start = tmb_os_now_ns();
    for (uint32_t k = 0; k < TRIPS; k++)
      if (!trip_to(row, ++trip, until)) return false;
    least = TMB_MIN(least, (tmb_os_now_ns() - start) / TRIPS);
  }
  struct passes copied, streamed;
  if (!measure_passes(row, &copied, false, &trip, until) ||
      !measure_passes(row, &streamed, true, &trip, until))
    return false;
  tmb_store_rlx(&row->write.word, copied.write_most);
  tmb_store_rlx(&row->streams.word, streamed.least * 5 <= copied.least * 4);
  tmb_store_rel(&row->handoff.word, least);
  return true;
}

static void measure_handoff(struct tmb_shared_row *row) {
  (void)make_trips(row, tmb_os_now_ns() + MEASURE_NS);
  tmb_store_rel(&row->ask.word, TRIP_END);
}

static void answer_handoff(struct tmb_shared_row *row) {
  const uint64_t until = tmb_os_now_ns() + MEASURE_NS;
  char read[TMB_SHARED_BYTES];
  for (uint64_t trip = 1;; trip++) {
    if (await(&row->ask.word, trip, until) != trip) return;
    if (trip > ROUNDS * TRIPS) memcpy(read, row->slot[0].data, sizeof read);
    __asm__ volatile("" : : "r"(read) : "memory");
    tmb_store_rel(&row->answer.word, trip);
  }
}

/* The processor on which this runs, + 1. */
static uint64_t processor(void) {
  return (uint64_t)tmb_os_cpu_current() + 1;
}

/* Wait until the lower half of a word is a number. Returns the upper half; 0: the time is over. */
static uint64_t await_race(const uint64_t *word, uint32_t number, uint64_t until) {
  uint64_t seen;
  while ((uint32_t)(seen = tmb_load_acq(word)) != number) {
    if (tmb_os_now_ns() >= until) return 0;
    tmb_os_yield();
  }
  return seen >> 32;
}

/* Rank 0 writes data that rank 1 has read, and lets the kernel copy as much in its own memory. Only
 * rounds on two processors count. */
static void race_copies(struct tmb_shared_row *row, char *from, char *to) {
  const uint64_t until = tmb_os_now_ns() + RACE_NS;
  const int pid = tmb_os_pid();
  uint64_t write = UINT64_MAX, kernel = UINT64_MAX, reader = 0;
  for (uint32_t i = 1; i <= RACES; i++) {
    const uint64_t here = processor(), start = tmb_os_now_ns();
    memcpy(row->slot[0].data, from, RACE_BYTES);
    const uint64_t took = tmb_os_now_ns() - start;
    if (reader && reader != here && processor() == here) write = TMB_MIN(write, took);
    tmb_store_rel(&row->ask.word, here << 32 | i);
    reader = await_race(&row->answer.word, i, until);
    if (!reader) return;
    const uint64_t begin = tmb_os_now_ns();
    if (!tmb_os_peer_read(pid, to, (uint64_t)(uintptr_t)from, RACE_BYTES)) return;
    kernel = TMB_MIN(kernel, tmb_os_now_ns() - begin);
  }
  if (write == UINT64_MAX) return;
  tmb_store_rlx(&row->write.word, write);
  tmb_store_rel(&row->kernel.word, kernel);
}

/* Rank 1 reads the data that rank 0 has written. */
static void answer_race(struct tmb_shared_row *row, char *to) {
  const uint64_t until = tmb_os_now_ns() + RACE_NS;
  uint64_t read = UINT64_MAX;
  for (uint32_t i = 1; i <= RACES; i++) {
    const uint64_t writer = await_race(&row->ask.word, i, until), start = tmb_os_now_ns();
    if (!writer) return;
    memcpy(to, row->slot[0].data, RACE_BYTES);
    const uint64_t took = tmb_os_now_ns() - start;
    if (writer != processor()) read = TMB_MIN(read, took);
    if (read != UINT64_MAX) tmb_store_rlx(&row->reads.word, read);
    tmb_store_rel(&row->answer.word, processor() << 32 | i);
  }
}

static void race(void) {
  struct tmb_shared_row *const row = tmb_shared_row(&tmb_job.team, 0);
  char *const memory = calloc(2, RACE_BYTES);
  if (memory && tmb_job.rank == 0) race_copies(row, memory, memory + RACE_BYTES);
  if (memory && tmb_job.rank == 1) answer_race(row, memory);
  free(memory);
}

/* One for the primordial team, the others for the teams that are alive. */
uint32_t tmb_shared_rows(void) {
  const uint32_t ranks = tmb_job.boot.places.near_count;
  if (ranks <= 64) return 16;
  return ranks <= 256 ? 8 : 2;
}

void tmb_shared_ask(void) {
  tmb_job.row_use.cards =
      tmb_near_region(&tmb_job.near, "all-gathers", 2 * sizeof(struct tmb_shared_card));
  tmb_job.row_use.turns = tmb_near_region(&tmb_job.near, "turns", sizeof(struct tmb_shared_turns));
  tmb_job.row_use.region =
      tmb_near_region(&tmb_job.near, "rows of teams", tmb_shared_rows() * TMB_SHARED_ROW_BYTES);
}

void tmb_shared_init(void) {
  if (tmb_job.near_memory) {
    tmb_job.rows = tmb_near_at(&tmb_job.near, tmb_job.row_use.region, 0);
    tmb_job.rows_stride = tmb_job.near.region[tmb_job.row_use.region].bytes;
    tmb_job.turns = tmb_near_at(&tmb_job.near, tmb_job.row_use.turns, 0);
    tmb_job.cards = tmb_near_at(&tmb_job.near, tmb_job.row_use.cards, 0);
  }
  tmb_job.team.shared = tmb_job.rows && tmb_job.size > 1 && tmb_job.nbrhd.size == tmb_job.size;
  if (!tmb_job.team.shared) return;
  const bool first = tmb_job.rank == 0, last = tmb_job.rank + 1 == tmb_job.size;
  if (tmb_job.wait.crowded) {
    if (tmb_job.peer_copy && tmb_job.rank < 2) race();
  } else if (first) {
    measure_handoff(tmb_shared_row(&tmb_job.team, 0));
  } else if (last) {
    answer_handoff(tmb_shared_row(&tmb_job.team, 0));
  }
}

uint64_t tmb_shared_handoff_ns(void) {
  return tmb_job.team.shared ? tmb_load_acq(&tmb_shared_row(&tmb_job.team, 0)->handoff.word) : 0;
}

uint64_t tmb_shared_write_ns(void) {
  return tmb_shared_handoff_ns() ? tmb_load_rlx(&tmb_shared_row(&tmb_job.team, 0)->write.word) : 0;
}

bool tmb_shared_streams(void) {
  return tmb_shared_handoff_ns() && tmb_load_rlx(&tmb_shared_row(&tmb_job.team, 0)->streams.word);
}

bool tmb_shared_kernel_faster(void) {
  if (!tmb_job.team.shared) return false;
  const struct tmb_shared_row *row = tmb_shared_row(&tmb_job.team, 0);
  const uint64_t kernel = tmb_load_acq(&row->kernel.word);
  return kernel && kernel < tmb_load_rlx(&row->write.word) + tmb_load_rlx(&row->reads.word) / 2;
}

/* A word of `here`: bits 32..63 number of a meeting, 16..31 arrivals at the one before, 0..15 at
 * this one. Fixed by this layout. */
#define HERE_BITS 16
#define HERE_MASK ((UINT64_C(1) << HERE_BITS) - 1)

TMB_HOT bool tmb_shared_last_here(const struct tmb_team *team, enum tmb_meeting kind,
                                  uint64_t number) {
  const uint32_t cpu = (uint32_t)tmb_os_cpu_current() % TMB_SHARED_CPUS;
  const uint32_t root = team->group ? team->group->member[0] : 0;
  uint64_t *const word = &tmb_shared_row(team, root)->here[kind][cpu].word;
  const uint64_t name = number << 2 * HERE_BITS;
  uint64_t seen = tmb_load_rlx(word), now;
  do {
    const bool first = (seen ^ name) >> 2 * HERE_BITS;
    now = first ? name | (seen & HERE_MASK) << HERE_BITS | 1 : seen + 1;
  } while (!tmb_cas_acq_rel(word, &seen, now));
  const uint64_t before = now >> HERE_BITS & HERE_MASK;
  return before && (now & HERE_MASK) >= before;
}

/* coll clears its own part when the team ends: most teams use little of it. */
static void clear(struct tmb_shared_row *row) {
  memset(row, 0, offsetof(struct tmb_shared_row, calls));
}

uint32_t tmb_shared_take(void) {
  if (!tmb_job.rows) return TMB_SHARED_NONE;
  const uint32_t rows = TMB_MIN(tmb_shared_rows(), TMB_SHARED_ROWS_MAX);
  uint64_t bits = tmb_load_rlx(&tmb_job.row_use.used);
  uint32_t row;
  do {
    row = ~bits ? (uint32_t)__builtin_ctzll(~bits) : rows;
    if (row >= rows) return TMB_SHARED_NONE;
  } while (!tmb_cas_acq_rel(&tmb_job.row_use.used, &bits, bits | UINT64_C(1) << row));
  char *const mine = tmb_job.rows + tmb_near_of(tmb_job.rank) * tmb_job.rows_stride;
  clear((struct tmb_shared_row *)(void *)(mine + row * TMB_SHARED_ROW_BYTES));
  return row;
}

void tmb_shared_give(uint32_t row) {
  uint64_t bits = tmb_load_rlx(&tmb_job.row_use.used);
  while (!tmb_cas_acq_rel(&tmb_job.row_use.used, &bits, bits & ~(UINT64_C(1) << row))) {}
}
