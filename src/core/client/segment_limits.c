/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits of the segments of this process.
 *
 * Owns: tmb_job.segment_bytes_max and segment_bytes_max_all. Called at initialisation, by clients,
 * by attach.c and join.c. Calls: os for memory and the space of the file system for shared memory.
 * Invariant: a size that is refused is refused with the limit that refused it.
 */
#include "base/config.h"
#include "base/error.h"
#include "base/fmt.h"
#include "boot/boot.h"
#include "core/check.h"
#include "core/client/attach.h"
#include "core/op/check_context.h"
#include "os/memory/memfd.h"
#include "os/os.h"

#include <stdlib.h>

/* Bytes that GASNET_MAX_SEGSIZE allows this process, before rounding. in limit: memory that this
 * process may use. */
static uint64_t asked_max(uint64_t limit) {
  struct tmb_segsize asked;
  if (tmb_fmt_parse_segsize(tmb_cfg_text(TMB_CFG_MAX_SEGSIZE), &asked))
    tmb_cfg_bad_value(TMB_CFG_MAX_SEGSIZE, "a size or a fraction of memory, then /P or /H");
  const double bytes = asked.fraction > 0 ? asked.fraction * (double)limit : (double)asked.bytes;
  return (uint64_t)(asked.per_host ? bytes / tmb_job.boot.here : bytes);
}

/* Most memory for the segments of this machine. out name: the limit that applies. */
static uint64_t memory_limit(const char **name) {
  uint64_t least = tmb_os_mem_limit(name);
  const uint64_t space = tmb_memfd_space(tmb_job.boot.segment_fd);
  const uint64_t mappable = tmb_os_mem_mappable();
  if (space < least) *name = "space of the file system for shared memory, see GASNET_TMPDIR";
  least = TMB_MIN(least, space);
  if (mappable < least) *name = "address space that RLIMIT_AS leaves";
  return TMB_MIN(least, mappable);
}

void tmb_segment_limits(void) {
  const uint64_t page = tmb_os_page_size();
  const char *name = NULL;
  const uint64_t limit = memory_limit(&name);
  const uint64_t address_space = UINT64_C(1) << 46;
  uint64_t bytes = asked_max(TMB_MIN(limit, address_space));
  bytes = TMB_ALIGN_DOWN(TMB_MIN(bytes, address_space / tmb_job.boot.here), page);
  tmb_job.segment_bytes_max = TMB_MAX(bytes, page);
  uint64_t mine = tmb_job.segment_bytes_max;
  uint64_t all[TMB_BOOT_RANKS_MAX];
  tmb_boot_allgather(&tmb_job.boot, &mine, sizeof mine, all);
  for (uint32_t r = 0; r < tmb_job.size; r++) mine = TMB_MIN(mine, all[r]);
  tmb_job.segment_bytes_max_all = mine;
}

uintptr_t gasnet_getMaxLocalSegmentSize(void) {
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_check_ready_at("gasnet_getMaxLocalSegmentSize");
  return tmb_job.segment_bytes_max;
}

uintptr_t gasnet_getMaxGlobalSegmentSize(void) {
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_check_ready_at("gasnet_getMaxGlobalSegmentSize");
  return tmb_job.segment_bytes_max_all;
}

int tmb_segment_size_verdict(const char *call, uintptr_t size) {
  if (!size || size % GASNET_PAGESIZE)
    return tmb_refuse(
        call, GASNET_ERR_BAD_ARG,
        "argument size is %zu; it must be a non-zero multiple of GASNET_PAGESIZE (%d)",
        (size_t)size, GASNET_PAGESIZE);
  if (size <= tmb_job.segment_bytes_max) return GASNET_OK;
  const char *name = NULL;
  const uint64_t limit = memory_limit(&name);
  return tmb_refuse(
      call, GASNET_ERR_BAD_ARG,
      "argument size is %zu bytes, but at most %zu are allowed here (GASNET_MAX_SEGSIZE=%s of "
      "%llu bytes, the %s, for %u ranks); ask for less or raise the limit",
      (size_t)size, (size_t)tmb_job.segment_bytes_max, tmb_cfg_text(TMB_CFG_MAX_SEGSIZE),
      (unsigned long long)limit, name, tmb_job.size);
}
