/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The start of a collective, see start.c.
 *
 * Owns: the declarations of start.c. Called by the entry points in this folder; the layer is in the
 * array of api/layers.c. Calls nothing. Invariants: a call's buffers stay in place until its event
 * completes.
 */
#ifndef TMB_COLL_START_H
#define TMB_COLL_START_H

#include "coll/engine/engine.h"

extern const struct tmb_layer tmb_coll_layer;

/* Start a collective. in plan: its schedule; NULL to choose and find one. Returns its event,
 * INVALID when it is complete. Normal context, any thread. */
gex_Event_t tmb_coll_start(const struct tmb_coll_call *call, struct tmb_coll_plan *plan);

#endif
