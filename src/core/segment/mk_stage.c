/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of host memory for device memory that travels, see mk_stage.h.
 *
 * Owns: the pool of the job. Called by core/mk, notify and mk.c. Calls: plug-ins, os memory.
 * Invariants: a buffer is in the list of free ones or taken; the pool is pinned by one kind at a
 * time, and unpinned only while no copy uses it.
 */
#include "core/segment/mk_stage.h"

#include "base/config.h"
#include "base/log.h"
#include "core/job.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tombolo/mk_plugin.h>

#define STAGE_BYTES      TMB_AM_MEDIUM_BYTES_MAX
#define VERSION_WITH_PIN 3u /* fixed: of the table of plug-ins */

TMB_REQUIRES(tmb_job.mk_pool.lock) static inline struct tmb_mk_pool *pool(void) {
  return &tmb_job.mk_pool;
}

TMB_REQUIRES(tmb_job.mk_pool.lock) static void push(char *stage) {
  memcpy(stage, &pool()->free, sizeof pool()->free);
  pool()->free = stage;
}

TMB_REQUIRES(tmb_job.mk_pool.lock) static char *pop(void) {
  char *stage = pool()->free;
  if (stage) memcpy(&pool()->free, stage, sizeof pool()->free);
  return stage;
}

TMB_REQUIRES(tmb_job.mk_pool.lock) static void make(void) {
  const size_t count = (size_t)tmb_cfg_int(TMB_CFG_MK_STAGES);
  void *memory =
      mmap(NULL, count * STAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) tmb_fatal("out of memory for %zu buffers of device memory", count);
  pool()->memory = memory;
  pool()->bytes = count * STAGE_BYTES;
  for (size_t i = count; i-- > 0;) push(pool()->memory + i * STAGE_BYTES);
}

TMB_REQUIRES(tmb_job.mk_pool.lock) static void pin(struct gexx_mk_s *kind) {
  const struct gexx_mk_plugin *plugin = kind->plugin;
  if (plugin->version < VERSION_WITH_PIN || !plugin->pin || !plugin->unpin) return;
  if (plugin->pin(kind->device, pool()->memory, pool()->bytes) == GASNET_OK) {
    pool()->pinner = kind;
    return;
  }
  pool()->cannot = true;
  tmb_info("memory kind %s: the buffers through which device memory travels cannot be pinned: "
           "%s; copies are slower",
           kind->ops.name, tmb_mk_reason(plugin));
}

void *tmb_mk_stage_take(struct gexx_mk_s *kind) {
  tmb_lock_acquire(&tmb_job.mk_pool.lock);
  if (TMB_UNLIKELY(!pool()->memory)) make();
  if (TMB_UNLIKELY(kind && !pool()->pinner && !pool()->cannot)) pin(kind);
  char *stage = pop();
  tmb_fetch_add_rlx(&tmb_job.mk_pool.copies, 1);
  tmb_lock_release(&tmb_job.mk_pool.lock);
  if (!stage) stage = malloc(STAGE_BYTES);
  if (!stage) tmb_fatal("out of memory for a copy of device memory");
  return stage;
}

void tmb_mk_stage_put(void *stage) {
  tmb_lock_acquire(&tmb_job.mk_pool.lock);
  const bool pooled = (uintptr_t)stage - (uintptr_t)pool()->memory < pool()->bytes;
  if (pooled) push(stage);
  tmb_lock_release(&tmb_job.mk_pool.lock);
  if (!pooled) free(stage);
}

void tmb_mk_stage_filled(void) {
  tmb_fetch_sub_rel(&tmb_job.mk_pool.copies, 1);
}

void tmb_mk_stage_forget(struct gexx_mk_s *kind) {
  tmb_lock_acquire(&tmb_job.mk_pool.lock);
  if (pool()->pinner == kind) {
    while (tmb_load_acq(&tmb_job.mk_pool.copies)) sched_yield(); /* a copy ends by itself */
    kind->plugin->unpin(kind->device, pool()->memory, pool()->bytes);
    pool()->pinner = NULL;
  }
  pool()->cannot = false;
  tmb_lock_release(&tmb_job.mk_pool.lock);
}
