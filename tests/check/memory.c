/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the checker needs for what is touched: compiled with `tombolo cc --check`, run with 2
 * ranks under `--check races`.
 *
 * Rank 1 puts to all of the segment of rank 0, in pieces that are no pages, so that each word has a
 * shadow of its own. Then rank 0 loads and stores each word, and rank 1 puts again. Exit code 1:
 * the two processes have grown by more than MOST times the bytes of the segment, which was in
 * memory before, or by the first puts alone by more than MOST_OF_PUTS times.
 */
#include <fcntl.h>
#include <gasnet.h>
#include <gasnet_coll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BYTES        (16L << 20)
#define PIECE        4088L
#define MOST         4.0 /* docs/CHECK_COST.md promises 3, and 0.25 each for loads and stores */
#define MOST_OF_PUTS 1.5 /* and 1 for each access that is remembered */

static gex_TM_t tm;

static void barrier(void) {
  gex_Coll_BarrierBlocking(tm, 0);
}

/* Bytes of memory that this process has; what several have, each in part. */
static double bytes_here(void) {
  char line[256];
  long kib = -1;
  FILE *const in = fopen("/proc/self/smaps_rollup", "r");
  while (in && fgets(line, sizeof line, in))
    if (sscanf(line, "Pss: %ld", &kib) == 1) break;
  if (in) fclose(in);
  return (double)kib * 1024;
}

/* Not by a store, which would be seen. */
static void fill(char *at) {
  const int zero = open("/dev/zero", O_RDONLY);
  for (long i = 0; i < BYTES; i += 1 << 20)
    if (read(zero, at + i, 1 << 20) != 1 << 20) gasnet_exit(2);
  close(zero);
}

static void puts_of(gex_Rank_t me, long *at) {
  static char from[PIECE];
  for (long i = 0; i + PIECE <= BYTES && me == 1; i += PIECE)
    gex_RMA_PutBlocking(tm, 0, (char *)at + i, from, PIECE, 0);
  barrier();
}

static void touch(gex_Rank_t me, long *at) {
  if (me == 0) {
    for (long i = 0; i < BYTES / 8; i++) at[i] += i;
    barrier();
    long sum = 0;
    for (long i = 0; i < BYTES / 8; i++) sum += at[i];
    at[0] = sum;
  } else {
    barrier();
  }
  barrier();
  puts_of(me, at);
}

/* What both processes have more than at first, for each byte. in before: of this process. */
static double grown_since(double before) {
  double sum = 0, grown = bytes_here() - before;
  gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, &sum, &grown, GEX_DT_DBL, sizeof sum, 1, GEX_OP_ADD,
                                        NULL, NULL, 0));
  return sum / BYTES;
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &ep, &tm, "MEMORY", &argc, &argv, 0) != GASNET_OK) return 2;
  const gex_Rank_t me = gex_TM_QueryRank(tm);
  if (gex_Segment_Attach(&segment, tm, BYTES) != GASNET_OK) return 2;
  long *at;
  (void)gex_Segment_QueryBound(tm, 0, (void **)&at, NULL, NULL);
  if (me == 0) fill((char *)at);
  barrier();
  const double before = bytes_here();
  barrier();
  puts_of(me, at);
  const double of_puts = grown_since(before);
  touch(me, at);
  const double all = grown_since(before);
  if (me == 0)
    printf("%.2f bytes for each byte that is touched, %.2f by puts alone\n", all, of_puts);
  const int too_much = all > MOST || of_puts > MOST_OF_PUTS,
            too_little = all < 1.0; /* not checked at all */
  if (me == 0 && too_much) printf("FAILED: at most %.1f, and %.1f\n", MOST, MOST_OF_PUTS);
  if (me == 0 && too_little) printf("FAILED: nothing was checked\n");
  gasnet_exit(too_much || too_little);
}
