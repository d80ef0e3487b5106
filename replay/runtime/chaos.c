/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chaos: delays, late messages and late results on purpose, by a seed.
 *
 * Owns: the decisions of this rank. Called by order.c and the wrappers. A decision is whether
 * something happens at one point; seed, rank, kind and number of the point decide. Points are
 * counted so that the time of other ranks changes no number: runs of calls, and the messages of
 * each sender. If the launcher has named the decisions that may be taken, those and no others are.
 * All of it is what the API allows: a poll need not deliver, a test may report "not yet".
 * Invariants: the first thread of a rank alone takes decisions; a message is held back in polls
 * only, because a blocking call may depend on it.
 */
#define _GNU_SOURCE
#include "replay/runtime/rpl.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DELAY_NS_MAX 1000000u
#define POLLS_MAX    16u /* a message or result is late for at most so many calls */
#define ONE_IN_DELAY 8u
#define ONE_IN_LATE  4u

static struct {
  bool on, listed;
  uint64_t seed;
  uint32_t *list; /* decisions that may be taken; owned */
  uint32_t count;
} chaos;

static uint64_t mix(uint64_t h) {
  h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
  return h ^ h >> 31;
}

/* Read RANK KIND NUMBER, as 0m3, with commas between, and keep those of this rank. */
static void read_list(const char *text) {
  chaos.listed = true;
  chaos.list = calloc(strlen(text) / 3 + 1, sizeof *chaos.list);
  if (!chaos.list) abort();
  while (*text) {
    char *end;
    const unsigned long rank = strtoul(text, &end, 10);
    const char *const kind = *end ? strchr(RPL_CHAOS_KINDS, *end) : NULL;
    if (!kind) return;
    const uint32_t number = (uint32_t)strtoul(end + 1, &end, 10) & RPL_CHAOS_NUMBER;
    if (rank == rpl.rank)
      chaos.list[chaos.count++] = (uint32_t)(kind - RPL_CHAOS_KINDS) << RPL_CHAOS_SHIFT | number;
    text = *end == ',' ? end + 1 : end;
  }
}

void rpl_chaos_start(const char *text) {
  char *end;
  chaos.seed = strtoull(text, &end, 10);
  chaos.on = true;
  if (*end == ':') read_list(end + 1);
}

bool rpl_chaos_on(void) {
  return chaos.on;
}

/* Whether the decision is taken; and its random bits. in again: it has been asked for before. */
static bool decide(enum rpl_chaos_kind kind, uint32_t number, bool again, uint64_t *bits) {
  const uint32_t name = (uint32_t)kind << RPL_CHAOS_SHIFT | (number & RPL_CHAOS_NUMBER);
  const uint64_t h = mix(mix(chaos.seed * UINT64_C(0x9e3779b97f4a7c15) + rpl.rank) + name);
  *bits = h >> 16;
  bool taken = (h & 0xffff) % (kind == RPL_CHAOS_DELAY ? ONE_IN_DELAY : ONE_IN_LATE) == 0;
  if (chaos.listed) {
    taken = false;
    for (uint32_t i = 0; i < chaos.count && !taken; i++) taken = chaos.list[i] == name;
  }
  struct rpl_taken *const t = &rpl.area->rank[rpl.rank].taken;
  if (taken && !again && t->count < RPL_TAKEN) t->number[t->count++] = name;
  return taken;
}

void rpl_chaos_delay(void) {
  uint64_t bits;
  if (!chaos.on || rpl_first.repeat || !decide(RPL_CHAOS_DELAY, rpl_first.run, false, &bits))
    return;
  (void)nanosleep(&(struct timespec){0, (long)(bits % DELAY_NS_MAX)}, NULL);
}

uint32_t rpl_chaos_hold(uint32_t series, uint32_t number) {
  uint64_t bits;
  const uint32_t name = number * 2 * rpl.ranks + series;
  if (!chaos.on || !decide(RPL_CHAOS_MESSAGE, name, false, &bits)) return 0;
  return 1 + (uint32_t)(bits % POLLS_MAX);
}

bool rpl_chaos_late(void) {
  uint64_t bits;
  if (!chaos.on || rpl_own != &rpl_first || rpl_first.repeat >= POLLS_MAX) return false;
  return decide(RPL_CHAOS_RESULT, rpl_first.run, rpl_first.repeat != 0, &bits) &&
         rpl_first.repeat < 1 + (uint32_t)(bits % POLLS_MAX);
}
