/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of record and replay in a rank.
 *
 * Owns: struct rpl and its lock, the library's functions, and the mark of the ordered thread. Used
 * by every file of this folder. Calls nothing. Invariants: start.c fills them in before the job
 * starts.
 */
#define _GNU_SOURCE
#include "replay/runtime/rpl.h"

#include <pthread.h>

struct rpl rpl;
struct rpl_real rpl_real;
_Thread_local bool rpl_ordered;

static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void rpl_lock(void) {
  pthread_mutex_lock(&mutex);
}

void rpl_unlock(void) {
  pthread_mutex_unlock(&mutex);
}
