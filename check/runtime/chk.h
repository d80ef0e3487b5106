/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checker in a rank: races and leaks of a program that `tombolo run --check` has started.
 *
 * Owns: the declarations of struct chk, the state of this process. libtombolo_check.so is loaded
 * before the program (LD_PRELOAD) and defines the calls of the API that synchronise or access
 * memory; each does its part here and calls the library's. A rank has a vector clock. A release
 * gives a copy of it to a synchronisation object, an acquire takes the maximum. An access is
 * recorded in the shadow of the memory; it is ordered before another one when the clock of the
 * later rank covers its completion, or the acceptance of its signal. This is FastTrack's test (C.
 * Flanagan and S. N. Freund, PLDI 2009, doi 10.1145/1542476.1542490) for accesses that last from
 * their start to their completion. Invariants: all of it is guarded by chk.lock, which is never
 * held while the library is called.
 */
#ifndef TMB_CHK_H
#define TMB_CHK_H

#include "check/area.h"
#include "check/local.h"

#include <gasnet.h>
#include <gasnetex.h>

#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex_ext.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

#define CHK_NOTED       4096u /* power of two */

#define CHK_LIKELY(x)   __builtin_expect(!!(x), 1)
#define CHK_UNLIKELY(x) __builtin_expect(!!(x), 0)

struct chk {
  bool races, leaks; /* what is looked for */
  bool words;        /* puts of a word give to it */
  bool in_order;     /* Fortran and UPC: accesses of one rank to one place keep their order */
  bool all_strict;   /* UPC without `--check`: any access of a word may be strict */
  bool one_thread;   /* a SEQ client, whose threads call in turns, if it has several */
  bool threads;      /* this process has several, or had: then lines have no runs */
  bool each_thread;  /* threads of this rank have clocks, and may race with each other */
  pthread_mutex_t lock;
  struct chk_thread *self; /* who acts, while it holds the lock */
  uint8_t thread;          /* its name */
  uint32_t tick;           /* its own clock */
  struct chk_area *area;
  struct chk_shadow *shadows; /* in the area */
  uint32_t rank, ranks;
  uint64_t *clock;       /* [ranks] */
  uint64_t past;         /* the newest of this rank that it has kept, see past.c */
  bool changed;          /* clocks of others have changed since */
  uint32_t *heard;       /* [ranks] where this rank last heard of that one, a site */
  uint32_t synced;       /* its last synchronisation, a site */
  uint32_t message_site; /* the site of what comes by messages */
  const struct gexx_waitinfo *statement; /* a run-time library's, of the program; or NULL */
  uint32_t open_here;                    /* local sides of transfers that are not complete */
  uint32_t open_count;                   /* accesses of this rank that are not complete */
  struct chk_extent own;                 /* the segment that has words, see check/local.h */
  uint32_t eights;                       /* of the flags of its groups; 0: many, or none */
  struct chk_page **pages;               /* shadow of each of its pages, if found */
  struct chk_run *runs;                  /* of this epoch */
  uint64_t floor;              /* accesses with lower numbers are before what this rank does */
  uint64_t *floors;            /* [ranks] those of a rank alone */
  uint64_t ordered[CHK_NOTED]; /* accesses that are known to be before what this rank does */
};

extern struct chk chk;

/* A variable with a fixed place of each thread: this library is loaded at start. */
#define CHK_FAST __attribute__((tls_model("initial-exec")))

/* A line of the program, and its record in the epoch of a clock. */
struct chk_line {
  uint32_t site, bytes;
  uint64_t clock, number;
  uint32_t tick;
};

/* The words of check/local.h: loads and stores of this epoch in the segment that has words. Those
 * of the first thread are of all threads, while chk.each_thread does not hold. */
struct chk_words {
  struct chk_seen *seen[2];                   /* [kind]; with the lines, once there was a segment */
  size_t seen_bytes;                          /* of each */
  struct chk_line lines[2][CHK_LINES];        /* [kind] */
  uint16_t line_of_block[2][CHK_ENTERED + 1]; /* [kind] */
  uint32_t blocks[2];                         /* [kind]: in use */
};

/* A thread of this rank, see thread.c. */
struct chk_thread {
  uint32_t clock[CHK_THREADS]; /* of each thread, what it has heard of; its own goes on */
  uint8_t name;                /* its index + 1; 0: of all threads that have no clock */
  uint32_t number;             /* from 1 on, for users */
  struct chk_words *words;     /* NULL: none yet */
  struct chk_run *runs;        /* of this epoch, in its copies */
  struct chk_copy *copies;     /* of each part of the program that it was in */
  int state;                   /* CHK_FREE... */
  pthread_t id;
};
enum { CHK_FREE, CHK_RUNS, CHK_DETACHED, CHK_ENDED };

