/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events.
 *
 * Owns nothing: an event is a signal word in the coarray. Called by compiled programs and by the
 * PRIF library. Calls: post.c, signals. Invariants: an event counts posts that were not waited for;
 * each statement is an image control: earlier writes are visible after it. A wait ends when an
 * image of the team is lost, or no other image is left to post: caf.waiting is set before that is
 * checked, so a later loss finds it.
 */
#include "data/pending.h"
#include "inside.h"
#include "sync/control.h"
#include "sync/post.h"
#include "sync/wait.h"

CAF_EXPORT void CAF(event_post)(void *token, size_t index, int image, int *stat, char *errmsg,
                                size_t errmsg_len);
CAF_EXPORT void CAF(event_wait)(void *token, size_t index, int until, int *stat, char *errmsg,
                                size_t errmsg_len);
CAF_EXPORT void CAF(event_query)(void *token, size_t index, int image, int *count, int *stat);

#define WORD  8u    /* bytes of an event */
#define TESTS 1000u /* tests of posts of this image itself, which may be in flight */

/* Whether an event that counts `value` posts has more than EVENT_QUERY can return. */
static inline bool too_many(uint64_t value) {
  return __builtin_expect((value & (CAF_LOSS - 1)) > INT32_MAX, 0);
}

static bool too_many_at(uint32_t rank, void *word) {
  uint64_t value;
  gex_RMA_GetBlocking(caf.tm, &value, rank, word, sizeof value, 0);
  return too_many(value);
}

static __attribute__((cold)) void fail_too_many(int image, const struct caf_status *to) {
  caf_fail(to, CAF_STAT_ERROR,
           "EVENT POST: the event on image %d has been posted %d times more than it was waited for "
           "[TMB-2042]",
           image ? image : (int)caf.team->rank + 1, INT32_MAX);
}

/* A statement, as the compiler passes it. */
struct statement {
  void *token;
  size_t index;
  int image;
  struct caf_status to;
};

/* Posts an event in mapped memory, as caf_post would. The layer below only wakes
 * its owner, which any thread may do, so nothing marks that the program is inside. Returns false
 * where that is not all of the statement: the caller then does it in full. [out] posts: that the
 * event counts now. */
static inline __attribute__((always_inline)) bool post_here(const struct caf_token *t, size_t index,
                                                            int image, uint64_t *posts) {
  uint32_t rank;
  uint64_t *const word = caf_word_short(t, index * WORD, image, &rank);
  if (!word || caf.pending & CAF_UNDER_WAY || caf.events != CAF_EVENTS_SIGNAL) return false;
  *posts = __atomic_add_fetch(word, 1, __ATOMIC_RELEASE);
  gexx_signal_changed(caf.tm, rank, (const uint64_t *)(t->addr[rank] + index * WORD));
  return true;
}

/* The same with STAT=. Returns false as well. */
static bool post_here_stat(const struct statement *s) {
  uint64_t posts;
  if (!s->to.stat || caf_serve_is_due() || caf_has_reports() ||
      !post_here(s->token, s->index, s->image, &posts))
    return false;
  *s->to.stat = 0;
  if (too_many(posts)) fail_too_many(s->image, &s->to);
  return true;
}

static __attribute__((noinline)) void post_any(const struct statement *s) {
  if (post_here_stat(s)) return;
  CAF_INSIDE;
  const struct caf_status *to = &s->to;
  const uint32_t rank = caf_rank_of(s->token, s->image, to);
  if (rank == UINT32_MAX) return;
  void *word = caf_address(s->token, s->index * WORD, WORD, rank, to);
  if (!word) return;
  caf_complete();
  caf_post(rank, word);
  if (caf_is_near(rank)) {
    (void)caf_place(s->token, rank); /* for post_here of the next statement */
    if (too_many_at(rank, word)) {
      fail_too_many(s->image, to);
      return;
    }
  }
  if (to->stat) {
    caf_serve();
    *to->stat = caf.lost_count ? caf.lost[rank] : 0;
  }
}

void CAF(event_post)(void *token, size_t index, int image, int *stat, char *errmsg,
                     size_t errmsg_len) {
  uint64_t posts;
  if (__builtin_expect(!stat && post_here(token, index, image, &posts), 1)) {
    const struct caf_status none = {0};
    if (too_many(posts)) fail_too_many(image, &none);
    return;
  }
  CAF_STATEMENT("EVENT POST");
  const struct statement s = {token, index, image, {stat, errmsg, errmsg_len}};
  post_any(&s);
}

/* Reason why missing posts may never come: CAF_STAT_FAILED or CAF_STAT_STOPPED: the team has
 * lost a member, which may be the one that would have posted, or this image alone is left. 0: they
 * may come. */
static int hopeless(void) {
  const int code = caf.lost_count ? caf_team_state(caf.team) : 0;
  return code || !caf_alone() ? code : CAF_STAT_STOPPED;
}

/* The last other image has ended, and has seen that this one has not. */
static void on_alone(gex_Token_t token) {
  (void)token;
  if (!caf.waiting || caf.woken) return;
  caf.woken++;
  __atomic_fetch_add(caf.waiting, CAF_LOSS, __ATOMIC_RELEASE);
}

void caf_events_start(void) {
  static gex_AM_Entry_t entry = {
      CAF_H_ALONE, (gex_AM_Fn_t)on_alone, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0, NULL, NULL};
  gex_EP_RegisterHandlers(caf.ep, &entry, 1);
}

/* Posts of an event that are waited for. */
struct posts {
  const uint64_t *word;
  uint64_t want;
};

