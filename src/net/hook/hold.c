/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that a hook delivers later than they came, see hook.h.
 *
 * Owns: struct tmb_hold, a list in order of due times. Called by delay.c and fault.c. Calls: the
 * upcall of the hook. A payload of a Medium is copied; that of a Long is in place already.
 * Invariants: guarded by the lock, which is not held during an upcall; the list is bounded, so that
 * a sender in full flow cannot fill the memory.
 */
#include "net/hook/hook.h"

#include "base/compiler.h"
#include "base/container/list.h"
#include "base/error.h"
#include "os/os.h"
#include "os/sync/lock.h"

#include <stdlib.h>
#include <string.h>

/* Messages and bytes that are held back, at most. Chosen, not measured. */
#define KEPT_MAX  2048u
#define BYTES_MAX (32u << 20)
#define BATCH     16 /* messages delivered by one call */

struct kept {
  struct kept *next;
  uint64_t due_ns;
  struct tmb_am_in in;
  int32_t args[TMB_AM_ARGS_SENT];
  char payload[] TMB_ALIGNED(16);
};

struct tmb_hold {
  const struct tmb_hook *hook;
  struct tmb_lock lock;
  struct kept *first;
  size_t count, bytes;
  uint32_t busy; /* messages being delivered */
};

static void hold_free(struct tmb_hold *h) {
  while (h->first) free(TMB_LIST_POP(&h->first));
  free(h);
}

/* Bytes that are copied. */
static size_t copied(const struct tmb_am_in *in) {
  return in->category == TMB_AM_MEDIUM ? in->nbytes : 0;
}

bool tmb_hold_put(struct tmb_hold *h, const struct tmb_am_in *in, uint64_t due_ns) {
  const size_t bytes = sizeof(struct kept) + copied(in);
  tmb_lock_acquire(&h->lock);
  const bool room = h->count < KEPT_MAX && h->bytes + bytes <= BYTES_MAX;
  struct kept *k = room ? aligned_alloc(16, TMB_ALIGN_UP(bytes, (size_t)16)) : NULL;
  if (k) {
    k->due_ns = due_ns;
    k->in = *in;
    k->in.args = k->args;
    memcpy(k->args, in->args, in->nargs * sizeof *k->args);
    if (in->category == TMB_AM_MEDIUM) {
      if (in->nbytes) memcpy(k->payload, in->payload, in->nbytes);
      k->in.payload = k->payload;
    }
    struct kept **p = &h->first;
    while (*p && (*p)->due_ns <= due_ns) p = &(*p)->next;
    TMB_LIST_PUSH(p, k);
    tmb_store_rlx(&h->count, h->count + 1);
    h->bytes += bytes;
  }
  tmb_lock_release(&h->lock);
  return k != NULL;
}

/* Take out the first message that may be delivered. */
static struct kept *take(struct tmb_hold *h, int serve, uint64_t now) {
  tmb_lock_acquire(&h->lock);
  struct kept **p = &h->first;
  while (*p && (*p)->due_ns <= now && !(*p)->in.is_reply && !(serve & TMB_SERVE_REQUESTS))
    p = &(*p)->next;
  struct kept *k = *p && (*p)->due_ns <= now ? *p : NULL;
  if (k) {
    (void)TMB_LIST_POP(p);
    tmb_store_rlx(&h->count, h->count - 1);
    h->bytes -= sizeof *k + copied(&k->in);
    h->busy++;
  }
  tmb_lock_release(&h->lock);
  return k;
}

int tmb_hold_progress(struct tmb_hold *h, int serve) {
  if (!tmb_load_rlx(&h->count)) return TMB_FOUND_NOTHING;
  const uint64_t now = tmb_os_now_ns();
  int found = TMB_FOUND_NOTHING;
  for (int i = 0; i < BATCH; i++) {
    struct kept *k = take(h, serve, now);
    if (!k) break;
    h->hook->outer_up->am(&k->in);
    tmb_lock_acquire(&h->lock);
    h->busy--;
    tmb_lock_release(&h->lock);
    free(k);
    found = TMB_FOUND_WORK;
  }
  return found;
}

static void lower_timeout(struct tmb_hold *h, uint64_t *timeout_ns) {
  tmb_lock_acquire(&h->lock);
  if (h->first) {
    const uint64_t now = tmb_os_now_ns(), due = h->first->due_ns;
    *timeout_ns = TMB_MIN(*timeout_ns, due > now ? due - now : 0);
  }
  tmb_lock_release(&h->lock);
}

static bool has(struct tmb_hold *h, uint32_t peer) {
  tmb_lock_acquire(&h->lock);
  bool has = h->busy != 0;
  for (const struct kept *k = h->first; k && !has; k = k->next) has = k->in.src == peer;
  tmb_lock_release(&h->lock);
  return has;
}

/* ---- slots of a hook that keeps messages */

static uint32_t wait_fds(struct tmb_net *net, struct pollfd *fds, uint32_t max,
                         uint64_t *timeout_ns) {
  struct tmb_hook *hook = tmb_hook_of(net);
  lower_timeout(hook->hold, timeout_ns);
  return hook->inner->wait_fds(hook->net, fds, max, timeout_ns);
}

static int lost(struct tmb_net *net, uint32_t peer) {
  struct tmb_hook *hook = tmb_hook_of(net);
  const int rc = hook->inner->lost ? hook->inner->lost(hook->net, peer) : 0;
  return rc || !has(hook->hold, peer) ? rc : TMB_AGAIN;
}

static void close_hook(struct tmb_net *net) {
  struct tmb_hook *hook = tmb_hook_of(net);
  hook->inner->close(hook->net);
  hold_free(hook->hold);
}

void tmb_hold_begin(struct tmb_hook *hook) {
  hook->hold = calloc(1, sizeof *hook->hold);
  if (!hook->hold) hook->outer_up->fatal("out of memory for a hook (TOMBOLO_TEST_NET_HOOK)");
  hook->hold->hook = hook;
  if (hook->table.wait_fds) hook->table.wait_fds = wait_fds;
  hook->table.lost = lost;
  hook->table.close = close_hook;
}
