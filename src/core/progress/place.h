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

#include "boot/boot.h"

#include <stdbool.h>

/* The number of the processor, modulo their count, that belongs to a rank where there is one for
 * each. Hosts begin at different ones: namespaces of one machine are hosts that share it. */
static inline uint32_t tmb_place_home(const struct tmb_boot *boot) {
  const uint32_t before = boot->here == boot->size ? 0 : boot->places.host * boot->here;
  return before + boot->here_index;
}

/* Give the processor away. */
void tmb_place_yield(void);

/* A wait is over or has made progress. in yielded: its last step was a yield. */
void tmb_place_learn(bool yielded);

#endif
