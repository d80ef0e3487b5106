/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic operations of C11 and C++, as threads of the program synchronise by them.
 *
 * Owns nothing. Called by check/client, which is linked into a program that is compiled with
 * `--check`: the compiler puts a call in place of each. One that changes its word has a turn among
 * those of the rank; one that does not, as a load or a failed compare and exchange, is a value that
 * was read, so that a loop that spins has an event where it ends. Calls: words.c. Invariants: no
 * handler runs inside, since the program may hold a lock made of them; those of a handler have no
 * order of their own, and under chaos alone none has.
 */
#include "replay/runtime/rpl.h"

struct operation {
  volatile void *at;
  size_t bytes;
  int what;
  uint64_t a, b;
};

static uint64_t load(const struct operation *o) {
  switch (o->bytes) {
  case 1: return __atomic_load_n((volatile uint8_t *)o->at, __ATOMIC_SEQ_CST);
  case 2: return __atomic_load_n((volatile uint16_t *)o->at, __ATOMIC_SEQ_CST);
  case 4: return __atomic_load_n((volatile uint32_t *)o->at, __ATOMIC_SEQ_CST);
  default: return __atomic_load_n((volatile uint64_t *)o->at, __ATOMIC_SEQ_CST);
  }
}

static bool swap(const struct operation *o, uint64_t *is, uint64_t wanted) {
#define SWAP(type)                                                                                \
 {                                                                                                \
  type before = (type)*is;                                                                        \
  const bool done = __atomic_compare_exchange_n((volatile type *)o->at, &before, (type)wanted, 0, \
                                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);              \
  *is = before;                                                                                   \
  return done;                                                                                    \
 }
  switch (o->bytes) {
  case 1: SWAP(uint8_t)
  case 2: SWAP(uint16_t)
  case 4: SWAP(uint32_t)
  default: SWAP(uint64_t)
  }
#undef SWAP
}

/* The value behind an operation. */
static uint64_t behind(const struct operation *o, uint64_t is) {
  switch (o->what) {
  case CHK_SET: return o->a;
  case CHK_SWAP: return is == o->a ? o->b : is;
  case CHK_add: return is + o->a;
  case CHK_sub: return is - o->a;
  case CHK_and: return is & o->a;
  case CHK_or: return is | o->a;
  case CHK_xor: return is ^ o->a;
  case CHK_nand: return ~(is & o->a);
  default: return is;
  }
}

static uint64_t read_word(void *arg) {
  return load(arg);
}

static uint64_t change(void *arg, uint64_t *after) {
  const struct operation *const o = arg;
  const uint64_t mask = UINT64_MAX >> (64 - 8 * o->bytes);
  uint64_t is = load(o);
  do *after = behind(o, is) & mask;
  while (!swap(o, &is, *after));
  return is;
}

uint64_t tombolo_replay_atomic(volatile void *at, size_t bytes, int what, uint64_t a, uint64_t b,
                               const void *pc) {
  struct operation o = {at, bytes, what, a, b};
  uint64_t after;
  if (rpl.mode == RPL_OFF || rpl.mode == RPL_CHAOS) return change(&o, &after);
  const bool outer = rpl_enter(RPL_CALL_tombolo_replay_atomic, pc);
  if (!outer) return change(&o, &after);
  const uint64_t value =
      what == CHK_GET ? rpl_look(pc, read_word, &o) : rpl_change(pc, change, &o, read_word);
  rpl_leave(outer);
  return value;
}
