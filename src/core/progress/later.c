/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to the client that a thread of the conduit has received, and that wait for a poll of the
 * client.
 *
 * Owns: tmb_job.later: their list, and which handlers may run in a thread of the conduit now
 * (handlers, read by conduits as env->thread_now). tmb_later_add is called in such a thread, by
 * am_deliver.c; tmb_later_take by progress.c; tmb_later_has by peer.c. Calls nothing. Handlers
 * marked TMB_BY_THREAD_IF_ROOM add messages here, so they are taken out of `handlers` while the
 * list is full: their messages wait in the conduit then, and keep their credit. Conduits read
 * `handlers` when a message comes, so the list grows beyond its limit by at most the messages that
 * they have taken by then. Invariants: the list is guarded by its lock, under which no handler
 * runs; replies are taken also where requests must wait.
 */
#include "core/progress/progress.h"

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/container/list.h"
#include "base/log.h"
#include "core/job.h"

#include <stdlib.h>
#include <string.h>

/* Where the list is full. Chosen, not measured. */
#define LATER_COUNT 1024u
#define LATER_BYTES (1u << 20) /* of payloads that are kept */

struct tmb_later {
  struct tmb_am_in in; /* first: tmb_later_take returns it */
  struct tmb_later *next;
  size_t bytes; /* of the payload that is kept here */
  int32_t args[TMB_AM_ARGS_MAX];
  char payload[] TMB_ALIGNED(16);
};

/* Checked by clang: only under the lock. */
TMB_REQUIRES(tmb_job.later.lock) static inline struct tmb_laters *list(void) {
  return &tmb_job.later;
}

/* Set which handlers may run in a thread of the conduit. */
TMB_REQUIRES(tmb_job.later.lock) static void set_handlers(void) {
  const bool full = list()->count >= LATER_COUNT || list()->bytes >= LATER_BYTES;
  if (full == list()->full) return;
  list()->full = full;
  for (int i = 0; i < 2; i++)
    tmb_store_rlx(&list()->handlers[i], full ? list()->handlers[i] & ~list()->deferring[i]
                                             : list()->handlers[i] | list()->deferring[i]);
}

void tmb_later_init(const uint64_t always[2], const uint64_t if_room[2]) {
  tmb_lock_acquire(&tmb_job.later.lock);
  for (int i = 0; i < 2; i++) {
    list()->deferring[i] = if_room[i];
    tmb_store_rlx(&list()->handlers[i], always[i] | if_room[i]);
  }
  tmb_lock_release(&tmb_job.later.lock);
}

void tmb_later_add(const struct tmb_am_in *in) {
  const size_t bytes = in->category == TMB_AM_MEDIUM ? in->nbytes : 0;
  struct tmb_later *const m = malloc(sizeof *m + bytes);
  if (!m) tmb_fatal("out of memory for a message of %zu bytes to the client", bytes);
  m->in = *in;
  m->bytes = bytes;
  m->in.args = m->args;
  if (in->nargs) memcpy(m->args, in->args, in->nargs * sizeof *m->args);
  if (bytes) m->in.payload = memcpy(m->payload, in->payload, bytes);
  tmb_lock_acquire(&tmb_job.later.lock);
  TMB_QUEUE_ADD(&list()->first, &list()->last, m);
  list()->bytes += bytes;
  tmb_store_rel(&list()->count, list()->count + 1);
  set_handlers();
  tmb_lock_release(&tmb_job.later.lock);
}

static bool is_served(const struct tmb_later *m, int serve) {
  return (serve & (m->in.is_reply ? TMB_SERVE_REPLIES : TMB_SERVE_REQUESTS)) != 0;
}

struct tmb_am_in *tmb_later_take(int serve) {
  tmb_lock_acquire(&tmb_job.later.lock);
  struct tmb_later *before = NULL, *m = list()->first;
  while (m && !is_served(m, serve)) {
    before = m;
    m = m->next;
  }
  if (m) {
    (void)TMB_LIST_POP(before ? &before->next : &list()->first);
    if (list()->last == m) list()->last = before;
    list()->bytes -= m->bytes;
    tmb_store_rel(&list()->count, list()->count - 1);
    set_handlers();
  }
  tmb_lock_release(&tmb_job.later.lock);
  return m ? &m->in : NULL;
}

bool tmb_later_has(uint32_t jobrank) {
  tmb_lock_acquire(&tmb_job.later.lock);
  const struct tmb_later *m = list()->first;
  while (m && m->in.src != jobrank) m = m->next;
  tmb_lock_release(&tmb_job.later.lock);
  return m != NULL;
}
