/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Vector clocks, and the synchronisation objects that carry them from rank to rank.
 *
 * Owns: the buckets and objects of the area. Called by the wrappers, under chk.lock. Calls: past.c.
 * An object has the maximum of the clocks that were given to it, and the puts that the same signal
 * orders. A collective is an object from its first member's call to its last member's end, and a
 * message with a put from its sending to its handler; other messages find room in their bucket.
 * Words of memory are in word.c. Invariants: the clock of a rank grows
 * after each release, so that what it does later is not covered by what it gave; the program's data
 * of a collective order root and members only in the direction in which they go; of messages that
 * look alike any may come first, so that a handler takes what all of them gave.
 */
#include "check/runtime/chk.h"

#include <string.h>

#define ALIKE  32 /* messages in flight with one key, any of which may be the one that is here */

#define SPARES 32u /* free objects that a rank keeps */

static uint32_t spare[SPARES], spares; /* in use */

uint64_t chk_key(uint64_t kind, uint64_t a, uint64_t b) {
  uint64_t h = kind * UINT64_C(0x9e3779b97f4a7c15) ^ a;
  h = (h ^ h >> 31) * UINT64_C(0xbf58476d1ce4e5b9) ^ b;
  h = (h ^ h >> 29) * UINT64_C(0x94d049bb133111eb);
  return (h ^ h >> 32) | 1;
}

static struct chk_bucket *bucket_of(uint64_t key) {
  struct chk_bucket *all = chk_at(chk.area, chk.area->where_bucket);
  return &all[(key >> 8) & (CHK_SYNC_BUCKETS - 1)];
}

static struct chk_sync *sync_at(uint32_t index) {
  return chk_sync_at(chk.area, index);
}

/* The clocks that were given to an object. */
static struct chk_clocks clocks_of(struct chk_sync *s) {
  const uint64_t at = (uint64_t)((const char *)s - (const char *)sync_at(0));
  return (struct chk_clocks){
      s->clock, chk_ticks_at(chk.area, chk.area->where_sync_tick, at / chk.area->sync_bytes)};
}

/* Take some free objects from the list of all ranks. */
static void take_spares(void) {
  struct chk_area *const a = chk.area;
  chk_lock(&a->lock);
  while (spares < SPARES / 2) {
    const uint32_t index = a->free_sync;
    if (index)
      a->free_sync = sync_at(index)->next;
    else if (a->syncs == CHK_SYNCS)
      break;
    spare[spares++] = index ? index : a->syncs++;
  }
  chk_unlock(&a->lock);
}

/* A new object, or 0: there is no room. */
static uint32_t sync_new(void) {
  if (!spares) take_spares();
  if (!spares) {
    __atomic_fetch_add(&chk.area->missed, 1, __ATOMIC_RELAXED);
    return 0;
  }
  const uint32_t index = spare[--spares];
  struct chk_sync *const s = sync_at(index);
  memset(s, 0, sizeof *s + chk.ranks * sizeof(uint64_t));
  memset(clocks_of(s).tick, 0, chk_columns() * sizeof(uint32_t));
  return index;
}

static void sync_free(uint32_t index) {
  if (spares == SPARES) {
    chk_lock(&chk.area->lock);
    while (spares > SPARES / 2) {
      const uint32_t old = spare[--spares];
      sync_at(old)->next = chk.area->free_sync;
      chk.area->free_sync = old;
    }
    chk_unlock(&chk.area->lock);
  }
  spare[spares++] = index;
}

/* Where the index of the oldest object with a key is, or the end of its bucket. */
static uint32_t *find(struct chk_bucket *b, uint64_t key) {
  uint32_t *at = &b->first;
  while (*at && sync_at(*at)->key != key) at = &sync_at(*at)->next;
  return at;
}

/* A new object at the end of a bucket, or 0: there is no room. */
static uint32_t append(struct chk_bucket *b, uint64_t key) {
  const uint32_t index = sync_new();
  if (!index) return 0;
  sync_at(index)->key = key;
  *(b->last ? &sync_at(b->last)->next : &b->first) = index;
  return b->last = index;
}

