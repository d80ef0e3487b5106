/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <pupc.h>: instrumentation by the program itself (GASP 1.5, section 6): accepted, nothing is
 * recorded, and __UPC_PUPC__ is not defined.
 *
 * Included by UPC programs. Invariants: events get numbers of their own, control returns the state
 * that the last call set, as with a tool that records.
 */
#ifndef PUPC_H
#define PUPC_H

/* Page pupc_control: instrumentation of a UPC program by itself.
 * The calls are accepted; nothing is recorded. `tombolo run --trace` records without them.
 * [in] on: 0 or 1. [in] name: of the event. [in] desc: a form of printf for its values.
 * [in] evttag: a number that pupc_create_event gave.
 * Completion: at once.
 * Threads: any; not collective.
 * Errors: none.
 * Cost: none.
 * Example: examples/upc/library.upc pupc_create_event
 * See: tombolo-view(1) */
/* Switches recording on or off. Returns the state before. */
static inline int pupc_control(int on) {
  static int state = 1;
  const int before = state;
  state = on != 0;
  return before;
}

/* Returns the number of a new event. */
static inline unsigned int pupc_create_event(const char *name, const char *desc) {
  static unsigned int next = 1;
  (void)name;
  (void)desc;
  return next++;
}

/* Marks the beginning of an event. */
static inline void pupc_event_start(unsigned int evttag, ...) {
  (void)evttag;
}

/* Marks the end of an event. */
static inline void pupc_event_end(unsigned int evttag, ...) {
  (void)evttag;
}

/* Marks an event without duration. */
static inline void pupc_event_atomic(unsigned int evttag, ...) {
  (void)evttag;
}

#endif
