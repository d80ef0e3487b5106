/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends of ranks that are too early for others, see early.h.
 *
 * Owns: no state. Called as early.h says. Calls: explain for the counts of calls, its words, log.
 * The first rank that waits so is reported, with all that wait in its call.
 */
#include "boot/supervise/early.h"

#include "base/log.h"
#include "boot/explain/explain.h"
#include "boot/explain/explain_words.h"

#include <stdlib.h>

/* The call in which a rank waits and which ended ranks have not made, or NULL. out missing: [size]
 * 1: those ranks. */
static const struct tmb_status_wait *hopeless(const struct tmb_snapshot *now, const bool *ended,
                                              uint32_t rank, uint8_t *missing) {
  for (int i = 0; i < TMB_STATUS_WAITS; i++) {
    const struct tmb_status_wait *w = tmb_explain_wait(now, rank, i);
    if (!w || !tmb_words_is_call(w) || w->team >= TMB_STATUS_TEAMS) continue;
    const uint64_t uid = now->rank[rank].status.team[w->team].uid;
    bool any = false;
    for (uint32_t r = 0; r < now->size; r++) {
      const int team = ended[r] && now->rank[r].here ? tmb_explain_team(now, r, uid) : -1;
      missing[r] = team >= 0 && tmb_explain_calls(now, r, team, w) < w->number;
      any = any || missing[r];
    }
    if (any) return w;
  }
  return NULL;
}

void tmb_sup_print_early(const struct tmb_snapshot *now, const bool *ended) {
  char who[TMB_WORDS_BYTES], waiting[TMB_WORDS_BYTES], what[TMB_WORDS_BYTES];
  uint8_t *missing = calloc(now->size, 1), *same = calloc(now->size, 1);
  for (uint32_t r = 0; missing && same && r < now->size; r++) {
    const struct tmb_status_wait *w =
        ended[r] || !now->rank[r].here ? NULL : hopeless(now, ended, r, missing);
    if (!w) continue;
    const uint64_t uid = now->rank[r].status.team[w->team].uid;
    uint32_t count = 0;
    for (uint32_t o = r; o < now->size; o++) {
      same[o] = !ended[o] && now->rank[o].here && tmb_explain_in_call(now, o, uid, w);
      count += same[o];
    }
    tmb_words_call(now, r, w, what, sizeof what);
    tmb_print("%s ended before %s, in which %s wait%s; the job ends here, with code 0",
              tmb_words_ranks(now, missing, who, sizeof who), what,
              tmb_words_ranks(now, same, waiting, sizeof waiting), count == 1 ? "s" : "");
    break;
  }
  free(missing);
  free(same);
}
