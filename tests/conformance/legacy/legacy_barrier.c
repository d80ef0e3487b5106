/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * API 08.7: GASNet-1 barriers: names, anonymous and unnamed phases, forced and true mismatches, the
 * revised rule for a wait whose name differs, try, result, gasnet_barrier beside notify and wait,
 * memory ordering, and that nobody leaves before everybody has come.
 */
/* ranks: 1 2 3 4 7 16 */
/* again: TOMBOLO_TEST_SHM=0 GASNET_SUPERNODE_MAXSIZE=2 GASNET_SUPERNODE_MAXSIZE=3 */
#include <sched.h>

#include "legacy.h"

#define ANON     GASNET_BARRIERFLAG_ANONYMOUS
#define MISMATCH GASNET_BARRIERFLAG_MISMATCH
#define UNNAMED  GASNET_BARRIERFLAG_UNNAMED

static int wait_by_try(int id, int flags) {
  int rc;
  while ((rc = gasnet_barrier_try(id, flags)) == GASNET_ERR_NOT_READY) sched_yield();
  return rc;
}

/* One phase in the style that `how` names: wait, try, or the single-phase call. */
static int phase(int how, int id, int flags) {
  if (how == 2) return gasnet_barrier(id, flags);
  gasnet_barrier_notify(id, flags);
  return how == 1 ? wait_by_try(id, flags) : gasnet_barrier_wait(id, flags);
}

static void expect_result(int anonymous, int id) {
  int name = -12345;
  const int was_anonymous = gasnet_barrier_result(&name);
  CHECK_EQ(!!was_anonymous, anonymous);
  if (!anonymous) CHECK_EQ(name, id);
}

static void test_flags(void) {
  CHECK((UNNAMED & ANON) == ANON && UNNAMED != ANON);
  CHECK_CMP((ANON & MISMATCH), ==, 0);
}

/* All ranks agree: styles differ from rank to rank, so that each is paired with each. */
static void test_agree(void) {
  const int ids[] = {0, 1, -1, 0x7fffffff, (int)0x80000000};
  for (int i = 0; i < 30; i++) {
    const int how = (int)(g1.rank + (unsigned)i) % 3, id = ids[i % 5];
    CHECK_EQ(phase(how, id, 0), GASNET_OK);
    expect_result(0, id);
    CHECK_EQ(phase(how, i, ANON), GASNET_OK);
    expect_result(1, 0);
    CHECK_EQ(phase(how, (int)g1.rank, UNNAMED), GASNET_OK);
    expect_result(1, 0);
  }
}

/* Anonymous ranks match any name; the consensus is the name. */
static void test_mixed_anonymous(void) {
  for (int i = 0; i < 12; i++) {
    const int named = (g1.rank + (unsigned)i) % 3 == 0 || g1.size == 1;
    const int any_named = g1.size >= 3 || named || (i % 3 == 0) || (1 + i) % 3 == 0;
    CHECK_EQ(phase(i % 3, 700 + i, named ? 0 : ANON), GASNET_OK);
    expect_result(!any_named, 700 + i);
  }
}

static void test_forced_mismatch(void) {
  for (gasnet_node_t culprit = 0; culprit < g1.size; culprit++)
    for (int how = 0; how < 3; how++) {
      CHECK_EQ(phase(how, 5, g1.rank == culprit ? MISMATCH : 0), GASNET_ERR_BARRIER_MISMATCH);
      CHECK_EQ(phase(how, 6, (g1.rank == culprit ? MISMATCH : 0) | ANON),
               GASNET_ERR_BARRIER_MISMATCH);
      CHECK_EQ(phase(how, 7, 0), GASNET_OK); /* the next phase is not tainted */
      expect_result(0, 7);
    }
}

static void test_true_mismatch(void) {
  if (g1.size == 1) return;
  for (gasnet_node_t culprit = 0; culprit < g1.size; culprit++)
    for (int how = 0; how < 3; how++) {
      CHECK_EQ(phase(how, g1.rank == culprit ? 90 : 91, 0), GASNET_ERR_BARRIER_MISMATCH);
      /* An anonymous rank sees the mismatch of two named ones, too. */
      if (g1.size >= 3) {
        const int anonymous = g1.rank == culprit;
        const int id = (g1.rank + g1.size - culprit) % g1.size == 1 ? 90 : 91;
        CHECK_EQ(phase(how, id, anonymous ? ANON : 0), GASNET_ERR_BARRIER_MISMATCH);
      }
    }
}

