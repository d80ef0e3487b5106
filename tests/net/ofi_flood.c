/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 sends messages to rank 1, which does not look for a second: `ofi_flood COUNT BYTES`. Both
 * say how much their memory has grown when all have come, at most: "rank R grew K KiB".
 */
#include <gasnetex.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  H_DATA = GEX_AM_INDEX_BASE,
  WARM = 2000,
  SLEEP_US = 1000000,
  LOOK_EACH = 256,
  BYTES_MAX = 65536
};

static volatile long arrived, wrong;
static gex_TM_t tm;
static long most_kib;

static void on_data(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t index) {
  const unsigned char *const data = buf;
  (void)token;
  if (index != (gex_AM_Arg_t)arrived || data[0] != (index & 0xff) ||
      data[nbytes - 1] != (index & 0xff))
    wrong++;
  arrived++;
}

/* Memory of this process that is its own, now. */
static long own_kib(void) {
  long pages = 0, resident = 0, shared = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (!f || fscanf(f, "%ld %ld %ld", &pages, &resident, &shared) != 3) gasnet_exit(1);
  fclose(f);
  return (resident - shared) * (sysconf(_SC_PAGESIZE) / 1024);
}

static void look(void) {
  const long now = own_kib();
  if (now > most_kib) most_kib = now;
}

static void barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

/* Messages first..last-1; the receiver may be asleep. */
static void play(long first, long last, size_t bytes) {
  static char src[BYTES_MAX];
  for (long i = first; gex_TM_QueryRank(tm) == 0 && i < last; i++) {
    memset(src, (int)(i & 0xff), bytes);
    gex_AM_RequestMedium1(tm, 1, H_DATA, src, bytes, GEX_EVENT_NOW, 0, (gex_AM_Arg_t)i);
    if (i % LOOK_EACH == 0) look();
  }
  while (gex_TM_QueryRank(tm) == 1 && arrived < last) {
    gasnet_AMPoll();
    if (arrived % LOOK_EACH == 0) look();
  }
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_AM_Entry_t table[] = {
      {H_DATA, (gex_AM_Fn_t)on_data, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, NULL, "data"}};
  gex_Client_Init(&client, &ep, &tm, "FLOOD", &argc, &argv, 0);
  gex_EP_RegisterHandlers(ep, table, 1);
  const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 10000;
  const size_t bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 1024;
  if (bytes < 1 || bytes > BYTES_MAX) gasnet_exit(2);
  barrier();
  play(0, WARM, bytes);
  barrier();
  const long before = own_kib();
  most_kib = before;
  if (gex_TM_QueryRank(tm) == 1) usleep(SLEEP_US);
  look(); /* what came meanwhile is kept now */
  play(WARM, WARM + count, bytes);
  look();
  if (gex_TM_QueryRank(tm) == 1) printf("%ld arrived, %ld wrong\n", (long)arrived, (long)wrong);
  printf("rank %u grew %ld KiB\n", (unsigned)gex_TM_QueryRank(tm), most_kib - before);
  fflush(stdout);
  barrier();
  gasnet_exit(wrong != 0);
  return 0;
}
