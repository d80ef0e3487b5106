/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations in flight: what ends with an event, or with a wait for implicit operations.
 *
 * Owns: the table of events of this process, and the implicit operations of each thread.
 * Called by the wrappers, under chk.lock. Calls: access.c, clock.c. While a check is on, the
 * library gives each non-blocking operation a live event, also one that it has completed at once:
 * so a missing wait is seen. Invariants: an event has all that ends with it, in one list; a leaf
 * ends the local sides alone; a thread's implicit operations are its own, but those of a SEQ client
 * are one set, whichever of its threads calls; an access region inside of another one is the
 * library's (gasnet_memset_nb), and has its own operations; what a thread leaves open is a leak
 * when it ends.
 */
#include "check/runtime/chk.h"

#include <tombolo/check_hook.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS   4096u /* power of two */
#define REGIONS   4u    /* access regions inside of each other */

#define LIST_KEPT 64u

/* Operations that end together. */
struct list {
  struct chk_pending *first;
  uint32_t count, room;
};

struct node {
  struct node *next;
  uintptr_t op;
  struct list list;
};

/* Implicit operations of a thread: those outside of access regions, and those inside. */
struct implicit {
  struct implicit *next;
  struct list outside, inside;
  uint32_t regions; /* that are open */
  struct {
    uint32_t site, first;
  } region[REGIONS]; /* first: of its operations in `inside` */
};

static struct node *table[BUCKETS], *spare;

struct chk_newest chk_newest;

static struct implicit of_client; /* of a SEQ client, or where memory is short */
static struct implicit *of_threads;
static _Thread_local struct implicit *own;
static pthread_key_t at_end; /* its destructor ends a thread's */
static bool has_key;

/* What a thread has left open. */
static void leaks_of(const struct implicit *i) {
  for (uint32_t k = 0; k < i->regions; k++)
    chk_leak("access region that was never ended", i->region[k].site);
  for (uint32_t k = 0; !chk.waits_itself && k < i->outside.count; k++)
    chk_leak("implicit operation that was never waited for", i->outside.first[k].site);
}

static void thread_ends(void *of) {
  struct implicit *const i = of;
  chk_guard();
  if (chk.leaks) leaks_of(i);
  struct implicit **at = &of_threads;
  while (*at != i) at = &(*at)->next;
  *at = i->next;
  own = NULL;
  chk_unguard();
  free(i->outside.first);
  free(i->inside.first);
  free(i);
}

/* Those of the calling thread. Under chk.lock. */
static struct implicit *implicit(void) {
  if (chk.one_thread) return &of_client;
  if (CHK_LIKELY(own != NULL)) return own;
  own = calloc(1, sizeof *own);
  if (!own) return &of_client;
  if (!has_key) has_key = pthread_key_create(&at_end, thread_ends) == 0;
  if (has_key) (void)pthread_setspecific(at_end, own);
  own->next = of_threads;
  return of_threads = own;
}

static void add(struct list *l, const struct chk_pending *p) {
  if (l->count == l->room) {
    const uint32_t room = l->room ? 2 * l->room : 4;
    struct chk_pending *const more = realloc(l->first, room * sizeof *more);
    if (!more) return;
    l->first = more;
    l->room = room;
  }
  l->first[l->count++] = *p;
}

void chk_local_open(uint64_t number) {
  if (number) chk.open_here++;
}

uint64_t chk_local_side(const struct chk_range *remote, const void *at, uint32_t write,
                        uint32_t site, bool lasts) {
  const bool same = remote->owner == chk.rank && chk_resolve((uintptr_t)at) == remote->addr;
  if (!at || same) return 0; /* one side only */
  if (!lasts && !chk.open_here && !chk_segment_has(at)) return 0;
  const struct chk_range here = {chk.rank, (uintptr_t)at, remote->bytes,
                                 write | CHK_LOCAL | CHK_TRANSFER};
  const uint64_t number = lasts ? chk_touch_local(&here, site) : chk_touch(&here, site, false);
  if (!lasts) return 0;
  chk_local_open(number);
  return number;
}

static void chk_local_done(uint64_t number) {
  if (!number) return;
  chk_done(number);
  if (--chk.open_here == 0) chk_watch_no_buffer();
}

