/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* again: TOMBOLO_WAIT=block TOMBOLO_WAIT=spin */
/*
 * API 02.8: polling and GASNET_BLOCKUNTIL: the condition is evaluated at least once, may have side
 * effects and any operator, a waiter that sleeps is woken, and what the handler wrote is
 * visible; in every wait mode.
 */
#include "job.h"

static gex_AM_Index_t token_index, put_index;
static volatile int turns, flag;
static uint64_t payload[64];

static void on_turn(gex_Token_t token, gex_AM_Arg_t a) {
  (void)token;
  turns += a;
}

static void on_put(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t value) {
  (void)token;
  memcpy(payload, buf, nbytes);
  flag = value;
}

static void check_forms(void) {
  int calls = 0;
  GASNET_BLOCKUNTIL(++calls);
  CHECK_EQ(calls, 1);
  GASNET_BLOCKUNTIL(calls++ == 1 || calls > 5);
  CHECK_EQ(calls, 2);
  if (calls)
    GASNET_BLOCKUNTIL(1);
  else
    CHECK(0);
  int i = 0;
  GASNET_BLOCKUNTIL((i = calls, i) ? 1 : 0);
  CHECK_EQ(i, 2);
}

/* A token goes round; everybody else waits; the holder dawdles now and then so that the others fall
 * asleep. */
static void ring(int rounds, int lazy) {
  static int before; /* turns of earlier rings; `turns` itself may be ahead already */
  for (int i = 0; i < rounds; i++) {
    if (job.rank != 0 || i != 0) GASNET_BLOCKUNTIL(turns > before + i - (job.rank == 0));
    if (lazy && i % lazy == 0) sleep_ms(20);
    CHECK_EQ(gex_AM_RequestShort1(job.tm, (job.rank + 1) % job.size, token_index, 0, 1), 0);
  }
  before += rounds;
  GASNET_BLOCKUNTIL(turns >= before);
  job_barrier();
  CHECK_EQ(turns, before);
  job_barrier();
}

static void visible(void) {
  uint64_t out[64];
  const gex_Rank_t to = (job.rank + 1) % job.size;
  for (int i = 1; i <= 200; i++) {
    job_barrier();
    pattern_fill(out, sizeof out, (unsigned)i);
    CHECK_EQ(gex_AM_RequestMedium1(job.tm, to, put_index, out, sizeof out, GEX_EVENT_NOW, 0, i), 0);
    GASNET_BLOCKUNTIL(flag == i);
    CHECK_BYTES(payload, sizeof payload, (unsigned)i);
  }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  token_index = job_handler((gex_AM_Fn_t)on_turn, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1);
  put_index = job_handler((gex_AM_Fn_t)on_put, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1);
  job_barrier();
  check_forms();
  for (int mode = GASNET_WAIT_SPIN; mode <= GASNET_WAIT_SPINBLOCK; mode++) {
    CHECK_EQ(gasnet_set_waitmode(mode), GASNET_OK);
    CHECK_EQ(gasnet_AMPoll(), GASNET_OK);
    ring(mode == GASNET_WAIT_SPIN ? 4 : 100, 0);
    ring(4, 2);
  }
  visible();
  return job_finish();
}
