/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posts of events by four methods: signal, queue, flag, atomic.
 *
 * Owns: the queue of posts that messages have brought, and the flags. Called by event.c and by the
 * files of notified access. Calls: signals, active messages, puts, remote atomics. Invariants: an
 * event's word counts posts that came and were not taken, but for those in the queue or in flags,
 * which this image adds to the word when it reads the event. A flag is written by one poster
 * alone and only grows; its owner keeps how much of it was added. Handlers run in polls of this
 * thread.
 *
 * The methods are those that are compared in: A. Fanfarillo, J. Hammond: CAF Events Implementation
 * Using MPI-3 Capabilities (EuroMPI 2016), doi 10.1145/2966884.2966916, and a put with signal.
 */
#include "sync/post.h"

#include "data/pending.h"
#include "sync/wait.h"

#include <gasnet_tools.h>
#include <stdlib.h>
#include <string.h>

/* remote.c has the indices from GEX_AM_INDEX_BASE on. */
enum { H_POSTED = GEX_AM_INDEX_BASE + 32, H_ANSWER };
enum { FLAGS = 32, QUEUE_FIRST = 256 };

/* Posts of an event, in the queue. */
struct posted {
  uint64_t *word;
  uint64_t count;
};

/* A poster's flag for an owner, in the owner's segment. event: address of the word; 0: not used. */
struct flag {
  uint64_t event, count;
};

static struct {
  struct posted *at; /* [room], oldest first */
  size_t count, room;
  uint32_t *unanswered; /* [size] messages to each rank that it has not answered */
} queue;

static struct {
  struct flag *here;   /* [size][FLAGS] of each poster, in the segment */
  uint64_t *added;     /* [size][FLAGS] how much of each has been added to its event */
  uintptr_t *there;    /* [size] addresses of the others' `here` */
  struct flag **given; /* [size][FLAGS] flags sent to each rank, NULL: none */
} flags;

/* ---- queue */

/* Joins the posts of one event; makes room when most remain. Returns false without memory. */
static bool compact_queue(void) {
  size_t kept = 0;
  for (size_t i = 0; i < queue.count; i++) {
    size_t k = 0;
    while (k < kept && queue.at[k].word != queue.at[i].word) k++;
    if (k < kept)
      queue.at[k].count += queue.at[i].count;
    else
      queue.at[kept++] = queue.at[i];
  }
  queue.count = kept;
  if (2 * kept < queue.room) return true;
  const size_t room = queue.room ? 2 * queue.room : QUEUE_FIRST;
  struct posted *more = realloc(queue.at, room * sizeof *more);
  if (!more) return kept < queue.room;
  queue.at = more;
  queue.room = room;
  return true;
}

