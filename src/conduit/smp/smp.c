/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The smp conduit: ranks of one machine, nothing but the on-node engine.
 *
 * Owns: struct tmb_conduit of this conduit, which is the engine's state. Called through its table
 * by core. Calls: conduit/shm. Invariants: every peer is mapped, so core never asks this conduit
 * for put or get unless TOMBOLO_SHM_MAP=0, and then the default slots serve them with messages.
 */
#include "base/error.h"
#include "conduit/conduit.h"
#include "conduit/shm/shm.h"

#include "base/log.h"

#include <stdlib.h>

struct tmb_conduit {
  struct tmb_shm shm;
};

static int smp_open(const struct tmb_conduit_env *env, struct tmb_conduit **c) {
  struct tmb_conduit *smp = aligned_alloc(TMB_CACHE_LINE, sizeof *smp);
  if (!smp) {
    tmb_print("out of memory for the smp conduit (%zu bytes)", sizeof *smp);
    return TMB_E_NOMEM;
  }
  *smp = (struct tmb_conduit){0};
  const int rc = tmb_shm_open(&smp->shm, env);
  if (rc) {
    free(smp);
    return rc;
  }
  *c = smp;
  return 0;
}

static void smp_close(struct tmb_conduit *c) {
  tmb_shm_close(&c->shm);
  free(c);
}

static int smp_am_send(struct tmb_conduit *c, struct tmb_am_out *out) {
  return tmb_shm_am_send(&c->shm, out);
}

static void *smp_am_stage(struct tmb_conduit *c, struct tmb_am_out *out) {
  return tmb_shm_bulk_take(&c->shm, out);
}

static void smp_am_release(struct tmb_conduit *c, struct tmb_am_out *out) {
  tmb_shm_bulk_release(&c->shm, out);
}

static int smp_progress(struct tmb_conduit *c, int serve) {
  return tmb_shm_progress(&c->shm, serve);
}

static bool smp_sleep(struct tmb_conduit *c, uint64_t (*last_check)(void *), void *arg) {
  return tmb_shm_sleep(&c->shm, last_check, arg);
}

static void smp_wake_self(struct tmb_conduit *c) {
  tmb_shm_wake_self(&c->shm);
}

static int smp_attach(struct tmb_conduit *c, const uint64_t *sizes, void **base, intptr_t *delta) {
  return tmb_shm_attach(&c->shm, sizes, base, delta);
}

static void smp_flag_post(struct tmb_conduit *c, uint32_t peer, uint32_t index, uint64_t value) {
  tmb_shm_flag_post(&c->shm, peer, index, value);
}

static const uint64_t *smp_flag_word(struct tmb_conduit *c, uint32_t index) {
  return &tmb_shm_ctl(&c->shm, c->shm.env.rank)->flag[index].word;
}

static void smp_notify(struct tmb_conduit *c, uint32_t peer) {
  tmb_shm_notify(&c->shm, peer);
}

static bool smp_notify_unindexed(struct tmb_conduit *c, uint32_t peer) {
  return tmb_shm_notify_unindexed(&c->shm, peer);
}

static void smp_index_begin(struct tmb_conduit *c) {
  tmb_shm_index_begin(&c->shm);
}

static void *smp_index_area(struct tmb_conduit *c, uint32_t peer) {
  return tmb_shm_index(&c->shm, peer);
}

static uint64_t *smp_shared_word(struct tmb_conduit *c, uint32_t peer, uint32_t index) {
  return tmb_shm_word(&c->shm, peer, index);
}

static void *smp_shared_area(struct tmb_conduit *c, uint32_t peer, uint32_t index) {
  return tmb_shm_area(&c->shm, peer, index);
}

static uint32_t smp_shared_areas(struct tmb_conduit *c) {
  return c->shm.areas;
}

static void smp_expect_loss(struct tmb_conduit *c, uint64_t *offset, uint64_t *stride) {
  tmb_shm_expect_loss(&c->shm, offset, stride);
}

static int smp_lost(struct tmb_conduit *c, uint32_t peer) {
  return tmb_shm_lost(&c->shm, peer);
}

extern const struct tmb_conduit_ops tmb_conduit_smp;
const struct tmb_conduit_ops tmb_conduit_smp = {
    .name = "smp",
    .open = smp_open,
    .close = smp_close,
    .am_send = smp_am_send,
    .am_stage = smp_am_stage,
    .am_release = smp_am_release,
    .progress = smp_progress,
    .sleep = smp_sleep,
    .wake_self = smp_wake_self,
    .attach = smp_attach,
    .flag_post = smp_flag_post,
    .flag_word = smp_flag_word,
    .notify = smp_notify,
    .notify_unindexed = smp_notify_unindexed,
    .index_begin = smp_index_begin,
    .index_area = smp_index_area,
    .shared_word = smp_shared_word,
    .shared_area = smp_shared_area,
    .shared_areas = smp_shared_areas,
    .expect_loss = smp_expect_loss,
    .lost = smp_lost,
};
