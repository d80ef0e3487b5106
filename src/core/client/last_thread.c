/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a process whose threads end one by one, see last_thread.h.
 *
 * Owns: the key whose destructor notes that the thread that initialised ends, the thread that waits
 * from then on (that one, where no other can start), and the list of the network's threads: UCX
 * below MPI renames its own. Called by client.c. Calls: os/process/threads.c, exit(3). Invariants:
 * without a network there are no threads but the client's, and the C library ends the process. The
 * threads are listed twice before the end: a client's thread may end while the first list is read,
 * and leave another one that this list lacks; the second list has it.
 */
#include "core/client/last_thread.h"

#include "boot/boot.h"
#include "core/job.h"
#include "os/os.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

/* Time between two checks of the threads, at first and at most, in ns. Chosen: the end of a process
 * is noticed soon, and a computing thread loses next to nothing. */
#define REST_FIRST_NS UINT64_C(1000000)
#define REST_MOST_NS  UINT64_C(200000000)

static pthread_key_t key;
static struct tmb_os_threads own; /* of the network; before it is opened: all; written once */

void tmb_last_thread_network(bool opened) {
  static char name[TMB_OS_THREAD_NAME]; /* of the calling thread */
  if (!opened) {
    tmb_os_thread_name(name, TMB_OWN_THREAD);
    tmb_os_threads_list(&own);
    return;
  }
  struct tmb_os_threads now;
  tmb_os_thread_name(NULL, name);
  tmb_os_threads_list(&now);
  uint32_t count = 0;
  for (uint32_t i = 0; i < now.count && own.count; i++) {
    uint32_t k = 0;
    while (k < own.count && own.id[k] != now.id[i]) k++;
    if (k == own.count) now.id[count++] = now.id[i];
  }
  own = now;
  own.count = count;
}

static void *wait_for_last(void *arg) {
  (void)arg;
  uint64_t rest = REST_FIRST_NS;
  while (tmb_os_threads_run(TMB_OWN_THREAD, &own) || tmb_os_threads_run(TMB_OWN_THREAD, &own)) {
    tmb_os_nsleep(rest);
    rest = TMB_MIN(2 * rest, REST_MOST_NS);
  }
  exit(0); /* as the C library does at the end of the last thread */
}

/* The thread that initialised has called pthread_exit, or its function has returned. */
static void first_has_ended(void *arg) {
  (void)arg;
  pthread_t thread;
  pthread_attr_t attr;
  sigset_t all, before;
  if (!tmb_job.net || !tmb_boot_is_rank(&tmb_job.boot)) return;
  pthread_attr_init(&attr);
  pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the client's */
  if (pthread_create(&thread, &attr, wait_for_last, NULL) != 0) {
    tmb_os_thread_name(NULL, TMB_OWN_THREAD); /* no thread is to be had: this one waits */
    (void)wait_for_last(NULL);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attr);
}

void tmb_last_thread_begin(void) {
  if (pthread_key_create(&key, first_has_ended) == 0) pthread_setspecific(key, &key);
}
