/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Image control: SYNC ALL, SYNC IMAGES, SYNC MEMORY, SYNC TEAM, and their common parts.
 *
 * Owns: the counts of SYNC IMAGES. Called by compiled programs and by the other files of this
 * folder. Calls: barriers, signals. Invariants: a wait never outlives the hope of its end: when an
 * image that has to take part has ended normally, the statement fails with STAT_STOPPED_IMAGE. SYNC
 * IMAGES: each pair of images counts its posts, so that the n-th of one meets the n-th of the
 * other; posts grow only.
 */
#include "data/pending.h"
#include "inside.h"
#include "sync/control.h"
#include "sync/post.h"
#include "sync/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <tombolo/check_hook.h>

CAF_EXPORT void CAF(sync_memory)(int *stat, char *errmsg, size_t errmsg_len);

enum { FEW_IMAGES = 16 };
enum { MEMORY_TIMES = 8 }; /* how much more often SYNC MEMORY serves where no thread does */

/* Whether no image of the job has ended or failed: then nobody needs to be asked. */
static bool all_well(void) {
  return caf_ended() == 0 && __atomic_load_n(&caf.lost_count, __ATOMIC_ACQUIRE) == 0;
}

bool caf_alone(void) {
  if (caf_ended() + caf.lost_count < caf.size - 1) return false;
  for (uint32_t r = 0; r < caf.size; r++)
    if (r != caf.rank && !caf_state_of(r)) return false;
  return true;
}

int caf_team_state(const struct caf_team *team) {
  int worst = 0;
  if (all_well()) return 0;
  for (uint32_t i = 0; i < team->size; i++) {
    const int state = caf_state_of(team->jobrank[i]);
    if (state == CAF_STAT_STOPPED) return state;
    if (state) worst = state;
  }
  return worst;
}

const char *caf_ended_images(const struct caf_team *team, int code, char *to, size_t room) {
  uint32_t first = 0, count = 0;
  for (uint32_t i = 0; i < team->size; i++)
    if (caf_state_of(team->jobrank[i]) == code && count++ == 0) first = team->jobrank[i] + 1;
  if (count == 0)
    snprintf(to, room, "an image of the team");
  else if (count == 1)
    snprintf(to, room, "image %u of the initial team", first);
  else
    snprintf(to, room, "image %u of the initial team, as %u other%s,", first, count - 1,
             count > 2 ? "s" : "");
  return to;
}

static uint64_t begun_by(const struct caf_team *team, uint32_t i) {
  const struct caf_words *there = (const struct caf_words *)team->words_at[i];
  uint64_t begun = 0;
  gex_RMA_GetBlocking(caf.tm, &begun, team->jobrank[i], (void *)(uintptr_t)&there->begun,
                      sizeof begun, 0);
  return begun;
}

/* The first member that has ended normally and will never begin the collective of this image;
 * team->size: none. */
static uint32_t never_comes(const struct caf_team *team) {
  uint32_t i = 0;
  if (all_well()) return team->size;
  while (i < team->size && (caf_state_of(team->jobrank[i]) != CAF_STAT_STOPPED ||
                            begun_by(team, i) >= team->words->begun))
    i++;
  return i;
}

/* Ends the collective of this image without the member `lacks`. Those that come later do not write
 * to its buffers, which may be freed by then. */
static void give_up(gex_Event_t event, struct caf_team *team, uint32_t lacks) {
  team->given_up = true;
  (void)gexx_TM_Abandon(team->tm, lacks);
  gex_Event_Wait(event);
  if (!caf.lost_count) (void)gexx_Lost_Take(NULL);
}

/* Waits for an event, and serves. Returns false where an image that has ended will never take part:
 * the event was given up. A failure completes the event, marked. */
static bool wait_here(gex_Event_t event, struct caf_team *team) {
  uint32_t looks = 0, lacks = team->size;
  bool done = false;
  while (!done && lacks == team->size) {
    done = caf_poll_until(event, NULL, NULL, looks ? CAF_LOOK_LATER_US : CAF_LOOK_US);
    if (!done) lacks = never_comes(team);
    if (!done && looks++ == 0)
      caf_show_begin(&(struct caf_shown){
          .needs = GEXX_WAIT_AS_SHOWN, .peer = GEX_RANK_INVALID, .event = event});
  }
  if (looks) caf_show_end();
  if (!done) give_up(event, team, lacks);
  return done;
}

