/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's own schedules, see plan.h.
 *
 * Owns: the shape that a job on described nodes gives. Called by collective.cc. Calls: src/coll's
 * select.c and the algorithms. Invariants: ranks of a node read long messages in each other's
 * memory, as the library does where it may.
 */
#include "plan.h"

#include "coll/select/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENT_BYTES 8

struct tmb_coll_nodes *sim_plan_nodes(uint32_t size, uint32_t per_node) {
  uint32_t *label = malloc(size * sizeof *label);
  if (!label) return NULL;
  for (uint32_t r = 0; r < size; r++) label[r] = r / per_node;
  struct tmb_coll_nodes *nodes = tmb_coll_nodes_make(label, size, (size + per_node - 1) / per_node);
  free(label);
  return nodes;
}

static uint32_t kind_of(const char *name) {
  for (uint32_t kind = 0; kind < TMB_COLL_KINDS; kind++)
    if (strcmp(tmb_coll_kind_name(kind), name) == 0) return kind;
  return TMB_COLL_KINDS;
}

static bool reduces(uint32_t kind) {
  return kind == TMB_COLL_REDUCE || kind == TMB_COLL_ALLREDUCE || kind == TMB_COLL_REDUCE_SCATTER ||
         kind == TMB_COLL_SCAN || kind == TMB_COLL_EXSCAN;
}

/* The algorithm that `NAME[:radix[:segment]]` describes. Returns NULL where it is none. */
static const struct tmb_coll_alg *named(const struct tmb_coll_shape *c, const char *text,
                                        struct tmb_coll_choice *choice) {
  char name[32];
  unsigned radix = choice->radix;
  unsigned long long segment = choice->segment;
  int end = 0;
  if (sscanf(text, "%31[a-z]%n:%u%n:%llu%n", name, &end, &radix, &end, &segment, &end) < 1 ||
      text[end] || radix < 2 || !segment)
    return NULL;
  choice->radix = radix;
  choice->segment = segment;
  return tmb_coll_alg_find(c->kind, name);
}

/* Emit the schedule for a shape. Returns the name of the algorithm, NULL with `why`. */
static const char *emit(struct tmb_sched *out, struct tmb_coll_shape *c, const char *name,
                        const char **why) {
  struct tmb_coll_choice choice = tmb_coll_select(c, &tmb_coll_thresholds);
  const struct tmb_coll_alg *alg = name[0] ? named(c, name, &choice) : choice.alg;
  *why = "there is no such algorithm; `tombolo info --config` lists those of TOMBOLO_COLL_ALG, to "
         "be given as NAME[:radix[:segment]]";
  if (!alg) return NULL;
  *why = "it has no schedule or does not work for this job; give another one, or --levels 2";
  if (!alg->fn || !tmb_coll_alg_legal(alg, c)) return NULL;
  c->radix = choice.radix;
  c->segment = choice.segment;
  alg->fn(out, c);
  *why = "out of memory; give fewer ranks";
  return tmb_sched_seal(out) == 0 ? alg->name : NULL;
}

bool sim_plan_make(const struct sim_ask *ask, uint32_t rank, struct tmb_sched *out,
                   const char **algorithm, const char **why) {
  const uint32_t kind = kind_of(ask->kind), first = rank / ask->per_node * ask->per_node;
  uint8_t *far = malloc(ask->size);
  *why = "there is no such collective; give broadcast, reduce, allreduce, scatter, gather, "
         "allgather, exchange, reduce-scatter, scan, exscan or sync";
  if (!far || kind == TMB_COLL_KINDS || (kind >= TMB_COLL_SCATTERV && kind <= TMB_COLL_EXCHANGEV)) {
    free(far);
    return false;
  }
  memset(far, 1, ask->size);
  for (uint32_t r = first; r < first + ask->per_node && r < ask->size; r++) far[r] = 0;
  struct tmb_coll_shape c = {.kind = kind,
                             .size = ask->size,
                             .rank = rank,
                             .root = ask->root,
                             .bytes = kind == TMB_COLL_SYNC ? 1 : ask->bytes,
                             .elem = reduces(kind) ? ELEMENT_BYTES : 1,
                             .eager = ask->eager,
                             .pull = tmb_coll_thresholds.direct_min,
                             .far = far,
                             .commutes = true,
                             .src = {TMB_BUF_SRC, 0},
                             .dst = {TMB_BUF_DST, 0},
                             .nodes = ask->nodes};
  *out = (struct tmb_sched){0};
  *algorithm = emit(out, &c, ask->algorithm, why);
  free(far);
  return *algorithm != NULL;
}
