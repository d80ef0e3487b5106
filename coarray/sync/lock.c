/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks and critical sections.
 *
 * Owns nothing: a lock is a word in the coarray, 0 when free, else 1 + rank of its holder. Called
 * by compiled programs and by the PRIF library. Calls: remote atomics. Invariants: a statement is
 * an image control: earlier writes are visible after it. A wait ends when the holder is lost (then
 * the lock is taken), has ended normally, or the image where the lock lies is lost.
 */
#include "data/pending.h"
#include "inside.h"
#include "sync/control.h"
#include "sync/wait.h"

#include <tombolo/check_hook.h>

CAF_EXPORT void CAF(lock)(void *token, size_t index, int image, int *acquired, int *stat,
                          char *errmsg, size_t errmsg_len);
CAF_EXPORT void CAF(unlock)(void *token, size_t index, int image, int *stat, char *errmsg,
                            size_t errmsg_len);

#define WORD 8u /* bytes of a lock */

/* Takes a free lock, or frees one that this image holds, in mapped memory. Nothing of the layer
 * below is used, so nothing marks that the program is inside. A word that holds this image is
 * changed by no other one, so a store frees it, and puts what was written before in order. Returns
 * false where that is not all of the statement: the caller then does it in full. */
static inline __attribute__((always_inline)) bool
change_here(const struct caf_token *t, size_t index, int image, int *stat, bool takes) {
  uint32_t rank;
  int64_t *const word = caf_word_short(t, index * WORD, image, &rank), mine = caf.image;
  if (!word || caf.pending & CAF_UNDER_WAY) return false;
  if (takes) {
    if (gexx_ad_do_I64(word, GEX_OP_FCAS, 0, mine) != 0) return false;
  } else {
    if (__atomic_load_n(word, __ATOMIC_RELAXED) != mine) return false;
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
  }
  caf_ok(stat); /* gfortran has one for END CRITICAL */
  return true;
}

/* Compare and swap a lock word; returns the word before. */
static int64_t swap_word(const struct caf_lock *l, int64_t expected, int64_t value) {
  int64_t before = 0;
  gex_Event_Wait(
      gex_AD_OpNB_I64(caf.ad64, &before, l->rank, l->word, GEX_OP_FCAS, expected, value, 0));
  return before;
}

/* Whether the image that held a lock has ended normally, and holds it still: it gave all locks back
 * that it ever will before it said that it ends. */
static bool ended_with(const struct caf_lock *l, uint32_t holder, int64_t word) {
  if (caf_ended() == 0) return false;
  return caf_state_of(holder) == CAF_STAT_STOPPED && swap_word(l, word, word) == word;
}

/* Answer of the last check of the holder. An image that has ended is counted in `ended`, so the
 * answer holds until one of them changes. To ask again and again would be taken for progress by a
 * watchdog. */
struct asked {
  uint64_t ended;
  int64_t word;
};

static bool has_changed(struct asked *asked, int64_t word) {
  const uint64_t ended = caf_ended();
  const bool changed = ended != asked->ended || word != asked->word;
  *asked = (struct asked){ended, word};
  return changed;
}

/* Why a wait for a lock ends without it; CAF_TAKEN: it goes on. in asked: NULL: not long yet. */
static enum caf_taken hopeless(const struct caf_lock *l, int64_t word, struct asked *asked) {
  const uint64_t holder = (uint64_t)word - 1; /* none: word is 0 */
  if (caf.lost[l->rank]) return CAF_TAKEN_NOWHERE;
  if (word && holder >= caf.size) return CAF_TAKEN_NO_LOCK;
  if (word && asked && has_changed(asked, word) && ended_with(l, (uint32_t)holder, word))
    return CAF_TAKEN_NEVER;
  return CAF_TAKEN;
}

/* The lock was freed, or has another holder. */
static bool has_other(uint64_t value, uint64_t with) {
  return value != with;
}

/* Waits until a lock is free, or its holder lost, and takes it. [in,out] before: word before. */
static enum caf_taken wait_lock(const struct caf_lock *l, int64_t *before) {
  enum caf_taken taken = CAF_TAKEN;
  struct asked asked = {0, 0};
  struct caf_word word = {.rank = l->rank, .at = l->word, .is_over = has_other};
  int64_t expected = 0;
  uint32_t i;
  for (i = 0; *before != expected; i++) {
    const uint64_t holder = (uint64_t)*before - 1;
    const bool held = holder < caf.size;
    caf.statement.peer = held ? (gex_Rank_t)holder : GEX_RANK_INVALID;
    if (i == 1)
      caf_show_begin(&(struct caf_shown){.needs = GEXX_WAIT_HOLDER,
                                         .polls = 1,
                                         .peer = caf.statement.peer,
                                         .home = l->rank,
                                         .event = GEX_EVENT_INVALID,
                                         .token = l->token});
    word.with = (uint64_t)*before;
    caf_word_wait(&word, i);
    taken = hopeless(l, *before, i ? &asked : NULL);
    if (taken != CAF_TAKEN) break;
    expected = held && caf.lost[holder] ? *before : 0;
    *before = swap_word(l, expected, (int64_t)caf.rank + 1);
  }
  if (i > 1) caf_show_end();
  return taken == CAF_TAKEN && expected ? CAF_TAKEN_OF_FAILED : taken;
}

/* Takes a lock whose holder is lost, if it can be had at once. */
static enum caf_taken try_lost(const struct caf_lock *l, int64_t before) {
  const uint64_t holder = (uint64_t)before - 1;
  if (holder >= caf.size || !caf.lost[holder]) return CAF_TAKEN_BUSY;
  return swap_word(l, before, (int64_t)caf.rank + 1) == before ? CAF_TAKEN_OF_FAILED
                                                               : CAF_TAKEN_BUSY;
}

