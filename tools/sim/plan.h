/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's own schedules, as `tombolo sim` runs them.
 *
 * Owns: struct sim_ask. Called by collective.cc. Calls: src/coll's algorithms and its choice among
 * them, which are pure functions; nothing of the library is started. Written in C, as they are.
 * Invariants: without a name, the algorithm is the one that the library takes where neither setting
 * nor table says otherwise.
 */
#ifndef TMB_SIM_PLAN_H
#define TMB_SIM_PLAN_H

#ifdef __cplusplus
extern "C" {
#endif

#include "coll/schedule/nodes.h"
#include "coll/schedule/schedule.h"

/* A collective of a job whose ranks fill nodes in order. */
struct sim_ask {
  const char *kind, *algorithm; /* as in TOMBOLO_COLL_ALG, the algorithm also with radix
                                    and segment; "": the library's choice */
  uint32_t size, per_node, root;
  uint64_t bytes, eager;              /* of the vector or block; longest ungated message */
  const struct tmb_coll_nodes *nodes; /* NULL: one level */
};

/* The node map of a job, for free(); NULL when memory is short. */
struct tmb_coll_nodes *sim_plan_nodes(uint32_t size, uint32_t per_node);

/* Emit and seal the schedule of a rank. out algorithm: its name, which lives for ever; why: the
 * fault in the question, when it returns false. */
bool sim_plan_make(const struct sim_ask *ask, uint32_t rank, struct tmb_sched *out,
                   const char **algorithm, const char **why);

#ifdef __cplusplus
}
#endif

#endif
