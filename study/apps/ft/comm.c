/* SPDX-License-Identifier: BSD-3-Clause */
/* FT's communication on the public API of the library: puts, active messages, the primordial team's
 * barrier. Called by exchange.c, run.c and main.c; calls gasnetex.h. Team synchronisation: a member
 * that has completed its puts sends one short active message to each other member, and waits until
 * every other member's count has reached its own. Against a barrier of the whole job this costs T -
 * 1 messages of about half a round trip each in place of log2(P) rounds, and it waits for T ranks,
 * not for P; on grids of about sqrt(P) x sqrt(P) that is the cheaper one, and in one dimension they
 * are equal to within a message. Counts are kept by source, so a fast member that is already a
 * round ahead is not mistaken for a slow one. Messages of one source may overtake each other: a
 * count of k says that k rounds of puts were complete when the k-th message left. Invariants:
 * job.arrived[t][m] is written by the handler only; the slots of job.part belong to the handler
 * until part_count reaches size - 1, then to rank 0's comm_sum, which resets it before any rank can
 * contribute again.
 */
#include "comm.h"

#include <gasnetex.h>
#include <gasnetex_ext.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AM_ARRIVE = GEX_AM_INDEX_BASE, AM_PART, AM_SUM };
enum { LINE = 64 };         /* bytes: each word has a cache line */
enum { FLIGHT_MAX = 1024 }; /* puts with signal in flight */
enum { EXCHANGES_MAX = 64 };
enum { REST_US = 1000 };

static struct {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  int rank, size;
  size_t words;                         /* offset of the words of puts with signal,
                                           [FT_TEAMS][FT_PARTS] lines */
  char **base;                          /* [size] segment of each rank, in its own addresses */
  volatile uint32_t *arrived[FT_TEAMS]; /* [team size] messages from each member */
  struct cplx *part;                    /* [size] contributions to a sum (rank 0) */
  volatile int part_count;
  struct cplx sum;
  volatile int sum_count; /* results received (other ranks) */
  gex_TM_t teams[FT_TEAMS];
} job;

/* Puts with signal in flight, oldest first: a ring. */
static struct {
  struct {
    gex_Event_t event;
    size_t bytes;
  } at[FLIGHT_MAX];
  unsigned first, count;
  size_t bytes;
} flight;

/* Exchanges in flight. */
static struct {
  gex_Event_t event[EXCHANGES_MAX];
  size_t count;
} exchanges;

_Noreturn void comm_fail(const char *problem, const char *remedy) {
  fprintf(stderr, "ft: rank %d: %s: %s\n", job.rank, problem, remedy);
  gasnet_exit(1);
  abort();
}