static void local_done(struct chk_pending *p) {
  chk_local_done(p->local);
  p->local = 0;
}

void chk_end(const struct chk_pending *p) {
  chk_done(p->remote);
  chk_local_done(p->local);
  if (p->members) {
    chk_leave(p->acquire, p->site, p->members, p->acquires);
    if (p->acquires) chk_floor_take();
  } else if (p->acquire) {
    chk_acquire(p->acquire, p->site);
  }
  if (p->word) chk_word_take(p->owner, p->word, p->site);
}

/* The operation was refused: nothing was done. */
static void chk_cancel(const struct chk_pending *p) {
  struct chk_access *const remote = chk_access_at(p->remote), *const local =
                                                                  chk_access_at(p->local);
  if (remote) remote->accept = 0;
  if (local) local->accept = 0;
  chk_done(p->remote);
  chk_local_done(p->local);
}

static uintptr_t op_of(gex_Event_t event) {
  return (uintptr_t)event & ~(uintptr_t)63;
}

static struct node **find(uintptr_t op) {
  struct node **at = &table[(op >> 6) & (BUCKETS - 1)];
  while (*at && (*at)->op != op) at = &(*at)->next;
  return at;
}

static struct node *node_of(gex_Event_t event) {
  struct node **const at = find(op_of(event));
  if (*at) return *at;
  struct node *const n = spare ? spare : calloc(1, sizeof *n);
  if (!n) return NULL;
  spare = n->next;
  n->next = NULL;
  n->op = op_of(event);
  return *at = n;
}

/* A node that is in no bucket; its list is kept for the next event, unless it is long. */
static void node_end(struct node *n) {
  n->list.count = 0;
  if (n->list.room > LIST_KEPT) {
    free(n->list.first);
    n->list = (struct list){0};
  }
  n->next = spare;
  spare = n;
}

void chk_pend(gex_Event_t event, const struct chk_pending *p) {
  struct node *const n = event == GEX_EVENT_INVALID ? NULL : node_of(event);
  if (n)
    add(&n->list, p);
  else
    chk_end(p);
}

void chk_keep_newest(void) {
  const gex_Event_t event = chk_newest.event;
  chk_newest.event = GEX_EVENT_INVALID;
  if (event != GEX_EVENT_INVALID) chk_pend(event, &chk_newest.op);
}

void chk_know_result(void) {
  struct chk_newest *const n = &chk_newest;
  if (n->result) n->op.local = chk_result_begin(n->result, n->bytes, n->op.site);
  n->result = NULL;
}

void chk_record_newest(void) {
  const uint64_t word = chk_newest.epoch;
  struct chk_pending *const p = &chk_newest.op;
  chk_newest.epoch = 0;
  chk.guard = NULL;
  chk_know_result();
  const struct chk_hand *const h = word ? chk_hand_of(p->owner, p->word, false) : NULL;
  if (!h) return;
  const struct chk_access like = chk_epoch_access(word, p->owner, p->word & ~UINT64_C(7));
  struct chk_access *const a = chk_opened(like.site, like.flags);
  a->addr = like.addr;
  a->bytes = like.bytes;
  a->owner = like.owner;
  p->remote = a->number;
  const uint32_t at = p->word % CHK_PAGE_BYTES / CHK_GRANULE;
  uint64_t cell[CHK_SLOTS];
  chk_lock(&h->page->lock);
  chk_cell_load(h->page, at, cell);
  for (uint32_t i = 0; i < CHK_SLOTS; i++)
    if (cell[i] == word) cell[i] = chk_word(a->number, word >> 8 & 0xff, like.flags);
  chk_cell_store(h->page, at, cell);
  chk_unlock(&h->page->lock);
}

gex_Event_t chk_pend_newest_any(void) {
  gex_Event_t event = chk_newest.spare;
  if (event == GEX_EVENT_INVALID) event = gexx_check_event();
  chk_newest.spare = GEX_EVENT_INVALID;
  chk_newest.event = event;
  if (chk.threads) chk_keep_newest();
  return event;
}

/* Whether the end of an operation may make a difference to loads and stores of before, so that they
 * are entered first. */