int caf_wait_event_slow(gex_Event_t event, struct caf_team *team) {
  if (gex_Event_Test(event) != GASNET_OK && !wait_here(event, team)) return CAF_STAT_STOPPED;
  if (__builtin_expect(caf.lost_count != 0, 0) && gexx_Lost_Take(NULL) == GEXX_ERR_LOST)
    return caf_team_state(team);
  return 0;
}

/* A checker hears that this image is about to change its words of a team, and that it has waited
 * for those of a member: after a loss they stand for the layer's barrier. */
static void give_words(const struct caf_team *team) {
  if (__builtin_expect(caf.shown, 0)) gexx_check_word(caf.rank, team->words, GEXX_CHECK_GIVE);
}

static void take_words(const struct caf_team *team, uint32_t i) {
  if (__builtin_expect(caf.shown, 0))
    gexx_check_word(team->jobrank[i], (const void *)team->words_at[i], GEXX_CHECK_TAKE);
}

/* The members that are left meet without the layer: each reads the counts of all others. */
static int meet_by_words(struct caf_team *team) {
  int code = 0;
  for (uint32_t i = 0; i < team->size; i++) {
    const struct caf_words *there = (const struct caf_words *)team->words_at[i];
    uint64_t begun;
    const int state = caf_word_reach(team->jobrank[i], &there->begun, team->words->begun, &begun);
    take_words(team, i);
    if (state && code != CAF_STAT_STOPPED) code = state;
  }
  return code;
}

/* After a loss has cut a barrier short: the barrier has begun for all remaining images. */
int caf_meet(struct caf_team *team) {
  if (caf_meets_itself(team)) return 0;
  give_words(team);
  if (!caf_team_whole(team))
    caf_begin(team);
  else if (caf_wait_event(gex_Coll_BarrierNB(team->tm, 0), team) == 0)
    return 0;
  return meet_by_words(team);
}

int caf_read_slots(struct caf_team *team, uint64_t *all) {
  const int code = caf_meet(team);
  for (uint32_t i = 0; i < team->size; i++) {
    const struct caf_words *there = (const struct caf_words *)team->words_at[i];
    all[i] = 0;
    if (caf_state_of(team->jobrank[i]) != CAF_STAT_FAILED)
      gex_RMA_GetBlocking(caf.tm, &all[i], team->jobrank[i], (void *)(uintptr_t)&there->slot,
                          sizeof all[i], 0);
  }
  return code;
}

int caf_share(struct caf_team *team, uint64_t mine, uint64_t *all) {
  __atomic_store_n(&team->words->slot, mine, __ATOMIC_RELEASE);
  const int code = caf_read_slots(team, all);
  const int after = caf_meet(team); /* nobody changes its slot before all have read it */
  return code ? code : after;
}

int caf_words_init(struct caf_team *team, struct caf_team *parent) {
  team->words = caf_heap_alloc(sizeof *team->words);
  team->words_at = malloc(team->size * sizeof *team->words_at);
  if (!team->words || !team->words_at) return CAF_STAT_ERROR;
  *team->words = (struct caf_words){.begun = 0};
  const uint64_t mine = (uintptr_t)team->words;
  if (!parent) {
    gex_Event_Wait(gexx_Coll_AllGatherNB(team->tm, team->words_at, &mine, sizeof mine, 0));
    return 0;
  }
  uint64_t *all = calloc(parent->size, sizeof *all);
  if (!all) return CAF_STAT_ERROR;
  const int code = caf_share(parent, mine, all);
  for (uint32_t k = 0; k < team->size; k++) /* NEW_INDEX= may have changed the order */
    for (uint32_t i = 0; i < parent->size; i++)
      if (parent->jobrank[i] == team->jobrank[k]) team->words_at[k] = all[i];
  team->repeats = code == 0;
  for (uint32_t i = 0; i < parent->size; i++) team->repeats = team->repeats && all[i];
  free(all);
  return code == CAF_STAT_FAILED ? 0 : code; /* the lost are no members */
}

