/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* mode: SEQ */
/*
 * Locks and thread keys of a single-threaded client (API reference 09, sections 5 to 7): no-ops,
 * and the key is one variable of the process.
 */
#include <gasnet_tools.h>

#include "check.h"

static gasnett_mutex_t m = GASNETT_MUTEX_INITIALIZER;
static gasnett_cond_t c = GASNETT_COND_INITIALIZER;
static gasnett_rwlock_t r = GASNETT_RWLOCK_INITIALIZER;

GASNETT_THREADKEY_DEFINE(slot);

int main(void) {
  int here = 0;
  gasnett_mutex_init(&m);
  gasnett_mutex_lock(&m);
  gasnett_mutex_assertlocked(&m);
  CHECK_EQ(gasnett_mutex_trylock(&m), 0); /* no lock exists that could be busy */
  gasnett_mutex_unlock(&m);
  gasnett_mutex_assertunlocked(&m);
  gasnett_cond_init(&c);
  gasnett_cond_signal(&c);
  gasnett_cond_broadcast(&c);
  gasnett_cond_wait(&c, &m);
  gasnett_cond_destroy(&c);
  CHECK_EQ(gasnett_mutex_destroy_ignoreerr(&m), 0);
  gasnett_mutex_destroy(&m);
  gasnett_rwlock_init(&r);
  gasnett_rwlock_rdlock(&r);
  gasnett_rwlock_unlock(&r);
  gasnett_rwlock_wrlock(&r);
  CHECK_EQ(gasnett_rwlock_trywrlock(&r), 0);
  CHECK_EQ(gasnett_rwlock_tryrdlock(&r), 0);
  gasnett_rwlock_unlock(&r);
  gasnett_rwlock_destroy(&r);
  CHECK_PTR(gasnett_threadkey_get(slot), NULL);
  gasnett_threadkey_init(slot);
  gasnett_threadkey_set(slot, &here);
  CHECK_PTR(gasnett_threadkey_get(slot), &here);
  CHECK_PTR(gasnett_threadkey_get_noinit(slot), &here);
  return check_done();
}
