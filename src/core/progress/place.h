/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On which processor a thread waits: ranks that talk to each other are kept apart.
 *
 * Owns: declarations of place.c. Called by waits only. Calls: os. Invariants: a thread asks for
 * another processor at most once in MOVE_EVERY_NS, and never leaves what its launcher or user
 * allows; where yields do not pay, they take at most a sixteenth of its time.
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

/*
 * Give the processor away, unless that was lately, again and again, to processes that compute: for
 * each yield the kernel charges a whole turn, so a thread that goes on yielding beside such
 * processes comes last again and again, but one that sleeps comes soon after it was woken. Returns
 * whether it yielded; if not, the caller sleeps next. Cost: two looks at the clock and a system
 * call.
 */
bool tmb_place_yield(void);

/* A wait is over or has made progress. in yielded: its last step was a yield. */
void tmb_place_learn(bool yielded);

#endif
