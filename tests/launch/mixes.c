/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that use MPI and this library side by side: `mixes ORDER WHAT`. ORDER: mpi or gex, which
 * is begun first. WHAT:
 *   threads   one thread passes numbers round by MPI, the other by puts and messages, all the time
 *   coll      collectives of both, in turn and with one of each in flight, waited for in any order
 *   sleep     one thread passes numbers round by MPI while the other sleeps in the library
 *   split     teams and communicators of the same colours and keys have the same members
 *   exit      MPI_Finalize, then gasnet_exit(0)
 *   quit      gasnet_exit(0) without MPI_Finalize
 *   leave     gasnet_exit(3) without it
 * Compiled with each MPI's headers by cmake/TmbLaunchTests.cmake. Where the library talks over MPI
 * itself (the conduit mpi) it may have begun MPI, and then ends it.
 */
#include <gasnetex.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gasnet_coll.h>

enum { ROUNDS = 300, WORDS = 500 };

static gex_Client_t client;
static gex_EP_t ep;
static gex_TM_t tm;
static gex_Segment_t segment;
static int me, size;
static int ours; /* MPI was begun here */
static int came; /* value of the last message */

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "FAIL: rank %d: %s\n", me, what);
  exit(1);
}

static void on_message(gex_Token_t token, gex_AM_Arg_t value) {
  (void)token;
  __atomic_store_n(&came, (int)value, __ATOMIC_RELEASE);
}

static void begin_gex(int *argc, char ***argv) {
  static gex_AM_Entry_t handler[] = {
      {200, (gex_AM_Fn_t)on_message, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL, "message"}};
  check(!gex_Client_Init(&client, &ep, &tm, "MIXES", argc, argv, 0), "gex_Client_Init");
  check(!gex_EP_RegisterHandlers(ep, handler, 1), "gex_EP_RegisterHandlers");
  check(!gex_Segment_Attach(&segment, tm, 1 << 16), "gex_Segment_Attach");
}

static void begin_mpi(int *argc, char ***argv) {
  int begun = 0, level = 0;
  MPI_Initialized(&begun);
  if (!begun) MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
  ours = !begun;
}

static void barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

/* ---- threads */

static void *pass_by_mpi(void *unused) {
  const int right = (me + 1) % size, left = (me + size - 1) % size;
  for (int i = 0; i < ROUNDS; i++) {
    int mine[64], got[64];
    for (int k = 0; k < 64; k++) mine[k] = me * 100000 + i * 64 + k;
    MPI_Sendrecv(mine, 64, MPI_INT, right, 7, got, 64, MPI_INT, left, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int k = 0; k < 64; k++) check(got[k] == left * 100000 + i * 64 + k, "what MPI brought");
  }
  return unused;
}

static void pass_by_gex(void) {
  const gex_Rank_t right = (gex_Rank_t)((me + 1) % size);
  const int left = (me + size - 1) % size;
  void *owner, *local;
  uintptr_t bytes;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, right, &owner, &local, &bytes, 0));
  const volatile int *mine = gex_Segment_QueryAddr(segment);
  for (int i = 1; i <= ROUNDS; i++) {
    const int value = me * 100000 + i;
    gex_RMA_PutBlocking(tm, right, owner, (void *)(uintptr_t)&value, sizeof value, 0);
    gex_AM_RequestShort1(tm, right, 200, 0, (gex_AM_Arg_t)i);
    GASNET_BLOCKUNTIL(__atomic_load_n(&came, __ATOMIC_ACQUIRE) >= i);
    check(*mine == left * 100000 + i, "what a put brought");
    barrier();
  }
}

static int threads(void) {
  int level = 0;
  pthread_t thread;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) {
    pass_by_mpi(NULL); /* one after the other is all that this MPI allows */
    pass_by_gex();
    return 0;
  }
  check(!pthread_create(&thread, NULL, pass_by_mpi, NULL), "pthread_create");
  pass_by_gex();
  pthread_join(thread, NULL);
  return 0;
}

