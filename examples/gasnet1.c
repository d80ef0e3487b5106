/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gasnet1.c: a program of GASNet-1: start, segment, put and get, messages, locks, collectives.
 *
 * New programs use GASNet-EX (put_get.c). Compile: tombolo cc gasnet1.c -o gasnet1
 * Run:     tombolo run -n 4 ./gasnet1
 */
/* mode: PAR */
/* ranks: 1 4 */
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_vis.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HANDLER = 200, ROWS = 4, COLUMNS = 8, BYTES = 65536 };

static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
static char greeting[64];
static int greeted;

/* A handler copies what it needs: its buffer is only valid until it returns. */
static void greet(gasnet_token_t token, void *text, size_t bytes, gasnet_handlerarg_t number) {
  gasnet_node_t sender;
  gasnet_AMGetMsgSource(token, &sender);
  gasnet_hsl_lock(&lock);
  snprintf(greeting, sizeof greeting, "%.*s %d from %u", (int)bytes, (const char *)text,
           (int)number, (unsigned)sender);
  greeted = 1;
  gasnet_hsl_unlock(&lock);
}

/* Ends the job with the name of the error. */
static void must(int code) {
  if (code == GASNET_OK) return;
  fprintf(stderr, "%s: %s\n", gasnet_ErrorName(code), gasnet_ErrorDesc(code));
  gasnet_exit(1);
}

static void start(int *argc, char ***argv) {
  static gasnet_handlerentry_t table[] = {{HANDLER, (void (*)())greet}};
  must(gasnet_init(argc, argv));
  if (gasnet_getMaxLocalSegmentSize() < BYTES) gasnet_exit(2);
  must(gasnet_attach(table, 1, BYTES, 0));
}

static void meet(void) {
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  must(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS));
}

/* Base of each rank's segment. */
static char *base_of(gasnet_node_t rank) {
  gasnet_seginfo_t *all = malloc(gasnet_nodes() * sizeof *all);
  if (!all) gasnet_exit(3);
  must(gasnet_getSegmentInfo(all, (int)gasnet_nodes()));
  char *base = all[rank].addr;
  free(all);
  return base;
}

static int put_and_get(gasnet_node_t right) {
  const uint64_t sent = 7;
  uint64_t back = 0;
  gasnet_put(right, base_of(right), (void *)&sent, sizeof sent);
  gasnet_get(&back, right, base_of(right), sizeof back);
  return back == sent;
}

/* Two puts in flight, then one wait for both. */
static void put_without_waiting(gasnet_node_t right) {
  static char row[2][64];
  gasnet_handle_t handle[2];
  for (int i = 0; i < 2; i++)
    handle[i] = gasnet_put_nb_bulk(right, base_of(right) + 1024 + 64 * i, row[i], sizeof row[i]);
  gasnet_wait_syncnb_all(handle, 2);
}

/* A column of a matrix: ROWS pieces of one double each. */
static void put_column(gasnet_node_t right) {
  static double matrix[ROWS][COLUMNS];
  const size_t strides[] = {COLUMNS * sizeof(double)}, count[] = {sizeof(double), ROWS};
  gasnet_puts_bulk(right, base_of(right) + 4096, strides, matrix, strides, count, 1);
}

static void send(gasnet_node_t right) {
  must(gasnet_AMRequestMedium1(right, HANDLER, (void *)"hello", 5, 1));
  GASNET_BLOCKUNTIL(greeted);
}

/* The root's words arrive in `here` of all ranks. */
static int broadcast(void) {
  static int root_has = 5, here;
  root_has = gasnet_mynode() == 0 ? 5 : 0;
  gasnet_coll_broadcast(GASNET_TEAM_ALL, &here, 0, &root_has, sizeof here,
                        GASNET_COLL_LOCAL | GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC);
  return here == 5;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const gasnet_node_t right = (gasnet_mynode() + 1) % gasnet_nodes();
  meet();
  int good = put_and_get(right);
  put_without_waiting(right);
  put_column(right);
  send(right);
  good = broadcast() && good;
  meet();
  printf("rank %u: %s\n", (unsigned)gasnet_mynode(), greeting);
  gasnet_exit(good ? 0 : 1);
}
