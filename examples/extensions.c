/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * extensions.c: messages composed in place, a second client, a wait with a limit, statistics.
 *
 * Compile: tombolo cc extensions.c -o extensions
 * Run:     tombolo run -n 4 ./extensions
 */
/* mode: PAR */
/* ranks: 1 4 */
#include <gasnet_coll.h>
#include <gasnetex_ext.h>

#include <stdio.h>
#include <string.h>

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t team;
static _Atomic int received;

/* Data of the program that the library keeps with an object. */
struct module {
  const char *name;
  int messages;
};

static void take(gex_Token_t token, void *data, size_t bytes) {
  (void)token;
  (void)data;
  (void)bytes;
  struct module *mine = gex_EP_QueryCData(endpoint);
  mine->messages++;
  received = 1;
}

/* The text is written where it is sent from: no copy. */
static void compose(gex_Rank_t right, gex_AM_Index_t handler) {
  gex_AM_SrcDesc_t message = gex_AM_PrepareRequestMedium(team, right, NULL, 16, 64, NULL, 0, 0);
  const int bytes = snprintf(gex_AM_SrcDescAddr(message), 16, "composed");
  gex_AM_CommitRequestMedium0(message, handler, (size_t)bytes);
}

static int has_received(void *arg) {
  (void)arg;
  return received;
}

/* Waits for the barrier; comes back sooner when a message arrives, or after a second. */
static void wait_for_one_of_them(void) {
  gex_Event_t barrier = gex_Coll_BarrierNB(team, 0);
  if (gexx_Event_WaitUntil(barrier, has_received, NULL, 1000000) == GASNET_OK) return;
  printf("a message, or a second has passed\n");
  gex_Event_Wait(barrier);
}

/* A library of its own, beside the program in one process: handlers and teams never meet. */
static void join_as_library(int *argc, char ***argv) {
  gex_Client_t library;
  gex_EP_t library_endpoint;
  gex_TM_t library_team;
  gexx_Client_Join(&library, &library_endpoint, &library_team, "LIBRARY", argc, argv, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(library_team, 0));
}

/* Messages to a rank, counted where the setting TOMBOLO_STATS is 1. */
static void count_messages(gex_Rank_t right) {
  uint64_t count, bytes;
  if (gexx_Stats_Query(GEXX_STATS_AM_MEDIUM, right, &count, &bytes) == GASNET_OK)
    printf("%s to rank %u: %llu\n", gexx_Stats_Name(GEXX_STATS_AM_MEDIUM), (unsigned)right,
           (unsigned long long)count);
}

/* After a loss the others go on in a team without the lost ranks (docs/FAILURE.md). */
static void go_on_without_lost(void) {
  gex_Rank_t lost;
  if (gexx_Lost_Take(&lost) != GEXX_ERR_LOST) return;
  printf("rank %u is lost\n", (unsigned)lost);
  if (gexx_TM_Shrink(team, &team) != GASNET_OK) gasnet_exit(1);
}

int main(int argc, char **argv) {
  struct module mine = {"program", 0};
  gex_AM_Entry_t handler = {.gex_fnptr = (gex_AM_Fn_t)(void (*)(void))take,
                            .gex_flags = GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM,
                            .gex_name = "take"};
  gex_Client_Init(&client, &endpoint, &team, "PROGRAM", &argc, &argv, 0);
  gex_EP_SetCData(endpoint, &mine);
  gex_EP_RegisterHandlers(endpoint, &handler, 1);
  join_as_library(&argc, &argv);
  const gex_Rank_t right = (gex_TM_QueryRank(team) + 1) % gex_TM_QuerySize(team);
  compose(right, handler.gex_index);
  wait_for_one_of_them();
  GASNET_BLOCKUNTIL(received);
  count_messages(right);
  go_on_without_lost();
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(mine.messages == 1 ? 0 : 1);
}
