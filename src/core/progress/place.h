/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On which processor a thread waits: ranks that talk to each other are kept apart.
 *
 * Owns: declarations of place.c. Called by waits only. Calls: os. Invariants: a thread asks for
 * another processor at most once in MOVE_EVERY_NS, and never leaves what its launcher or user
 * allows.
 */
#ifndef TMB_CORE_PLACE_H
#define TMB_CORE_PLACE_H

#include <stdbool.h>

/* Give the processor away. */
void tmb_place_yield(void);

/* A wait is over or has made progress. in yielded: its last step was a yield. */
void tmb_place_learn(bool yielded);

#endif
