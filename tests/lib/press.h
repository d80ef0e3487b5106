/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations with GEX_FLAG_IMMEDIATE towards a rank that does not poll, until they are refused.
 *
 * Owns nothing. Included by tests that define how an operation starts. Calls: the public API,
 * check.h, oob.c.
 */
#ifndef TMB_TEST_PRESS_H
#define TMB_TEST_PRESS_H

#include "job.h"

/* Start operations until `more` have been refused, check that none completes by itself, let rank 0
 * go on, and wait for all. in start: starts number i; out events: [tries]. Returns how many were
 * accepted. */
static inline uint32_t press_all(gex_Event_t (*start)(int what, uint32_t i), int what,
                                 gex_Event_t *events, uint32_t tries, uint32_t more) {
  uint32_t accepted = 0, refused = 0, ready = 0;
  while (accepted < tries && refused < more) {
    const gex_Event_t ev = start(what, accepted);
    if (ev == GEX_EVENT_NO_OP)
      refused++;
    else
      events[accepted++] = ev;
  }
  CHECK_EQ(refused, more);
  if (job.size == 2) CHECK(accepted > 0);
  for (uint32_t i = 0; i < accepted; i++) ready += gex_Event_Test(events[i]) == GASNET_OK;
  CHECK_EQ(ready, 0); /* the target has not run */
  oob_send(0, what & 1);
  gex_Event_WaitAll(events, accepted, 0);
  return accepted;
}

#endif
