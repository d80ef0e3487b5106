/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Common parts of the EX barrier and the named barrier.
 *
 * Owns: who meets where, the layout of control words. Called by barrier.c, barrier_named.c and
 * barrier_words.c alone. Calls: rows of a team. Invariants: as in barrier.c.
 */
#ifndef TMB_CORE_BARRIER_PARTS_H
#define TMB_CORE_BARRIER_PARTS_H

#include "core/job.h"
#include "core/shared.h"
#include "core/team/groups.h"

/* Fixed: the layout of a barrier's words, for teams of at most 2^TMB_BARRIER_ROUNDS_MAX hosts. */
#define TMB_BARRIER_EX_WORDS    0
#define TMB_BARRIER_NAMED_WORDS 16
#define TMB_BARRIER_ROUNDS_MAX  11
#define TMB_BARRIER_WORDS       (TMB_BARRIER_NAMED_WORDS + 2 * TMB_BARRIER_ROUNDS_MAX)

/* Control words of a rank: each has one writer, the peer of one round. */
struct tmb_barrier_words {
  struct tmb_shared_line word[TMB_BARRIER_WORDS];
};

/* Checked by clang: only under the lock. */
TMB_REQUIRES(tmb_job.barriers.lock) static inline struct tmb_barriers *tmb_barriers(void) {
  return &tmb_job.barriers;
}

/* Count barriers in flight, for which progress looks; only changed under the lock. */
TMB_REQUIRES(tmb_job.barriers.lock) static inline void tmb_barrier_work(int by) {
  uint32_t *const work = &tmb_job.work[TMB_WORK_BARRIERS];
  tmb_store_rel(work, tmb_load_rlx(work) + (uint32_t)by);
}

/* Whether members count their arrivals in one word, and one word releases each. */
static inline bool tmb_barrier_has_root(const struct tmb_team *team) {
  return team->barrier.form != TMB_BARRIER_ROUNDS;
}

/* Whether one word ends a barrier for this member. */
static inline bool tmb_barrier_is_released(const struct tmb_team *team) {
  const uint8_t form = team->barrier.form;
  return form == TMB_BARRIER_CENTRAL || form == TMB_BARRIER_MEMBER;
}

/* Whether a member that waits should leave its processor to others that come to the barrier. */
static inline bool tmb_barrier_is_crowded(const struct tmb_team *team) {
  return tmb_barrier_has_root(team) && tmb_job.wait.crowded;
}

/* Arrival of the calling member at a barrier of this number and kind, for which it will wait. The
 * last member to arrive on a processor may spin, unless the team has groups: then the leader of its
 * group, or members of another group, still need the processor. */
static inline void tmb_barrier_come(const struct tmb_team *team, enum tmb_meeting kind,
                                    uint64_t number) {
  tmb_store_rlx(&tmb_job.last_here, !team->group && tmb_shared_last_here(team, kind, number));
}

/* Peer that a member signals in a round among all. */
static inline uint32_t tmb_barrier_peer(const struct tmb_team *team, uint32_t round) {
  return (uint32_t)((team->head.rank + (UINT64_C(1) << round)) % team->head.size);
}

/* Set a control word of a rank, after all earlier stores; words only grow. Returns false when there
 * are no resources now. */
bool tmb_barrier_post(uint32_t peer, uint32_t word, uint64_t value);

/* Try to send a Short of a barrier. Returns false when there are no resources now. */
bool tmb_barrier_send(uint32_t peer, uint8_t handler, const int32_t *args, uint8_t nargs);

/* Value of a control word of this rank. */
static inline uint64_t tmb_barrier_word(uint32_t word) {
  return tmb_load_acq(&tmb_job.barriers.words->word[word].word);
}

/* Raise a word that one peer changes by messages, which may overtake each other. */
static inline void tmb_barrier_raise(uint64_t *word, uint64_t value) {
  uint64_t seen = tmb_load_rlx(word);
  while (seen < value && !tmb_cas_acq_rel(word, &seen, value)) {}
}

/* Pass all rounds of the named barrier that can be passed. Returns how many, 1 more at its end. */
TMB_REQUIRES(tmb_job.barriers.lock) int tmb_barrier_named_advance(void);

#endif