static void on_posted(gex_Token_t token, gex_AM_Arg_t high, gex_AM_Arg_t low) {
  uint64_t *word = (uint64_t *)(uintptr_t)((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
  if (queue.count == queue.room && !compact_queue()) {
    const struct caf_status none = {0};
    caf_fail(&none, CAF_STAT_ERROR, "out of memory for a queue of %zu posts of events [TMB-0001]",
             queue.count);
  }
  queue.at[queue.count++] = (struct posted){word, 1};
  gex_AM_ReplyShort1(token, H_ANSWER, 0, (gex_AM_Arg_t)caf.rank);
}

static void on_answer(gex_Token_t token, gex_AM_Arg_t rank) {
  (void)token;
  queue.unanswered[rank]--;
  caf.posts_open--;
}

static void queue_post(uint32_t rank, void *word) {
  const uint64_t at = (uintptr_t)word;
  queue.unanswered[rank]++;
  caf.posts_open++;
  gex_AM_RequestShort2(caf.tm, rank, H_POSTED, 0, (gex_AM_Arg_t)(at >> 32), (gex_AM_Arg_t)at);
}

/* Posts of events in [low, high) in the queue. in removes: removes them. */
static uint64_t queue_count(uintptr_t low, uintptr_t high, bool removes) {
  uint64_t found = 0;
  size_t kept = 0;
  for (size_t i = 0; i < queue.count; i++) {
    const uintptr_t at = (uintptr_t)queue.at[i].word;
    if (at >= low && at < high)
      found += queue.at[i].count;
    else if (removes)
      queue.at[kept++] = queue.at[i];
  }
  if (removes) queue.count = kept;
  return found;
}

static int queue_start(void) {
  static gex_AM_Entry_t entries[] = {
      {H_POSTED, (gex_AM_Fn_t)on_posted, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 2, NULL, NULL},
      {H_ANSWER, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 1, NULL, NULL}};
  queue.unanswered = calloc(caf.size, sizeof *queue.unanswered);
  if (!queue.unanswered || !compact_queue()) return CAF_STAT_ERROR;
  gex_EP_RegisterHandlers(caf.ep, entries, sizeof entries / sizeof entries[0]);
  caf_serves(CAF_BY_MESSAGE);
  return 0;
}

/* Whether a message to an image that is left has no answer yet. */
static bool some_unanswered(void) {
  bool open = false;
  for (uint32_t r = 0; r < caf.size; r++) {
    if (queue.unanswered[r] && caf.lost[r]) {
      caf.posts_open -= queue.unanswered[r];
      queue.unanswered[r] = 0;
    }
    open = open || queue.unanswered[r] > 0;
  }
  return open;
}

static int all_answered(void *arg) {
  (void)arg;
  return caf.posts_open == 0;
}

void caf_posts_settle_slow(void) {
  if (caf.events == CAF_EVENTS_SIGNAL) {
    gex_NBI_Wait(GEX_EC_PUT, 0);
    caf.posts_open = 0;
    return;
  }
  while (some_unanswered()) (void)caf_poll_until(GEX_EVENT_NO_OP, all_answered, NULL, UINT64_MAX);
}

/* ---- flags */

/* The flag of an event at a rank in this image's table; a new one is reported to its owner. NULL:
 * all are used. */
static struct flag *flag_of(uint32_t rank, uint64_t event) {
  struct flag *given = flags.given[rank];
  if (!given) given = flags.given[rank] = calloc(FLAGS, sizeof *given);
  for (uint32_t i = 0; given && i < FLAGS; i++) {
    if (given[i].event == event) return &given[i];
    if (given[i].event) continue;
    struct flag *there = (struct flag *)flags.there[rank] + (size_t)caf.rank * FLAGS + i;
    given[i].event = event;
    gex_RMA_PutBlocking(caf.tm, rank, &there->event, &event, sizeof event, 0);
    return &given[i];
  }
  return NULL;
}

/* A post of the event that has no flag is a signal. */
static void flag_post(uint32_t rank, void *word) {
  struct flag *flag = flag_of(rank, (uintptr_t)word);
  if (!flag) {
    gexx_RMA_PutSignalBlocking(caf.tm, rank, NULL, NULL, 0, GEX_EVENT_NOW, word, GEXX_SIG_ADD, 1,
                               0);
    return;
  }
  struct flag *there =
      (struct flag *)flags.there[rank] + (size_t)caf.rank * FLAGS + (flag - flags.given[rank]);
  flag->count++;
  gex_RMA_PutBlocking(caf.tm, rank, &there->count, &flag->count, sizeof flag->count, 0);
}

/* Posts by flags of events in [low, high) that were not removed. in removes: removes them. */
static uint64_t flags_count(uintptr_t low, uintptr_t high, bool removes) {
  uint64_t found = 0;
  for (uint32_t r = 0; r < caf.size; r++)
    for (uint32_t i = 0; i < FLAGS; i++) {
      const struct flag *flag = &flags.here[(size_t)r * FLAGS + i];
      uint64_t *added = &flags.added[(size_t)r * FLAGS + i];
      const uint64_t event = __atomic_load_n(&flag->event, __ATOMIC_ACQUIRE);
      if (!event) break;
      if (event < low || event >= high) continue;
      const uint64_t count = __atomic_load_n(&flag->count, __ATOMIC_ACQUIRE);
      found += count - *added;
      if (removes) *added = count;
    }
  return found;
}

static int flags_start(void) {
  const size_t all = (size_t)caf.size * FLAGS;
  flags.here = caf_heap_alloc(all * sizeof *flags.here);
  flags.added = calloc(all, sizeof *flags.added);
  flags.there = calloc(caf.size, sizeof *flags.there);
  flags.given = calloc(caf.size, sizeof *flags.given);
  if (!flags.here || !flags.added || !flags.there || !flags.given) return CAF_STAT_ERROR;
  memset(flags.here, 0, all * sizeof *flags.here);
  const uintptr_t mine = (uintptr_t)flags.here;
  gex_Event_Wait(gexx_Coll_AllGatherNB(caf.tm, flags.there, &mine, sizeof mine, 0));
  caf_serves(CAF_BY_MESSAGE);
  return 0;
}

/* ---- atomics: the event's word is touched by them alone */

static uint64_t atomic_perform(uint32_t rank, void *word, gex_OP_t op, int64_t value) {
  int64_t before = 0;
  gex_Event_Wait(gex_AD_OpNB_I64(caf.ad64, &before, rank, word, op, value, 0, 0));
  return (uint64_t)before;
}

/* ---- all methods */

int caf_posts_start(void) {
  static const char *const names[] = {[CAF_EVENTS_SIGNAL] = "signal",
                                      [CAF_EVENTS_QUEUE] = "queue",
                                      [CAF_EVENTS_FLAG] = "flag",
                                      [CAF_EVENTS_ATOMIC] = "atomic"};
  const char *method = gasnett_getenv_withdefault("TOMBOLO_TEST_CAF_EVENTS", "signal");
  for (uint8_t i = 0; i < sizeof names / sizeof names[0]; i++) /* others end the start of the job */
    if ((*method | 0x20) == *names[i]) caf.events = i;
  if (caf.events == CAF_EVENTS_QUEUE) return queue_start();
  if (caf.events == CAF_EVENTS_FLAG) return flags_start();
  return 0;
}

void caf_post_with(uint32_t rank, void *remote, const void *data, size_t bytes, void *word) {
  /* With TOMBOLO_TEST_SHM_MAP=0 posts of near images are messages, too. */
  gexx_RMA_PutSignalNBI(caf.tm, rank, remote, data, bytes, GEX_EVENT_NOW, word, GEXX_SIG_ADD, 1, 0);
  if (caf_is_server)
    caf.pending |= CAF_UNDER_WAY;
  else
    caf.posts_open = 1;
  if (rank == caf.rank) caf.until_serve = 0; /* EVENT_QUERY takes it in, if it is a message */
}

void caf_post(uint32_t rank, void *word) {
  if (caf.events == CAF_EVENTS_QUEUE)
    queue_post(rank, word);
  else if (caf.events == CAF_EVENTS_FLAG)
    flag_post(rank, word);
  else if (caf.events == CAF_EVENTS_ATOMIC)
    atomic_perform(rank, word, GEX_OP_FADD, 1);
  else
    caf_post_with(rank, NULL, NULL, 0, word);
}

/* Posts of events in [base, base + bytes) in the queue or in flags. in removes: removes them. */
static uint64_t beside_words(const void *base, size_t bytes, bool removes) {
  const uintptr_t low = (uintptr_t)base, high = low + bytes;
  if (caf.events == CAF_EVENTS_QUEUE) return queue_count(low, high, removes);
  return caf.events == CAF_EVENTS_FLAG ? flags_count(low, high, removes) : 0;
}

uint64_t caf_posts_come(const uint64_t *word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE) + beside_words(word, sizeof *word, false);
}

/* Adds to the word of an event its posts in the queue or flags. */
static void add_come(uint64_t *word) {
  const uint64_t come = beside_words(word, sizeof *word, true);
  if (come) __atomic_fetch_add(word, come, __ATOMIC_ACQ_REL);
}

bool caf_posts_take(uint64_t *word, uint64_t want) {
  if (caf.events != CAF_EVENTS_ATOMIC) {
    add_come(word);
    return gexx_Signal_TryConsume(word, want) == GASNET_OK;
  }
  if (atomic_perform(caf.rank, word, GEX_OP_GET, 0) < want) return false;
  atomic_perform(caf.rank, word, GEX_OP_FADD, -(int64_t)want);
  return true;
}

uint64_t caf_posts_count(uint64_t *word) {
  if (caf.events == CAF_EVENTS_ATOMIC) return atomic_perform(caf.rank, word, GEX_OP_GET, 0);
  add_come(word);
  return gexx_Signal_Fetch(word);
}

void caf_posts_forget(const void *base, size_t bytes) {
  (void)beside_words(base, bytes, true);
}
