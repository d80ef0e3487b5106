/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job of an application on the public API, see links.h.
 *
 * Owns: what struct job does not show, one per process. Called by study/apps. Calls: gasnetex.h.
 * Head of a segment: words that the ways `flag` and `signal` write, one cache line each, then the
 * handles of the rank's semaphores.
 */
#include "lib/links.h"

#include "lib/links_gex.h"

#include <gasnetex.h>
#include <gasnetex_ext.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { AM_TELL = GEX_AM_INDEX_BASE, LINE = 64 };
enum { BARRIER, PAIRWISE, FLAG, SIGNAL, SEMAPHORE, TAGGED, WAYS };

const int job_way_count = WAYS;
const struct job_way job_way_table[] = {
    [BARRIER] = {"barrier", "blocking put, then a barrier of all ranks"},
    [PAIRWISE] = {"pairwise", "blocking put, then a short message"},
    [FLAG] = {"flag", "blocking put, then a put of a flag that the target polls"},
    [SIGNAL] = {"signal", "put with signal"},
    [SEMAPHORE] = {"semaphore", "put with a post of a semaphore"},
    [TAGGED] = {"tagged", "put with a tagged notification"},
};

struct head {
  struct {
    uint64_t value;
    char pad[LINE - sizeof(uint64_t)];
  } word[JOB_LINKS];
  gexx_Sem_Handle_t sem[JOB_LINKS];
};
_Static_assert(sizeof(struct head) <= JOB_HEAD_BYTES, "the head fits");

static struct {
  const char *program;
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  char *
      *base; /* [size] segment after its head of each rank, in its own addresses; NULL: not asked */
  struct head *head;
  uint64_t waited[JOB_LINKS];        /* notices taken from each incoming link */
  volatile uint64_t came[JOB_LINKS]; /* short messages that came; the handler */
  gexx_Sem_t sem[JOB_LINKS];
  gexx_Notify_t request[JOB_LINKS];
} self;

static void fail(const char *what, int code) {
  fprintf(stderr, "%s: %s: %s\n", self.program, what, gasnet_ErrorDesc(code));
  gasnet_exit(1);
}

static void on_tell(gex_Token_t token, gex_AM_Arg_t index) {
  (void)token;
  self.came[index]++;
}

void job_start(struct job *job, const char *program, int *argc, char ***argv) {
  self.program = program;
  int rc = gex_Client_Init(&self.client, &self.ep, &self.tm, program, argc, argv, 0);
  if (rc != GASNET_OK) {
    fprintf(stderr, "%s: cannot start: %s\n", program, gasnet_ErrorDesc(rc));
    exit(1);
  }
  *job = (struct job){.rank = (int)gex_TM_QueryRank(self.tm),
                      .size = (int)gex_TM_QuerySize(self.tm),
                      .program = program};
  gex_AM_Entry_t table[] = {
      {AM_TELL, (gex_AM_Fn_t)on_tell, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "tell"}};
  rc = gex_EP_RegisterHandlers(self.ep, table, 1);
  if (rc != GASNET_OK) fail("gex_EP_RegisterHandlers", rc);
}

static void make_notices(void) {
  for (int i = 0; i < JOB_LINKS; i++) {
    int rc =
        gexx_Sem_Alloc(&self.sem[i], GEXX_SEM_INTEGER | GEXX_SEM_SPRODUCER | GEXX_SEM_SCONSUMER);
    if (!rc)
      rc = gexx_Notify_Init(self.tm, GEXX_NOTIFY_ANY_SOURCE, (uint32_t)i, 1, &self.request[i]);
    if (rc) fail("semaphores and requests", rc);
    self.head->sem[i] = gexx_Sem_QueryHandle(self.sem[i]);
  }
}

void job_attach(struct job *job, size_t bytes) {
  const size_t page = GASNET_PAGESIZE;
  const size_t all = (bytes + JOB_HEAD_BYTES + page - 1) / page * page;
  if (all > gasnet_getMaxGlobalSegmentSize())
    job_refuse(job,
               "this problem needs %.1f MiB a rank, and a rank can have %.1f MiB; take a smaller "
               "problem or more ranks, or raise GASNET_MAX_SEGSIZE",
               (double)all / 0x1p20, (double)gasnet_getMaxGlobalSegmentSize() / 0x1p20);
  const int rc = gex_Segment_Attach(&self.segment, self.tm, all);
  if (rc != GASNET_OK) fail("gex_Segment_Attach", rc);
  self.head = gex_Segment_QueryAddr(self.segment);
  job->mine = (char *)self.head + JOB_HEAD_BYTES;
  self.base = calloc((size_t)job->size, sizeof *self.base);
  memset(self.head, 0, sizeof *self.head);
  if (!self.base) fail("table of segments", GASNET_ERR_RESOURCE);
  make_notices();
  job_barrier(job);
}

gex_TM_t job_team(void) {
  return self.tm;
}

gex_EP_t job_endpoint(void) {
  return self.ep;
}

char *job_base(int rank) {
  if (!self.base[rank]) {
    void *owner = NULL;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(self.tm, (gex_Rank_t)rank, &owner, NULL, NULL, 0));
    self.base[rank] = (char *)owner + JOB_HEAD_BYTES;
  }
  return self.base[rank];
}