static int have_come(void *arg) {
  const struct posts *p = arg;
  return caf_posts_come(p->word) >= p->want;
}

/* Wait for posts that wake nobody: by another method than signals. Returns as caf_wait_posts. */
static int poll_consume(uint64_t *word, uint64_t want) {
  struct posts p = {word, want};
  int code = 0;
  bool taken, shows = false;
  while (!(taken = caf_posts_take(word, want)) && !code) {
    (void)caf_poll_until(GEX_EVENT_NO_OP, have_come, &p, shows ? CAF_LOOK_LATER_US : CAF_LOOK_US);
    if (have_come(&p)) continue;
    code = hopeless();
    if (shows) continue;
    shows = true;
    caf_show_begin(&(struct caf_shown){.needs = GEXX_WAIT_ANY,
                                       .peer = GEX_RANK_INVALID,
                                       .event = GEX_EVENT_INVALID,
                                       .word = word});
  }
  if (shows) caf_show_end();
  return taken ? 0 : code;
}

/* Nobody else will post: posts of this image itself may be in flight. */
static bool take_own(uint64_t *word, uint64_t want) {
  bool taken = false;
  caf_settle();
  caf_complete();
  caf_posts_settle();
  for (uint32_t i = 0; i < TESTS && !taken; i++)
    taken = gexx_Signal_TryConsume(word, want) == GASNET_OK;
  return taken;
}

int caf_wait_posts(uint64_t *word, uint64_t want) {
  if (caf.events != CAF_EVENTS_SIGNAL) return poll_consume(word, want);
  caf_serve();
  (void)caf_look(word, want);
  for (;;) {
    (void)caf_answer();
    for (uint32_t i = 0; i < (caf.lost_count ? TESTS : 1); i++)
      if (gexx_Signal_TryConsume(word, want) == GASNET_OK) return 0;
    caf.woken = 0;
    caf.waiting = word;
    const int code = hopeless();
    const bool waits = !code && !caf.asked; /* later losses end the wait */
    if (waits) {
      caf_show_begin(&(struct caf_shown){.needs = GEXX_WAIT_ANY,
                                         .peer = GEX_RANK_INVALID,
                                         .event = GEX_EVENT_INVALID,
                                         .word = word});
      (void)gexx_Signal_WaitConsume(word, want);
      caf_show_end();
    }
    caf.waiting = NULL;
    const uint64_t taken = waits ? want : 0, added = caf.woken * CAF_LOSS;
    /* An image was lost, has ended, or asks for an access: units that were added for that, and
     * taken without posts, go back. */
    if (caf.woken) __atomic_fetch_add(word, taken - added, __ATOMIC_ACQ_REL);
    if (code) return take_own(word, want) ? 0 : code;
    if (waits && !caf.woken) return 0;
  }
}

void caf_consume(uint64_t *word, int until, const char *name, const struct caf_status *to) {
  const uint64_t want = until > 0 ? (uint64_t)until : 1;
  const int code = caf_wait_posts(word, want);
  char who[CAF_ENDED_ROOM];
  if (code && caf_alone())
    caf_fail(to, code, "%s: %d posts have not come, and no other image is left to post [TMB-2058]",
             name, (int)want);
  else if (code)
    caf_fail(to, code, "%s: %d posts have not come, and %s has %s [TMB-2041]", name, (int)want,
             caf_ended_images(caf.team, code, who, sizeof who), caf_end_name(code));
  else
    caf_ok(to->stat);
}

void CAF(event_wait)(void *token, size_t index, int until, int *stat, char *errmsg,
                     size_t errmsg_len) {
  CAF_INSIDE;
  CAF_STATEMENT("EVENT WAIT");
  const struct caf_status to = {stat, errmsg, errmsg_len};
  uint64_t *word = caf_address(token, index * WORD, WORD, caf.rank, &to);
  if (!word) return;
  caf_complete();
  caf_consume(word, until, "EVENT WAIT", &to);
}

/* Gives the posts that an event counts to the program. */
static inline void show_count(const void *word, uint64_t value, int *count, int *stat) {
  value &= CAF_LOSS - 1;
  *count = value > INT32_MAX ? INT32_MAX : (int)value;
  caf_looked(word, (int64_t)value);
  caf_ok(stat);
}

static __attribute__((noinline)) void query_any(const struct statement *s, int *count) {
  CAF_INSIDE;
  caf_serve();
  const uint32_t rank = s->image == 0 ? caf.rank : caf_rank_of(s->token, s->image, &s->to);
  if (rank == UINT32_MAX) return;
  uint64_t *word = caf_address(s->token, s->index * WORD, WORD, rank, &s->to);
  uint64_t value = 0;
  if (!word) return;
  if (caf_is_near(rank)) (void)caf_place(s->token, rank); /* for the next statement */
  if (rank == caf.rank)
    value = caf_posts_count(word);
  else
    gex_RMA_GetBlocking(caf.tm, &value, rank, word, sizeof value, 0);
  show_count(word, value, count, s->to.stat);
}

void CAF(event_query)(void *token, size_t index, int image, int *count, int *stat) {
  uint32_t rank;
  const uint64_t *const word = caf_word_short(token, index * WORD, image, &rank);
  if (word && caf.events == CAF_EVENTS_SIGNAL && !caf_serve_is_due()) {
    show_count(word, __atomic_load_n(word, __ATOMIC_ACQUIRE), count, stat);
    return;
  }
  CAF_STATEMENT("EVENT_QUERY");
  const struct statement s = {token, index, image, {.stat = stat}};
  query_any(&s, count);
}
