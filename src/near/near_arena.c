/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arena of the on-node engine: layout, creation, mapping.
 *
 * Owns: the computation of every offset in struct tmb_near. Called by core. Calls: os/memfd,
 * settings, the bootstrap's collectives in struct tmb_near_env. Invariants: offsets depend only on
 * the number of ranks of the host, on regions and on settings that are equal on all ranks; the
 * first rank sets the file's size, and nobody touches the mapping before all ranks of the job know
 * that each has it.
 */
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "near/near.h"
#include "os/memory/memfd.h"
#include "os/os.h"
#include "os/sync/futex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define TOUCH_RANKS_MAX  16u  /* of this host; 96 KiB each */
#define INLINE_BYTES_MAX 256u /* largest medium payload inside the ring */

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

/* The same of message buffers. Of most only the first pages are touched, if any. */
static uint32_t bulk_total(uint32_t size) {
  if (tmb_cfg_is_set(TMB_CFG_BULK_BUFFERS) || size <= 16)
    return (uint32_t)tmb_cfg_int(TMB_CFG_BULK_BUFFERS);
  return size <= 64 ? 24 : 8;
}

static void layout(struct tmb_near *near) {
  const uint32_t size = near->env.count;
  const size_t page = tmb_os_page_size();
  const int64_t asked = tmb_cfg_int(TMB_CFG_RING_SLOTS);
  const uint64_t want = asked > 0 ? (uint64_t)asked : request_slots_auto(size);
  near->slots_log2[0] = log2_ceil(TMB_MAX(want, 16u));
  near->slots_log2[1] = TMB_MAX(near->slots_log2[0] - 1, 4u);
  for (int i = 0; i < 2; i++) near->slots[i] = 1u << near->slots_log2[i];
  const uint32_t record_slots = TMB_MIN(near->slots[1] / 4, (uint32_t)TMB_NEAR_RECORD_SLOTS_MAX);
  const uint32_t room = record_slots * TMB_NEAR_SLOT_BYTES - 16 - 4 * TMB_AM_ARGS_MAX;
  near->inline_bytes_max = TMB_MIN(INLINE_BYTES_MAX, room);
  const uint32_t bulk = bulk_total(size);
  near->bulk_count[1] = TMB_MAX(bulk / 3, 1u);
  near->bulk_count[0] = TMB_MAX(bulk - near->bulk_count[1], 1u);
  near->round_bytes = (uint32_t)TMB_MIN(TMB_MAX(tmb_os_l2_bytes() / 4, TMB_NEAR_ROUND_BYTES_MIN),
                                        TMB_NEAR_ROUND_BYTES_MAX);

  const size_t ring_bytes[2] = {
      sizeof(struct tmb_near_ring) + (size_t)near->slots[0] * TMB_NEAR_SLOT_BYTES,
      sizeof(struct tmb_near_ring) + (size_t)near->slots[1] * TMB_NEAR_SLOT_BYTES};
  near->ring_offset = TMB_ALIGN_UP(size * sizeof(struct tmb_near_ctl), page);
  near->ring_reply = ring_bytes[0];
  near->ring_stride = TMB_ALIGN_UP(ring_bytes[0] + ring_bytes[1], page);
  near->bulk_offset = near->ring_offset + size * near->ring_stride;
  const size_t buffers = near->bulk_count[0] + near->bulk_count[1];
  near->bulk_stride = TMB_ALIGN_UP(buffers * sizeof(struct tmb_near_line), page) +
                      buffers * TMB_AM_MEDIUM_BYTES_MAX;
  near->claim_offset = near->bulk_offset + size * near->bulk_stride;
  size_t end = near->claim_offset + (size_t)size * TMB_NEAR_CLAIMS * sizeof(uint64_t);
  for (uint32_t i = 0; i < near->regions; i++) {
    near->region[i].offset = TMB_ALIGN_UP(end, page);
    end = near->region[i].offset + size * near->region[i].bytes;
  }
  near->arena_bytes = TMB_ALIGN_UP(end, page);
}

