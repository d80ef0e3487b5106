/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tombolo's collectives over hosts, the library's or with two levels by hand, for cells.py.
 *
 * Owns: the hosts. Compiled by cells.py; not part of the build. Calls:
 * the public API, levels_loop.h, hand_gex.h. By hand a program puts with signal: inside each host
 * to its first rank, among these ranks, and back. Arguments: "library" or "hand". Invariants: each
 * collective is followed by a barrier of the same form, so that the next one may overwrite the
 * data; hosts are ranges of ranks.
 */
#define GASNET_SEQ 1
#include "levels_loop.h"

#define HAND_RANKS_MAX 64
#define HAND_SLOT      ((size_t)2 << 16)
#include "hand_gex.h"

static int first, members, leader[HAND_RANKS_MAX], leaders, leads_at;

static void add(double *sum, const char *part, size_t bytes) {
  const double *const x = (const double *)(const void *)part;
  for (size_t i = 0; i < bytes / sizeof *x; i++) sum[i] += x[i];
}

static bool leads(void) {
  return rank == first;
}

/* Dissemination among leaders. */
static void hand_barrier(void) {
  if (!leads()) {
    tell(first, 0, NULL, 0);
    (void)hear(first);
    return;
  }
  for (int r = first + 1; r < first + members; r++) (void)hear(r);
  for (int k = 1; k < leaders; k *= 2) {
    tell(leader[(leads_at + k) % leaders], 0, NULL, 0);
    (void)hear(leader[(leads_at + leaders - k) % leaders]);
  }
  for (int r = first + 1; r < first + members; r++) tell(r, 0, NULL, 0);
}

/* From the first rank of each host to the others there. */
static void spread(char *data, size_t bytes) {
  if (!leads()) memcpy(data, hear(first), bytes);
  for (int r = first + 1; leads() && r < first + members; r++) tell(r, 0, data, bytes);
}

static void hand_broadcast(char *data, size_t bytes) {
  for (int i = 1; rank == 0 && i < leaders; i++) tell(leader[i], 0, data, bytes);
  if (rank && leads()) memcpy(data, hear(0), bytes);
  spread(data, bytes);
}

static void hand_reduce(char *out, const char *in, size_t bytes) {
  if (!leads()) {
    tell(first, 0, in, bytes);
    return;
  }
  memcpy(out, in, bytes);
  for (int r = first + 1; r < first + members; r++) add((double *)(void *)out, hear(r), bytes);
  if (rank) tell(0, 0, out, bytes);
  for (int i = 1; rank == 0 && i < leaders; i++) add((double *)(void *)out, hear(leader[i]), bytes);
}

static void hand_allreduce(char *out, const char *in, size_t bytes) {
  hand_reduce(out, in, bytes);
  hand_broadcast(out, bytes);
}

/* The blocks of this host, at its first rank in their place. */
static void gather_host(char *out, const char *in, size_t bytes) {
  if (!leads()) tell(first, 0, in, bytes);
  if (!leads()) return;
  memcpy(out + (size_t)rank * bytes, in, bytes);
  for (int r = first + 1; r < first + members; r++) memcpy(out + (size_t)r * bytes, hear(r), bytes);
}

static int members_of(int host) {
  return (host + 1 < leaders ? leader[host + 1] : size) - leader[host];
}

static void take_host(char *out, int host, size_t bytes) {
  memcpy(out + (size_t)leader[host] * bytes, hear(leader[host]), (size_t)members_of(host) * bytes);
}

static void hand_gather(char *out, const char *in, size_t bytes) {
  gather_host(out, in, bytes);
  if (rank && leads()) tell(0, 0, out + (size_t)first * bytes, (size_t)members * bytes);
  for (int i = 1; rank == 0 && i < leaders; i++) take_host(out, i, bytes);
}

static void hand_allgather(char *out, const char *in, size_t bytes) {
  gather_host(out, in, bytes);
  for (int i = 0; leads() && i < leaders; i++)
    if (i != leads_at) tell(leader[i], 0, out + (size_t)first * bytes, (size_t)members * bytes);
  for (int i = 0; leads() && i < leaders; i++)
    if (i != leads_at) take_host(out, i, bytes);
  spread(out, (size_t)size * bytes);
}

/* Blocks within this host: each member to each. */
static void exchange_near(char *out, const char *in, size_t bytes) {
  for (int r = first; r < first + members; r++)
    if (r != rank) tell(r, 0, in + (size_t)r * bytes, bytes);
  memcpy(out + (size_t)rank * bytes, in + (size_t)rank * bytes, bytes);
  for (int r = first; r < first + members; r++)
    if (r != rank) memcpy(out + (size_t)r * bytes, hear(r), bytes);
}

/* The blocks from this host to another one, by receiver, then by sender. in all: of each member of
 * this host, its blocks for all. */
static void send_host(int host, const char *const *all, size_t bytes) {
  static char pack[HAND_SLOT];
  const int count = members_of(host);
  for (int r = first; r < first + members; r++)
    for (int t = 0; t < count; t++)
      memcpy(pack + (size_t)(t * members + r - first) * bytes,
             all[r] + (size_t)(leader[host] + t) * bytes, bytes);
  tell(leader[host], 0, pack, (size_t)(count * members) * bytes);
}

/* Writes the blocks for a member of this host that came from others into its row. */
static void fill_row(char *row, int member, const char *const *got, size_t bytes) {
  for (int i = 0; i < leaders; i++) {
    const size_t part = (size_t)members_of(i) * bytes;
    if (got[i])
      memcpy(row + (size_t)leader[i] * bytes, got[i] + (size_t)(member - first) * part, part);
  }
}

