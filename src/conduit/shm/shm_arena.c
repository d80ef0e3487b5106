/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arena of the on-node engine: layout, creation, mapping.
 *
 * Owns: the computation of every offset in struct tmb_shm. Called by conduit open and close. Calls:
 * os/memfd, settings, the bootstrap barrier in struct tmb_conduit_env. Invariants: offsets depend
 * only on the number of ranks and on settings that are equal on all ranks; rank 0 sets the file's
 * size, the others map it after a barrier; a failure on one rank is known to all before anyone
 * maps.
 */
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "conduit/shm/shm.h"
#include "os/futex.h"
#include "os/memfd.h"
#include "os/os.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static uint32_t log2_ceil(uint64_t v) {
  uint32_t n = 0;
  while ((UINT64_C(1) << n) < v) n++;
  return n;
}

/* Slots of the request ring when the user does not say: memory per rank shrinks as ranks grow. */
static uint64_t request_slots_auto(uint32_t size) {
  if (size <= 16) return 1024;
  return size <= 128 ? 512 : 256;
}

static uint32_t bulk_total(uint32_t size) {
  if (tmb_cfg_is_set(TMB_CFG_BULK_BUFFERS) || size <= 64)
    return (uint32_t)tmb_cfg_int(TMB_CFG_BULK_BUFFERS);
  return 8;
}

/* Areas of a rank: one for the primordial team, the others for the teams that are alive. */
static uint32_t areas_auto(uint32_t size) {
  if (size <= 64) return 16;
  return size <= 256 ? 8 : 2;
}

static void layout(struct tmb_shm *shm) {
  const uint32_t size = shm->env.size;
  const size_t page = tmb_os_page_size();
  const int64_t asked = tmb_cfg_int(TMB_CFG_RING_SLOTS);
  const uint64_t want = asked > 0 ? (uint64_t)asked : request_slots_auto(size);
  shm->slots_log2[0] = log2_ceil(TMB_MAX(want, 16u));
  shm->slots_log2[1] = TMB_MAX(shm->slots_log2[0] - 1, 4u);
  for (int i = 0; i < 2; i++) shm->slots[i] = 1u << shm->slots_log2[i];
  const uint32_t record_slots = TMB_MIN(shm->slots[1] / 4, (uint32_t)TMB_SHM_RECORD_SLOTS_MAX);
  const uint32_t room = record_slots * TMB_SHM_SLOT_BYTES - 16 - 4 * TMB_AM_ARGS_MAX;
  shm->inline_bytes_max = TMB_MIN((uint32_t)tmb_cfg_int(TMB_CFG_AM_INLINE_MAX), room);
  const uint32_t bulk = bulk_total(size);
  shm->bulk_count[1] = TMB_MAX(bulk / 3, 1u);
  shm->bulk_count[0] = TMB_MAX(bulk - shm->bulk_count[1], 1u);

  const size_t ring_bytes[2] = {
      sizeof(struct tmb_shm_ring) + (size_t)shm->slots[0] * TMB_SHM_SLOT_BYTES,
      sizeof(struct tmb_shm_ring) + (size_t)shm->slots[1] * TMB_SHM_SLOT_BYTES};
  shm->ring_offset = TMB_ALIGN_UP(size * sizeof(struct tmb_shm_ctl), page);
  shm->ring_reply = ring_bytes[0];
  shm->ring_stride = TMB_ALIGN_UP(ring_bytes[0] + ring_bytes[1], page);
  shm->bulk_offset = shm->ring_offset + size * shm->ring_stride;
  const size_t buffers = shm->bulk_count[0] + shm->bulk_count[1];
  shm->bulk_stride =
      TMB_ALIGN_UP(buffers * sizeof(struct tmb_shm_line), page) + buffers * TMB_AM_MEDIUM_BYTES_MAX;
  shm->word_offset = shm->bulk_offset + size * shm->bulk_stride;
  shm->area_offset = TMB_ALIGN_UP(
      shm->word_offset + (size_t)size * TMB_SHARED_WORDS * sizeof(struct tmb_shm_line), page);
  shm->areas = areas_auto(size);
  shm->index_offset =
      TMB_ALIGN_UP(shm->area_offset + (size_t)size * shm->areas * TMB_SHARED_AREA_BYTES, page);
  shm->claim_offset = TMB_ALIGN_UP(shm->index_offset + (size_t)size * TMB_INDEX_AREA_BYTES, page);
  shm->arena_bytes =
      TMB_ALIGN_UP(shm->claim_offset + (size_t)size * TMB_SHM_CLAIMS * sizeof(uint64_t), page);
}

