/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways in which a thread gives to another rank, for the cases of heard.c and gives.c.
 *
 * Owns: the domain of atomic operations. Calls: two_threads.h.
 */
#ifndef TMBTEST_TELLS_H
#define TMBTEST_TELLS_H

#define BEFORE_ATTACH make_domain
static void make_domain(void);
#include "two_threads.h"

#include <gasnet_ratomic.h>

static gex_AD_t domain;
static void make_domain(void) {
  gex_AD_Create(&domain, tm, GEX_DT_U64, GEX_OP_INC | GEX_OP_GET, 0);
}

#define AWAIT(n) (void)gexx_Signal_Wait(sig((int)me), GEXX_SIG_GE, (n))
/* A put to a rank's word 2 that adds 1 to its signal. */
#define SIGNAL(to)                                                                           \
 (void)gexx_RMA_PutSignalBlocking(tm, to, base[to] + 2, v, 8, GEX_EVENT_NOW, sig((int)(to)), \
                                  GEXX_SIG_ADD, 1, 0)
#define MESSAGE(to) (void)gex_AM_RequestShort0(tm, to, H_SHORT, 0)

static inline void add(gex_Rank_t to, int word) {
  gex_Event_Wait(gex_AD_OpNB_U64(domain, NULL, to, base[to] + word, GEX_OP_INC, 0, 0, 0));
}
static inline void await_word(int word, uint64_t least) {
  uint64_t now = 0;
  while (now < least)
    gex_Event_Wait(gex_AD_OpNB_U64(domain, &now, me, base[me] + word, GEX_OP_GET, 0, 0, 0));
}

#endif
