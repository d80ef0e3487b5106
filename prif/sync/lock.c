/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks and critical constructs: prif_lock, prif_unlock, prif_critical, prif_end_critical.
 *
 * Owns nothing: a variable is a word of 8 bytes, 0 when free, else the holder's image of the
 * initial team. Called by programs. Calls: locks of coarray/. Invariants: all images use a word of
 * one image for a critical construct; the order of allocations chooses that image, so that
 * constructs spread over the images; each statement is an image control: earlier writes are visible
 * after it. A lock whose holder has failed is taken, with a code where STAT= is present.
 */
#include "access/place.h"

#include "sync/control.h"

/* Why a lock was not taken. */
static void refuse(enum caf_taken taken, uint32_t rank, int64_t holder,
                   const struct prif_status *to) {
  const char *name = caf.statement.call;
  if (taken == CAF_TAKEN_BEFORE)
    prif_fail(to, PRIF_STAT_LOCKED,
              "%s: this image, image %u of the initial team, holds the lock "
              "already: release it first [TMB-2243]",
              name, caf.rank + 1);
  else if (taken == CAF_TAKEN_NEVER)
    prif_fail(to, PRIF_STAT_STOPPED_IMAGE,
              "%s: image %lld of the initial team holds the lock and has ended [TMB-2242]", name,
              (long long)holder);
  else if (taken == CAF_TAKEN_NOWHERE)
    prif_fail(to, prif_code_of(caf.lost[rank]),
              "%s: image %u of the initial team, which has the lock variable, has %s [TMB-2241]",
              name, rank + 1, caf_end_name(caf.lost[rank]));
  else
    prif_fail(to, PRIF_STAT_ERROR,
              "%s: the lock variable has the value %lld, which is no image: its bytes must be zero "
              "before it is used [TMB-2240]",
              name, (long long)holder);
}

/* Takes a lock. acquired: NULL: waits for it. of_failed: the code that says so when its holder has
 * failed. */
static void take(const struct prif_where *where, bool *acquired, int of_failed,
                 const struct prif_status *to) {
  struct prif_place place;
  if (!prif_find_word(&place, where, to)) return;
  caf_complete();
  int64_t holder;
  const struct caf_lock lock = {place.rank, place.at, NULL};
  const enum caf_taken taken = caf_lock_take(&lock, acquired != NULL, &holder);
  if (acquired) *acquired = taken == CAF_TAKEN || taken == CAF_TAKEN_OF_FAILED;
  if (taken == CAF_TAKEN || taken == CAF_TAKEN_BUSY)
    prif_done(to);
  else if (taken != CAF_TAKEN_OF_FAILED)
    refuse(taken, place.rank, holder, to);
  else if (to->stat)
    prif_fail(to, of_failed,
              "%s: image %lld of the initial team, which held the lock, has failed; "
              "this image holds it now [TMB-2239]",
              caf.statement.call, (long long)holder);
}

/* Gives a lock back. */
static void release(const struct prif_where *where, const struct prif_status *to) {
  struct prif_place place;
  if (!prif_find_word(&place, where, to)) return;
  caf_complete();
  const int64_t holder = caf_lock_free(&(struct caf_lock){place.rank, place.at, NULL});
  if (__builtin_expect(caf.lost_count != 0, 0) && prif_met_loss(place.rank, to)) return;
  if (holder == (int64_t)caf.rank + 1)
    prif_done(to);
  else if (holder == 0)
    prif_fail(to, PRIF_STAT_UNLOCKED, "%s: the lock variable is not locked [TMB-2238]",
              caf.statement.call);
  else
    prif_fail(to, PRIF_STAT_LOCKED_OTHER_IMAGE,
              "%s: image %lld of the initial team holds the lock, not this one, image %u "
              "[TMB-2237]",
              caf.statement.call, (long long)holder, caf.rank + 1);
}

void PRIF(lock)(PRIF_VARIABLE, bool *acquired_lock, PRIF_STATUS) {
  PRIF_STATEMENT("prif_lock");
  take(PRIF_WHERE, acquired_lock, PRIF_STAT_UNLOCKED_FAILED_IMAGE, PRIF_TO);
}

void PRIF(lock_indirect)(PRIF_ADDRESS(lock_var_ptr), bool *acquired_lock, PRIF_STATUS) {
  PRIF_STATEMENT("prif_lock_indirect");
  take(PRIF_WHERE_AT(lock_var_ptr), acquired_lock, PRIF_STAT_UNLOCKED_FAILED_IMAGE, PRIF_TO);
}

void PRIF(unlock)(PRIF_VARIABLE, PRIF_STATUS) {
  PRIF_STATEMENT("prif_unlock");
  release(PRIF_WHERE, PRIF_TO);
}

void PRIF(unlock_indirect)(PRIF_ADDRESS(lock_var_ptr), PRIF_STATUS) {
  PRIF_STATEMENT("prif_unlock_indirect");
  release(PRIF_WHERE_AT(lock_var_ptr), PRIF_TO);
}

/* The image whose word a critical construct uses: 1 for the first coarray of the initial team, 2
 * for the second one and so on. The coarray may exist on some images only. */
static int32_t critical_image(const struct prif_co *co) {
  const struct caf_token *t = co->token;
  uint32_t rank = (t->serial - 1) % t->ranks;
  for (uint32_t i = 0; i < t->ranks && !t->addr[rank]; i++) rank = (rank + 1) % t->ranks;
  return (int32_t)rank + 1;
}

static const size_t at_start;
#define CRITICAL_WORD(image, handle) \
 (&(const struct prif_where){image, handle, &at_start, NULL, "critical_coarray"})

void PRIF(critical)(const prif_handle *critical_coarray, PRIF_STATUS) {
  PRIF_STATEMENT("prif_critical");
  const struct prif_co *const co = prif_coarray(*critical_coarray, PRIF_TO);
  if (!co) return;
  const int32_t image = critical_image(co);
  take(CRITICAL_WORD(&image, critical_coarray), NULL, PRIF_STAT_FAILED_IMAGE, PRIF_TO);
}

void PRIF(end_critical)(const prif_handle *critical_coarray) {
  PRIF_STATEMENT("prif_end_critical");
  const struct prif_co *const co = prif_coarray(*critical_coarray, PRIF_NO_STATUS);
  const int32_t image = critical_image(co);
  int32_t code = 0;
  release(CRITICAL_WORD(&image, critical_coarray), &(const struct prif_status){&code, NULL, NULL});
  /* Where the image that has the word is lost, no other one can enter: nothing to give back. */
  if (code && code != PRIF_STAT_FAILED_IMAGE && code != PRIF_STAT_STOPPED_IMAGE)
    release(CRITICAL_WORD(&image, critical_coarray), PRIF_NO_STATUS); /* says why, and ends */
}
PRIF_FLANG(end_critical)