/* The library's thread is woken by a message that is sent when MPI is through. */
static int sleeper(void) {
  int level = 0;
  pthread_t thread;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) return 0;
  check(!pthread_create(&thread, NULL, pass_by_mpi, NULL), "pthread_create");
  if (me == 0) {
    pthread_join(thread, NULL);
    for (int r = 0; r < size; r++) gex_AM_RequestShort1(tm, (gex_Rank_t)r, 200, 0, 1);
  }
  GASNET_BLOCKUNTIL(__atomic_load_n(&came, __ATOMIC_ACQUIRE) == 1);
  if (me != 0) pthread_join(thread, NULL);
  return 0;
}

/* ---- collectives */

static void add_up(int round, const int *mine, int *by_mpi, int *by_gex) {
  MPI_Request request;
  MPI_Iallreduce(mine, by_mpi, WORDS, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  gex_Event_t event = gex_Coll_ReduceToAllNB(tm, by_gex, mine, GEX_DT_I32, sizeof(int), WORDS,
                                             GEX_OP_ADD, NULL, NULL, 0);
  if (round % 2) MPI_Wait(&request, MPI_STATUS_IGNORE);
  gex_Event_Wait(event);
  if (!(round % 2)) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int coll(void) {
  static int mine[WORDS], by_mpi[WORDS], by_gex[WORDS];
  for (int i = 0; i < ROUNDS; i++) {
    for (int k = 0; k < WORDS; k++) mine[k] = me * 3 + i * k;
    add_up(i, mine, by_mpi, by_gex);
    check(!memcmp(by_mpi, by_gex, sizeof by_mpi), "both sums are the same");
    check(by_gex[1] == 3 * size * (size - 1) / 2 + size * i, "the sum");
    int root_mpi = me == i % size ? i : -1, root_gex = root_mpi;
    MPI_Bcast(&root_mpi, 1, MPI_INT, i % size, MPI_COMM_WORLD);
    gex_Event_Wait(
        gex_Coll_BroadcastNB(tm, (gex_Rank_t)(i % size), &root_gex, &root_gex, sizeof root_gex, 0));
    check(root_mpi == i && root_gex == i, "what the root has sent");
  }
  return 0;
}

/* ---- teams and communicators */

static int split(void) {
  for (int colours = 1; colours <= 3; colours++) {
    const int colour = me % colours, key = size - me;
    MPI_Comm comm;
    gex_TM_t team;
    int rank, members;
    MPI_Comm_split(MPI_COMM_WORLD, colour, key, &comm);
    gex_TM_Split(&team, tm, colour, key, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &members);
    check((gex_Rank_t)rank == gex_TM_QueryRank(team), "the rank in both");
    check((gex_Rank_t)members == gex_TM_QuerySize(team), "the members of both");
    int sum = 0, total = 0;
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team, &total, &me, GEX_DT_I32, sizeof(int), 1, GEX_OP_ADD,
                                          NULL, NULL, 0));
    check(sum == total, "the same members are in both");
    MPI_Comm_free(&comm);
    gex_TM_Destroy(team, NULL, 0);
  }
  return 0;
}

static int run(const char *what) {
  if (!strcmp(what, "threads")) return threads();
  if (!strcmp(what, "sleep")) return sleeper();
  if (!strcmp(what, "coll")) return coll();
  if (!strcmp(what, "split")) return split();
  return !strcmp(what, "leave") ? 3 : 0;
}

int main(int argc, char **argv) {
  check(argc == 3, "two arguments");
  const char *order = argv[1], *what = argv[2];
  if (!strcmp(order, "gex")) begin_gex(&argc, &argv);
  begin_mpi(&argc, &argv);
  if (strcmp(order, "gex") != 0) begin_gex(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check((gex_Rank_t)me == gex_TM_QueryRank(tm), "the two libraries number ranks alike");
  const int code = run(what);
  barrier();
  if (me == 0) printf("%d ranks mix\n", size);
  fflush(stdout);
  barrier();
  if (code == 0 && ours && strcmp(what, "quit") != 0) MPI_Finalize();
  gasnet_exit(code);
}