/* The wait may differ from the notify; only a name that contradicts the consensus is an error, and
 * only at the rank that gave it. */
static void test_revised_rule(void) {
  for (int tries = 0; tries < 2; tries++) {
    int (*const finish)(int, int) = tries ? wait_by_try : gasnet_barrier_wait;
    gasnet_barrier_notify(33, 0);
    CHECK_EQ(finish(0, ANON), GASNET_OK);
    gasnet_barrier_notify(33, ANON);
    CHECK_EQ(finish(44, 0), GASNET_OK); /* consensus is anonymous */
    expect_result(1, 0);
    gasnet_barrier_notify(33, 0);
    CHECK_EQ(finish(g1.rank ? 33 : 44, 0), g1.rank ? GASNET_OK : GASNET_ERR_BARRIER_MISMATCH);
    gasnet_barrier_notify(33, g1.rank ? ANON : 0); /* rank 0 names the phase */
    CHECK_EQ(finish(34, 0), GASNET_ERR_BARRIER_MISMATCH);
    gasnet_barrier_notify(33, g1.rank ? ANON : 0);
    CHECK_EQ(finish(33, 0), GASNET_OK);
    expect_result(0, 33);
  }
}

/* try does not complete while a rank is missing, and changes nothing. */
static void test_try(void) {
  for (gasnet_node_t late = 0; late < g1.size && g1.size > 1; late++) {
    uint32_t *const released = (uint32_t *)g1.base + late;
    if (g1.rank != late) {
      gasnet_barrier_notify(1, 0);
      for (int i = 0; i < 200; i++) CHECK_EQ(gasnet_barrier_try(1, 0), GASNET_ERR_NOT_READY);
      gasnet_put_val(late, (uint32_t *)g1.seg[late].addr + 100 + g1.rank, late + 1, 4);
      CHECK_EQ(wait_by_try(1, 0), GASNET_OK);
      CHECK_EQ(*(volatile uint32_t *)released, late + 1);
    } else {
      for (gasnet_node_t r = 0; r < g1.size; r++)
        while (r != late && ((volatile uint32_t *)g1.base)[100 + r] != late + 1) {
          CHECK_EQ(gasnet_AMPoll(), GASNET_OK);
          sched_yield();
        }
      for (gasnet_node_t r = 0; r < g1.size; r++)
        gasnet_put_val(r, (uint32_t *)g1.seg[r].addr + late, late + 1, 4);
      gasnet_barrier_notify(1, 0);
      CHECK_EQ(gasnet_barrier_wait(1, 0), GASNET_OK);
    }
  }
}

/* Puts before notify are seen after wait: everybody writes to everybody, then checks. */
static void test_order(void) {
  for (uint32_t round = 1; round <= 200; round++) {
    const uint32_t bank = 1024 + round % 2 * 256; /* readers of the last round may still read */
    for (gasnet_node_t r = 0; r < g1.size; r++)
      gasnet_put_val(r, (uint32_t *)g1.seg[r].addr + bank + g1.rank, round * 100 + r, 4);
    gasnet_barrier_notify((int)round, 0);
    CHECK_EQ(round % 3 ? gasnet_barrier_wait((int)round, 0) : wait_by_try((int)round, 0),
             GASNET_OK);
    for (gasnet_node_t r = 0; r < g1.size; r++)
      CHECK_EQ(((volatile uint32_t *)g1.base)[bank + r], round * 100 + g1.rank);
  }
}

int main(int argc, char **argv) {
  g1_start(&argc, &argv, NULL, 0, 2 * GASNET_PAGESIZE);
  test_flags();
  test_agree();
  test_mixed_anonymous();
  test_forced_mismatch();
  test_true_mismatch();
  test_revised_rule();
  test_try();
  test_order();
  return g1_finish();
}
