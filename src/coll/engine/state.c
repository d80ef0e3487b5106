/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of collectives in this process, see state.h.
 *
 * Owns: the one struct tmb_coll_state and its lock. Calls nothing. Invariants: the ends of empty
 * queues point to their beginnings.
 */
#include "coll/engine/state.h"

struct tmb_lock tmb_coll_guard;
struct tmb_coll_state tmb_colls = {.ops = {.run_end = &tmb_colls.ops.run},
                                   .calls = {.end = &tmb_colls.calls.first}};
