/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that send each other words which a listener on the wire would recognise, for
 * tests/net/secret_test.py. `words hold` says so and waits instead of ending.
 */
/* mode: SEQ */
/* ranks: 2 */
#include <gasnet.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORD       "payload that nobody else may read; "
#define WORD_BYTES (sizeof WORD - 1)
#define MESSAGE    200

static int taken, wrong;

static void look_at(const char *words, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) wrong += words[i] != WORD[i % WORD_BYTES];
}

static void on_message(gasnet_token_t token, void *data, size_t bytes) {
  (void)token;
  look_at(data, bytes);
  taken++;
}

static void barrier(void) {
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  if (gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS) != GASNET_OK) gasnet_exit(99);
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{MESSAGE, (void (*)())on_message}};
  const size_t bytes = 40 * GASNET_PAGESIZE / WORD_BYTES * WORD_BYTES;
  if (gasnet_init(&argc, &argv) || gasnet_attach(table, 1, 64 * GASNET_PAGESIZE, 0)) return 98;
  const gasnet_node_t me = gasnet_mynode(), count = gasnet_nodes(), next = (me + 1) % count;
  gasnet_seginfo_t *segments = calloc(count, sizeof *segments);
  char *text = malloc(bytes);
  if (!segments || !text || gasnet_getSegmentInfo(segments, (int)count)) gasnet_exit(97);
  for (size_t i = 0; i < bytes; i++) text[i] = WORD[i % WORD_BYTES];
  barrier();
  for (size_t n = 1; n <= 20; n++) {
    const size_t part = n * WORD_BYTES;
    if (gasnet_AMRequestMedium0(next, MESSAGE, text, part) != GASNET_OK) gasnet_exit(96);
  }
  gasnet_put(next, segments[next].addr, text, bytes);
  GASNET_BLOCKUNTIL(taken == 20);
  barrier();
  look_at(segments[me].addr, bytes);
  if (argc > 1 && strcmp(argv[1], "hold") == 0) {
    printf("ready %d %d\n", (int)me, (int)getpid());
    fflush(stdout);
    for (;;) gasnet_AMPoll();
  }
  printf("rank %d: %d words wrong\n", (int)me, wrong);
  barrier();
  gasnet_exit(wrong ? 1 : 0);
}
