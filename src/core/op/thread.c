/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entering and leaving threads, see thread.h.
 *
 * Owns: the count of live client threads and the destructor key. Called at a thread's first
 * operation. Calls: pthread keys. Invariants: a thread's state is freed by its destructor; implicit
 * operations that it left unfinished keep the state alive (it is leaked on purpose, because
 * completions still write to it).
 */
#include "core/op/thread.h"

#include "base/atomic.h"
#include "base/log.h"
#include "core/check.h"
#include "core/job.h"
#include "core/op/status.h"

#include <pthread.h>
#include <stdlib.h>

_Thread_local struct tmb_thread *tmb_thread_self __attribute__((tls_model("initial-exec")));

static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static void thread_ended(void *arg) {
  struct tmb_thread *t = arg;
  tmb_thread_self = NULL;
  tmb_status_leave(t->shown);
  tmb_fetch_sub_acq_rel(&tmb_job.entered.alive, 1);
  free(t->long_buf[0]);
  free(t->long_buf[1]);
  free(t->self_buf[0]);
  free(t->self_buf[1]);
  if (!t->region && tmb_op_done(&t->nbi, GEX_EC_ALL)) free(t);
}

static void make_key(void) {
  if (pthread_key_create(&key, thread_ended))
    tmb_fatal("no thread-specific key is left in this process");
}

/*
 * A SEQ client promises that one thread calls. Where a second one does, after the first or in
 * turns, both are the one client thread: one may synchronise operations that the other has started.
 */
static struct tmb_thread *share(void) {
  tmb_advise(
      TMB_ADVICE_THREADS,
      "a second thread of this process enters the library, but the program was compiled with "
      "GASNET_SEQ; compile it with GASNET_PARSYNC or GASNET_PAR");
  tmb_thread_self = tmb_job.entered.only;
  return tmb_job.entered.only;
}

struct tmb_thread *tmb_thread_enter(void) {
  if (tmb_job.thread_mode == 1 && tmb_job.entered.only) return share();
  pthread_once(&key_once, make_key);
  const uint64_t now = tmb_fetch_add_acq_rel(&tmb_job.entered.alive, 1) + 1;
  if (tmb_job.threads_max && now > tmb_job.threads_max)
    tmb_fatal("thread %llu of this process enters the library, at most %llu may be alive at once; "
              "raise GASNET_MAX_THREADS",
              (unsigned long long)now, (unsigned long long)tmb_job.threads_max);
  struct tmb_thread *t = aligned_alloc(64, TMB_ALIGN_UP(sizeof *t, 64));
  if (!t) tmb_fatal("out of memory for a thread's state (%zu bytes)", sizeof *t);
  *t = (struct tmb_thread){0};
  t->token[0].thread = t->token[1].thread = t;
  t->token[0].is_req = true;
  t->nbi.kind = TMB_OP_IMPLICIT;
  t->id = tmb_fetch_add_rlx(&tmb_job.entered.ids, 1) + 1;
  tmb_thread_self = t;
  if (tmb_job.thread_mode == 1) /* other threads may follow, and share it */
    tmb_job.entered.only = t;
  else
    pthread_setspecific(key, t);
  return t;
}
