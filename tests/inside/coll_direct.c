/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 5 */
/* env: TOMBOLO_CONDUIT=udp TOMBOLO_PLACES=2 TOMBOLO_TEST_COLL_BOARD_MAX=0 */
/* again: TOMBOLO_PLACES=cyclic:5 TOMBOLO_UDP_AUTH=encrypt TOMBOLO_UDP_MTU=1472 */
/* again: TOMBOLO_TEST_UDP_FAULT=loss=2 TOMBOLO_TEST_UDP_FAULT=reorder=5 TOMBOLO_CONDUIT=loop */
/* again: TOMBOLO_TEST_NET_HOOK=fault:again=20 */
/* timeout: 120 */
/*
 * Long data of collectives go to ranks of other hosts from memory to memory: the sender copies
 * nothing, and the receiver each byte once, out of the packet, in private memory, too; over ofi
 * nobody copies. A source may change as soon as the collective is complete. This program has a
 * memcpy of its own, which counts bytes: the library linked into it calls that, and so does the
 * conduit.
 */
#include "core/job.h"
#include "job.h"
#include "net/net.h"

#include <gasnet_coll.h>
#include <gasnetex_ext.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_MAX = 600 << 10, LEAST = 4096, RANKS = 5, FLIGHT = 3, TRIES = 5 };
/* Shorter data may leave before their receiver asks for them; ofi puts longer ones only. */
enum { EAGER_MAX = 64 << 10, OFI_PUT_MIN = 128 << 10 };

static size_t copied;

/* By words: not made a call of memcpy by the compiler. */
void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  volatile char *d = to;
  const volatile char *s = from;
  if (bytes >= LEAST) tmb_fetch_add_rlx(&copied, bytes);
  for (size_t i = 0; i < bytes; i++) d[i] = s[i];
  return to;
}

static char value(gex_Rank_t from, gex_Rank_t to, size_t i) {
  return (char)(i % 127 + 3 * from + to + i / 5003);
}

static void fill(char *src, size_t block) {
  for (gex_Rank_t r = 0; r < job.size; r++)
    for (size_t i = 0; i < block; i++) src[r * block + i] = value(job.rank, r, i);
}

static void check(const char *dst, size_t block, gex_Rank_t from, gex_Rank_t to) {
  size_t wrong = 0;
  for (size_t i = 0; i < block; i++) wrong += dst[i] != value(from, to, i);
  CHECK_EQ(wrong, 0);
}

/* Whether the conduit sends Longs itself, and counting the copies makes sense: nothing is sent
 * twice, nor sealed. */
static int counts_copies(size_t block) {
  if (!strcmp(tmb_job.net->name, "ofi"))
    return block >= OFI_PUT_MIN && !getenv("TOMBOLO_TEST_OFI_FAULT");
  return !strcmp(tmb_job.net->name, "udp") && block > EAGER_MAX &&
         !getenv("TOMBOLO_TEST_UDP_FAULT") && !getenv("TOMBOLO_UDP_AUTH") &&
         !getenv("TOMBOLO_UDP_MTU") && !getenv("TOMBOLO_TEST_NET_HOOK");
}

/* Several exchanges in flight, the sources of which change when they are complete. Returns the
 * bytes that this rank has copied. */
static size_t exchange(char *dst[FLIGHT], char *src[FLIGHT], size_t block) {
  gex_Event_t event[FLIGHT];
  for (int k = 0; k < FLIGHT; k++) {
    fill(src[k], block);
    memset(dst[k], 0, job.size * block);
  }
  job_barrier();
  const size_t before = tmb_load_rlx(&copied);
  for (int k = 0; k < FLIGHT; k++)
    event[k] = gexx_Coll_ExchangeNB(job.tm, dst[k], src[k], block, 0);
  for (int k = 0; k < FLIGHT; k++) {
    gex_Event_Wait(event[k]);
    memset(src[k], -1, job.size * block);
  }
  for (int k = 0; k < FLIGHT; k++)
    for (gex_Rank_t r = 0; r < job.size; r++) check(dst[k] + r * block, block, r, job.rank);
  const size_t all = tmb_load_rlx(&copied) - before;
  job_barrier();
  return all;
}

/* A packet that comes late is sent again, from a copy: in one of several tries none does. */
static void copies_once(char *dst[FLIGHT], char *src[FLIGHT], size_t block) {
  const bool once = !strcmp(tmb_job.net->name, "udp"); /* else far blocks are not copied at all */
  const size_t most = FLIGHT * block * (job.size + (size_t)once);
  uint32_t mine, more = 1; /* whether a rank has copied more */
  for (int k = 0; k < (counts_copies(block) ? TRIES : 1) && more; k++) {
    mine = exchange(dst, src, block) > most;
    gex_Event_Wait(gex_Coll_ReduceToAllNB(job.tm, &more, &mine, GEX_DT_U32, sizeof more, 1,
                                          GEX_OP_MAX, NULL, NULL, 0));
  }
  if (counts_copies(block)) CHECK_EQ(more, 0);
}

/* The data of a root, in place. */
static void broadcast(char *data, size_t block, gex_Rank_t root) {
  if (job.rank == root)
    fill(data, block);
  else
    memset(data, 0, block);
  job_barrier();
  const size_t before = tmb_load_rlx(&copied);
  gex_Event_Wait(gex_Coll_BroadcastNB(job.tm, root, data, data, block, 0));
  /* of a pipeline only the last, short segment is copied */
  if (getenv("TOMBOLO_COLL_ALG") && counts_copies(block))
    CHECK_EQ(tmb_load_rlx(&copied) - before < (size_t)2 * OFI_PUT_MIN, 1);
  check(data, block, root, 0);
  memset(data, 1, block);
}

static void gather(char *dst, char *src, size_t block, gex_Rank_t root) {
  fill(src, block);
  gex_Event_Wait(gexx_Coll_GatherNB(job.tm, root, dst, src, block, 0));
  memset(src, -1, block);
  for (gex_Rank_t r = 0; job.rank == root && r < job.size; r++) check(dst + r * block, block, r, 0);
  fill(src, block);
  gex_Event_Wait(gexx_Coll_AllGatherNB(job.tm, dst, src, block, 0));
  memset(src, -1, block);
  for (gex_Rank_t r = 0; r < job.size; r++) check(dst + r * block, block, r, 0);
}

static void all_kinds(char *dst[FLIGHT], char *src[FLIGHT], size_t block) {
  copies_once(dst, src, block);
  for (gex_Rank_t root = 0; root < job.size; root += 2) {
    broadcast(src[0], block, root);
    gather(dst[0], src[0], block, root);
  }
}

int main(int argc, char **argv) {
  static const size_t sizes[] = {40000, 70001, 300000, BLOCK_MAX};
  char *dst[FLIGHT], *src[FLIGHT], *mine[FLIGHT];
  job_start(&argc, &argv, (size_t)RANKS * FLIGHT * BLOCK_MAX, NULL, 0);
  const size_t all = job.size * (size_t)BLOCK_MAX;
  for (int k = 0; k < FLIGHT; k++) {
    src[k] = malloc(all);
    dst[k] = malloc(all);
    mine[k] = job.base + (size_t)k * all;
    REQUIRE(src[k] && dst[k]);
  }
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    all_kinds(dst, src, sizes[i]);
    all_kinds(mine, src, sizes[i]);
  }
  for (int k = 0; k < FLIGHT; k++) {
    free(src[k]);
    free(dst[k]);
  }
  return job_finish();
}
