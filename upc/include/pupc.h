/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <pupc.h>: instrumentation by the program itself (GASP 1.5, section 6): accepted, nothing is
 * recorded, and __UPC_PUPC__ is not defined.
 *
 * Included by UPC programs. Invariants: events get numbers of their own, control tells the state
 * that the last call set, as with a tool that records.
 */
#ifndef PUPC_H
#define PUPC_H

static inline int pupc_control(int on) {
  static int state = 1;
  const int before = state;
  state = on != 0;
  return before;
}

static inline unsigned int pupc_create_event(const char *name, const char *desc) {
  static unsigned int next = 1;
  (void)name;
  (void)desc;
  return next++;
}

static inline void pupc_event_start(unsigned int evttag, ...) {
  (void)evttag;
}

static inline void pupc_event_end(unsigned int evttag, ...) {
  (void)evttag;
}

static inline void pupc_event_atomic(unsigned int evttag, ...) {
  (void)evttag;
}

#endif