char *job_base_mapped(int rank) {
  void *here = NULL;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(self.tm, (gex_Rank_t)rank, NULL, &here, NULL, 0));
  return here ? (char *)here + JOB_HEAD_BYTES : NULL;
}

void job_links(struct job *job, int way) {
  job_barrier(job); /* nothing is in flight */
  job->way = way;
  for (int i = 0; i < JOB_LINKS; i++) {
    self.waited[i] = self.came[i] = 0;
    self.head->word[i].value = 0;
  }
  job_barrier(job);
}

struct job_link job_link_open(struct job *job, int peer, int index) {
  struct job_link link = {.peer = peer, .index = index};
  (void)job;
  if (peer < 0) return link;
  gexx_Sem_Handle_t sem;
  char *const theirs = job_base(peer) - JOB_HEAD_BYTES + offsetof(struct head, sem);
  gex_RMA_GetBlocking(self.tm, &sem, (gex_Rank_t)peer, theirs + (size_t)index * sizeof sem,
                      sizeof sem, 0);
  _Static_assert(sizeof sem == sizeof link.handle, "a handle fits");
  memcpy(link.handle, &sem, sizeof sem);
  return link;
}

void job_expect(struct job *job, int peer, int index, size_t offset, size_t bytes) {
  (void)job, (void)peer, (void)index, (void)offset, (void)bytes; /* puts need no receive */
}

/* Data first, then what says so. */
static void put_then_tell(const struct job *job, const struct job_link *link, char *dest,
                          uint64_t *word, const void *src, size_t bytes) {
  const gex_Rank_t peer = (gex_Rank_t)link->peer;
  gex_RMA_PutBlocking(self.tm, peer, dest, src, bytes, 0);
  if (job->way == PAIRWISE)
    gex_AM_RequestShort1(self.tm, peer, AM_TELL, 0, link->index);
  else if (job->way == FLAG)
    gex_RMA_PutBlockingVal(self.tm, peer, word, link->sent, sizeof *word, 0);
}

void job_send(struct job *job, struct job_link *link, size_t offset, const void *src,
              size_t bytes) {
  if (link->peer < 0) return;
  const gex_Rank_t peer = (gex_Rank_t)link->peer;
  char *const base = job_base(link->peer), *const dest = base + offset;
  uint64_t *const word =
      (uint64_t *)(void *)(base - JOB_HEAD_BYTES) + (size_t)link->index * (LINE / sizeof(uint64_t));
  gexx_Sem_Handle_t sem;
  link->sent++;
  switch (job->way) {
  case SIGNAL:
    gexx_RMA_PutSignalBlocking(self.tm, peer, dest, src, bytes, GEX_EVENT_NOW, word, GEXX_SIG_SET,
                               link->sent, 0);
    return;
  case SEMAPHORE:
    memcpy(&sem, link->handle, sizeof sem);
    gexx_Sem_PutSignal(sem, dest, src, bytes, 1);
    return;
  case TAGGED:
    gexx_RMA_PutNotify(self.tm, peer, dest, src, bytes, (uint32_t)link->index, 0);
    return;
  default: put_then_tell(job, link, dest, word, src, bytes);
  }
}

void job_flush(struct job *job) {
  (void)job; /* every put has read its source on return */
}

void job_wait(struct job *job, int index) {
  const uint64_t want = ++self.waited[index];
  const uint64_t *const word = &self.head->word[index].value;
  switch (job->way) {
  case PAIRWISE: GASNET_BLOCKUNTIL(self.came[index] >= want); break;
  case FLAG: GASNET_BLOCKUNTIL(__atomic_load_n(word, __ATOMIC_ACQUIRE) >= want); break;
  case SIGNAL: (void)gexx_Signal_Wait(word, GEXX_SIG_GE, want); break;
  case SEMAPHORE: gexx_Sem_Wait(self.sem[index]); break;
  case TAGGED:
    gexx_Notify_Start(self.request[index]);
    gexx_Notify_Wait(self.request[index], NULL);
    break;
  default: break;
  }
}

bool job_has_steps(const struct job *job) {
  return job->way == BARRIER;
}

void job_step(struct job *job) {
  if (job_has_steps(job)) job_barrier(job);
}

void job_barrier(struct job *job) {
  (void)job;
  gex_Event_Wait(gex_Coll_BarrierNB(self.tm, 0));
}

int job_neighbours(void) {
  gex_Rank_t count = 1;
  gex_System_QueryHostInfo(NULL, &count, NULL);
  return (int)count;
}

double job_reduce(double value, enum job_operator op) {
  double all = 0;
  gex_Event_Wait(gex_Coll_ReduceToAllNB(self.tm, &all, &value, GEX_DT_DBL, sizeof value, 1,
                                        op == JOB_SUM ? GEX_OP_ADD : GEX_OP_MAX, NULL, NULL, 0));
  return all;
}

void job_region(const char *name) {
  gexx_Trace_Begin(name);
}

void job_region_end(void) {
  gexx_Trace_End();
}

double job_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

_Noreturn void job_exit(struct job *job, int code) {
  fflush(stdout);
  job_barrier(job);
  for (int i = 0; self.head && i < JOB_LINKS; i++) {
    gexx_Notify_Free(self.request[i]);
    gexx_Sem_Free(self.sem[i]);
  }
  gasnet_exit(code);
  abort();
}
