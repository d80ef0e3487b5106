/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calling the layers, see layer.h.
 *
 * Owns: tmb_job.layers: which layers there are, and which of them has which work. Called by
 * client.c, progress.c, team.c, failure.c and am.c. Calls: the layers. Invariant: written once, by
 * tmb_layers_use, before another thread or a message can come in.
 */
#include "core/layer.h"

#include "base/log.h"
#include "core/job.h"

/* Note that `layer` serves `slot`. */
static void claim(const struct tmb_layer **slot, const struct tmb_layer *layer) {
  if (*slot) tmb_bug("layers %s and %s do the same", (*slot)->name, layer->name);
  *slot = layer;
}

void tmb_layers_use(const struct tmb_layer *const *all, size_t count) {
  tmb_job.layers.all = all;
  tmb_job.layers.count = count;
  for (size_t i = 0; i < count; i++) {
    const struct tmb_layer *layer = all[i];
    if (layer->progress) claim(&tmb_job.layers.at_work[layer->work], layer);
    if (layer->signal) claim(&tmb_job.layers.signals, layer);
    if (layer->atomic) claim(&tmb_job.layers.atomics, layer);
    if (layer->count) claim(&tmb_job.layers.counts, layer);
    if (layer->team_closed) claim(&tmb_job.layers.closes, layer);
    if (layer->teams_made) claim(&tmb_job.layers.makes, layer);
    if (layer->team_freed) claim(&tmb_job.layers.frees, layer);
  }
}

void tmb_layers_handlers(void (*set)(const struct tmb_layer_handler *handler)) {
  for (size_t i = 0; i < tmb_job.layers.count; i++)
    for (const struct tmb_layer_handler *h = tmb_job.layers.all[i]->handlers; h && h->fn; h++)
      set(h);
}

void tmb_layers_ask(void) {
  for (size_t i = 0; i < tmb_job.layers.count; i++)
    if (tmb_job.layers.all[i]->ask) tmb_job.layers.all[i]->ask();
}

int tmb_layers_init(void) {
  int rc = 0;
  for (size_t i = 0; i < tmb_job.layers.count && !rc; i++)
    if (tmb_job.layers.all[i]->init) rc = tmb_job.layers.all[i]->init();
  return rc;
}

/* Advance one kind of work. */
static inline int advance(enum tmb_work kind, int serve) {
  if (!tmb_load_acq(&tmb_job.work[kind])) return TMB_FOUND_NOTHING;
  return tmb_job.layers.at_work[kind]->progress(serve);
}

int tmb_layers_progress(int serve) {
  int found = advance(TMB_WORK_BARRIERS, serve);
  found |= advance(TMB_WORK_COLLS, serve);
  found |= advance(TMB_WORK_PUTS, serve);
  found |= advance(TMB_WORK_SHRINKS, serve);
  _Static_assert(TMB_WORK_KINDS == 4, "one line for each kind");
  return found;
}

int tmb_layers_thread_progress(void) {
  int found = TMB_FOUND_NOTHING;
  for (int kind = 0; kind < TMB_WORK_KINDS; kind++) {
    const struct tmb_layer *layer = tmb_job.layers.at_work[kind];
    if (layer && layer->thread_progress && tmb_load_acq(&tmb_job.work[kind]))
      found |= layer->thread_progress();
  }
  return found;
}

void tmb_layers_team_closed(const struct tmb_team *team) {
  if (tmb_job.layers.closes) tmb_job.layers.closes->team_closed(team);
}

void tmb_layers_teams_made(void) {
  if (tmb_job.layers.makes) tmb_job.layers.makes->teams_made();
}

void tmb_layers_team_freed(struct tmb_team *team) {
  if (tmb_job.layers.frees) tmb_job.layers.frees->team_freed(team);
}

void tmb_layers_peer_lost(uint32_t jobrank) {
  for (size_t i = 0; i < tmb_job.layers.count; i++)
    if (tmb_job.layers.all[i]->peer_lost) tmb_job.layers.all[i]->peer_lost(jobrank);
}

void tmb_layers_signal(const void *addr) {
  tmb_job.layers.signals->signal(addr);
}

bool tmb_layers_atomic(void *addr, const struct tmb_net_atomic *atomic, void *old) {
  return tmb_job.layers.atomics->atomic(addr, atomic, old);
}

void tmb_layers_count(int kind, uint32_t jobrank, size_t bytes) {
  tmb_job.layers.counts->count(kind, jobrank, bytes);
}
