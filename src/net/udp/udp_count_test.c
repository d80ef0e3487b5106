/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The short paths of udp between two engines, each a known number of times: what packets each one
 * takes, and, under valgrind (scripts/count_paths.py), how many instructions.
 *
 * Owns the rounds. A path is a function path_*; after its rounds comes paths_end, where the script
 * has the counts written, and a line `path ROUNDS NAME`. Invariant: time is that of a wire in
 * memory, so that a count does not vary; the wire's own copies are part of it.
 */
#include "base/unit_test.h"
#include "net/udp/udp_rig_test.h"

#ifdef __clang__ /* it makes no clones */
# define WHOLE __attribute__((noinline))
#else
# define WHOLE __attribute__((noinline, noclone))
#endif
#define RANKS  2u
#define ROUNDS 16
#define TRAIN  32u /* puts one behind the other; a path of them counts each */
#define MEDIUM 1024u

static uint8_t source[MEDIUM];
static uint64_t done, come;
static bool silent; /* requests get no answer */

static void on_am(const struct tmb_am_in *in) {
  come++;
  if (in->is_reply || silent) return;
  struct tmb_am_out out = {
      .peer = in->src, .category = TMB_AM_SHORT, .handler = 201, .is_reply = 1, .staged = -1};
  assert_int_equal(udp_am_send(rig_net[rig_current], &out), 0);
}

/* ---- operations of rank 0 */

static void send(enum tmb_am_category category, size_t nbytes) {
  struct tmb_am_out out = {.peer = 1,
                           .category = (uint8_t)category,
                           .handler = 200,
                           .staged = -1,
                           .src = source,
                           .nbytes = nbytes};
  assert_int_equal(udp_am_send(rig_net[0], &out), 0);
}

static void send_short(void) {
  send(TMB_AM_SHORT, 0);
}

static void send_medium(void) {
  send(TMB_AM_MEDIUM, MEDIUM);
}

static struct tmb_rma put_of_8(void) {
  return (struct tmb_rma){
      .peer = 1, .remote = rig_segment[1] + 64, .local = source, .nbytes = 8, .op = &done};
}

static void put(void) {
  const struct tmb_rma rma = put_of_8();
  assert_int_equal(udp_put(rig_net[0], &rma), 0);
}

static void put_signal(void) {
  const struct tmb_rma rma = put_of_8();
  const struct tmb_signal signal = {.addr = rig_segment[1], .value = 1, .op = TMB_SIGNAL_ADD};
  assert_int_equal(udp_put_signal(rig_net[0], &rma, &signal), 0);
}

/* What is counted of an operation: its call, the polls of its target, or that of its origin. Puts
 * in a row leave in polls. */
enum part { CALL, TARGET, ORIGIN, PARTS };

struct row {
  const char *name, *parts[PARTS];
  void (*call)(void);
  uint32_t each;       /* operations in a round */
  uint32_t polls;      /* of the target */
  uint32_t out[RANKS]; /* packets that ranks send in a round */
  bool silent;         /* requests get no answer */
};

#define OF_MESSAGE \
 { "send", "poll that replies", "poll that ends it" }
#define OF_PUT \
 { "call", "target's polls", "poll that ends it" }

static const struct row rows[] = {
    {"short request", OF_MESSAGE, send_short, 1, 1, {1, 1}, false},
    {"medium request 1 KiB", OF_MESSAGE, send_medium, 1, 1, {1, 1}, false},
    {"put 8 B", OF_PUT, put, 1, 2, {1, 1}, true},
    {"put 8 B with signal", OF_PUT, put_signal, 1, 2, {1, 1}, true},
    {"put 8 B, one of 32", OF_PUT, put, TRAIN, 3, {3, 2}, true},
    {"put 8 B with signal, one of 32", OF_PUT, put_signal, TRAIN, 3, {4, 2}, true},
};

/* ---- what is counted */

WHOLE static void path_call(const struct row *row) {
  for (uint32_t i = 0; i < row->each; i++) row->call();
  for (uint32_t i = 0; i < 2 && row->each > 1; i++) (void)rig_progress(0, TMB_SERVE_ALL);
}

WHOLE static void path_polls(uint32_t rank, uint32_t polls) {
  for (uint32_t i = 0; i < polls; i++) (void)rig_progress(rank, TMB_SERVE_ALL);
}

/* Write the counts and reset them. */
WHOLE void paths_end(void) {
  __asm__ volatile("" ::: "memory");
}

/* The same, not counted. */
WHOLE static void call(const struct row *row) {
  for (uint32_t i = 0; i < row->each; i++) row->call();
  for (uint32_t i = 0; i < 2 && row->each > 1; i++) (void)rig_progress(0, TMB_SERVE_ALL);
}

WHOLE static void polls(uint32_t rank, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) (void)rig_progress(rank, TMB_SERVE_ALL);
}

/* ---- rounds */

static void round_of(const struct row *row, enum part part) {
  (part == CALL ? path_call : call)(row);
  rig_now_ns += RIG_LATENCY;
  (part == TARGET ? path_polls : polls)(1, row->polls);
  rig_now_ns += RIG_LATENCY;
  (part == ORIGIN ? path_polls : polls)(0, 1);
  if (row->each > 1) rig_now_ns += 1000000; /* another row is another burst */
}

static void rounds_of(const struct row *row, enum part part) {
  uint64_t before[RANKS] = {0}, ended = 0;
  for (int round = -ROUNDS; round < ROUNDS; round++) { /* the first half warms up */
    if (round == 0) {
      paths_end();
      for (uint32_t i = 0; i < RANKS; i++) before[i] = rig_stats[i].packets_out;
      ended = done + come;
    }
    round_of(row, part);
  }
  paths_end();
  printf("path %u %s: %s\n", ROUNDS * row->each, row->name, row->parts[part]);
  for (uint32_t i = 0; i < RANKS; i++)
    assert_int_equal(rig_stats[i].packets_out - before[i], (uint64_t)ROUNDS * row->out[i]);
  assert_int_equal(done + come - ended, (uint64_t)ROUNDS * row->each * (row->silent ? 1 : 2));
}

TEST(paths) {
  const struct udp_config config = rig_config();
  rig_on_am = on_am;
  for (size_t i = 0; i < TMB_ARRAY_LEN(rows); i++) {
    silent = rows[i].silent;
    for (enum part part = CALL; part < PARTS; part++) {
      rig_open(RANKS, &config, NULL);
      rounds_of(&rows[i], part);
      rig_close(RANKS);
    }
  }
  rig_on_am = NULL;
}

int main(void) {
  return unit_run(NULL, NULL);
}
