/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data and functions that the inline bodies of put, get and atomics in programs use, see
 * shmem/inline.h.
 *
 * Owns: the table shmem_inline_table_, and the gate of this PE. Called by start.c, waits, and
 * programs. Calls: wake-ups. Invariants: the table has closed gates alone where a call must reach
 * the library, or a tool in front of it; the gate is closed for puts while it counts waiters.
 */
#include "../sh.h"

_Static_assert(offsetof(struct shmem_ctx_s, reach) == 0, "programs read the first field");

#define CLOSED [0 ... SHMEM_INLINE_PES_ - 1] = &sh.closed.end
__extension__ SH_EXPORT struct shmem_inline_ shmem_inline_table_ = {.puts = {CLOSED},
                                                                    .gets = {CLOSED}};

SH_EXPORT void shmem_inline_wake_(shmem_ctx_t ctx, int pe) {
  sh_wake(sh_world_pe(sh_ctx(ctx), pe));
}

/* Bytes of the program's data segment, where it is the beginning of the symmetric memory. */
static uintptr_t statics_bytes(void) {
  return sh.ranges && !sh.range[0].offset ? sh.range[0].bytes : 0;
}

void sh_gate_settle(void *unused) {
  (void)unused;
  struct shmem_gate_ *const gate = SHMEM_GATE_(sh.base);
  bool open;
  do {
    open = !__atomic_load_n(&gate->waiters, __ATOMIC_SEQ_CST);
    __atomic_store_n(&gate->put, open ? sh.bytes : 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&gate->put_statics, open ? statics_bytes() : 0, __ATOMIC_SEQ_CST);
  } while (open != !__atomic_load_n(&gate->waiters, __ATOMIC_SEQ_CST));
}

void sh_inline_start(void) {
  struct shmem_gate_ *const gate = SHMEM_GATE_(sh.base);
  gate->get = sh.bytes;
  gate->get_statics = statics_bytes();
  sh_gate_settle(NULL);
  if (!sh.inlined) return;
  struct shmem_inline_ *const t = &shmem_inline_table_;
  t->base = (uintptr_t)sh.base;
  t->statics_away = sh.ranges ? t->base - sh.range[0].begin : 0;
  for (uint32_t pe = 0; pe < sh.size && pe < SHMEM_INLINE_PES_; pe++) {
    t->puts[pe] = sh.ctx.reach.puts[pe];
    t->gets[pe] = sh.ctx.reach.gets[pe];
  }
}