static bool ends_more(const struct chk_newest *n) {
  return n->op.owner == chk.rank || (n->op.local && !chk_is_later(n->op.local)) ||
         !chk_word_known(__atomic_load_n(n->given, __ATOMIC_ACQUIRE), n->op.word);
}

static void close_record(uint64_t number) {
  struct chk_access *const a = chk_access_at(number);
  if (a) chk_close(a);
}

/* Ends the newest operation, which has no record, nor a local side. */
static inline void end_newest(gex_Event_t event) {
  struct chk_newest *const n = &chk_newest;
  n->event = GEX_EVENT_INVALID;
  n->spare = event;
  n->epoch = 0;
  if (CHK_UNLIKELY(tombolo_check_watch.files) && n->result) chk_watch_no_buffer();
  n->result = NULL;
  chk.guard = NULL;
  const uint64_t given = __atomic_load_n(n->given, __ATOMIC_ACQUIRE);
  if (CHK_UNLIKELY(!chk_word_known(given, n->op.word)))
    chk_word_take(n->op.owner, n->op.word, n->op.site);
  else if (CHK_LIKELY(given))
    chk.synced = n->op.site;
}

static __attribute__((noinline)) bool newest_ended_any(gex_Event_t event) {
  if (chk.threads || event != chk_newest.event || event == GEX_EVENT_INVALID) return false;
  const struct chk_pending *const p = &chk_newest.op;
  if (chk_delayed_count) chk_enter_delayed();
  if (CHK_UNLIKELY(tombolo_check_watch.files) && chk_has_seen() && ends_more(&chk_newest))
    chk_enter();
  if (!chk_newest.epoch) close_record(p->remote);
  if (p->local && !chk_result_end(p->local)) chk_local_done(p->local);
  end_newest(event);
  return true;
}

/* Ends the newest operation, if it has this event. Returns whether. */
static inline bool newest_ended(gex_Event_t event) {
  const bool plain = event == chk_newest.event && chk_newest.epoch && !chk_newest.op.local;
  const bool seen = CHK_UNLIKELY(tombolo_check_watch.files) && chk_has_seen();
  if (CHK_UNLIKELY(!plain || seen)) return newest_ended_any(event);
  end_newest(event);
  return true;
}

/* The access ends with a wait for implicit operations, or with the access region that is open. */
static void chk_pend_nbi(const struct chk_pending *p) {
  struct implicit *const i = implicit();
  add(i->regions ? &i->inside : &i->outside, p);
}

/* Whether the end of an operation orders nothing, nor frees a buffer that the program may have
 * used: then loads and stores of before may be entered later. */
static bool ends_alone(const struct chk_pending *p) {
  return !p->local && !p->word && !p->acquire;
}

gex_Event_t chk_started(const struct chk_pending *p, gex_Event_t event) {
  if (event != GEX_EVENT_INVALID || ends_alone(p))
    chk_guard();
  else
    chk_enter();
  if (event == GEX_EVENT_NO_OP)
    chk_cancel(p);
  else
    chk_pend(event, p);
  chk_exit();
  return event;
}

int chk_started_nbi(const struct chk_pending *p, int refused) {
  chk_guard();
  if (refused)
    chk_cancel(p);
  else
    chk_pend_nbi(p);
  chk_exit();
  return refused;
}

/* An event, or a leaf, was synchronised. */
static void synchronised(gex_Event_t event) {
  chk_keep_newest();
  struct node **const at = find(op_of(event)), *const n = *at;
  if (!n) return;
  const bool leaf = ((uintptr_t)event & 63) != 0;
  for (uint32_t i = 0; i < n->list.count; i++)
    if (leaf)
      local_done(&n->list.first[i]);
    else
      chk_end(&n->list.first[i]);
  if (leaf) return;
  *at = n->next;
  node_end(n);
}

static void ended(gex_Event_t event) {
  if (event == GEX_EVENT_INVALID || event == GEX_EVENT_NO_OP || !chk.area) return;
  chk_enter();
  synchronised(event);
  chk_exit();
}

