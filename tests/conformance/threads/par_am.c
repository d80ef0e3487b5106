/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 4 */
/* debug: both */
/* again: TOMBOLO_TEST_RING_SLOTS=64 */
/* timeout: 120 */
/*
 * API 00.9, 02: 1..16 threads per process inject short and medium requests at once, to all ranks,
 * while all of them poll; replies go to the thread that asked; exact counts by thread and by
 * source.
 */
#include "job.h"
#include "threads.h"

#if defined(__SANITIZE_THREAD__) /* 1500 take 9 s of processor time there */
# define COUNT 500
#else
# define COUNT 1500
#endif
enum { THREADS_MAX = 16, BYTES_MAX = 1200 };

static gex_AM_Index_t short_req, medium_req, short_rep, medium_rep;
static uint64_t from_thread[64][THREADS_MAX]; /* requests by source rank and thread */
static uint64_t replies[THREADS_MAX];
static int depth_max;
static __thread int depth; /* request handlers on this thread's stack */

static void add(uint64_t *p, uint64_t n) {
  __atomic_fetch_add(p, n, __ATOMIC_SEQ_CST);
}
static uint64_t load(uint64_t *p) {
  return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

static void enter(gex_Token_t token, int thread) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  REQUIRE(info.gex_srcrank < 64 && thread >= 0 && thread < THREADS_MAX);
  add(&from_thread[info.gex_srcrank][thread], 1);
  if (++depth > 1) depth_max = depth;
}

static void on_short(gex_Token_t token, gex_AM_Arg_t thread, gex_AM_Arg_t id) {
  enter(token, thread);
  CHECK_EQ(gex_AM_ReplyShort2(token, short_rep, 0, thread, id), 0);
  depth--;
}

static void on_medium(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t thread,
                      gex_AM_Arg_t id) {
  char out[BYTES_MAX];
  enter(token, thread);
  CHECK_BYTES(buf, nbytes, (uint32_t)id);
  pattern_fill(out, nbytes, (uint32_t)id + 7u);
  CHECK_EQ(gex_AM_ReplyMedium2(token, medium_rep, out, nbytes, GEX_EVENT_NOW, 0, thread, id), 0);
  depth--;
}

static void on_short_rep(gex_Token_t token, gex_AM_Arg_t thread, gex_AM_Arg_t id) {
  (void)token;
  (void)id;
  add(&replies[thread], 1);
}

static void on_medium_rep(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t thread,
                          gex_AM_Arg_t id) {
  (void)token;
  CHECK_BYTES(buf, nbytes, (uint32_t)id + 7u);
  add(&replies[thread], 1);
}

static void inject(int thread) {
  uint64_t random = test_seed() + job.rank * 100 + (unsigned)thread;
  const uint64_t before = load(&replies[thread]);
  char out[BYTES_MAX];
  for (uint32_t i = 0; i < COUNT; i++) {
    const gex_Rank_t to = (job.rank + i) % job.size;
    const uint32_t id = (uint32_t)rng_next(&random);
    if (i % 3 == 0) {
      CHECK_EQ(gex_AM_RequestShort2(job.tm, to, short_req, 0, thread, id), 0);
    } else {
      const size_t n = rng_below(&random, BYTES_MAX + 1);
      pattern_fill(out, n, id);
      CHECK_EQ(gex_AM_RequestMedium2(job.tm, to, medium_req, out, n, GEX_EVENT_NOW, 0, thread, id),
               0);
    }
    if (i % 64 == 0) gasnet_AMPoll();
  }
  GASNET_BLOCKUNTIL(load(&replies[thread]) == before + COUNT);
}

int main(int argc, char **argv) {
  const gex_Flags_t req = GEX_FLAG_AM_REQUEST, rep = GEX_FLAG_AM_REPLY;
  gex_AM_Entry_t table[] = {
      {0, (gex_AM_Fn_t)on_short, GEX_FLAG_AM_SHORT | req, 2, NULL, "a"},
      {0, (gex_AM_Fn_t)on_medium, GEX_FLAG_AM_MEDIUM | req, 2, NULL, "b"},
      {0, (gex_AM_Fn_t)on_short_rep, GEX_FLAG_AM_SHORT | rep, 2, NULL, "c"},
      {0, (gex_AM_Fn_t)on_medium_rep, GEX_FLAG_AM_MEDIUM | rep, 2, NULL, "d"}};
  job_start(&argc, &argv, 0, table, 4);
  CHECK_CMP(gex_System_QueryMaxThreads(), >=, THREADS_MAX + 1);
  short_req = table[0].gex_index;
  medium_req = table[1].gex_index;
  short_rep = table[2].gex_index;
  medium_rep = table[3].gex_index;
  job_barrier(); /* handlers use these */
  uint64_t want[THREADS_MAX] = {0};
  for (int threads = 1; threads <= THREADS_MAX; threads *= 2) {
    run_threads(threads, inject);
    for (int t = 0; t < threads; t++) want[t] += COUNT;
    job_barrier();
    uint64_t all = 0;
    for (int t = 0; t < THREADS_MAX; t++) {
      CHECK_EQ(load(&replies[t]), want[t]);
      for (gex_Rank_t r = 0; r < job.size; r++) all += load(&from_thread[r][t]);
    }
    uint64_t sum =
        0; /* each target of a source gets the same number, up to one, and all of them all */
    for (int t = 0; t < THREADS_MAX; t++) sum += want[t];
    CHECK_EQ(all, sum);
    job_barrier();
  }
  CHECK_EQ(depth_max, 0); /* one request handler at a time on a thread */
  return job_finish();
}
