/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings: races and leaks, each pair of lines once.
 *
 * Owns: the findings of the area. Called by shadow.c, pending.c and objects.c, under chk.lock. The
 * launcher prints them when the ranks have ended. Invariant: the first two accesses of a pair of
 * lines are kept, and how often there were such pairs.
 */
#include "check/runtime/chk.h"

#include <stdio.h>
#include <string.h>

/* Enter a finding, unless there is one like it. Returns whether there is none. */
static bool enter(const struct chk_finding *f) {
  struct chk_area *const a = chk.area;
  chk_lock(&a->lock);
  uint32_t i = 0;
  for (; i < a->findings; i++) {
    const struct chk_finding *const g = chk_finding_at(a, i);
    if (g->kind != f->kind || g->what != f->what) continue;
    if (g->site[0] == f->site[0] && g->site[1] == f->site[1]) break;
    if (g->site[0] == f->site[1] && g->site[1] == f->site[0]) break;
  }
  const bool is_new = i == a->findings;
  if (!is_new) {
    chk_finding_at(a, i)->count++;
  } else if (i < CHK_FINDINGS) {
    *chk_finding_at(a, i) = *f;
    chk_finding_at(a, i)->count = 1;
    a->findings++;
  } else {
    a->unkept++;
  }
  chk_unlock(&a->lock);
  return is_new;
}

/* Mark the race in a trace, if there is one; this polls nothing. */
static void mark(const struct chk_finding *f) {
  char text[192];
  const char *call[2];
  for (int i = 0; i < 2; i++)
    call[i] = f->site[i] ? chk_name_at(chk.area, chk_site_at(chk.area, f->site[i])->call) : "?";
  snprintf(text, sizeof text, "race: %s by rank %u, %s by rank %u", call[0], f->rank[0], call[1],
           f->rank[1]);
  gexx_Trace_Mark(text);
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
  const bool same = before->rank == now->rank;
  if (!same || before->thread != now->thread) {
    f.thread[0] = same ? chk_thread_number(before->thread) : before->thread;
    f.thread[1] = chk_thread_number(now->thread);
  }
  gasnet_seginfo_t *const all = chk_segments();
  if (all && addr - (uintptr_t)all[f.owner].addr < all[f.owner].size)
    f.offset = addr - (uintptr_t)all[f.owner].addr;
  if (enter(&f)) mark(&f);
}

void chk_leak(const char *what, uint32_t site) {
  struct chk_finding f = {.kind = CHK_LEAK, .rank = {chk.rank, chk.rank}, .site = {site, site}};
  f.what = chk_name(what);
  (void)enter(&f);
}
