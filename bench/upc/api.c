/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comparisons for tombolo-bench-upc: its operations through the C interface, by a part of the
 * program in C, and hand-offs of a cache line.
 *
 * Owns: a piece of each thread's shared memory. Called by: tombolo-bench-upc.upc. Calls: the public
 * interface. Invariants: two ranks; both ranks call the api_ functions with `first`, one of them
 * with first.
 */
#include "api.h"

#include <bupc_extern.h>
#include <gasnetex.h>
#include <gasnetex_ext.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <tombolo_upc.h>

enum { PING = 0, PONG = 64, SIGNAL = 128, DATA = 4096, BYTES = 65536 };

static gex_TM_t tm;
static gex_Rank_t peer;
static char *mine, *theirs, *theirs_here; /* the peer's segment: its address, the mapping here */
static uint64_t turn, signals;
static volatile uint64_t sink;
static volatile size_t word_bytes = sizeof(long); /* a size that the compiler does not know */

double api_now_ns(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return 1e9 * (double)ts.tv_sec + (double)ts.tv_nsec;
}

void api_start(void) {
  void *owner = NULL;
  tombolo_upc_query(NULL, NULL, &tm);
  peer = 1 - gex_TM_QueryRank(tm);
  mine = bupc_extern_all_alloc(2, BYTES);
  theirs_here = tombolo_upc_peer_address(mine, (int)peer, &owner);
  theirs = owner;
  memset(mine, 0, BYTES);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

double api_put_ns(int count) {
  long *to = (long *)(void *)(theirs + DATA);
  const double start = api_now_ns();
  for (long i = 0; i < count; i++) gex_RMA_PutBlocking(tm, peer, to + i % 64, &i, sizeof i, 0);
  return (api_now_ns() - start) / count;
}

double api_get_ns(int count) {
  long *from = (long *)(void *)(theirs + DATA), value, sum = 0;
  const double start = api_now_ns();
  for (long i = 0; i < count; i++) {
    gex_RMA_GetBlocking(tm, &value, peer, from + i % 64, sizeof value, 0);
    sum += value;
  }
  sink = (uint64_t)sum;
  return (api_now_ns() - start) / count;
}

double api_put_n_ns(int count) {
  long *to = (long *)(void *)(theirs + DATA), value = 3;
  const size_t bytes = word_bytes;
  const double start = api_now_ns();
  for (long i = 0; i < count; i++) gex_RMA_PutBlocking(tm, peer, to + i % 64, &value, bytes, 0);
  return (api_now_ns() - start) / count;
}

double api_get_n_ns(int count) {
  long *from = (long *)(void *)(theirs + DATA), value = 0;
  const size_t bytes = word_bytes;
  const double start = api_now_ns();
  for (long i = 0; i < count; i++) gex_RMA_GetBlocking(tm, &value, peer, from + i % 64, bytes, 0);
  sink = (uint64_t)value;
  return (api_now_ns() - start) / count;
}

static void await(const char *word) {
  while (__atomic_load_n((const uint64_t *)(const void *)word, __ATOMIC_ACQUIRE) != turn) {}
}

double api_handoff_ns(int first, int count) {
  const double start = api_now_ns();
  for (int i = 0; i < count; i++) {
    turn++;
    if (!first) await(mine + PING);
    __atomic_store_n((uint64_t *)(void *)(theirs_here + (first ? PING : PONG)), turn,
                     __ATOMIC_RELEASE);
    if (first) await(mine + PONG);
  }
  return (api_now_ns() - start) / count;
}

double api_put_signal_ns(int first, int count) {
  const double start = api_now_ns();
  for (int i = 0; i < count; i++) {
    const uint64_t value = ++signals;
    if (!first) (void)gexx_Signal_Wait((uint64_t *)(void *)(mine + SIGNAL), GEXX_SIG_GE, value);
    gexx_RMA_PutSignalBlocking(tm, peer, theirs + DATA, &value, sizeof value, GEX_EVENT_NOW,
                               (uint64_t *)(void *)(theirs + SIGNAL), GEXX_SIG_ADD, 1, 0);
    if (first) (void)gexx_Signal_Wait((uint64_t *)(void *)(mine + SIGNAL), GEXX_SIG_GE, value);
  }
  return (api_now_ns() - start) / count / 2;
}
