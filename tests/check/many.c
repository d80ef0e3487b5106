/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As many racing pairs of calls as the argument says, up to 2,000: two ranks put to the same words,
 * each word at a call of its own. Run with 2 ranks under `--check races`, which keeps 1,024.
 */
#include <gasnet.h>
#include <stdlib.h>

static gex_TM_t tm;
static long *base, pairs;

#define ONE(i) \
 if ((i) < pairs) gex_RMA_PutBlocking(tm, 0, base + (i), &pairs, sizeof pairs, 0)
#define FIVE(i) \
 ONE(i);        \
 ONE(i + 1);    \
 ONE(i + 2);    \
 ONE(i + 3);    \
 ONE(i + 4)
#define TWENTY_FIVE(i) \
 FIVE(i);              \
 FIVE(i + 5);          \
 FIVE(i + 10);         \
 FIVE(i + 15);         \
 FIVE(i + 20)
#define OF_125(i)     \
 TWENTY_FIVE(i);      \
 TWENTY_FIVE(i + 25); \
 TWENTY_FIVE(i + 50); \
 TWENTY_FIVE(i + 75); \
 TWENTY_FIVE(i + 100)
#define OF_500(i) \
 OF_125(i);       \
 OF_125(i + 125); \
 OF_125(i + 250); \
 OF_125(i + 375)

static void first(void) {
  OF_500(0);
  OF_500(500);
}
static void second(void) {
  OF_500(1000);
  OF_500(1500);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  gex_Client_Init(&client, &ep, &tm, "MANY", &argc, &argv, 0);
  pairs = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
  gex_Segment_Attach(&segment, tm, 1 << 20);
  void *at;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, 0, &at, NULL, NULL, 0));
  base = at;
  first();
  second();
  gasnet_exit(0);
}