/* Sets the size of the file, on the first rank. */
static bool size_arena(const struct tmb_near *near) {
  char why[TMB_MEMFD_WHY_BYTES];
  if (near->env.index != 0 ||
      !tmb_memfd_resize(near->env.arena_fd, near->arena_bytes, why, sizeof why))
    return true;
  tmb_print("cannot create the message memory of %zu bytes: %s", near->arena_bytes, why);
  return false;
}

/* Returns NULL after a message. */
static void *map_file(const struct tmb_near *near) {
  void *p = mmap(NULL, near->arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                 near->env.arena_fd, 0);
  if (p != MAP_FAILED) {
    tmb_os_mem_skip_core(p, near->arena_bytes);
    return p;
  }
  const char *limit = NULL;
  const int err = errno;
  const uint64_t bytes = tmb_os_mem_limit(&limit);
  tmb_print("cannot map the message memory: %zu bytes asked, %s allows %llu (%s); run fewer ranks, "
            "or raise the limit",
            near->arena_bytes, limit, (unsigned long long)bytes, strerror(err));
  return NULL;
}

static int map_arena(struct tmb_near *near) {
  char *const arena = size_arena(near) ? map_file(near) : NULL;
  if (near->env.agree(near->env.ctx, arena != NULL)) {
    near->arena = arena;
    return 0;
  }
  if (arena) munmap(arena, near->arena_bytes);
  return TMB_E_LIMIT;
}

/*
 * Have the pages of this rank's rings, so that the first thousand messages are as fast as later
 * ones: each page fault costs as much as 5 to 50 messages. With more ranks memory counts for more.
 */
static void touch_rings(struct tmb_near *near) {
  if (near->env.count < 2 || near->env.count > TOUCH_RANKS_MAX) return;
  tmb_os_mem_touch(tmb_near_ring(near, near->env.index, 0), near->ring_stride);
}

uint32_t tmb_near_region(struct tmb_near *near, const char *name, size_t bytes) {
  if (near->arena || near->regions == TMB_NEAR_REGIONS_MAX)
    tmb_bug("region %s of %zu bytes: %s", name, bytes,
            near->arena ? "the engine is open" : "there are too many");
  near->region[near->regions] =
      (struct tmb_near_region){.name = name, .bytes = TMB_ALIGN_UP(bytes, (size_t)TMB_CACHE_LINE)};
  return near->regions++;
}

int tmb_near_open(struct tmb_near *near, const struct tmb_near_env *env) {
  near->env = *env;
  layout(near);
  near->seen = calloc(env->count, sizeof *near->seen);
  near->delta = calloc(env->count, sizeof *near->delta);
  if (!near->seen || !near->delta) {
    tmb_print("out of memory for %u ranks of this host", env->count);
    tmb_near_close(near);
    return TMB_E_NOMEM;
  }
  const int rc = map_arena(near);
  if (rc) {
    tmb_near_close(near);
    return rc;
  }
  for (uint32_t i = 0; i < 2; i++) {
    near->inbox[i].ring = tmb_near_ring(near, env->index, i);
    near->inbox[i].shown = near->env.handled ? near->env.handled + i : &near->inbox[i].unseen;
    uint32_t lap;
    (void)tmb_near_inbox_move(near, &near->inbox[i], i, 0, &lap);
    tmb_near_inbox_publish(near, &near->inbox[i], i, 0);
  }
  touch_rings(near);
  /* All have opened their inboxes when this returns. */
  near->sender_fences = !env->agree(env->ctx, tmb_membarrier_register());
  return 0;
}

void tmb_near_close(struct tmb_near *near) {
  if (near->segments) munmap(near->segments, near->segments_bytes);
  if (near->arena) munmap(near->arena, near->arena_bytes);
  free(near->seen);
  free(near->delta);
  free(near->lost);
  free(near->mark);
  memset(near, 0, sizeof *near);
}
