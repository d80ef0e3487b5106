/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 7 */
/* cases: odd all */
/* env: TOMBOLO_TEST_COLL_BOARD_MAX=0 */
/* again: TOMBOLO_TEST_COLL_CHUNK=64 TOMBOLO_TEST_RING_SLOTS=64
 * TOMBOLO_COLL_ALG=all=nodes+GASNET_SUPERNODE_MAXSIZE=2 */
/* again: TOMBOLO_COLL_ALG=allreduce=doubling TOMBOLO_COLL_ALG=allreduce=ring */
/* timeout: 60 */
/*
 * A rank may forbid at any time that others read its memory: by another user, as daemons do after
 * start (run by root), or by prctl. Long data of collectives, which are read there while that is
 * allowed, come as messages then.
 */
#define _GNU_SOURCE /* process_vm_readv */
#include "coll_sum.h"
#include "job.h"

#include <errno.h>
#include <gasnet_coll.h>
#include <gasnetex_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WORDS = 40000, ROUNDS = 6, NOBODY = 65534 };

static uint64_t *in, *out;

/* Not in the segment, which all have mapped. */
static uint64_t *words(size_t count) {
  void *p = mmap(NULL, 8 * count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(p != MAP_FAILED);
  return p;
}

/* Where a rank's process is, and a word of it. */
struct place {
  uint64_t pid, address;
};

/* Whether this rank may read the next one's memory. */
static int may_read(const struct place *all) {
  const struct place *next = &all[(job.rank + 1) % job.size];
  uint64_t word;
  const struct iovec here = {&word, sizeof word},
                     there = {(void *)(uintptr_t)next->address, sizeof word};
  return process_vm_readv((pid_t)next->pid, &here, 1, &there, 1, 0) == (ssize_t)sizeof word;
}

static uint64_t word(gex_Rank_t rank, int round, size_t i) {
  return mix64(rank * 1000003 + (uint64_t)round * 77 + i);
}

static void reduce(int round, gex_OP_t op) {
  for (size_t i = 0; i < WORDS; i++) in[i] = word(job.rank, round, i);
  sum_check(out, in, WORDS, op, round, word);
}

static void broadcast(int round) {
  const gex_Rank_t root = (gex_Rank_t)round % job.size;
  size_t bad = 0;
  for (size_t i = 0; i < WORDS; i++) in[i] = word(job.rank, round, i);
  gex_Event_Wait(gex_Coll_BroadcastNB(job.tm, root, out, in, 8 * WORDS, 0));
  for (size_t i = 0; i < WORDS; i++) bad += out[i] != word(root, round, i);
  CHECK_EQ(bad, 0);
}

static void exchange(int round) {
  const size_t n = WORDS / job.size;
  size_t bad = 0;
  for (size_t i = 0; i < n * job.size; i++) in[i] = word(job.rank, round, i);
  gex_Event_Wait(gexx_Coll_ExchangeNB(job.tm, out, in, 8 * n, 0));
  for (size_t r = 0; r < job.size; r++)
    for (size_t i = 0; i < n; i++)
      bad += out[r * n + i] != word((gex_Rank_t)r, round, job.rank * n + i);
  CHECK_EQ(bad, 0);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, GASNET_PAGESIZE, NULL, 0);
  const int odd = argc > 1 && !strcmp(argv[1], "odd");
  in = words(WORDS);
  out = words(WORDS);
  struct place mine = {(uint64_t)getpid(), (uint64_t)(uintptr_t)in};
  struct place *all = malloc(job.size * sizeof *all);
  REQUIRE(all != NULL);
  gex_Event_Wait(gexx_Coll_AllGatherNB(job.tm, all, &mine, sizeof mine, 0));
  reduce(0, GEX_OP_ADD); /* and all have been read once */
  if (!odd || job.rank % 2) {
    /* A user namespace, as of a container or of scripts/emulate.sh, may have root alone. */
    if (geteuid() == 0 && setuid(NOBODY) != 0) REQUIRE(errno == EINVAL);
    REQUIRE(prctl(PR_SET_DUMPABLE, 0) == 0);
  }
  job_barrier();
  int64_t reads = may_read(all), readers = 0;
  gex_Event_Wait(gex_Coll_ReduceToAllNB(job.tm, &readers, &reads, GEX_DT_I64, 8, 1, GEX_OP_ADD,
                                        NULL, NULL, 0));
  if (readers == (int64_t)job.size && job.rank == 0)
    printf("every rank may still read every other one: nothing is refused here\n");
  if (readers == (int64_t)job.size) gasnet_exit(77);
  for (int round = 1; round <= ROUNDS; round++) {
    reduce(round, GEX_OP_ADD);
    broadcast(round);
    exchange(round);
    reduce(round, GEX_OP_USER);
  }
  free(all);
  return job_finish();
}