/* Takes the object at a place of a bucket out. Returns it. */
static uint32_t cut(struct chk_bucket *b, uint32_t *at) {
  const uint32_t index = *at;
  *at = sync_at(index)->next;
  if (b->last != index) return index;
  b->last = 0;
  for (uint32_t i = b->first; i; i = sync_at(i)->next) b->last = i;
  return index;
}

/* Puts that the signals of an object order, CHK_SYNC_PUTS at most. */
static uint64_t *put_of(struct chk_sync *s, uint32_t index) {
  return &s->clock[chk.ranks + index % CHK_SYNC_PUTS];
}

/* The puts that were taken end; that of a rank that has read its own signal stays until another
 * rank has taken it. Who has not taken one that another rank has accepted may have looked at the
 * word, and may do so later: it is taken for ordered. */
static void forget_taken(struct chk_sync *s) {
  const uint32_t puts = s->puts < CHK_SYNC_PUTS ? s->puts : CHK_SYNC_PUTS;
  s->puts = s->left = 0;
  for (uint32_t i = 0; i < puts; i++) {
    const uint64_t number = *put_of(s, i);
    struct chk_access *const a = chk_access_at(number);
    if (!a) continue;
    if (a->accept == CHK_OPEN)
      *put_of(s, s->puts++) = number;
    else if (a->accept_rank != a->owner)
      a->accept = 0;
  }
}

static void give(struct chk_sync *s, uint32_t site, uint64_t put) {
  if (CHK_UNLIKELY(chk.each_thread)) chk_thread_tells();
  chk_join_clocks(clocks_of(s), chk_known_clocks());
  s->site = site;
  if (!put) return;
  if (s->left) forget_taken(s);
  struct chk_access *const old =
      s->puts >= CHK_SYNC_PUTS ? chk_access_at(*put_of(s, s->puts)) : NULL;
  if (old) old->accept = 0; /* more than it can remember: taken for ordered */
  *put_of(s, s->puts++) = put;
}

static void take(struct chk_sync *s, uint32_t site) {
  chk_heard(clocks_of(s), site);
  for (uint32_t i = 0; i < s->puts && i < CHK_SYNC_PUTS; i++) {
    struct chk_access *const a = chk_access_at(*put_of(s, i));
    if (!a) continue;
    if (a->rank == chk.rank) { /* who has put sees its own signal: the put is complete */
      chk_close(a);
    } else if (a->accept == CHK_OPEN) {
      a->accept_rank = (uint16_t)chk.rank;
      a->accept_thread = chk.thread;
      a->accept_tick = chk.tick;
      __atomic_store_n(&a->accept, chk.clock[chk.rank], __ATOMIC_RELEASE);
    } else if (!chk_accepted(a)) {
      a->accept = 0; /* two ranks, or threads, that took it: taken for ordered */
    }
  }
  if (s->puts) s->left = 1;
  chk.synced = site;
}

uint32_t chk_object_new(uint64_t was) {
  const uint32_t index = sync_new();
  if (index && was) chk_join_clocks(clocks_of(sync_at(index)), chk_clocks_of(was));
  return index;
}

void chk_object_give(uint32_t object, uint32_t site, uint64_t put) {
  give(sync_at(object), site, put);
}

void chk_object_take(uint32_t object, uint32_t site) {
  take(sync_at(object), site);
}

bool chk_object_covered(uint32_t object) {
  struct chk_sync *const s = sync_at(object);
  return s->puts == 0 && chk_knows_clocks(clocks_of(s));
}

void chk_object_end(uint32_t object) {
  sync_free(object);
}

/* ---- messages that have no object */

/* Keeps a message that is sent. Returns false: it needs an object. */
static bool keep(struct chk_bucket *b, uint64_t key) {
  uint32_t at = 0;
  while (at < CHK_MESSAGES && b->key[at]) at++;
  const uint64_t given = at == CHK_MESSAGES || b->first ? 0 : chk_give();
  if (!given) return false;
  b->key[at] = key;
  b->given[at] = given;
  return true;
}

/* A message is no more. */
static void drop(struct chk_bucket *b, uint32_t at) {
  for (; at + 1 < CHK_MESSAGES; at++) {
    b->key[at] = b->key[at + 1];
    b->given[at] = b->given[at + 1];
  }
  b->key[at] = 0;
}

