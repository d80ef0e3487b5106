/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events, locks and critical sections.
 *
 * Owns nothing: an event is a signal word, a lock a word with the rank of its holder, in the
 * coarray. Called by compiled programs. Calls: post.c, signals, remote atomics. Invariants: an
 * event counts posts that were not waited for; a lock word is 0 when free, else 1 + rank of the
 * holder; each statement is an image control: what was written before is visible after.
 */
#include "data/pending.h"
#include "sync/post.h"

#include <sched.h>

CAF_EXPORT void CAF(lock)(void *token, size_t index, int image, int *acquired, int *stat,
                          char *errmsg, size_t errmsg_len);
CAF_EXPORT void CAF(unlock)(void *token, size_t index, int image, int *stat, char *errmsg,
                            size_t errmsg_len);
CAF_EXPORT void CAF(event_post)(void *token, size_t index, int image, int *stat, char *errmsg,
                                size_t errmsg_len);
CAF_EXPORT void CAF(event_wait)(void *token, size_t index, int until, int *stat, char *errmsg,
                                size_t errmsg_len);
CAF_EXPORT void CAF(event_query)(void *token, size_t index, int image, int *count, int *stat);

#define WORD    8u     /* bytes of an event or a lock */
#define TESTS   1000u  /* tests before a wait sleeps between them */
#define YIELDS  20000u /* of a wait that polls, before it sleeps */
#define LOOK_US 1000u  /* longest sleep between checks which image is lost */

/* Whether an event of a near rank counts more posts than EVENT_QUERY can return. */
static bool too_many(uint32_t rank, void *word) {
  uint64_t value;
  gex_RMA_GetBlocking(caf.tm, &value, rank, word, sizeof value, 0);
  return (value & (CAF_LOSS - 1)) > INT32_MAX;
}

void CAF(event_post)(void *token, size_t index, int image, int *stat, char *errmsg,
                     size_t errmsg_len) {
  CAF_STATEMENT("EVENT POST");
  const struct caf_status to = {stat, errmsg, errmsg_len};
  const uint32_t rank = caf_rank_of(token, image, &to);
  if (rank == UINT32_MAX) return;
  void *word = caf_address(token, index * WORD, WORD, rank, &to);
  if (!word) return;
  caf_complete();
  caf_post(rank, word);
  if (__builtin_expect(caf_is_near(rank) && too_many(rank, word), 0)) {
    caf_fail(&to, CAF_STAT_ERROR,
             "EVENT POST: the event on image %d has been posted %d times more than it was waited "
             "for [TMB-2042]",
             image ? image : (int)caf.team->rank + 1, INT32_MAX);
    return;
  }
  if (__builtin_expect(stat != NULL, 0)) *stat = caf.lost_count ? caf.lost[rank] : 0;
}

/* Wait for posts that wake nobody: by another method than signals. Returns as wait_consume. */
static int poll_consume(uint64_t *word, uint64_t want) {
  int code = 0;
  uint32_t i;
  for (i = 0; !caf_posts_take(word, want) && !code; i++) {
    if (i == TESTS)
      caf_show_begin(&(struct caf_shown){.needs = GEXX_WAIT_ANY,
                                         .peer = GEX_RANK_INVALID,
                                         .event = GEX_EVENT_INVALID,
                                         .word = word});
    gexx_Poll(i < YIELDS ? 0 : LOOK_US / 10);
    if (i >= TESTS) sched_yield();
    if (i >= TESTS && caf.lost_count) code = caf_team_state(caf.team);
  }
  if (i > TESTS) caf_show_end();
  return code;
}

/* Wait for posts and take them. Returns 0, or the code of a team that has lost a member, which may
 * be the one that would have posted. */
static int wait_consume(uint64_t *word, uint64_t want) {
  if (caf.events != CAF_EVENTS_SIGNAL) return poll_consume(word, want);
  for (;;) {
    for (uint32_t i = 0; i < (caf.lost_count ? TESTS : 1); i++)
      if (gexx_Signal_TryConsume(word, want) == GASNET_OK) return 0;
    const int code = caf.lost_count ? caf_team_state(caf.team) : 0;
    if (code) return code;
    caf.woken = 0;
    caf.waiting = word;
    caf_show_begin(&(struct caf_shown){.needs = GEXX_WAIT_ANY,
                                       .peer = GEX_RANK_INVALID,
                                       .event = GEX_EVENT_INVALID,
                                       .word = word});
    (void)gexx_Signal_WaitConsume(word, want);
    caf_show_end();
    caf.waiting = NULL;
    if (!caf.woken) return 0;
    /* It ended because an image was lost, not by posts. */
    __atomic_fetch_add(word, want - caf.woken * CAF_LOSS, __ATOMIC_ACQ_REL);
  }
}

void caf_consume(uint64_t *word, int until, const char *name, const struct caf_status *to) {
  const uint64_t want = until > 0 ? (uint64_t)until : 1;
  const int code = wait_consume(word, want);
  char who[CAF_ENDED_ROOM];
  if (code)
    caf_fail(to, code, "%s: %d posts have not come, and %s has %s [TMB-2041]", name, (int)want,
             caf_ended_images(caf.team, code, who, sizeof who), caf_end_name(code));
  else
    caf_ok(to->stat);
}