bool caf_team_whole_slow(struct caf_team *team) {
  if (team->losses_seen != caf.lost_count) {
    team->losses_seen = caf.lost_count;
    for (uint32_t i = 0; i < team->size; i++)
      team->members_lost = team->members_lost || caf.lost[team->jobrank[i]];
  }
  return team->tm != GEX_TM_INVALID && !team->members_lost && !team->given_up;
}

static void publish_outcome(struct caf_team *team, uint64_t word) {
  __atomic_store_n(&team->words->outcome[team->words->begun % 2], word, __ATOMIC_RELEASE);
}

/* End of a barrier that was cut short here, or done without the layer: the members that are left
 * meet, and agree: it went well if the layer completed it on any of them, as that one goes on.
 * Those that go on cannot complete the barrier after the next without this image, so their word is
 * not lost. */
static int agree(struct caf_team *team) {
  const uint64_t cut = 2 * team->words->begun;
  bool completed = false;
  int code = 0;
  publish_outcome(team, cut);
  for (uint32_t i = 0; i < team->size; i++) {
    const struct caf_words *there = (const struct caf_words *)team->words_at[i];
    uint64_t word;
    const int state =
        caf_word_reach(team->jobrank[i], &there->outcome[team->words->begun % 2], cut, &word);
    take_words(team, i);
    completed = completed || word == cut + 1;
    if (state && code != CAF_STAT_STOPPED) code = state;
  }
  return completed ? 0 : code;
}

int caf_barrier(struct caf_team *team) {
  caf_settle();
  caf_complete();
  caf_posts_settle();
  if (caf_meets_itself(team)) return 0;
  caf_serve();
  give_words(team);
  if (__builtin_expect(caf_team_whole(team), 1)) {
    const int code = caf_wait_event(gex_Coll_BarrierNB(team->tm, 0), team);
    if (code == 0) publish_outcome(team, 2 * team->words->begun + 1);
    if (code == 0 || team->given_up) return code; /* given up: nobody can complete it */
  } else {
    caf_begin(team);
  }
  return agree(team);
}

static __attribute__((cold)) void fail_sync_all(const struct caf_status *to, int code) {
  char name[CAF_ENDED_ROOM];
  caf_fail(to, code, "SYNC ALL: %s has %s [TMB-2046]",
           caf_ended_images(caf.team, code, name, sizeof name), caf_end_name(code));
}

void caf_sync_all(const struct caf_status *to) {
  const bool after_allocate = caf.allocate_stat && !to->stat;
  const int code = caf_barrier(caf.team);
  caf.allocate_stat = false;
  if (code && !after_allocate)
    fail_sync_all(to, code);
  else
    caf_ok(to->stat);
}

/* Whether SYNC MEMORY has more to do than to order memory. */
static inline bool memory_is_due(void) {
  const bool serve = caf_serve_is_due();
  return serve || __builtin_expect(caf.pending & CAF_UNDER_WAY, 0);
}

static void complete_and_serve(void) {
  caf_complete();
  caf_serve();
  if (caf.pending & CAF_SERVES && !caf.serves) caf.until_serve /= MEMORY_TIMES;
}

void caf_sync_memory(void) {
  if (memory_is_due()) complete_and_serve();
  __atomic_thread_fence(__ATOMIC_ACQ_REL); /* ATOMIC_DEFINE has a full one */
}

static __attribute__((noinline)) void sync_memory_in_full(int *stat, const void *caller) {
  CAF_INSIDE;
  caf.statement.call = "SYNC MEMORY";
  caf.statement.caller = caller;
  complete_and_serve();
  __atomic_thread_fence(__ATOMIC_ACQ_REL);
  caf_ok(stat);
}

void CAF(sync_memory)(int *stat, char *errmsg, size_t errmsg_len) {
  (void)errmsg;
  (void)errmsg_len;
  if (memory_is_due()) {
    sync_memory_in_full(stat, __builtin_return_address(0));
    return;
  }
  __atomic_thread_fence(__ATOMIC_ACQ_REL);
  caf_ok(stat);
}

