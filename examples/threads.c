/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads.c: several threads of every rank add up numbers of all ranks at the same time.
 *
 * In PAR mode any thread may call the library at any time. Each thread has its own set of implicit
 * (NBI) operations: here it starts one get per rank, without waiting, and then waits for all of
 * them. A handler-safe lock protects the total, to which a message handler adds as well.
 * Compile: tombolo cc threads.c -o threads
 * Run:     tombolo run -n 2 ./threads 8        (threads of each rank; default 4)
 */
/* mode: PAR */
/* ranks: 1 2 4 */
#include <gasnetex.h>

enum { MAX_THREADS = 64, H_ADD = GEX_AM_INDEX_BASE };

static gex_TM_t team;
static gex_Rank_t size;
static uint64_t **columns; /* [size] segment of each rank, in the address space of that rank */
static gex_HSL_t lock = GEX_HSL_INITIALIZER;
static uint64_t total;    /* protected by lock */
static unsigned messages; /* protected by lock */

/* book: lock */
static void add_handler(gex_Token_t token, gex_AM_Arg_t amount) {
  (void)token;
  gex_HSL_Lock(&lock);
  total += (uint64_t)amount;
  messages++;
  gex_HSL_Unlock(&lock);
}
/* book end */

static unsigned messages_so_far(void) {
  gex_HSL_Lock(&lock);
  const unsigned seen = messages;
  gex_HSL_Unlock(&lock);
  return seen;
}

/* Thread t sums element t of every rank into its own rank's total, and adds 1 to all others'. */
static void *work(void *arg) {
  const size_t t = (size_t)(uintptr_t)arg;
  uint64_t *const part = malloc(size * sizeof *part);
  if (!part) gasnet_exit(1);
  /* book: work */
  for (gex_Rank_t r = 0; r < size; r++)
    gex_RMA_GetNBI(team, &part[r], r, &columns[r][t], sizeof part[r], 0);
  gex_NBI_Wait(GEX_EC_GET, 0);
  /* book end */
  uint64_t sum = 0;
  for (gex_Rank_t r = 0; r < size; r++) sum += part[r];
  free(part);
  gex_HSL_Lock(&lock);
  total += sum;
  gex_HSL_Unlock(&lock);
  for (gex_Rank_t r = 0; r < size; r++) gex_AM_RequestShort1(team, r, H_ADD, 0, 1);
  return NULL;
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  gex_AM_Entry_t table[] = {{H_ADD, (gex_AM_Fn_t)add_handler,
                             GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "add_handler"}};
  if (gex_Client_Init(&client, &ep, &team, "THREADS", &argc, &argv, 0) != GASNET_OK) return 1;
  if (gex_EP_RegisterHandlers(ep, table, 1) != GASNET_OK ||
      gex_Segment_Attach(&segment, team, GASNET_PAGESIZE) != GASNET_OK)
    gasnet_exit(1);

  size = gex_TM_QuerySize(team);
  int n = argc > 1 ? atoi(argv[1]) : 4;
  if (n < 1 || n > MAX_THREADS) n = MAX_THREADS;
  uint64_t *const mine = gex_Segment_QueryAddr(segment);
  for (int t = 0; t < n; t++) mine[t] = 100 * gex_TM_QueryRank(team) + (uint64_t)t;
  if (!(columns = malloc(size * sizeof *columns))) gasnet_exit(1);
  for (gex_Rank_t r = 0; r < size; r++) {
    void *base;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, r, &base, NULL, NULL, 0));
    columns[r] = base;
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0)); /* all segments are filled */

  pthread_t thread[MAX_THREADS];
  for (int t = 0; t < n; t++)
    if (pthread_create(&thread[t], NULL, work, (void *)(uintptr_t)t)) gasnet_exit(1);
  for (int t = 0; t < n; t++) pthread_join(thread[t], NULL);
  GASNET_BLOCKUNTIL(messages_so_far() == size * (unsigned)n);

  const uint64_t ranks = size, threads = (uint64_t)n;
  const uint64_t expected = threads * 100 * (ranks * (ranks - 1) / 2) +
                            ranks * (threads * (threads - 1) / 2) + ranks * threads;
  printf("%s: rank %u: total %llu, expected %llu\n", total == expected ? "ok" : "FAILED",
         (unsigned)gex_TM_QueryRank(team), (unsigned long long)total, (unsigned long long)expected);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(total != expected);
}