/* Whether `ok` is true on every rank; collective. */
static bool agree(const struct tmb_conduit_env *env, bool ok) {
  const uint8_t mine = ok;
  uint8_t *all = calloc(env->size, 1);
  if (!all) tmb_fatal("out of memory for %u bytes", env->size);
  env->allgather(env->ctx, &mine, 1, all);
  bool good = true;
  for (uint32_t i = 0; i < env->size; i++) good = good && all[i];
  free(all);
  return good;
}

static int size_arena(struct tmb_shm *shm) {
  char why[TMB_MEMFD_WHY_BYTES];
  int rc = 0;
  if (shm->env.rank == 0) {
    rc = tmb_memfd_resize(shm->env.arena_fd, shm->arena_bytes, why, sizeof why);
    if (rc) tmb_print("cannot create the message memory of %zu bytes: %s", shm->arena_bytes, why);
  }
  return agree(&shm->env, rc == 0) ? 0 : TMB_E_LIMIT;
}

static int map_arena(struct tmb_shm *shm) {
  void *p = mmap(NULL, shm->arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                 shm->env.arena_fd, 0);
  const bool ok = p != MAP_FAILED;
  if (!ok) {
    const char *limit = NULL;
    const int err = errno;
    const uint64_t bytes = tmb_os_mem_limit(&limit);
    tmb_print(
        "cannot map the message memory: %zu bytes asked, %s allows %llu (%s); run fewer ranks, "
        "raise the limit, or lower TOMBOLO_RING_SLOTS (now %u) or TOMBOLO_BULK_BUFFERS (now %u)",
        shm->arena_bytes, limit, (unsigned long long)bytes, strerror(err), shm->slots[0],
        shm->bulk_count[0] + shm->bulk_count[1]);
  }
  if (agree(&shm->env, ok)) {
    shm->arena = p;
    return 0;
  }
  if (ok) munmap(p, shm->arena_bytes);
  return TMB_E_LIMIT;
}

int tmb_shm_open(struct tmb_shm *shm, const struct tmb_conduit_env *env) {
  shm->env = *env;
  layout(shm);
  shm->seen = calloc(env->size, sizeof *shm->seen);
  shm->delta = calloc(env->size, sizeof *shm->delta);
  if (!shm->seen || !shm->delta) {
    tmb_print("out of memory for %u peers", env->size);
    tmb_shm_close(shm);
    return TMB_E_NOMEM;
  }
  int rc = size_arena(shm);
  if (!rc) rc = map_arena(shm);
  if (rc) {
    tmb_shm_close(shm);
    return rc;
  }
  for (uint32_t i = 0; i < 2; i++) {
    shm->inbox[i].ring = tmb_shm_ring(shm, env->rank, i);
    tmb_shm_inbox_move(shm, &shm->inbox[i], i, 0);
  }
  shm->sender_fences = !agree(env, tmb_membarrier_register());
  env->barrier(env->ctx);
  return 0;
}

void tmb_shm_close(struct tmb_shm *shm) {
  if (shm->segments) munmap(shm->segments, shm->segments_bytes);
  if (shm->arena) munmap(shm->arena, shm->arena_bytes);
  free(shm->seen);
  free(shm->delta);
  free(shm->gone);
  free(shm->mark);
  memset(shm, 0, sizeof *shm);
}
