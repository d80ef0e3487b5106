/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tools_job.c: GASNet-Tools in a job: versions, lists as texts, pages of memory, the self-test.
 *
 * Compile: tombolo cc tools_job.c -o tools_job
 * Run:     tombolo run -n 4 ./tools_job
 */
/* mode: PAR */
/* ranks: 1 4 */
#include <gasnetex.h>

#include <gasnet_tools.h>

#include <stdio.h>

static gex_TM_t team;

/* Which GASNet release the names of this library are those of. */
static void release(void) {
  printf("GASNet %d.%d.%d\n", GASNET_RELEASE_VERSION_MAJOR, GASNET_RELEASE_VERSION_MINOR,
         GASNET_RELEASE_VERSION_PATCH);
}

/* Types that a header of the program may have from <gasnet_fwd.h>, before it chooses a mode. */
struct request {
  gex_Rank_t to;
  gex_DT_t type;
  gex_OP_t operation;
};

static void show(const struct request *r) {
  char type[64], operation[64];
  gasnett_format_dt(type, r->type);
  gasnett_format_op(operation, r->operation);
  printf("to rank %u: %s of %s\n", (unsigned)r->to, operation, type);
}

/* The arguments of an indexed put, as a text. */
static void show_a_put(void *addresses[], size_t count) {
  char *text = malloc(gasnett_format_putigeti_bufsz(count, count));
  if (!text) return;
  gasnett_format_putigeti(text, team, 0, count, addresses, 8, count, addresses, 8);
  puts(text);
  free(text);
}

/* Hooks of tracing builds; there is none, so they compile to nothing. */
static void trace(gex_Rank_t rank) {
  GASNETT_TRACE_PRINTF("rank %u begins", (unsigned)rank);
  if (GASNETT_TRACE_ENABLED) GASNETT_TRACE_SETMASK("PG");
}

/* The least number of pages for so many bytes, within a limit. */
static size_t pages_for(size_t bytes, size_t most) {
  return MIN((bytes + GASNETT_PAGESIZE - 1) / GASNETT_PAGESIZE, MAX(most, 1));
}

/* Atomics, locks, time and numbers of this process, in two threads; then memory of whole pages. */
static int self_test(unsigned seed) {
  char *pages = gasnett_mmap(pages_for(5000, 16) * GASNETT_PAGESIZE);
  pages[4999] = 1;
  return gasnett_run_diagnostics(100, 2, NULL, GEX_TM_INVALID, NULL, 0, NULL, (int)seed);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_Client_Init(&client, &endpoint, &team, "TOOLS", &argc, &argv, 0);
  const gex_Rank_t rank = gex_TM_QueryRank(team);
  trace(rank);
  if (rank == 0) {
    const struct request add = {gex_TM_QuerySize(team) - 1, GEX_DT_I64, GEX_OP_ADD};
    void *addresses[] = {&client, &endpoint};
    release();
    show(&add);
    show_a_put(addresses, 2);
  }
  gasnet_exit(self_test(rank) != 0);
}
