/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Says when a job ends in good order, but too early for some of its ranks.
 *
 * Owns nothing. Called by supervise.c. Calls: snapshot, explain. A rank that returns from main ends
 * the job with code 0, as the API wants it; others may wait in a call that it has not made.
 * Invariants: only a call is reported that the ended rank has not made, by its own count, so that a
 * slow rank in a call which all have made is none.
 */
#ifndef TMB_BOOT_EARLY_H
#define TMB_BOOT_EARLY_H

#include "boot/explain/snapshot.h"

#include <stdbool.h>

/* Print which ranks wait in a barrier or another call of all members that ended ranks have not
 * made. in ended: [size] whether a rank has ended. Prints nothing if there are none. */
void tmb_sup_print_early(const struct tmb_snapshot *now, const bool *ended);

#endif
