/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tuning of this process: settings and the measured table.
 *
 * Owns: declarations of tuning.c. Called by plan.c and engine.c. Calls: base/config.
 * Invariants: read once, at the first collective; equal on all ranks because the environment is.
 */
#ifndef TMB_COLL_TUNING_H
#define TMB_COLL_TUNING_H

#include "coll/select/select.h"

/* The tuning; never changes after the first call. Under the lock of collectives. */
const struct tmb_coll_tuning *tmb_coll_tuning(void);

/* Most bytes of one message. */
uint64_t tmb_coll_tuning_chunk(void);

#endif
