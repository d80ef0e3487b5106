/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* mode: SEQ */
/* GASNETT_USE_TRUE_MUTEXES=1 gives a single-threaded client real locks (API reference 09, section
 * 1). */
#define GASNETT_USE_TRUE_MUTEXES 1
#include <errno.h>
#include <gasnet_tools.h>

#include "check.h"

static gasnett_mutex_t m = GASNETT_MUTEX_INITIALIZER;
static gasnett_rwlock_t r = GASNETT_RWLOCK_INITIALIZER;

int main(void) {
  gasnett_mutex_lock(&m);
  CHECK_EQ(gasnett_mutex_trylock(&m), EBUSY);
  CHECK_EQ(gasnett_mutex_destroy_ignoreerr(&m), EBUSY);
  gasnett_mutex_unlock(&m);
  CHECK_EQ(gasnett_mutex_trylock(&m), 0);
  gasnett_mutex_unlock(&m);
  CHECK_EQ(gasnett_mutex_destroy_ignoreerr(&m), 0);
  gasnett_rwlock_wrlock(&r);
  CHECK_EQ(gasnett_rwlock_trywrlock(&r), EBUSY);
  CHECK_EQ(gasnett_rwlock_tryrdlock(&r), EBUSY);
  gasnett_rwlock_unlock(&r);
  CHECK_STR(_STRINGIFY(GASNETT_THREAD_MODEL), "SEQ");
  return check_done();
}