/* Address space that is zero, and costs memory only where it is written; NULL: there is none. */
static inline void *chk_reserve(size_t bytes) {
  void *const at =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

extern struct chk_words chk_words; /* of the first thread */
/* Words for another thread; NULL: there is no address space. */
struct chk_words *chk_words_new(void);
/* Give this segment words. Returns whether there is address space. */
bool chk_own_begin(uintptr_t base, uintptr_t bytes);
void chk_own_end(void);
/* Runs of a part of the program, for the acting thread alone; 0: there is no memory. out copy: what
 * it adds to their addresses, until it ends. */
bool chk_copy_new(const struct chk_near *near, intptr_t *copy);
void chk_copies_end(struct chk_thread *t);
/* Change what the program reads of the checker: the segment that has words, and whether `others`
 * are watched; or the latter alone. */
extern struct chk_near *chk_nears; /* of each part of the program; guarded by chk.lock */
void chk_near_all(void);

static inline void chk_near_others(void) {
  const uintptr_t others = tombolo_check_watch.others.bytes != 0;
  for (struct chk_near *n = chk_nears; n; n = n->next)
    __atomic_store_n(&n->others, others, __ATOMIC_RELEASE);
}

/* Whether anything is looked for, in a job that has started. */
static inline bool chk_on(void) {
  return CHK_UNLIKELY(chk.area != NULL);
}

/* ---- order.c: clocks of the threads of this rank */
void chk_guard_all(void);
void chk_unguard_all(void);
extern _Thread_local CHK_FAST bool chk_locked; /* this thread has chk.lock */
/* The calling thread. */
extern _Thread_local CHK_FAST struct chk_thread *chk_me;
/* The object that it hears of when it next takes the lock; 0: none. */
extern _Thread_local CHK_FAST uintptr_t chk_take_next;
/* Where the calling thread looks before it calls, in a process whose threads have clocks; no bytes
 * while an access must come here. */
extern _Thread_local CHK_FAST struct chk_mine chk_mine;
/* Another thread is acted for. Returns who was before. */
struct chk_thread *chk_act_for(struct chk_thread *thread);
/* Threads get clocks. Returns whether there is memory. */
bool chk_clocks_begin(void);
/* A place for a thread that the acting one makes, whose state the caller sets; NULL: there is none.
 * And what the acting one hears of when it has joined it. */
struct chk_thread *chk_thread_new(void);
void chk_thread_joined(const struct chk_thread *t);
/* The thread with an ID that is in a state; NULL: none that has a clock. */
struct chk_thread *chk_thread_find(pthread_t id, int state);
/* Each thread that may have words; NULL: no more. */
struct chk_thread *chk_thread_at(uint32_t index);
/* Number of a thread for users; 0: not known. */
uint32_t chk_thread_number(uint16_t name);
/* The acting thread gives to an object with this address, and hears of what others have given. */
void chk_object_gets(uintptr_t addr);
void chk_object_tells(uintptr_t addr);
/* This rank is about to give, and has given: what its threads gave so far is what others have heard
 * of with this number of its clock. The acting thread hears of clocks, [ranks]. */
void chk_thread_tells(void);
void chk_thread_gives(void);
void chk_thread_hears(const uint64_t *clock);
/* Whether a complete access of this rank is before what the acting thread does. */
bool chk_thread_ordered(const struct chk_access *a);
/* The clock of another rank of which the acting thread has heard. */
uint64_t chk_thread_heard(uint32_t rank);
/* The number of its rank's clock with which a complete access was given. CHK_OPEN: not yet. */
uint64_t chk_thread_gave(const struct chk_access *a);
/* Whether it has heard that an access was accepted. */
bool chk_thread_accepted(const struct chk_access *a);
/* What the acting thread gives to others: the clocks of which it has heard, [ranks]. */
const uint64_t *chk_thread_clocks(void);

static inline const uint64_t *chk_known_clocks(void) {
  return CHK_UNLIKELY(chk.each_thread) ? chk_thread_clocks() : chk.clock;
}

static inline bool chk_accepted(const struct chk_access *a) {
  if (CHK_UNLIKELY(chk.each_thread || a->accept_thread)) return chk_thread_accepted(a);
  return chk.clock[a->accept_rank] >= a->accept;
}

/* ---- sync.c: the calling thread gives to what has this address, or waited for it */
void chk_order_give(uintptr_t addr);
void chk_order_take(uintptr_t addr);
/* Called by the library, also behind a handler. */
int chk_gate(gex_Rank_t from, int reply, const struct gexx_am_msg *msg, uint32_t number);

/* ---- thread.c: whether a call orders threads. in pc: who calls; of_library: also the library. */
bool chk_orders(const void *pc, bool of_library);

/* chk.lock, which a process of one thread does not need. */
static inline void chk_guard(void) {
  if (CHK_UNLIKELY(chk.threads)) chk_guard_all();
}

static inline void chk_unguard(void) {
  if (CHK_UNLIKELY(chk.threads)) chk_unguard_all();
}

/* ---- seen.c: enter the loads and stores of this epoch, of all threads, or of the acting one.
 * Under chk.lock. */
void chk_enter_any(void);
void chk_enter_own(void);

typedef uint64_t chk_flags8 __attribute__((may_alias));

/* Whether these words are none, as between two operations most often; false also if they may be. */
static inline bool chk_has_none(const struct chk_words *w) {
  const chk_flags8 *const loads = (const chk_flags8 *)(const void *)w->seen[CHK_LOAD]->group;
  const chk_flags8 *const stores = (const chk_flags8 *)(const void *)w->seen[CHK_STORE]->group;
  for (uint32_t i = 0; i < chk.eights; i++)
    if (loads[i] | stores[i]) return false;
  return chk.eights != 0;
}

static inline void chk_enter_seen(void) {
  if (chk.runs || chk.each_thread || !chk_has_none(&chk_words)) chk_enter_any();
}

/* Begin of what a call does here: no other thread does, and all loads and stores of before are
 * entered, with the clock that they were made at. */
static inline void chk_enter(void) {
  chk_guard();
  if (CHK_UNLIKELY(tombolo_check_watch.files)) chk_enter_seen();
}

static inline void chk_exit(void) {
  chk_unguard();
}

/* ---- lock.c: locks of the area, which have the rank of their owner, + 1; 0: free */
void chk_lock_held(uint32_t *lock);
/* This process is that of the rank. */
void chk_owner_begins(void);

static inline void chk_lock(uint32_t *lock) {
  uint32_t none = 0;
  if (CHK_UNLIKELY(!__atomic_compare_exchange_n(lock, &none, chk.rank + 1, false, __ATOMIC_ACQUIRE,
                                                __ATOMIC_RELAXED)))
    chk_lock_held(lock);
}

static inline void chk_unlock(uint32_t *lock) {
  __atomic_store_n(lock, 0u, __ATOMIC_RELEASE);
}

/* ---- site.c: lines of the program */

#define CHK_KNOWN   4096u /* return addresses at hand; power of two */
#define CHK_RUNTIME UINT32_MAX

extern struct chk_known {
  const void *pc;
  const char *call;
  uint32_t site; /* CHK_RUNTIME: in a run-time library; 0: not known yet */
} chk_known[CHK_KNOWN];

static inline uint32_t chk_known_place(const void *pc) {
  _Static_assert(CHK_KNOWN == 1 << (64 - 52), "as the shift");
  return (uint32_t)((uintptr_t)pc * UINT64_C(0x9e3779b97f4a7c15) >> 52);
}

/* The site of a call of the library. in call: name of the call, a literal; pc: return address of
 * the wrapper. Where that is in a run-time library of ours, the site is the program's call of that
 * library. */
uint32_t chk_site_find(const char *call, const void *pc);

static inline uint32_t chk_site(const char *call, const void *pc) {
  const struct chk_known *const k = &chk_known[chk_known_place(pc)];
  const bool found = k->pc == pc && k->call == call && k->site - 1 < CHK_RUNTIME - 1;
  return CHK_LIKELY(found) ? k->site : chk_site_find(call, pc);
}

/* Whether each call with this return address has this site. */
static inline bool chk_site_stays(const void *pc, uint32_t site) {
  const struct chk_known *const k = &chk_known[chk_known_place(pc)];
  return k->pc == pc && k->site == site;
}

/* This thread is in a call that has recorded all that it does; its library calls others itself. */
extern _Thread_local CHK_FAST bool chk_within;
/* Whether a call with this return address is one of those, and no handler's. */
bool chk_inner_of(const void *pc);

static inline bool chk_inner(const void *pc) {
  return CHK_UNLIKELY(chk_within) && chk_inner_of(pc);
}

/* Whether a return address is in the library or a run-time library: the call is its own. */
bool chk_of_library(const void *pc);
/* Text in the area. */
uint32_t chk_name(const char *text);

#define CHK_SITE(call) chk_site(call, __builtin_return_address(0))

/* ---- clock.c: synchronisation objects. Keys are of any kind; a hash of what names the object. */
uint64_t chk_key(uint64_t kind, uint64_t a, uint64_t b);

enum { CHK_KEY_COLL = 1, CHK_KEY_AM, CHK_KEY_SEM, CHK_KEY_TAG, CHK_KEY_BLOCK };

/* All earlier accesses of this rank happen before those that follow a take of this object. in put:
 * number of the access that the same signal orders, 0: none. */
void chk_release(uint64_t key, uint32_t site, uint64_t put);
/* All accesses before a give to this object happen before the next ones of this rank. in members:
 * of a collective; when so many have left, the object ends; 0: it stays. */
void chk_acquire(uint64_t key, uint32_t site);
void chk_leave(uint64_t key, uint32_t site, uint32_t members, bool acquires);
/* A new object with a key that others may have, too; and the oldest one with it, which ends. */
void chk_send(uint64_t key, uint32_t site, uint64_t put);
/* The object of a key is about to be used. */
void chk_key_ahead(uint64_t key);
void chk_receive(uint64_t key, uint32_t site);
/* The newest object with this key ends: it was not sent. */
void chk_unsend(uint64_t key);

/* Objects without a key, in the hands of word.c. in clock: [ranks] what was given, NULL: nothing.
 * Returns 0: there is no room. */
uint32_t chk_object_new(const uint64_t *clock);
void chk_object_give(uint32_t object, uint32_t site, uint64_t put);
void chk_object_take(uint32_t object, uint32_t site);
/* Whether it orders no put, and this rank has heard of all that was given. */
bool chk_object_covered(uint32_t object);
void chk_object_end(uint32_t object);
/* This rank has allocated a block of shared memory with a key; the block is freed. */
void chk_block_made(uint64_t key, uint32_t site);
void chk_block_ended(uint64_t key);
/* After each give, whatever to: the clock of this rank goes on. */
static inline void chk_given(uint32_t site) {
  if (CHK_UNLIKELY(chk.each_thread)) chk_thread_gives();
  chk.clock[chk.rank]++;
  chk.synced = site;
}

/* ---- queue.c: requests to ranks of this neighbourhood, without a payload that is a put. Queues
 * begin. A request gives to its target; it was not sent; the oldest one is here. in form: a hash of
 * it. The first and the last return false: it is one of clock.c. */
void chk_queues_start(void);
bool chk_queue_give(uint32_t to, uint64_t form);
void chk_queue_unsend(uint32_t to);
bool chk_queue_take(uint32_t from, uint64_t form, uint32_t site);

/* ---- past.c: the clocks of a rank in one word: the rank, an index in its past, and the number of
 * its clock. In place of the rank there may be an object, see word.c. */
#define CHK_GIVEN_BITS   40
#define CHK_GIVEN_JOINED (UINT64_C(1) << (CHK_GIVEN_BITS - 1))
#define CHK_GIVEN_CLOCK  (CHK_GIVEN_JOINED - 1)
#define CHK_GIVEN_OBJECT ((uint64_t)0xff << 56)

extern uint64_t chk_joined; /* index of what this rank has given and not heard of; 0: nothing */

/* What this rank gives now; 0: there is no room. */
uint64_t chk_give_any(void);

static inline uint64_t chk_give(void) {
  const uint64_t clock = chk.clock[chk.rank];
  if (chk.changed || chk_joined || clock > CHK_GIVEN_CLOCK || !chk.area->past_count ||
      chk.each_thread)
    return chk_give_any();
  return (uint64_t)chk.rank << 56 | (chk.past & (CHK_PAST_MOST - 1)) << CHK_GIVEN_BITS | clock;
}

/* What it gives together with what was given before, of which it has not heard; 0: one such set at
 * a time. chk_hear_joined: it hears of that set. */
uint64_t chk_give_joined(uint64_t was);
void chk_hear_joined(void);
/* Whether this rank has heard of what was given; it hears of it. */
bool chk_covers(uint64_t given);

/* As chk_covers, of a word that may be an object's: not always known. */
static inline bool chk_covers_plainly(uint64_t given) {
  return given < CHK_GIVEN_OBJECT && !(given & CHK_GIVEN_JOINED) && !chk.each_thread &&
         chk.clock[given >> 56] >= (given & CHK_GIVEN_CLOCK);
}

void chk_hear(uint64_t given, uint32_t site);
/* The clocks that were given, [ranks], until the next call. */
const uint64_t *chk_clocks_of(uint64_t given);
/* This rank has heard of these clocks, [ranks]. */
void chk_heard(const uint64_t *clock, uint32_t site);

/* ---- word.c: as chk_release and chk_acquire, for the 8 bytes of an address. */
void chk_word_give(uint32_t owner, uintptr_t addr, uint32_t site, uint64_t put);
void chk_word_take(uint32_t owner, uintptr_t addr, uint32_t site);
/* As chk_word_give, under the lock of the page, and without chk_given. */
void chk_word_give_in(struct chk_page *p, uint32_t owner, uintptr_t addr, uint32_t site,
                      uint64_t put);
extern uintptr_t chk_joined_word; /* to which this rank has given a joined set of clocks; 0: none */

/* ---- shadow.c, access.c */
struct chk_range {
  uint32_t owner;
  uintptr_t addr;
  size_t bytes;
  uint32_t flags;
};

/* Record an access and compare it with others. in open: it lasts until chk_done. Returns its
 * number. */
uint64_t chk_touch(const struct chk_range *range, uint32_t site, bool open);
/* As chk_touch, for the local side of a transfer, which lasts until chk_done. Returns what stands
 * for its number. */
uint64_t chk_touch_local(const struct chk_range *range, uint32_t site);
/* Whether such a number is of memory outside of segments that no other access has met. */
#define CHK_LATER 8u /* at a time */
static inline bool chk_is_later(uint64_t number) {
  return number > UINT64_MAX - CHK_LATER;
}

/* An access that is compared, but not recorded, begins. */
void chk_meet(const struct chk_range *range);
/* Adds one more range to an access that has begun. */
void chk_touch_more(uint64_t number, const struct chk_range *range);
void chk_done(uint64_t number);

static inline struct chk_access *chk_access_at(uint64_t number) {
  if (!number) return NULL;
  struct chk_access *all = chk_at(chk.area, chk.area->where_access);
  struct chk_access *const a = &all[number & (CHK_ACCESSES - 1)];
  return __atomic_load_n(&a->number, __ATOMIC_ACQUIRE) == number ? a : NULL;
}

/* An access of this rank is complete. */
static inline void chk_close(struct chk_access *a) {
  if (a->done != CHK_OPEN) return;
  a->done = chk.clock[chk.rank];
  a->thread = chk.thread;
  a->tick = chk.tick;
  chk.open_count--;
}

/* At a barrier, before a release: which accesses of this rank it orders. After an acquire: all
 * those that what this rank has heard of orders. */
void chk_floor_give(void);
void chk_floor_take(void);
/* An access that lasts until chk_done. */
struct chk_access *chk_opened(uint32_t site, uint32_t flags);
/* The access, complete, that all share which this line makes before the next release. */
struct chk_access *chk_shared(uint32_t site, uint32_t flags);
void chk_mark(struct chk_access *a, const struct chk_range *range);
/* As chk_mark, for bytes of a page whose lock is held, and no second place. */
void chk_mark_in(struct chk_access *a, struct chk_page *p, const struct chk_range *range);
/* As chk_mark, for some granules of a page whose lock is held. in mask: the bytes of each. Between
 * two calls of chk_mark_fresh no clock changes. */
void chk_mark_fresh(void);
void chk_mark_cells(struct chk_access *a, struct chk_page *p, uintptr_t addr, uint32_t mask,
                    size_t count);
/* Compare only; nothing remembers the access. */
void chk_compare(struct chk_access *a, const struct chk_range *range);
/* Shadow of the page of an address; NULL: it has none. */
struct chk_page *chk_page_of(uint32_t owner, uintptr_t addr, bool make);
/* Pages that were used of late are at hand, with their shadows; no page ends. */
#define CHK_HAND 1024u /* power of two */
extern struct chk_hand {
  uint64_t key;
  struct chk_page *page;
  struct chk_shadow *shadow;
} chk_hand[CHK_HAND];

static inline uint64_t chk_page_key(uint32_t owner, uintptr_t addr) {
  return ((uint64_t)owner << 52 | addr / CHK_PAGE_BYTES) + 1;
}

static inline struct chk_shadow *chk_shadow_of(const struct chk_page *p) {
  return chk.shadows + p->shadow;
}

/* As chk_page_of, under chk.lock. */
static inline const struct chk_hand *chk_hand_of(uint32_t owner, uintptr_t addr, bool make) {
  const uint64_t key = chk_page_key(owner, addr);
  struct chk_hand *const h = &chk_hand[(key ^ (uint64_t)owner * 379) & (CHK_HAND - 1)];
  if (CHK_LIKELY(h->key == key)) return h;
  struct chk_page *const p = chk_page_of(owner, addr, make);
  if (!p) return NULL;
  *h = (struct chk_hand){key, p, chk_shadow_of(p)};
  return h;
}

static inline struct chk_page *chk_page_at(uint32_t owner, uintptr_t addr, bool make) {
  const struct chk_hand *const h = chk_hand_of(owner, addr, make);
  return h ? h->page : NULL;
}

/* What a rank says of itself. */
static inline struct chk_floor *chk_floor_of(uint32_t rank) {
  return (struct chk_floor *)chk_at(chk.area, chk.area->where_floor) + rank;
}

/* Bytes, and the words of their first granules, are about to be used: they come from memory
 * meanwhile. in here: the bytes in this process. */
static inline void chk_ahead(const struct chk_hand *h, uintptr_t addr, const void *here) {
  const struct chk_shadow *const s = h->shadow;
  __builtin_prefetch(&h->page->lock, 1);
  const uintptr_t cell = addr % CHK_PAGE_BYTES / CHK_GRANULE;
  __builtin_prefetch(&s->cell[cell], 1);
  __builtin_prefetch((const char *)&s->cell[cell + 1] - 1, 1);
  __builtin_prefetch(here, 1);
}

/* What ranks have given to a granule. */
static inline uint64_t *chk_given_at(struct chk_shadow *s, uintptr_t addr) {
  return &s->given[addr % CHK_PAGE_BYTES / CHK_GRANULE];
}

static inline void chk_ahead_given(struct chk_shadow *s, uintptr_t addr) {
  __builtin_prefetch(chk_given_at(s, addr), 1);
}

/* As chk_word_give_in, without a put. */
static inline void chk_word_gives(struct chk_page *p, struct chk_shadow *s, uint32_t owner,
                                  uintptr_t addr, uint32_t site) {
  uint64_t *const word = chk_given_at(s, addr);
  const uint64_t next = CHK_LIKELY(chk_covers_plainly(*word)) ? chk_give() : 0;
  if (CHK_LIKELY(next))
    __atomic_store_n(word, next, __ATOMIC_RELEASE);
  else
    chk_word_give_in(p, owner, addr, site, 0);
}

/* Whether a rank that takes what a word was given hears nothing new. */
static inline bool chk_word_known(uint64_t given, uintptr_t addr) {
  return chk_covers_plainly(given) && chk_joined_word != addr;
}

static inline uint64_t chk_word(uint64_t number, uint32_t mask, uint32_t flags) {
  return number << 16 | (uint64_t)mask << 8 | (flags & 0xff);
}

/* Enter the word of an access in a granule, if a barrier has ordered all that is there. Returns
 * whether. A word from before goes, if each race of its access is one of the new one's, too. */
static inline __attribute__((always_inline)) bool chk_enter_cell(uint64_t cell[CHK_SLOTS],
                                                                 uint64_t word) {
  const uint64_t a = cell[0], b = cell[1], d = cell[2], end = chk.floor << 16 | 1;
  const uint64_t differ = (~word & (0xff00 | CHK_WRITE)) | (word & CHK_ATOMIC);
  const bool first = a && ((a ^ word) & differ);
  if (CHK_LIKELY(!(b | d))) {
    if (CHK_UNLIKELY(a >= end)) return false;
    cell[first] = word;
    return true;
  }
  if (CHK_UNLIKELY(a >= end || b >= end || d >= end)) return false;
  const bool second = b && ((b ^ word) & differ), third = d && ((d ^ word) & differ);
  if (!second) cell[1] = 0;
  if (!third) cell[2] = 0;
  cell[!first ? 0 : !second ? 1 : !third ? 2 : 0] = word;
  return true;
}

/* Whether others than the owner may be in a race with an access. */
static inline bool chk_shares(const struct chk_access *a, const struct chk_range *range) {
  return range->owner != a->rank || a->done == CHK_OPEN || (range->flags & CHK_ATOMIC);
}

/* As chk_mark_in, if a barrier has ordered all that is there, and granules are not alike. Returns
 * false: it has not entered all. */
static inline __attribute__((always_inline)) bool chk_mark_few(struct chk_access *a,
                                                               struct chk_page *p,
                                                               struct chk_shadow *s,
                                                               const struct chk_range *range) {
  const uintptr_t addr = range->addr;
  const uint32_t bytes = (uint32_t)range->bytes, first = addr % CHK_GRANULE;
  const uint32_t i = addr % CHK_PAGE_BYTES / CHK_GRANULE,
                 last = (uint32_t)(addr + bytes - 1) % CHK_PAGE_BYTES / CHK_GRANULE;
  const uint32_t in_part = CHK_CELLS / CHK_PARTS;
  const bool alike = (p->alike >> i / in_part | p->alike >> last / in_part) & 1;
  if (CHK_UNLIKELY(p->uniform || alike)) return false;
  a->addr = addr;
  a->bytes = bytes;
  a->owner = (uint16_t)range->owner;
  if (chk_shares(a, range)) p->shared = 1;
  const uint32_t mask = i == last ? ((1u << bytes) - 1) << first : 0xff;
  const uint64_t word = chk_word(a->number, mask, range->flags);
  if (CHK_LIKELY(i == last)) return chk_enter_cell(s->cell[i], word);
  if ((first | bytes) % CHK_GRANULE || last > i + 1) return false;
  return chk_enter_cell(s->cell[i], word) && chk_enter_cell(s->cell[last], word);
}

/* An order that holds once holds for ever. */
static inline void chk_note_ordered(uint64_t number) {
  __atomic_store_n(&chk.ordered[number & (CHK_NOTED - 1)], number, __ATOMIC_RELAXED);
}

static inline bool chk_known_ordered(uint64_t number) {
  return number < chk.floor ||
         __atomic_load_n(&chk.ordered[number & (CHK_NOTED - 1)], __ATOMIC_RELAXED) == number;
}

/* ---- report.c */
void chk_race(const struct chk_access *before, uint32_t flags, const struct chk_access *now,
              uintptr_t addr);
void chk_leak(const char *what, uint32_t site);

/* ---- segment.c: attached segments of all ranks, [ranks]; NULL before attach */
gasnet_seginfo_t *chk_segments(void);
void chk_segments_set(gasnet_seginfo_t *all);
/* A segment of this process begins, or ends; whether an address is in one. */
void chk_segment_add(uintptr_t base, uintptr_t bytes);
void chk_segment_remove(uintptr_t base);
extern bool chk_more_memory; /* other segments, or second places */
bool chk_segment_has_any(const void *at);

static inline bool chk_segment_has(const void *at) {
  if ((uintptr_t)at - chk.own.base < chk.own.bytes) return true;
  return CHK_UNLIKELY(chk_more_memory) && chk_segment_has_any(at);
}

/* ---- pending.c: what ends with an event, or with a wait for implicit operations */
struct chk_pending {
  uint64_t remote, local; /* accesses, 0: none */
  uint64_t acquire;       /* key that the end acquires, 0: none */
  uintptr_t word;         /* address of a word that it acquires, 0: none */
  uint32_t owner;         /* of the word */
  uint32_t members;       /* of a collective, which the caller leaves; 0: none */
  bool acquires;
  gex_EC_t category;
  uint32_t site;
};
/* Note the begin of an operation that ends with this event. GEX_EVENT_INVALID: it has ended. */
void chk_pend(gex_Event_t event, const struct chk_pending *p);
void chk_end(const struct chk_pending *p);
/* The newest operation that the library does not know, in a process of one thread: most are waited
 * for at once. */
struct chk_newest {
  gex_Event_t event, spare; /* of it, GEX_EVENT_INVALID: none; one that was waited for */
  const uint64_t *given;    /* to its word */
  struct chk_pending op;
};
extern struct chk_newest chk_newest;
/* Its event, once the caller has filled in chk_newest.given and op. */
gex_Event_t chk_pend_newest(void);
/* A newest operation from before gets a place among the others. */
void chk_keep_newest(void);
/* A call has started an operation, or GEX_EVENT_NO_OP, refused: it was refused. Takes the lock.
 * Returns the second argument. */
gex_Event_t chk_started(const struct chk_pending *p, gex_Event_t event);
int chk_started_nbi(const struct chk_pending *p, int refused);
/* Defines a call: the library's own, unless it is to be checked; then between the records of its
 * begin and its end. ARGS, GIVEN: parameters and arguments, in parentheses. END: CHK_STARTED,
 * CHK_STARTED_NBI or a macro like them, which may use p. BEGUN: the operation, a struct
 * chk_pending. */
#define CHK_DEFINE(...) CHK_DEFINE_IF(chk_on(), __VA_ARGS__)
#define CHK_DEFINE_IF(CHECKED, RESULT, NAME, ARGS, GIVEN, END, BEGUN) \
 RESULT NAME ARGS {                                                   \
  if (!(CHECKED)) return chk_real.NAME GIVEN;                         \
  const struct chk_pending p = BEGUN;                                 \
  END(chk_real.NAME GIVEN);                                           \
 }
#define CHK_STARTED(call)     return chk_started(&p, call)
#define CHK_STARTED_NBI(call) return chk_started_nbi(&p, call)
/* Note the begin of the local side of a transfer. */
void chk_local_open(uint64_t number);
/* As chk_local_side, for the result of an operation on a word; and its end. Returns 0: it is for
 * chk_local_side. */
uint64_t chk_result_begin(const void *at, size_t bytes, uint32_t site);
bool chk_result_end(uint64_t number);
/* Record the local side of a transfer, if others may reach it or it lasts. in remote: the other
 * side, as long; at: NULL: a value; write: CHK_WRITE or 0. Returns its number if it lasts. */
uint64_t chk_local_side(const struct chk_range *remote, const void *at, uint32_t write,
                        uint32_t site, bool lasts);
/* Whether the source of a put may not be changed when the call returns. */
static inline bool chk_source_lasts(const gex_Event_t *lc) {
  return lc != GEX_EVENT_NOW;
}
void chk_pending_leaks(void);

/* ---- near.c: what to add to an address of a rank of a team, or of a domain's team, where the
 * checker is to access it; GEXX_UNMAPPED: the library does. Under chk.lock. */
intptr_t chk_near(gex_TM_t tm, gex_Rank_t rank);
intptr_t chk_near_ad(gex_AD_t ad, gex_Rank_t rank);
/* A team, a domain or a segment has begun, or ends. */
void chk_near_forget(void);

/* ---- objects.c */
uint64_t chk_team_key(gex_TM_t tm);
static inline uint32_t chk_jobrank(gex_TM_t tm, gex_Rank_t rank) {
  return tm->jobrank ? tm->jobrank[rank] : rank;
}

/* A team has come into being; each member hears of it after the same teams. */
void chk_team_made(gex_TM_t tm);
/* An object that is to be ended, and its end. in what, call: literals. */
void chk_made(const void *object, const char *what, const char *call, const void *pc);
void chk_ended(const void *object);
void chk_objects_leaks(void);

/* ---- segment.c: memory whose loads and stores are seen */
/* A buffer outside of segments that a transfer uses; all of them are free again. */
void chk_watch_buffer(uintptr_t base, size_t bytes);
/* As chk_watch_buffer, where races are looked for, and the buffer is in no segment. */
void chk_watch_result(uintptr_t base, size_t bytes);
void chk_watch_no_buffer(void);
/* A thread of this rank begins or ends strict accesses: each load and store comes until then. */
void chk_watch_strict(bool begins);
/* Each load and store of the segment that has words comes from now on, if there is a reason. */
void chk_watch_each(void);
/* The address in the segment of memory that is at a second place, too; others stay. */
uintptr_t chk_resolve_any(uintptr_t addr);
/* The rank whose memory an address of this process is; and the address as that rank has it. */
uint32_t chk_owner_any(uintptr_t *addr);

static inline uintptr_t chk_resolve(uintptr_t addr) {
  return CHK_UNLIKELY(chk_more_memory) ? chk_resolve_any(addr) : addr;
}

static inline uint32_t chk_owner_of(uintptr_t *addr) {
  return CHK_UNLIKELY(chk_more_memory) ? chk_owner_any(addr) : chk.rank;
}

/* ---- seen.c: loads and stores of the segment that has words */
/* A load or store, of bytes of that segment. */
void chk_see(uintptr_t addr, size_t bytes, int kind, const void *pc);
/* Whether words of the calling thread settle an access, where each thread has its own. */
int chk_settles(uintptr_t addr, size_t bytes, int kind, const void *pc);
/* As chk_see, for an access that does not make the run of its line longer. */
void chk_run(const struct chk_place *place);
/* As chk_run, of a thread of several, see struct chk_watch. */
int chk_run_in_copy(const struct chk_near *near, intptr_t *copy, const struct chk_place *place);
/* Ends all runs, for good. */
void chk_runs_end(void);
void chk_runs_never(void);
bool chk_files_have(const void *pc);
uint32_t chk_site_of(int kind, const void *pc);

static inline uint32_t chk_flags_of(int kind) {
  return kind == CHK_STORE ? CHK_WRITE | CHK_LOCAL : CHK_LOCAL;
}

/* ---- local.c: from now on the program's loads and stores come here */
void chk_local_start(void);
/* Whether this thread's accesses are a strict one of UPC; and its word, after the access is entered
 * under chk.lock. in put: number of a put, or 0. */
extern _Thread_local CHK_FAST int chk_strict_how;

static inline bool chk_strict(void) {
  return chk_strict_how != 0;
}

void chk_strict_word(uint32_t owner, uintptr_t addr, uint32_t site, uint64_t put);

/* ---- start.c: the library's calls */
struct chk_real {
#define CHK_CALL(name) __typeof__(name) *name;
#include "check/runtime/calls.def"
#undef CHK_CALL
};
extern struct chk_real chk_real;
/* Looks for them again, if they were not there. */
void chk_find_late(void);

/* ---- am.c */
void chk_handler(gex_Rank_t from, int reply, const struct gexx_am_msg *m);
void chk_prepared_leaks(void);
/* A put will run a handler at its peer, as a reply. Under chk.lock. */
void chk_send_note(uint32_t to, uint8_t handler, size_t nbytes, uint32_t site, uint64_t put);

#endif