/* Categories of implicit operations that were waited for. */
static void implicit_ended(gex_EC_t mask) {
  if (!chk.area) return;
  chk_enter();
  struct list *const l = &implicit()->outside;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < l->count; i++) {
    struct chk_pending *const p = &l->first[i];
    if (p->category & mask) {
      chk_end(p);
      continue;
    }
    if (mask & GEX_EC_LC && p->category & (GEX_EC_PUT | GEX_EC_AM)) local_done(p);
    l->first[kept++] = *p;
  }
  l->count = kept;
  chk_exit();
}

void chk_pending_leaks(void) {
  chk_keep_newest();
  for (uint32_t b = 0; b < BUCKETS; b++)
    for (const struct node *n = table[b]; n; n = n->next)
      if (n->list.count) chk_leak("event that was never completed", n->list.first[0].site);
  leaks_of(&of_client);
  for (const struct implicit *i = of_threads; i; i = i->next) leaks_of(i);
}

/* ---- the calls */

int gexx_event_test(gex_Event_t event) {
  if (newest_ended(event)) return GASNET_OK;
  const int rc = chk_real.gexx_event_test(event);
  if (rc == GASNET_OK) ended(event);
  return rc;
}

void gexx_event_wait(gex_Event_t event) {
  if (newest_ended(event)) return;
  chk_real.gexx_event_wait(event);
  ended(event);
}

int gexx_Event_WaitUntil(gex_Event_t event, int (*until)(void *arg), void *arg,
                         uint64_t timeout_us) {
  const int rc = chk_real.gexx_Event_WaitUntil(event, until, arg, timeout_us);
  if (rc == GASNET_OK) ended(event);
  return rc;
}

/* The events of an array before a call: leaves end before roots, whatever their order. */
static gex_Event_t *copy_of(const gex_Event_t *events, size_t count) {
  gex_Event_t *const copy = chk.area && count ? malloc(count * sizeof *copy) : NULL;
  if (copy) memcpy(copy, events, count * sizeof *copy);
  return copy;
}

static void compare(gex_Event_t *was, const gex_Event_t *is, size_t count) {
  for (size_t i = 0; was && i < count; i++)
    if (was[i] != GEX_EVENT_INVALID && is[i] == GEX_EVENT_INVALID) ended(was[i]);
  free(was);
}

#define TEST(NAME)                                                    \
 int NAME(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags) { \
  gex_Event_t *const was = copy_of(pevent, numevents);                \
  const int rc = chk_real.NAME(pevent, numevents, flags);             \
  compare(was, pevent, numevents);                                    \
  return rc;                                                          \
 }
TEST(gex_Event_TestSome)
TEST(gex_Event_TestAll)

#define WAIT(NAME)                                                     \
 void NAME(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags) { \
  gex_Event_t *const was = copy_of(pevent, numevents);                 \
  chk_real.NAME(pevent, numevents, flags);                             \
  compare(was, pevent, numevents);                                     \
 }
WAIT(gex_Event_WaitSome)
WAIT(gex_Event_WaitAll)

int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags) {
  const int rc = chk_real.gex_NBI_Test(event_mask, flags);
  if (rc == GASNET_OK) implicit_ended(event_mask);
  return rc;
}

void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags) {
  chk_real.gex_NBI_Wait(event_mask, flags);
  implicit_ended(event_mask);
}

void gex_NBI_BeginAccessRegion(gex_Flags_t flags) {
  if (chk.area) {
    chk_enter();
    struct implicit *const i = implicit();
    const uint32_t at = i->regions < REGIONS ? i->regions++ : REGIONS - 1;
    i->region[at].site = CHK_SITE("gex_NBI_BeginAccessRegion");
    i->region[at].first = i->inside.count;
    chk_exit();
  }
  chk_real.gex_NBI_BeginAccessRegion(flags);
}

gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t flags) {
  const gex_Event_t event = chk_real.gex_NBI_EndAccessRegion(flags);
  if (!chk.area) return event;
  chk_enter();
  struct implicit *const i = implicit();
  const uint32_t site = CHK_SITE("gex_NBI_EndAccessRegion");
  const uint32_t first = i->regions ? i->region[--i->regions].first : i->inside.count;
  if (first < i->inside.count) i->inside.first[first].site = site; /* who has not waited */
  for (uint32_t k = first; k < i->inside.count; k++) chk_pend(event, &i->inside.first[k]);
  i->inside.count = first;
  chk_exit();
  return event;
}
