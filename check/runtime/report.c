/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings: races and leaks, each pair of lines once.
 *
 * Owns: the findings of the area. Called by shadow.c, pending.c and objects.c, under chk.lock. The
 * launcher prints them when the ranks have ended. Invariant: the first two accesses of a pair of
 * lines are kept, and how often there were such pairs.
 */
#include "check/runtime/chk.h"

#include <string.h>

/* Enter a finding, unless there is one like it. */
static void enter(const struct chk_finding *f) {
  struct chk_area *const a = chk.area;
  chk_lock(&a->lock);
  uint32_t i = 0;
  for (; i < a->findings; i++) {
    const struct chk_finding *const g = chk_finding_at(a, i);
    if (g->kind != f->kind || g->what != f->what) continue;
    if (g->site[0] == f->site[0] && g->site[1] == f->site[1]) break;
    if (g->site[0] == f->site[1] && g->site[1] == f->site[0]) break;
  }
  if (i < a->findings) {
    chk_finding_at(a, i)->count++;
  } else if (i < CHK_FINDINGS) {
    *chk_finding_at(a, i) = *f;
    chk_finding_at(a, i)->count = 1;
    a->findings++;
  }
  chk_unlock(&a->lock);
}

void chk_race(const struct chk_access *before, uint32_t flags, const struct chk_access *now,
              uintptr_t addr) {
  if (!chk.races) return;
  struct chk_finding f = {.kind = CHK_RACE,
                          .owner = now->owner,
                          .rank = {before->rank, now->rank},
                          .site = {before->site, now->site},
                          .flags = {before->flags | flags, now->flags},
                          .bytes = {before->bytes, now->bytes},
                          .addr = addr,
                          .offset = UINT64_MAX,
                          .open = {before->done == CHK_OPEN, now->done == CHK_OPEN},
                          .last = before->rank == chk.rank ? 0 : chk.heard[before->rank]};
  gasnet_seginfo_t *const all = chk_segments();
  if (all && addr - (uintptr_t)all[f.owner].addr < all[f.owner].size)
    f.offset = addr - (uintptr_t)all[f.owner].addr;
  enter(&f);
}

void chk_leak(const char *what, uint32_t site) {
  struct chk_finding f = {.kind = CHK_LEAK, .rank = {chk.rank, chk.rank}, .site = {site, site}};
  f.what = chk_name(what);
  enter(&f);
}
