/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computing in a segment beside computing in private memory, by the size of pages.
 *
 * Owns: nothing. Compiled by hand, as `tombolo cc -O2 pages_gex.c`; not part of the build. Calls:
 * the public API. One rank, `pages_gex MIB`, with GASNET_MAX_SEGSIZE above that. Three loops over
 * MIB mebibytes that were touched before: "random" follows a chain of words through all lines in a
 * random order, "column" adds 1 to the first word of each page, "stream" adds 1 to each word. A
 * line "LOOP WHERE NS" is the least of RUNS passes, in ns of the processor for each access. WHERE:
 * the segment; malloc'ed memory with pages of the usual size; with huge pages (madvise).
 */
#define GASNET_SEQ 1
#define _GNU_SOURCE
#include <gasnetex.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { RUNS = 5, LINE = 8, PAGE = 512, STEPS = 1 << 21 }; /* words; steps of the chain */

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Each line's first word is the index of the next line's: Sattolo's cycle by xorshift. */
static void make_chain(uint64_t *word, size_t lines) {
  uint64_t state = 88172645463325252u;
  for (size_t i = 0; i < lines; i++) word[i * LINE] = i * LINE;
  for (size_t i = lines - 1; i > 0; i--) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const size_t k = state % i;
    const uint64_t other = word[k * LINE];
    word[k * LINE] = word[i * LINE];
    word[i * LINE] = other;
  }
}

static double chain(uint64_t *word, size_t count) {
  volatile uint64_t end;
  uint64_t at = 0;
  (void)count;
  const double begin = now_ns();
  for (size_t i = 0; i < STEPS; i++) at = word[at];
  end = at;
  (void)end;
  return (now_ns() - begin) / STEPS;
}

static double walk(uint64_t *word, size_t count, size_t step) {
  const double begin = now_ns();
  for (size_t i = 0; i < count; i += step) word[i]++;
  return (now_ns() - begin) / (double)(count / step);
}

static double column(uint64_t *word, size_t count) {
  return walk(word, count, PAGE);
}

static double stream(uint64_t *word, size_t count) {
  return walk(word, count, 1);
}

static void measure(const char *where, uint64_t *word, size_t count) {
  static const struct {
    const char *name;
    double (*run)(uint64_t *word, size_t count);
  } loops[] = {{"random", chain}, {"column", column}, {"stream", stream}};
  make_chain(word, count / LINE);
  for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
    double least = 1e30;
    for (int r = 0; r < RUNS; r++) {
      const double ns = loops[i].run(word, count);
      if (ns < least) least = ns;
    }
    printf("%s %s %.2f\n", loops[i].name, where, least);
    fflush(stdout);
  }
}

static void measure_private(const char *where, size_t bytes, int advice) {
  void *memory = mmap(NULL, bytes + (2 << 20), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  (void)madvise(memory, bytes + (2 << 20), advice);
  measure(where, memory, bytes / sizeof(uint64_t));
  munmap(memory, bytes + (2 << 20));
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  gex_Client_Init(&client, &ep, &tm, "PAGES", &argc, &argv, 0);
  const size_t bytes = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1024) << 20;
  if (gex_Segment_Attach(&segment, tm, bytes) != GASNET_OK) gasnet_exit(1);
  measure("segment", gex_Segment_QueryAddr(segment), bytes / sizeof(uint64_t));
  measure_private("private", bytes, MADV_NOHUGEPAGE);
  measure_private("private-huge", bytes, MADV_HUGEPAGE);
  gasnet_exit(0);
}