/* A double travels as two 32-bit arguments. */
static double from_args(gex_AM_Arg_t low, gex_AM_Arg_t high) {
  uint64_t bits = (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void to_args(double value, gex_AM_Arg_t *low, gex_AM_Arg_t *high) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  *low = (gex_AM_Arg_t)(uint32_t)bits;
  *high = (gex_AM_Arg_t)(uint32_t)(bits >> 32);
}

static void on_arrive(gex_Token_t token, gex_AM_Arg_t team, gex_AM_Arg_t member) {
  (void)token;
  job.arrived[team][member]++;
}

static void on_part(gex_Token_t token, gex_AM_Arg_t rank, gex_AM_Arg_t re0, gex_AM_Arg_t re1,
                    gex_AM_Arg_t im0, gex_AM_Arg_t im1) {
  (void)token;
  job.part[rank] = (struct cplx){from_args(re0, re1), from_args(im0, im1)};
  job.part_count++;
}

static void on_sum(gex_Token_t token, gex_AM_Arg_t re0, gex_AM_Arg_t re1, gex_AM_Arg_t im0,
                   gex_AM_Arg_t im1) {
  (void)token;
  job.sum = (struct cplx){from_args(re0, re1), from_args(im0, im1)};
  job.sum_count++;
}

void comm_init(int *argc, char ***argv) {
  int rc = gex_Client_Init(&job.client, &job.ep, &job.tm, "FT", argc, argv, 0);
  if (rc != GASNET_OK) {
    fprintf(stderr, "ft: gex_Client_Init failed: %s\n", gasnet_ErrorName(rc));
    exit(1);
  }
  job.rank = (int)gex_TM_QueryRank(job.tm);
  job.size = (int)gex_TM_QuerySize(job.tm);
  const gex_Flags_t request = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST;
  gex_AM_Entry_t table[] = {
      {AM_ARRIVE, (gex_AM_Fn_t)on_arrive, request, 2, NULL, "arrive"},
      {AM_PART, (gex_AM_Fn_t)on_part, request, 5, NULL, "part"},
      {AM_SUM, (gex_AM_Fn_t)on_sum, request, 4, NULL, "sum"},
  };
  rc = gex_EP_RegisterHandlers(job.ep, table, sizeof table / sizeof table[0]);
  if (rc != GASNET_OK) comm_fail("gex_EP_RegisterHandlers", gasnet_ErrorDesc(rc));
  job.part = calloc((size_t)job.size, sizeof *job.part);
  job.base = calloc((size_t)job.size, sizeof *job.base);
  if (!job.part || !job.base) comm_fail("out of memory for per-rank tables", "use fewer ranks");
}

int comm_rank(void) {
  return job.rank;
}

int comm_size(void) {
  return job.size;
}

uint64_t comm_segment_limit(void) {
  return gasnet_getMaxGlobalSegmentSize();
}

void *comm_attach(size_t bytes) {
  size_t page = GASNET_PAGESIZE;
  job.words = (bytes + LINE - 1) / LINE * LINE;
  size_t size = (job.words + FT_TEAMS * FT_PARTS * LINE + page - 1) / page * page;
  int rc = gex_Segment_Attach(&job.segment, job.tm, size);
  if (rc != GASNET_OK) comm_fail("gex_Segment_Attach", gasnet_ErrorDesc(rc));
  for (int rank = 0; rank < job.size; rank++) {
    void *owner = NULL;
    uintptr_t length = 0;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(job.tm, (gex_Rank_t)rank, &owner, NULL, &length, 0));
    if (length < bytes) comm_fail("a segment is smaller than asked for", "report this as a bug");
    job.base[rank] = owner;
  }
  memset(job.base[job.rank] + job.words, 0, FT_TEAMS * FT_PARTS * LINE);
  comm_barrier(); /* nobody signals before the words are clear */
  return job.base[job.rank];
}

/* The team for collectives; scratch memory is not lent to it. */
static void split(const struct ft_team *team) {
  (void)gex_TM_Split(&job.teams[team->id], job.tm, team->first, team->me, NULL, 0,
                     GEX_FLAG_TM_NO_SCRATCH);
}

void comm_team_init(struct ft_team *team, enum ft_team_id id) {
  team->id = id;
  team->rounds = 0;
  memset(team->signals, 0, sizeof team->signals);
  job.arrived[id] = calloc((size_t)team->size, sizeof *job.arrived[id]);
  if (!job.arrived[id]) comm_fail("out of memory for a team's counters", "use fewer ranks");
  split(team);
}

void comm_put_start(int rank, size_t offset, const void *src, size_t bytes) {
  gex_RMA_PutNBI(job.tm, (gex_Rank_t)rank, job.base[rank] + offset, src, bytes, GEX_EVENT_DEFER, 0);
}

bool comm_puts_done(void) {
  return gex_NBI_Test(GEX_EC_PUT, 0) == GASNET_OK;
}

void comm_put_wait(void) {
  gex_NBI_Wait(GEX_EC_PUT, 0);
}

void comm_put(int rank, size_t offset, const void *src, size_t bytes) {
  gex_RMA_PutBlocking(job.tm, (gex_Rank_t)rank, job.base[rank] + offset, src, bytes, 0);
}

void comm_exchange_start(const struct ft_team *team, void *dst, const void *src, size_t bytes) {
  const gex_Event_t event = gexx_Coll_ExchangeNB(job.teams[team->id], dst, src, bytes, 0);
  if (event == GEX_EVENT_INVALID) return; /* complete */
  if (exchanges.count == EXCHANGES_MAX) comm_exchange_wait();
  exchanges.event[exchanges.count++] = event;
}

void comm_exchange_wait(void) {
  gex_Event_WaitAll(exchanges.event, exchanges.count, 0);
  exchanges.count = 0;
}

static uint64_t *signal_word(const struct ft_team *team, int rank, int part) {
  const size_t line = (size_t)team->id * FT_PARTS + (size_t)part;
  return (uint64_t *)(void *)(job.base[rank] + job.words + line * LINE);
}

size_t comm_flight(bool poll) {
  if (flight.count == 0 || !poll) return flight.bytes;
  gasnet_AMPoll();
  while (flight.count && gex_Event_Test(flight.at[flight.first].event) == GASNET_OK) {
    flight.bytes -= flight.at[flight.first].bytes;
    flight.first = (flight.first + 1) % FLIGHT_MAX;
    flight.count--;
  }
  return flight.bytes;
}