void CAF(event_wait)(void *token, size_t index, int until, int *stat, char *errmsg,
                     size_t errmsg_len) {
  CAF_STATEMENT("EVENT WAIT");
  const struct caf_status to = {stat, errmsg, errmsg_len};
  uint64_t *word = caf_address(token, index * WORD, WORD, caf.rank, &to);
  if (!word) return;
  caf_complete();
  caf_consume(word, until, "EVENT WAIT", &to);
}

void CAF(event_query)(void *token, size_t index, int image, int *count, int *stat) {
  CAF_STATEMENT("EVENT_QUERY");
  const struct caf_status to = {.stat = stat};
  caf_serve();
  const uint32_t rank = image == 0 ? caf.rank : caf_rank_of(token, image, &to);
  if (rank == UINT32_MAX) return;
  uint64_t *word = caf_address(token, index * WORD, WORD, rank, &to);
  uint64_t value = 0;
  if (!word) return;
  if (rank == caf.rank)
    value = caf_posts_count(word);
  else
    gex_RMA_GetBlocking(caf.tm, &value, rank, word, sizeof value, 0);
  value &= CAF_LOSS - 1;
  *count = value > INT32_MAX ? INT32_MAX : (int)value;
  caf_looked(word, (int64_t)value);
  caf_ok(stat);
}

/* Compare and swap a lock word; returns what it was. */
static int64_t swap_word(uint32_t rank, void *word, int64_t expected, int64_t value) {
  int64_t before;
  gex_Event_Wait(gex_AD_OpNB_I64(caf.ad64, &before, rank, word, GEX_OP_FCAS, expected, value, 0));
  return before;
}

/* Wait until the lock variable is free, or its holder lost, and take it. in before: what it was. */
static void wait_lock(const struct caf_token *token, uint32_t rank, void *word, int64_t before) {
  const bool critical = token->type == CAF_CRITICAL;
  int64_t expected = 0;
  uint32_t i;
  for (i = 0; before != expected; i++) {
    const uint64_t holder = (uint64_t)before - 1; /* none: before is 0 */
    caf.statement.peer = holder < caf.size ? (gex_Rank_t)holder : GEX_RANK_INVALID;
    if (i == TESTS)
      caf_show_begin(&(struct caf_shown){.needs = GEXX_WAIT_HOLDER,
                                         .polls = 1,
                                         .peer = caf.statement.peer,
                                         .home = rank,
                                         .event = GEX_EVENT_INVALID,
                                         .token = critical ? NULL : token});
    gexx_Poll(i < TESTS ? 0 : LOOK_US / 10);
    expected = holder < caf.size && caf.lost[holder] ? before : 0;
    before = swap_word(rank, word, expected, (int64_t)caf.rank + 1);
  }
  if (i > TESTS) caf_show_end();
}

void CAF(lock)(void *token, size_t index, int image, int *acquired, int *stat, char *errmsg,
               size_t errmsg_len) {
  const struct caf_status to = {stat, errmsg, errmsg_len};
  const uint32_t rank = caf_rank_of(token, image, &to);
  void *word = rank == UINT32_MAX ? NULL : caf_address(token, index * WORD, WORD, rank, &to);
  if (!word) return;
  CAF_STATEMENT(((struct caf_token *)token)->type == CAF_CRITICAL ? "CRITICAL" : "LOCK");
  caf_complete();
  int64_t before = swap_word(rank, word, 0, (int64_t)caf.rank + 1);
  if (acquired) {
    *acquired = before == 0;
    if (before) { /* in a loop of the program: the holder's UNLOCK has to come in */
      gasnet_AMPoll();
      caf_looked(word, before);
    }
    caf_ok(stat);
    return;
  }
  if (before == (int64_t)caf.rank + 1) {
    caf_fail(&to, CAF_STAT_LOCKED, "LOCK: this image holds the lock variable already [TMB-2040]");
    return;
  }
  if (before) wait_lock(token, rank, word, before);
  caf_ok(stat);
}

void CAF(unlock)(void *token, size_t index, int image, int *stat, char *errmsg, size_t errmsg_len) {
  CAF_STATEMENT("UNLOCK");
  const struct caf_status to = {stat, errmsg, errmsg_len};
  const uint32_t rank = caf_rank_of(token, image, &to);
  void *word = rank == UINT32_MAX ? NULL : caf_address(token, index * WORD, WORD, rank, &to);
  if (!word) return;
  caf_complete();
  const int64_t before = swap_word(rank, word, (int64_t)caf.rank + 1, 0);
  if (before == (int64_t)caf.rank + 1)
    caf_ok(stat);
  else if (before == 0)
    caf_fail(&to, CAF_STAT_LOCKED, "UNLOCK: the lock variable is not locked [TMB-2039]");
  else
    caf_fail(&to, CAF_STAT_LOCKED_OTHER,
             "UNLOCK: image %lld of the initial team holds the lock [TMB-2038]", (long long)before);
}
