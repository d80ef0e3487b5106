/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits, see wait.h.
 *
 * Owns nothing. Called by every statement that waits. Calls: gexx_Event_WaitUntil, get, shown.c.
 * Invariants: a word that is mapped here is read by the wait itself, so that the wait spins, yields
 * and sleeps as all others do; another word is read between short waits. Outside of such a wait,
 * words that others write are read by calls, so that a replay finds the recorded values.
 */
#include "sync/wait.h"

#include "data/pending.h"

#define FAR_US 100u /* between reads of a word that is not mapped, once the wait has lasted */

/* Why a wait ends besides its event; the counts are those at its begin. */
struct until {
  int (*holds)(void *arg);
  void *arg;
  uint64_t ended;
  uint32_t asked, lost;
};

static int is_over(void *arg) {
  const struct until *u = arg;
  return (u->holds && u->holds(u->arg)) || caf.asked != u->asked || caf.lost_count != u->lost ||
         __atomic_load_n(&caf.shared->ended, __ATOMIC_ACQUIRE) != u->ended;
}

bool caf_poll_until(gex_Event_t event, int (*until)(void *arg), void *arg, uint64_t timeout_us) {
  if (caf_answer()) return false;
  struct until u = {until, arg, __atomic_load_n(&caf.shared->ended, __ATOMIC_ACQUIRE), caf.asked,
                    caf.lost_count};
  const bool complete = gexx_Event_WaitUntil(event, is_over, &u, timeout_us) == GASNET_OK;
  (void)caf_answer();
  return complete;
}

/* A word that is mapped here. */
struct mapped {
  const struct caf_word *word;
  const uint64_t *here;
};

static int mapped_is_over(void *arg) {
  const struct mapped *m = arg;
  return m->word->is_over(__atomic_load_n(m->here, __ATOMIC_ACQUIRE), m->word->with);
}

/* The address if it is mapped here, else NULL. A lost member of a team may have left no address. */
static const uint64_t *here_of(const struct caf_word *w) {
  if (w->rank == caf.rank) return w->at;
  if (caf.lost[w->rank] || !caf_is_near(w->rank)) return NULL;
  return (const uint64_t *)(const void *)((const char *)w->at + caf.delta[w->rank]);
}

uint64_t caf_ended(void) {
  return gexx_Signal_Fetch(&caf.shared->ended);
}

static uint64_t word_read(const struct caf_word *w) {
  uint64_t value = 0;
  gex_RMA_GetBlocking(caf.tm, &value, w->rank, (void *)(uintptr_t)w->at, sizeof value, 0);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return value;
}

void caf_word_wait(const struct caf_word *w, uint32_t times) {
  struct mapped m = {w, here_of(w)};
  if (m.here)
    (void)caf_poll_until(GEX_EVENT_NO_OP, mapped_is_over, &m,
                         times ? CAF_LOOK_LATER_US : CAF_LOOK_US);
  else
    (void)caf_poll_until(GEX_EVENT_NO_OP, NULL, NULL, times < FAR_US ? times : FAR_US);
}

int caf_state_of(uint32_t rank) {
  uint64_t state = 0;
  struct caf_shared *there = (struct caf_shared *)caf.shared_addr[rank];
  if (caf.lost[rank]) return caf.lost[rank];
  gex_RMA_GetBlocking(caf.tm, &state, rank, &there->state, sizeof state, 0);
  return (int)state;
}

static bool is_least(uint64_t value, uint64_t with) {
  return value >= with;
}

int caf_word_reach(uint32_t rank, const void *at, uint64_t with, uint64_t *value) {
  const struct caf_word w = {rank, at, is_least, with};
  int state = 0;
  uint32_t times = 0;
  for (;; times++) {
    *value = word_read(&w);
    if (*value >= with || state) break;
    if ((state = caf_state_of(rank)) != 0) continue; /* what it did before its end counts */
    caf_word_wait(&w, times);
    if (times == 0)
      caf_show_begin(&(struct caf_shown){.needs = GEXX_WAIT_PEER,
                                         .polls = 1,
                                         .peer = rank,
                                         .home = rank,
                                         .event = GEX_EVENT_INVALID});
  }
  if (times) caf_show_end();
  return *value >= with ? 0 : state;
}
