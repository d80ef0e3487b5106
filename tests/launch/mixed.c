/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI and this library in one process: `mixed ORDER [ROUNDS]`, ORDER being mpi (MPI_Init first),
 * gex, late (as mpi, but MPI_Finalize is called before the client ends), or attach (as mpi, and no
 * more than to attach segments).
 *
 * Compiled with each MPI's headers by cmake/TmbLaunchTests.cmake. Ranks of both are compared, data
 * go round by MPI, by puts and by messages in turn, and every rank looks at what came. With ROUNDS
 * it then prints the time of a ping-pong by MPI while the library has nothing to do.
 */
#include <gasnetex.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gex_Client_t client;
static gex_EP_t ep;
static gex_TM_t tm;
static gex_Segment_t segment;
static volatile uint32_t came;

static void fail(const char *what) {
  fprintf(stderr, "FAIL: %s\n", what);
  exit(1);
}

static void check(int ok, const char *what) {
  if (!ok) fail(what);
}

static void on_message(gex_Token_t token, gex_AM_Arg_t value) {
  (void)token;
  came += (uint32_t)value;
}

static void begin_gex(int *argc, char ***argv) {
  static gex_AM_Entry_t handler[] = {
      {200, (gex_AM_Fn_t)on_message, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL, "message"}};
  check(!gex_Client_Init(&client, &ep, &tm, "MIXED", argc, argv, 0), "gex_Client_Init");
  check(!gex_EP_RegisterHandlers(ep, handler, 1), "gex_EP_RegisterHandlers");
}

static void barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

static void round_by_mpi(int me, int size, int round) {
  const int right = (me + 1) % size, left = (me + size - 1) % size;
  int mine = me * 1000 + round, got = -1;
  check(!MPI_Sendrecv(&mine, 1, MPI_INT, right, 7, &got, 1, MPI_INT, left, 7, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
  check(got == left * 1000 + round, "what MPI brought");
}

static void round_by_put(gex_Rank_t me, gex_Rank_t size, uint64_t round) {
  void *owner, *local;
  uintptr_t bytes;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, (me + 1) % size, &owner, &local, &bytes, 0));
  const uint64_t mine = me * 1000u + round;
  gex_RMA_PutBlocking(tm, (me + 1) % size, owner, (void *)&mine, sizeof mine, 0);
  barrier();
  const uint64_t *got = gex_Segment_QueryAddr(segment);
  check(*got == (me + size - 1) % size * 1000u + round, "what a put brought");
  came = 0;
  barrier();
  gex_AM_RequestShort1(tm, (me + 1) % size, 200, 0, (gex_AM_Arg_t)(me + 1));
  GASNET_BLOCKUNTIL(came != 0);
  check(came == (me + size - 1) % size + 1, "what a message brought");
  barrier();
}

static void ping_pong(int me, int rounds) {
  char octet = 0;
  if (me > 1) return;
  for (int part = 0; part < 2; part++) { /* the first one warms up */
    const double from = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
      if (me == 0) MPI_Send(&octet, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
      MPI_Recv(&octet, 1, MPI_CHAR, !me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (me == 1) MPI_Send(&octet, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
    const double us = (MPI_Wtime() - from) * 1e6 / rounds;
    if (me == 0 && part == 1) printf("round trip %.3f us\n", us);
  }
}

int main(int argc, char **argv) {
  const char *order = argc > 1 ? argv[1] : "mpi";
  const int rounds = argc > 2 ? atoi(argv[2]) : 0;
  int me, size;
  if (strcmp(order, "none") == 0) { /* MPI alone, for comparison */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    ping_pong(me, rounds);
    return MPI_Finalize();
  }
  if (strcmp(order, "gex") == 0) begin_gex(&argc, &argv);
  MPI_Init(&argc, &argv);
  if (strcmp(order, "gex") != 0) begin_gex(&argc, &argv);
  check(!gex_Segment_Attach(&segment, tm, 1 << 16), "gex_Segment_Attach");
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check((gex_Rank_t)me == gex_TM_QueryRank(tm), "the two libraries number ranks alike");
  check((gex_Rank_t)size == gex_TM_QuerySize(tm), "the two libraries have as many ranks");
  const int turns = strcmp(order, "attach") != 0 ? 5 : 0;
  for (int round = 0; round < turns; round++) {
    round_by_mpi(me, size, round);
    round_by_put((gex_Rank_t)me, (gex_Rank_t)size, (uint64_t)round);
  }
  if (rounds) ping_pong(me, rounds);
  if (strcmp(order, "late") == 0) {
    MPI_Finalize();
    round_by_put((gex_Rank_t)me, (gex_Rank_t)size, 77);
  }
  if (turns) barrier();
  if (me == 0) printf("%d ranks agree\n", size);
  fflush(stdout);
  if (strcmp(order, "late") != 0) MPI_Finalize();
  return 0;
}
