/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that `growth.py` runs with few and with many ranks: what each step takes a rank.
 *
 * Owns: nothing. Calls: the public API, getrusage, /proc/self/smaps_rollup. Steps: main begins,
 * initialise, attach 64 KiB, first barrier, split into groups of 16, barriers, all-reduces of 8
 * bytes, polls that find nothing, then the end. Argument: repetitions of the barrier and of the
 * all-reduce. Each rank prints one line: its rank, then for each step the monotonic clock (ns),
 * its processor time (ns), and bytes of memory that only it has. Ranks that have not talked to each
 * other are silent peers: up to the end nothing but the barrier's and all-reduce's partners talk.
 */
#include <gasnetex.h>

#include <gasnet_coll.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { STEPS = 8, SEGMENT_BYTES = 65536, GROUP = 16, POLLS = 10000 };

struct step {
  unsigned long long at_ns, cpu_ns;
};

static unsigned long long clock_ns(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec;
}

static unsigned long long private_bytes(void) {
  char line[256];
  unsigned long long kb, sum = 0;
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "Private_Clean: %llu", &kb) == 1 ||
        sscanf(line, "Private_Dirty: %llu", &kb) == 1)
      sum += kb * 1024;
  if (file) fclose(file);
  return sum;
}

static void mark(struct step *s) {
  s->at_ns = clock_ns(CLOCK_MONOTONIC);
  s->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void barrier(gex_TM_t tm) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

static void split(gex_TM_t tm) {
  gex_TM_t part;
  const unsigned color = (unsigned)(gex_TM_QueryRank(tm) / GROUP);
  gex_TM_Split(&part, tm, color, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
}

static void reduce(gex_TM_t tm, long times) {
  uint64_t in = 1, out;
  for (long i = 0; i < times; i++)
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(tm, &out, &in, GEX_DT_U64, sizeof in, 1, GEX_OP_ADD, NULL, NULL, 0));
}

int main(int argc, char **argv) {
  const long times = argc > 1 ? strtol(argv[1], NULL, 10) : 10;
  struct step step[STEPS] = {{0}};
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  mark(&step[0]);
  if (gex_Client_Init(&client, &ep, &tm, "growth", &argc, &argv, 0) != GASNET_OK) return 1;
  mark(&step[1]);
  if (gex_Segment_Attach(&segment, tm, SEGMENT_BYTES) != GASNET_OK) gasnet_exit(1);
  mark(&step[2]);
  barrier(tm);
  mark(&step[3]);
  split(tm);
  mark(&step[4]);
  for (long i = 0; i < times; i++) barrier(tm);
  mark(&step[5]);
  reduce(tm, times);
  mark(&step[6]);
  for (int i = 0; i < POLLS; i++) (void)gasnet_AMPoll();
  mark(&step[7]);
  printf("at %u", (unsigned)gex_TM_QueryRank(tm));
  for (int i = 0; i < STEPS; i++) printf(" %llu %llu", step[i].at_ns, step[i].cpu_ns);
  printf(" %llu\n", private_bytes());
  fflush(stdout);
  barrier(tm);
  printf("end %llu\n", clock_ns(CLOCK_MONOTONIC));
  gasnet_exit(0);
}