static void post_to(uint32_t rank) {
  struct caf_shared *there = (struct caf_shared *)caf.shared_addr[rank];
  gexx_RMA_PutSignalBlocking(caf.tm, rank, NULL, NULL, 0, GEX_EVENT_NOW, &there->word[caf.rank],
                             GEXX_SIG_ADD, 1, 0);
}

/* Wait for the next post of a rank. Returns 0 or the code of its end. */
static int wait_for(uint32_t rank) {
  uint64_t *post = &caf.shared->word[rank];
  const uint64_t want = ++caf.expected[rank];
  if ((caf_look(post, want) & (CAF_LOSS - 1)) >= want && !caf.shown && !caf.ordered) return 0;
  while (gexx_Signal_Test(post, GEXX_SIG_GE, want) != GASNET_OK) {
    (void)caf_answer();
    caf_show_begin(
        &(struct caf_shown){.needs = GEXX_WAIT_PEER, .peer = rank, .event = GEX_EVENT_INVALID});
    caf.woken = 0;
    caf.waiting = post;
    if (!caf.asked) (void)gexx_Signal_Wait(post, GEXX_SIG_GE, want);
    caf.waiting = NULL;
    if (caf.woken) __atomic_fetch_sub(post, caf.woken * CAF_LOSS, __ATOMIC_ACQ_REL);
    caf_show_end();
  }
  return (caf_own_word(post) & (CAF_LOSS - 1)) >= want ? 0 : caf_state_of(rank);
}

/* Whether each of the images is one of the team, and named once; caf_fail if not. Few are compared
 * with each other, of many each gets a mark. */
static bool check_images(int count, const int *images, const struct caf_status *to) {
  uint8_t *const seen = count > FEW_IMAGES ? calloc(caf.team->size, 1) : NULL;
  const char *wrong = NULL;
  int i;
  for (i = 0; i < count && !wrong; i++) {
    bool again = false;
    if (images[i] < 1 || (uint32_t)images[i] > caf.team->size)
      wrong = "";
    else if (seen)
      again = seen[images[i] - 1]++;
    else
      for (int k = 0; k < i && !again; k++) again = images[k] == images[i];
    if (again) wrong = "twice";
  }
  if (seen) free(seen);
  if (!wrong) return true;
  if (*wrong)
    caf_fail(to, CAF_STAT_DUP_SYNC_IMAGES,
             "SYNC IMAGES: image %d is named twice; name each image once [TMB-2045]",
             images[i - 1]);
  else
    caf_fail(to, CAF_STAT_ERROR,
             "SYNC IMAGES: there is no image %d: the current team has images 1 to %u [TMB-2044]",
             images[i - 1], caf.team->size);
  return false;
}

/* Rank of the i-th image that SYNC IMAGES names; NULL: all of the team. */
static inline uint32_t rank_at(const int *images, int i) {
  return caf.team->jobrank[images ? images[i] - 1 : i];
}

void caf_sync_images(int count, const int *images, const struct caf_status *to) {
  if (count == 0) {
    caf_sync_memory();
    caf_ok(to->stat);
    return;
  }
  if (count < 0) {
    images = NULL;
    count = (int)caf.team->size;
  }
  if (images && !check_images(count, images, to)) return;
  caf_complete();
  caf_posts_settle();
  caf_serve();
  for (int i = 0; i < count; i++) {
    const uint32_t rank = rank_at(images, i);
    if (rank != caf.rank && !caf.lost[rank]) post_to(rank);
  }
  int code = 0;
  uint32_t who = 0;
  for (int i = 0; i < count; i++) {
    const uint32_t rank = rank_at(images, i);
    const int state = rank == caf.rank ? 0 : wait_for(rank);
    if (state && code != CAF_STAT_STOPPED) {
      code = state;
      who = rank;
    }
  }
  if (code)
    caf_fail(to, code, "SYNC IMAGES: image %u of the initial team has %s [TMB-2043]", who + 1,
             caf_end_name(code));
  else
    caf_ok(to->stat);
}