void comm_put_signal(const struct ft_team *team, int rank, size_t offset, const void *src,
                     size_t bytes, int part) {
  const gex_Event_t event =
      gexx_RMA_PutSignalNB(job.tm, (gex_Rank_t)rank, job.base[rank] + offset, src, bytes,
                           GEX_EVENT_DEFER, signal_word(team, rank, part), GEXX_SIG_ADD, 1, 0);
  if (event == GEX_EVENT_INVALID) return; /* complete */
  while (flight.count == FLIGHT_MAX && comm_flight(true))
    if (flight.count == FLIGHT_MAX) comm_rest();
  const unsigned last = (flight.first + flight.count++) % FLIGHT_MAX;
  flight.at[last].event = event;
  flight.at[last].bytes = bytes;
  flight.bytes += bytes;
}

bool comm_signals_come(struct ft_team *team, int part, uint64_t puts, bool wait) {
  const uint64_t want = team->signals[part] + puts, *word = signal_word(team, job.rank, part);
  if (wait)
    (void)gexx_Signal_Wait(word, GEXX_SIG_GE, want);
  else if (gexx_Signal_Test(word, GEXX_SIG_GE, want) != GASNET_OK)
    return false;
  team->signals[part] = want;
  return true;
}

void comm_rest(void) {
  (void)gexx_Poll(REST_US);
}

void comm_region(const char *name) {
  gexx_Trace_Begin(name);
}

void comm_region_end(void) {
  gexx_Trace_End();
}

bool comm_all_near(void) {
  gex_Rank_t near = 0;
  gex_System_QueryNbrhdInfo(NULL, &near, NULL);
  return (int)near == job.size;
}

/* True once `member` has announced at least `rounds` rounds; counts wrap, so compare by difference.
 */
static int has_arrived(const struct ft_team *team, int member, uint32_t rounds) {
  return (int32_t)(job.arrived[team->id][member] - rounds) >= 0;
}

void comm_team_sync(struct ft_team *team) {
  uint32_t rounds = ++team->rounds;
  for (int i = 1; i < team->size; i++) {
    int other = team->first + (team->me + i) % team->size * team->stride;
    gex_AM_RequestShort(job.tm, (gex_Rank_t)other, AM_ARRIVE, 0, (gex_AM_Arg_t)team->id,
                        (gex_AM_Arg_t)team->me);
  }
  for (int i = 1; i < team->size; i++) {
    int member = (team->me + i) % team->size;
    GASNET_BLOCKUNTIL(has_arrived(team, member, rounds));
  }
}

void comm_barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(job.tm, 0));
}

static struct cplx sum_on_root(struct cplx mine) {
  GASNET_BLOCKUNTIL(job.part_count == job.size - 1);
  job.part[0] = mine;
  struct cplx sum = {0, 0};
  for (int rank = 0; rank < job.size; rank++) {
    sum.re += job.part[rank].re;
    sum.im += job.part[rank].im;
  }
  job.part_count = 0;
  gex_AM_Arg_t re0, re1, im0, im1;
  to_args(sum.re, &re0, &re1);
  to_args(sum.im, &im0, &im1);
  for (int rank = 1; rank < job.size; rank++)
    gex_AM_RequestShort(job.tm, (gex_Rank_t)rank, AM_SUM, 0, re0, re1, im0, im1);
  return sum;
}

struct cplx comm_sum(struct cplx mine) {
  if (job.rank == 0) return sum_on_root(mine);
  int received = job.sum_count;
  gex_AM_Arg_t re0, re1, im0, im1;
  to_args(mine.re, &re0, &re1);
  to_args(mine.im, &im0, &im1);
  gex_AM_RequestShort(job.tm, 0, AM_PART, 0, (gex_AM_Arg_t)job.rank, re0, re1, im0, im1);
  GASNET_BLOCKUNTIL(job.sum_count != received);
  return job.sum;
}

size_t comm_gather_bytes(int count) {
  return (size_t)job.size * (size_t)count * sizeof(double);
}

void comm_gather(const double *mine, int count, double *all) {
  size_t bytes = (size_t)count * sizeof(double);
  comm_barrier(); /* rank 0 has read what was gathered before */
  comm_put(0, (size_t)job.rank * bytes, mine, bytes);
  comm_barrier();
  if (job.rank == 0) memcpy(all, job.base[0], comm_gather_bytes(count));
}

_Noreturn void comm_exit(int code) {
  fflush(NULL);
  comm_barrier();
  gasnet_exit(code);
  abort();
}
