/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clocks of ranks: what gives them, keeps them and takes them.
 *
 * Owns: the declarations of clock.c, queue.c, past.c and word.c. Included by shadow.h. Calls:
 * order.c. Invariant: what is given is at least what the acting thread has heard of.
 */
#ifndef TMB_CHK_CLOCK_H
#define TMB_CHK_CLOCK_H

#include "check/runtime/order.h"

/* ---- clock.c: synchronisation objects. Keys are of any kind; a hash of what names the object. */
uint64_t chk_key(uint64_t kind, uint64_t a, uint64_t b);

enum { CHK_KEY_COLL = 1, CHK_KEY_AM, CHK_KEY_SEM, CHK_KEY_TAG, CHK_KEY_BLOCK, CHK_KEY_HEAP };

/* All earlier accesses of this rank happen before those that follow a take of this object. in put:
 * number of the access that the same signal orders, 0: none. */
void chk_release(uint64_t key, uint32_t site, uint64_t put);
/* All accesses before a give to this object happen before the next ones of this rank. in members:
 * of a collective; when so many have left, the object ends; 0: it stays. */
void chk_acquire(uint64_t key, uint32_t site);
void chk_leave(uint64_t key, uint32_t site, uint32_t members, bool acquires);
/* A new object with a key that others may have, too; and the oldest one with it, which ends. */
void chk_send(uint64_t key, uint32_t site, uint64_t put);
void chk_receive(uint64_t key, uint32_t site);
/* The newest object with this key ends: it was not sent. */
void chk_unsend(uint64_t key);

/* Objects without a key, in the hands of word.c. in was: what was given, a word of past.c, 0:
 * nothing. Returns 0: there is no room. */
uint32_t chk_object_new(uint64_t was);
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
  if (CHK_UNLIKELY(chk.gives == CHK_GIVES_ANEW || clock > CHK_GIVEN_CLOCK)) return chk_give_any();
  return chk.gives | clock;
}

/* What it gives together with what was given before, of which it has not heard; 0: one such set at
 * a time. chk_hear_joined: it hears of that set. */
uint64_t chk_give_joined(uint64_t was);
void chk_hear_joined(void);
/* Whether this rank has heard of what was given; it hears of it. */
bool chk_covers(uint64_t given);

/* As chk_covers, of a word that may be an object's: not always known. */
static inline bool chk_covers_plainly(uint64_t given) {
  return chk.plain[given >> 56] >= (given & (CHK_GIVEN_JOINED | CHK_GIVEN_CLOCK));
}

void chk_hear(uint64_t given, uint32_t site);
/* The clocks that were given, until the next call. */
struct chk_clocks chk_clocks_of(uint64_t given);
/* This rank has heard of these clocks. */
void chk_heard(struct chk_clocks clocks, uint32_t site);

/* ---- word.c: as chk_release and chk_acquire, for the 8 bytes of an address. */
void chk_word_give(uint32_t owner, uintptr_t addr, uint32_t site, uint64_t put);
void chk_word_take(uint32_t owner, uintptr_t addr, uint32_t site);
/* As chk_word_give, under the lock of the page, and without chk_given. */
void chk_word_give_in(struct chk_page *p, uint32_t owner, uintptr_t addr, uint32_t site,
                      uint64_t put);
extern uintptr_t chk_joined_word; /* to which this rank has given a joined set of clocks; 0: none */

#endif
