/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meetings of a team's members at the chunks of a collective, where ranks outnumber processors.
 *
 * Owns nothing. Included by shared_show.c and shared_take.c. Calls: shared_row.h. Where each rank
 * has a processor, a member reads the rows of the others until all have shown their data. Where
 * several share one, a member that does so has its turn in vain until the last one has come, and
 * each of them wakes it from its sleep. So those who show data count themselves in a word of the
 * chunk's head, in the row of team rank 0. The last one says in this word that all have come, and
 * wakes those who want the data. Invariants: a member counts itself after it has published its
 * chunk; nobody shows the chunk that uses a head next before all have read this one, so a word
 * changes its number only after that.
 */
#ifndef TMB_COLL_SHARED_MEET_H
#define TMB_COLL_SHARED_MEET_H

#include "coll/shared/shared_row.h"

/* A word: bits 32..63 number of the chunk + 1, bit 31 all have come, bits 16..30 team rank of the
 * last one, bits 0..15 arrivals. Fixed by this layout. */
#define TMB_MEET_RANK_SHIFT   16
#define TMB_MEET_NUMBER_SHIFT 32
#define TMB_MEET_CLOSED       (UINT64_C(1) << 31)
#define TMB_MEET_COUNT        UINT64_C(0xffff)
#define TMB_MEET_RANK         UINT64_C(0x7fff)

static inline uint64_t *tmb_meet_word(const struct tmb_coll_shared *b, uint64_t number) {
  return &tmb_row_head(b->row[0], number)->met;
}

static inline uint64_t tmb_meet_name(uint64_t number) {
  return (number + 1) << TMB_MEET_NUMBER_SHIFT;
}

/* Count this member, which has published chunk `number`. in members: how many do. Returns whether
 * it is the last one. */
static inline bool tmb_meet_arrive(const struct tmb_coll_shared *b, uint64_t number,
                                   uint32_t members) {
  uint64_t *const word = tmb_meet_word(b, number);
  const uint64_t name = tmb_meet_name(number);
  uint64_t seen = tmb_load_rlx(word), now;
  do {
    now = (seen ^ name) >> TMB_MEET_NUMBER_SHIFT ? name | 1 : seen + 1;
  } while (!tmb_cas_acq_rel(word, &seen, now));
  return (now & TMB_MEET_COUNT) == members;
}

/* The last member, of team rank `last`, says that all have come. */
static inline void tmb_meet_close(const struct tmb_coll_shared *b, uint64_t number, uint32_t last) {
  tmb_store_rel(tmb_meet_word(b, number),
                tmb_meet_name(number) | TMB_MEET_CLOSED | (uint64_t)last << TMB_MEET_RANK_SHIFT);
}

/* Whether all have come to chunk `number`, which this member has not read. out last: the team rank
 * of the last one. */
static inline bool tmb_meet_closed(const struct tmb_coll_shared *b, uint64_t number,
                                   uint32_t *last) {
  const uint64_t seen = tmb_load_acq(tmb_meet_word(b, number));
  *last = (uint32_t)(seen >> TMB_MEET_RANK_SHIFT & TMB_MEET_RANK);
  return (seen & TMB_MEET_CLOSED) && !((seen ^ tmb_meet_name(number)) >> TMB_MEET_NUMBER_SHIFT);
}

#endif
