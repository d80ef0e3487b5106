/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects of other PEs: checks of arguments, shmem_ptr and the queries about addresses.
 *
 * Owns nothing. Called by the slow path of put, get, atomics and signals, and by programs. Calls:
 * messages. Invariant: an argument that is wrong ends the job with routine, argument, value and
 * remedy.
 */
#include "../sh.h"

/* Bytes from an offset to the end of its area: the heap, or a data segment. */
static uint64_t left_at(uint64_t offset) {
  if (offset >= sh.heap) return sh.bytes - offset;
  for (uint32_t i = 0; i < sh.ranges; i++)
    if (offset - sh.range[i].offset < sh.range[i].bytes)
      return sh.range[i].offset + sh.range[i].bytes - offset;
  return 0;
}

struct sh_far sh_find(const struct shmem_ctx_s *ctx, const char *call, const char *arg,
                      const void *addr, uint64_t bytes, int pe) {
  sh_need_start(call);
  if (SH_UNLIKELY(sh.debug)) sh_ctx_check(call, ctx);
  if (SH_UNLIKELY((uint32_t)pe >= ctx->team->size))
    sh_fatal(call, "argument pe is %d; the %s has PEs 0 to %u [TMB-2309]", pe,
             ctx->team == &sh.world ? "program" : "team of the context", ctx->team->size - 1);
  const uint32_t world = ctx->team->pe[pe];
  if (!bytes) return (struct sh_far){.pe = world}; /* any address will do, NULL too */
  const uint64_t offset = sh_offset(addr);
  if (SH_UNLIKELY(offset == SH_NOWHERE))
    sh_fatal(call,
             "argument %s is %p, which is no symmetric address; use memory of shmem_malloc, or a "
             "global or static variable [TMB-2308]",
             arg, addr);
  if (SH_UNLIKELY(bytes > left_at(offset)))
    sh_fatal(call,
             "argument %s is %p, and %llu bytes from there pass the end of the symmetric memory "
             "[TMB-2307]",
             arg, addr, (unsigned long long)bytes);
  return (struct sh_far){.pe = world,
                         .offset = offset,
                         .owner = (void *)(sh.owner[world] + offset),
                         .near = !sh.traced && sh.near[world] ? sh.near[world] + offset : NULL};
}

static void *pointer(const struct shmem_team_s *team, const void *dest, int pe) {
  const uint64_t offset = sh_offset(dest);
  if (!team || (uint32_t)pe >= team->size || offset == SH_NOWHERE) return NULL;
  const uint32_t world = team->pe[pe];
  if (world == sh.pe) return (void *)(uintptr_t)dest;
  if (!sh.near[world]) return NULL;
  if (SH_UNLIKELY(sh.traced))
    gexx_check_alias(world, sh.near[world], sh.bytes, (const void *)sh.owner[world]);
  return sh.near[world] + offset;
}

SH_DEF(void *, ptr, (const void *dest, int pe)) {
  sh_need_start("ptr");
  return pointer(&sh.world, dest, pe);
}

SH_DEF(void *, team_ptr, (shmem_team_t team, const void *dest, int pe)) {
  sh_need_start("team_ptr");
  return pointer(sh_team(team), dest, pe);
}

SH_DEF(int, pe_accessible, (int pe)) {
  return (uint32_t)pe < sh.size;
}

SH_DEF(int, addr_accessible, (const void *addr, int pe)) {
  return (uint32_t)pe < sh.size && sh_offset(addr) != SH_NOWHERE;
}
