/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts, runs a barrier and, when asked, exchanges a message between all pairs and reports memory.
 *
 * Owns: the memory and all-pairs rows of start-up. Called by: `tombolo bench startup`, which times
 * the whole job by the clock. Calls: bench/lib (clock and reports), the public API. Modes: start
 * (default): initialise, attach one page, barrier, exit. pairs: also sends a short request from
 * each rank to each, waits for the replies, and sums the ranks' memory (/proc/self/smaps_rollup)
 * before and after. Each rank writes its numbers into rank 0's segment.
 */
#include "lib/asks.h"
#include "lib/bench.h"

#include <string.h>

enum memory { PRIVATE, PSS, PSS_SHMEM, RSS, MEMORY_KINDS };

/* Contribution of one rank, bytes. */
struct usage {
  uint64_t before[MEMORY_KINDS], after[MEMORY_KINDS];
};

static void read_memory(struct bench *b, uint64_t out[MEMORY_KINDS]) {
  char line[256];
  unsigned long kb;
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  if (!file) bench_fail(b, "/proc/self/smaps_rollup cannot be read: start-up memory is not known");
  memset(out, 0, MEMORY_KINDS * sizeof *out);
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "Private_Clean: %lu", &kb) == 1 ||
        sscanf(line, "Private_Dirty: %lu", &kb) == 1)
      out[PRIVATE] += kb * 1024;
    if (sscanf(line, "Pss: %lu", &kb) == 1) out[PSS] = kb * 1024;
    if (sscanf(line, "Pss_Shmem: %lu", &kb) == 1) out[PSS_SHMEM] = kb * 1024;
    if (sscanf(line, "Rss: %lu", &kb) == 1) out[RSS] = kb * 1024;
  }
  fclose(file);
}

/* Everybody sends to everybody; returns ns on every rank. */
static double all_pairs(struct bench *b) {
  const uint64_t start = bench_now_ns();
  for (gex_Rank_t i = 1; i <= b->size; i++)
    gex_AM_RequestShort(b->tm, (b->rank + i) % b->size, H_ASK, 0);
  GASNET_BLOCKUNTIL(answered == b->size && asked == b->size);
  bench_barrier(b);
  return (double)(bench_now_ns() - start);
}

/* One row: the mean over ranks. */
static void report_memory(struct bench *b, const char *name, const struct usage *all,
                          enum memory kind, bool after) {
  const struct bench_row row = {.group = "startup", .name = name, .bytes = 0};
  double sum = 0;
  for (gex_Rank_t i = 0; i < b->size; i++)
    sum += (double)(after ? all[i].after : all[i].before)[kind];
  sum /= b->size;
  bench_report(b, &row, "bytes", &sum, NULL, 1);
}

static void measure_pairs(struct bench *b, struct usage *all, char *all_at) {
  struct usage mine;
  read_memory(b, mine.before);
  bench_barrier(b);
  const double ns = all_pairs(b);
  read_memory(b, mine.after);
  gex_RMA_PutBlocking(b->tm, 0, all_at + b->rank * sizeof mine, &mine, sizeof mine, 0);
  bench_barrier(b);
  if (b->rank != 0) return;
  const struct bench_row row = {.group = "startup", .name = "all_pairs"};
  bench_report(b, &row, "ns", &ns, NULL, 1);
  report_memory(b, "private_before", all, PRIVATE, false);
  report_memory(b, "shared_before", all, PSS_SHMEM, false);
  report_memory(b, "pss_before", all, PSS, false);
  report_memory(b, "private_after", all, PRIVATE, true);
  report_memory(b, "shared_after", all, PSS_SHMEM, true);
  report_memory(b, "pss_after", all, PSS, true);
}

int main(int argc, char **argv) {
  static struct bench b;
  gex_AM_Entry_t handlers[] = {
      ECHO_ENTRIES,
  };
  gex_Segment_t segment;
  void *all = NULL;
  bench_start(&b, "startup", &argc, &argv);
  const size_t bytes = (b.size * sizeof(struct usage) + 4095) / 4096 * 4096;
  if (gex_EP_RegisterHandlers(b.ep, handlers, 2) != GASNET_OK ||
      gex_Segment_Attach(&segment, b.tm, b.rank ? 4096 : bytes) != GASNET_OK)
    bench_fail(&b, "handlers or segment could not be set up");
  bench_barrier(&b);
  if (strcmp(b.opts.mode, "pairs") == 0) {
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(b.tm, 0, &all, NULL, NULL, 0));
    measure_pairs(&b, gex_Segment_QueryAddr(segment), all);
  }
  bench_finish(&b);
}
