/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Local completion of messages in tests: the three ways to ask for it.
 *
 * Owns nothing. Included by tests of messages with payload. Calls: the public API, check.h.
 */
#ifndef TMB_TEST_AM_LC_H
#define TMB_TEST_AM_LC_H

#include "job.h"

#include <string.h>

/* Wait until the source of a message may be changed, and change it. in lc: 0: at once; 1: by event
 * ev; 2: by the thread's NBI operations. */
static inline void reuse(void *src, size_t nbytes, int lc, gex_Event_t ev) {
  if (lc == 1) {
    CHECK(ev != GEX_EVENT_NO_OP);
    gex_Event_Wait(ev);
  }
  if (lc == 2) gex_NBI_Wait(GEX_EC_AM, 0);
  memset(src, 0xee, nbytes);
}

#endif
