/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 4 */
/* debug: both */
/*
 * API 01.9: handler-safe locks: mutual exclusion between threads and with handlers, Lock and
 * Trylock, static and made locks, several held at a time.
 */
#include "job.h"
#include "threads.h"

enum { THREADS = 8, COUNT = 4000, MESSAGES = 1000 };

static gex_HSL_t outer = GEX_HSL_INITIALIZER;
static gex_HSL_t inner;
static long guarded, guarded_twice; /* plain variables on purpose */
static int inside;
static gex_AM_Index_t bump_index;
static long bumps;

static void critical(void) {
  CHECK_EQ(__atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST), 0);
  guarded++;
  CHECK_EQ(__atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST), 1);
}

static void on_bump(gex_Token_t token) {
  (void)token;
  gex_HSL_Lock(&outer);
  critical();
  gex_HSL_Unlock(&outer);
  __atomic_fetch_add(&bumps, 1, __ATOMIC_SEQ_CST);
}

static void contend(int id) {
  for (int i = 0; i < COUNT; i++) {
    if ((i + id) % 2) {
      gex_HSL_Lock(&outer);
    } else {
      int rc;
      while ((rc = gex_HSL_Trylock(&outer)) != GASNET_OK) {
        CHECK_EQ(rc, GASNET_ERR_NOT_READY);
        gasnet_AMPoll();
      }
    }
    critical();
    if (i % 3 == 0) {
      gex_HSL_Lock(&inner);
      guarded_twice++;
      gex_HSL_Unlock(&inner);
    }
    gex_HSL_Unlock(&outer);
    if (i % (COUNT / MESSAGES * THREADS) == 0)
      CHECK_EQ(gex_AM_RequestShort0(job.tm, (job.rank + 1) % job.size, bump_index, 0), 0);
  }
}

/* Thread 0 holds the lock while all others find it busy. */
static void busy(int id) {
  if (id == 0) gex_HSL_Lock(&inner);
  threads_meet();
  if (id != 0) CHECK_EQ(gex_HSL_Trylock(&inner), GASNET_ERR_NOT_READY);
  threads_meet();
  if (id == 0) gex_HSL_Unlock(&inner);
  threads_meet();
  if (id == 1) {
    CHECK_EQ(gex_HSL_Trylock(&inner), GASNET_OK);
    gex_HSL_Unlock(&inner);
  }
}

int main(int argc, char **argv) {
  gex_AM_Entry_t entry = {
      0, (gex_AM_Fn_t)on_bump, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "bump"};
  job_start(&argc, &argv, 0, &entry, 1);
  bump_index = entry.gex_index;
  gex_HSL_Init(&inner);
  run_threads(THREADS, busy);
  job_barrier();
  run_threads(THREADS, contend);
  const int step = COUNT / MESSAGES * THREADS;
  const long sent = (long)THREADS * ((COUNT + step - 1) / step);
  GASNET_BLOCKUNTIL(__atomic_load_n(&bumps, __ATOMIC_SEQ_CST) >= sent);
  job_barrier();
  CHECK_EQ(bumps, sent);
  CHECK_EQ(guarded, (long)THREADS * COUNT + sent);
  CHECK_EQ(guarded_twice, (long)THREADS * ((COUNT + 2) / 3));
  gex_HSL_Destroy(&inner);
  return job_finish();
}