enum caf_taken caf_lock_take(const struct caf_lock *l, bool once, int64_t *holder) {
  int64_t before = swap_word(l, 0, (int64_t)caf.rank + 1);
  enum caf_taken taken = CAF_TAKEN;
  if (__builtin_expect(caf.lost_count && caf.lost[l->rank], 0))
    taken = CAF_TAKEN_NOWHERE;
  else if (before == (int64_t)caf.rank + 1)
    taken = CAF_TAKEN_BEFORE;
  else if (before && once)
    taken = try_lost(l, before);
  else if (before)
    taken = wait_lock(l, &before);
  *holder = before;
  if (taken == CAF_TAKEN_BUSY) { /* in a loop of the program: the holder's UNLOCK has to come in */
    caf_poll();
    caf_looked(l->word, before);
  }
  if (taken == CAF_TAKEN || taken == CAF_TAKEN_OF_FAILED)
    gexx_check_made(l->rank, l->word, "lock that was never unlocked");
  return taken;
}

int64_t caf_lock_free(const struct caf_lock *l) {
  gexx_check_ended(l->rank, l->word);
  return swap_word(l, (int64_t)caf.rank + 1, 0);
}

/* Where the lock variable of a statement lies. Returns false after caf_fail. */
static bool find(struct caf_lock *l, void *token, size_t index, int image,
                 const struct caf_status *to) {
  l->rank = caf_rank_of(token, image, to);
  if (l->rank == UINT32_MAX) return false;
  l->word = caf_address(token, index * WORD, WORD, l->rank, to);
  if (!l->word) return false;
  if (caf_is_near(l->rank)) (void)caf_place(token, l->rank); /* for change_here, next time */
  l->token = ((const struct caf_token *)token)->type == CAF_CRITICAL ? NULL : token;
  return true;
}

static void fail_lock(enum caf_taken taken, const struct caf_lock *l, int64_t holder,
                      const struct caf_status *to) {
  const char *name = caf.statement.call;
  if (taken == CAF_TAKEN_BEFORE)
    caf_fail(to, CAF_STAT_LOCKED, "LOCK: this image holds the lock variable already [TMB-2040]");
  else if (taken == CAF_TAKEN_NEVER)
    caf_fail(to, CAF_STAT_STOPPED,
             "%s: image %lld of the initial team holds the lock and has ended [TMB-2061]", name,
             (long long)holder);
  else if (taken == CAF_TAKEN_NOWHERE)
    caf_fail(to, caf.lost[l->rank],
             "%s: image %u of the initial team, which has the lock, has %s [TMB-2060]", name,
             l->rank + 1, caf_end_name(caf.lost[l->rank]));
  else
    caf_fail(to, CAF_STAT_ERROR, "%s: the lock variable holds %lld, which is no image [TMB-2059]",
             name, (long long)holder);
}

/* A statement, as the compiler passes it. */
struct statement {
  void *token;
  size_t index;
  int image;
  int *acquired;
  struct caf_status to;
  const char *caller;
};

static __attribute__((noinline)) void lock_any(const struct statement *s) {
  CAF_INSIDE;
  struct caf_lock l;
  if (!find(&l, s->token, s->index, s->image, &s->to)) return;
  caf.statement.call = l.token ? "LOCK" : "CRITICAL";
  caf.statement.caller = s->caller;
  caf_complete();
  int64_t holder;
  const enum caf_taken taken = caf_lock_take(&l, s->acquired != NULL, &holder);
  const bool mine = taken == CAF_TAKEN || taken == CAF_TAKEN_OF_FAILED;
  /* Set it after an error, too: gfortran copies it into the program's variable in any case. */
  if (s->acquired) *s->acquired = mine;
  if (mine || (s->acquired && taken == CAF_TAKEN_BUSY))
    caf_ok(s->to.stat);
  else
    fail_lock(taken, &l, holder, &s->to);
}

void CAF(lock)(void *token, size_t index, int image, int *acquired, int *stat, char *errmsg,
               size_t errmsg_len) {
  if (__builtin_expect(change_here(token, index, image, stat, true), 1)) {
    if (acquired) *acquired = true;
    return;
  }
  const struct statement s = {
      token, index, image, acquired, {stat, errmsg, errmsg_len}, __builtin_return_address(0)};
  lock_any(&s);
}

static __attribute__((noinline)) void unlock_any(const struct statement *s) {
  CAF_INSIDE;
  struct caf_lock l;
  if (!find(&l, s->token, s->index, s->image, &s->to)) return;
  caf_complete();
  const int64_t before = caf_lock_free(&l);
  if (before == (int64_t)caf.rank + 1)
    caf_ok(s->to.stat);
  else if (before == 0)
    caf_fail(&s->to, CAF_STAT_LOCKED, "UNLOCK: the lock variable is not locked [TMB-2039]");
  else
    caf_fail(&s->to, CAF_STAT_LOCKED_OTHER,
             "UNLOCK: image %lld of the initial team holds the lock [TMB-2038]", (long long)before);
}

void CAF(unlock)(void *token, size_t index, int image, int *stat, char *errmsg, size_t errmsg_len) {
  if (__builtin_expect(change_here(token, index, image, stat, false), 1)) return;
  CAF_STATEMENT("UNLOCK");
  const struct statement s = {
      .token = token, .index = index, .image = image, .to = {stat, errmsg, errmsg_len}};
  unlock_any(&s);
}