/* Takes what all messages with a key gave; the oldest is no more. Returns whether there was one. */
static bool take_kept(struct chk_bucket *b, uint64_t key, uint32_t site) {
  uint32_t oldest = CHK_MESSAGES;
  for (uint32_t i = CHK_MESSAGES; i--;) {
    if (b->key[i] != key) continue;
    chk_hear(b->given[i], site);
    oldest = i;
  }
  if (oldest < CHK_MESSAGES) drop(b, oldest);
  return oldest < CHK_MESSAGES;
}

/* Give to the object with a key, or to a new one behind all those of its bucket. */
static void release(uint64_t key, uint32_t site, uint64_t put, bool as_new) {
  struct chk_bucket *const b = bucket_of(key);
  chk_lock(&b->lock);
  if (!as_new || put || !keep(b, key)) {
    const uint32_t old = as_new ? 0 : *find(b, key), index = old ? old : append(b, key);
    if (index) give(sync_at(index), site, put);
  }
  chk_unlock(&b->lock);
  chk_given(site);
}

void chk_release(uint64_t key, uint32_t site, uint64_t put) {
  release(key, site, put, false);
}

void chk_send(uint64_t key, uint32_t site, uint64_t put) {
  release(key, site, put, true);
}

void chk_acquire(uint64_t key, uint32_t site) {
  struct chk_bucket *const b = bucket_of(key);
  chk_lock(&b->lock);
  uint32_t *const at = find(b, key);
  if (*at) take(sync_at(*at), site);
  chk_unlock(&b->lock);
}

void chk_block_made(uint64_t key, uint32_t site) {
  struct chk_bucket *const b = bucket_of(key);
  chk_lock(&b->lock);
  uint32_t *const at = find(b, key);
  const uint32_t index = *at ? *at : append(b, key);
  if (index) {
    struct chk_sync *const s = sync_at(index);
    s->site = site;
    s->clock[0] = chk.rank;
    s->puts = CHK_BLOCK;
  }
  chk_unlock(&b->lock);
}

void chk_block_ended(uint64_t key) {
  struct chk_bucket *const b = bucket_of(key);
  chk_lock(&b->lock);
  uint32_t *const at = find(b, key);
  const uint32_t index = *at ? cut(b, at) : 0;
  if (index) sync_at(index)->puts = 0;
  chk_unlock(&b->lock);
  if (index) sync_free(index);
}

void chk_leave(uint64_t key, uint32_t site, uint32_t members, bool acquires) {
  struct chk_bucket *const b = bucket_of(key);
  uint32_t ended = 0;
  chk_lock(&b->lock);
  uint32_t *const at = find(b, key);
  if (!*at) (void)append(b, key); /* a member that gives nothing and leaves first */
  if (*at) {
    struct chk_sync *const s = sync_at(*at);
    if (acquires) take(s, site);
    if (++s->left >= members) ended = cut(b, at);
  }
  chk_unlock(&b->lock);
  if (ended) sync_free(ended);
}

void chk_receive(uint64_t key, uint32_t site) {
  struct chk_bucket *const b = bucket_of(key);
  uint32_t ended = 0;
  chk_lock(&b->lock);
  const bool kept = take_kept(b, key, site);
  uint32_t *const at = find(b, key);
  uint32_t i = *at;
  for (int n = 0; i && n < ALIKE; i = sync_at(i)->next) {
    struct chk_sync *const s = sync_at(i);
    if (s->key != key) continue;
    if (!s->left || chk.each_thread) take(s, site); /* once is enough for a receiver */
    s->left = 1;
    n++;
  }
  if (!kept && *at) ended = cut(b, at);
  chk_unlock(&b->lock);
  if (ended) sync_free(ended);
}

void chk_unsend(uint64_t key) {
  struct chk_bucket *const b = bucket_of(key);
  uint32_t ended = 0, kept = CHK_MESSAGES;
  chk_lock(&b->lock);
  uint32_t *last = NULL;
  for (uint32_t *at = &b->first; *at; at = &sync_at(*at)->next)
    if (sync_at(*at)->key == key) last = at;
  while (!last && kept && b->key[kept - 1] != key) kept--;
  if (last) {
    ended = cut(b, last);
  } else if (kept) {
    drop(b, kept - 1);
  }
  chk_unlock(&b->lock);
  if (ended) sync_free(ended);
}