/* Blocks of other hosts go through the first ranks of both hosts, from `far` on in the slots. */
static void hand_exchange(char *out, const char *in, size_t bytes) {
  static char row[HAND_SLOT];
  const char *all[HAND_RANKS_MAX], *got[HAND_RANKS_MAX];
  const size_t far = HAND_SLOT / 2, whole = (size_t)size * bytes,
               behind = (size_t)(first + members);
  exchange_near(out, in, bytes);
  if (!leads()) {
    tell(first, far, in, whole);
    const char *mine = hear(first) + far;
    memcpy(out, mine, (size_t)first * bytes);
    memcpy(out + behind * bytes, mine + behind * bytes, whole - behind * bytes);
    return;
  }
  for (int r = first + 1; r < first + members; r++) all[r] = hear(r) + far;
  all[first] = in;
  for (int i = 0; i < leaders; i++)
    if (i != leads_at) send_host(i, all, bytes);
  for (int i = 0; i < leaders; i++) got[i] = i == leads_at ? NULL : hear(leader[i]);
  fill_row(out, rank, got, bytes);
  for (int r = first + 1; r < first + members; r++) {
    fill_row(row, r, got, bytes);
    tell(r, far, row, whole);
  }
}

static void hand_scan(char *out, const char *in, size_t bytes) {
  static char sum[HAND_SLOT];
  if (!leads()) {
    tell(first, 0, in, bytes);
    memcpy(out, hear(first), bytes);
    return;
  }
  memset(sum, 0, bytes);
  const char *all[HAND_RANKS_MAX];
  for (int r = first + 1; r < first + members; r++) all[r] = hear(r);
  if (leads_at) add((double *)(void *)sum, hear(leader[leads_at - 1]), bytes);
  add((double *)(void *)sum, in, bytes);
  memcpy(out, sum, bytes);
  for (int r = first + 1; r < first + members; r++) {
    add((double *)(void *)sum, all[r], bytes);
    tell(r, 0, sum, bytes);
  }
  if (leads_at + 1 < leaders) tell(leader[leads_at + 1], 0, sum, bytes);
}

/* Data exchange of a split: something of every member at every member. */
static void hand_split(char *out, const char *in, size_t bytes) {
  (void)bytes;
  hand_allgather(out, in, SPLIT_BYTES);
}

static void by_hand(int kind, char *out, char *in, size_t bytes) {
  switch (kind) {
  case BARRIER: return;
  case BROADCAST: hand_broadcast(out, bytes); return;
  case REDUCE: hand_reduce(out, in, bytes); return;
  case ALLREDUCE: hand_allreduce(out, in, bytes); return;
  case GATHER: hand_gather(out, in, bytes); return;
  case ALLGATHER: hand_allgather(out, in, bytes); return;
  case EXCHANGE: hand_exchange(out, in, bytes); return;
  case SCAN: hand_scan(out, in, bytes); return;
  default: hand_split(out, in, bytes);
  }
}

/* ---- by the library */

static void barrier(void) {
  gex_Coll_BarrierBlocking(tm, 0);
}

static gex_Event_t start(int kind, char *out, char *in, size_t bytes) {
  const size_t n = bytes / 8;
  switch (kind) {
  case BROADCAST: return gex_Coll_BroadcastNB(tm, 0, out, out, bytes, 0);
  case REDUCE:
    return gex_Coll_ReduceToOneNB(tm, 0, out, in, GEX_DT_DBL, 8, n, GEX_OP_ADD, NULL, NULL, 0);
  case ALLREDUCE:
    return gex_Coll_ReduceToAllNB(tm, out, in, GEX_DT_DBL, 8, n, GEX_OP_ADD, NULL, NULL, 0);
  case GATHER: return gexx_Coll_GatherNB(tm, 0, out, in, bytes, 0);
  case ALLGATHER: return gexx_Coll_AllGatherNB(tm, out, in, bytes, 0);
  case EXCHANGE: return gexx_Coll_ExchangeNB(tm, out, in, bytes, 0);
  default: return gexx_Coll_ScanNB(tm, out, in, GEX_DT_DBL, 8, n, GEX_OP_ADD, NULL, NULL, 0);
  }
}

static void by_library(int kind, char *out, char *in, size_t bytes) {
  if (kind == SPLIT) {
    gex_TM_t half = GEX_TM_INVALID;
    (void)gex_TM_Split(&half, tm, rank % 2, rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    gex_TM_Destroy(half, NULL, 0);
  } else if (kind != BARRIER) {
    gex_Event_Wait(start(kind, out, in, bytes));
  }
}

static void find_hosts(void) {
  gex_RankInfo_t *info;
  gex_Rank_t count, me;
  int of[HAND_RANKS_MAX], mine[HAND_RANKS_MAX];
  gex_System_QueryNbrhdInfo(&info, &count, &me);
  first = (int)info[0].gex_jobrank;
  members = (int)count;
  for (int r = 0; r < size; r++) mine[r] = first;
  gex_Event_Wait(gexx_Coll_ExchangeNB(tm, of, mine, sizeof *of, 0));
  for (int r = 0; r < size; r++) {
    if (of[r] == r && r == first) leads_at = leaders;
    if (of[r] == r) leader[leaders++] = r;
  }
}

int main(int argc, char **argv) {
  hand_start("LEVELS", &argc, &argv);
  const bool hand = argc > 1 && strcmp(argv[1], "hand") == 0;
  find_hosts();
  barrier();
  const struct levels l = {hand ? by_hand : by_library, hand ? hand_barrier : barrier, rank, size};
  const int rc = levels_main(&l);
  barrier();
  gasnet_exit(rc);
}
