/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * API 08.3, 08.5, 08.9 and 02.8: handler-safe locks under their GASNet-1 names, no-interrupt
 * sections, thread-info macros, wait modes and GASNET_BLOCKUNTIL in each of them.
 */
/* mode: PARSYNC */
/* again: TOMBOLO_WAIT=block */
/* ranks: 1 2 4 */
#include "legacy.h"

static gasnet_hsl_t static_lock = GASNET_HSL_INITIALIZER;
static volatile int arrived;
static volatile long long sum;

static void add_handler(gasnet_token_t token, gasnet_handlerarg_t amount) {
  (void)token;
  gasnet_hsl_lock(&static_lock);
  sum += amount;
  arrived++;
  gasnet_hsl_unlock(&static_lock);
}

static void try_handler(gasnet_token_t token) {
  gasnet_hold_interrupts(); /* ignored in a handler */
  CHECK_EQ(gasnet_hsl_trylock(&static_lock), GASNET_OK);
  gasnet_hold_interrupts(); /* ignored with a lock held */
  gasnet_resume_interrupts();
  gasnet_hsl_unlock(&static_lock);
  gasnet_resume_interrupts();
  gasnet_node_t from;
  CHECK_EQ(gasnet_AMGetMsgSource(token, &from), GASNET_OK);
  arrived++;
}

static void test_locks(void) {
  gasnet_hsl_t lock[3];
  for (int i = 0; i < 3; i++) gasnet_hsl_init(&lock[i]);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 3; i++) gasnet_hsl_lock(&lock[i]);
    for (int i = 2; i >= 0; i--) gasnet_hsl_unlock(&lock[i]);
    CHECK_EQ(gasnet_hsl_trylock(&lock[1]), GASNET_OK);
    gasnet_hsl_unlock(&lock[1]);
  }
  gasnet_hsl_lock(&static_lock);
  CHECK_EQ(gasnet_mynode(), g1.rank); /* legal in restricted context */
  CHECK_EQ(gasnet_nodes(), g1.size);
  gasnet_hsl_unlock(&static_lock);
  for (int i = 0; i < 3; i++) gasnet_hsl_destroy(&lock[i]);
}

static void test_interrupts(void) {
  for (int i = 0; i < 3; i++) {
    gasnet_hold_interrupts();
    sum = sum + 0;
    CHECK_EQ(gasnet_mynode(), g1.rank);
    gasnet_resume_interrupts();
  }
  gasnet_AMPoll();
}

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wshadow" /* one in an inner block hides none */
static gasnet_threadinfo_t info_of_thread(void) {
  GASNET_BEGIN_FUNCTION();
  int declared_after = 1;
  {
    GASNET_POST_THREADINFO(GASNET_GET_THREADINFO());
    int in_block = 1;
    declared_after += in_block;
  }
  CHECK_EQ(declared_after, 2);
  return GASNET_GET_THREADINFO();
}
#pragma GCC diagnostic pop

static void takes_info(gasnet_threadinfo_t info) {
  GASNET_POST_THREADINFO(info);
  CHECK_EQ(gasnet_mynode(), g1.rank);
}

static void test_thread_info(void) {
  gasnet_threadinfo_t const info = GASNET_GET_THREADINFO();
  CHECK_PTR(info_of_thread(), info);
  takes_info(info);
}

static void test_wait_modes(gasnet_handler_t add, gasnet_handler_t try_it) {
  const int modes[] = {GASNET_WAIT_SPIN, GASNET_WAIT_BLOCK, GASNET_WAIT_SPINBLOCK};
  CHECK_EQ(GASNET_WAIT_SPIN, 0);
  CHECK_EQ(GASNET_WAIT_BLOCK, 1);
  CHECK_EQ(GASNET_WAIT_SPINBLOCK, 2);
  CHECK_EQ(gasnet_set_waitmode(3), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gasnet_set_waitmode(-1), GASNET_ERR_BAD_ARG);
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(gasnet_set_waitmode(modes[i]), GASNET_OK);
    /* Ranks that only spin take turns of a whole time slice. */
    const int rounds = modes[i] == GASNET_WAIT_SPIN ? 3 : 20;
    for (int round = 0; round < rounds; round++) {
      arrived = 0;
      sum = 0;
      g1_barrier();
      for (gasnet_node_t r = 0; r < g1.size; r++) {
        CHECK_EQ(gasnet_AMRequestShort1(r, add, g1.rank + 1), GASNET_OK);
        CHECK_EQ(gasnet_AMRequestShort0(r, try_it), GASNET_OK);
      }
      int evaluated = 0;
      GASNET_BLOCKUNTIL((evaluated++, arrived == 2 * (int)g1.size));
      CHECK_CMP(evaluated, >=, 1);
      CHECK_EQ(sum, g1.size * (g1.size + 1) / 2);
      g1_barrier();
    }
  }
  CHECK_EQ(gasnet_set_waitmode(GASNET_WAIT_SPINBLOCK), GASNET_OK);
  int evaluated = 0;
  if (g1.size) GASNET_BLOCKUNTIL(++evaluated); /* one statement */
  CHECK_EQ(evaluated, 1);
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{0, (gex_AM_Fn_t)add_handler}, {0, (gex_AM_Fn_t)try_handler}};
  g1_start(&argc, &argv, table, 2, GASNET_PAGESIZE);
  test_locks();
  test_interrupts();
  test_thread_info();
  test_wait_modes(table[0].index, table[1].index);
  return g1_finish();
}
