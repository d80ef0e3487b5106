/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress: who serves what has come, and when, see ofi_engine.h.
 *
 * Owns nothing beyond the engine. Called by core through the table. Calls: ofi_receive.c for
 * messages, ofi_send.c and ofi_rma.c for what waits for room, env->up. A message is delivered with
 * the lock released. While the client computes, the progress thread stands in for it; it serves
 * what needs no client, and wakes it for the rest. Invariants: the thread touches nothing while the
 * client polls or sleeps; it keeps at most TEND_HELD_MAX bytes of copies.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/error.h"
#include "net/ofi/ofi_engine.h"
#include "net/ofi/ofi_rma.h"
#include "net/ofi/ofi_silent.h"
#include "net/plugin/progress_thread.h"
#include "net/plugin/verdict.h"
#include "os/os.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

/* Work of one call of progress, and its times. Chosen, not measured. */
#define PROGRESS_BATCH 32 /* messages */
#define NS_PER_S       UINT64_C(1000000000)
#define LATE_NS        UINT64_C(1000000)   /* from a timer of a client that sleeps to its waking */
#define TEND_HELD_MAX  (UINT64_C(8) << 20) /* bytes of copies that the progress thread keeps */
#define BLIND_NS       UINT64_C(1000000)   /* longest sleep while something is in flight */
#define LOOK_TICKS     256                 /* calls between searches for silent peers */
#define BATCH_POLLS    2                   /* for which a batch waits for further messages */

/* ---- peers that cannot be reached: their launcher says that they have ended, or time passes */

/* Under the lock. Whether a peer is to be reported, once. */
static bool is_lost(struct tmb_net *net, struct ofi_peer *p, uint64_t now) {
  if (!p || !p->broken || !p->broken_ns) return false;
  if (!p->life.silent && now - p->broken_ns < net->timeout_ns) return false;
  if (!ofi_silent_blames(net, p)) return false;
  p->broken_ns = 0;
  net->peers.broken--;
  return true;
}

static void report_lost(struct tmb_net *net) {
  if (!net->timeout_ns) return;
  const uint64_t now = tmb_os_now_ns();
  for (uint32_t i = 0; i < net->env.size; i++) {
    tmb_lock_acquire_shared(&net->lock);
    struct ofi_peer *const p = net->peers.of[i];
    const bool lost = is_lost(net, p, now);
    tmb_lock_release(&net->lock);
    if (lost) net->env.up->peer_lost(i, ofi_silent_why(net, p));
  }
  tmb_lock_acquire_shared(&net->lock);
  const bool cut_off = net->silent.cut_off && !net->silent.cut_off_known;
  if (cut_off) net->peers.broken--;
  net->silent.cut_off_known = net->silent.cut_off;
  tmb_lock_release(&net->lock);
  if (cut_off) net->env.up->peer_lost(net->env.rank, TMB_CUT_OFF_WHY);
}

/* ---- the slots */

/* Under the lock: work that needs no message. in polls: of the client, for which a batch waits.
 * Returns whether something was done. */
static bool housekeeping(struct tmb_net *net, uint64_t polls) {
  if (TMB_UNLIKELY(net->client.tick % LOOK_TICKS == 0)) (void)ofi_silent_look(net);
  if (TMB_UNLIKELY(net->in.unposted != NULL)) ofi_post_rest(net);
  if (TMB_UNLIKELY(net->in.unanswered != NULL)) ofi_answer_rest(net);
  bool done = TMB_UNLIKELY(net->peers.todo != 0) && ofi_send_rest(net);
  if (TMB_UNLIKELY(net->peers.batches != 0)) done = ofi_send_batches(net, polls) || done;
  if (TMB_UNLIKELY(net->access.pending != NULL)) done = ofi_access_rest(net) || done;
  if (TMB_UNLIKELY(net->access.again != NULL)) done = ofi_access_retry(net) || done;
  return done;
}

static void empty_nudge(struct tmb_net *net) {
  uint64_t times;
  const ssize_t got = read(net->client.nudge, &times, sizeof times);
  net->client.nudged = got < 0 && errno == EINTR;
}

/* Something has changed that the client may wait for: a message, a completion, credit, a buffer. If
 * it is about to sleep after all, or has not been scheduled yet, the queue no longer shows it. */
static void nudge(struct tmb_net *net) {
  const uint64_t one = 1;
  if (net->client.nudged || net->client.nudge < 0) return;
  net->client.nudged = write(net->client.nudge, &one, sizeof one) == (ssize_t)sizeof one;
}

/* Whether the thread may read completions: it keeps copies of those for the client. */
static bool has_room(struct tmb_net *net) {
  return net->in.held_bytes < TEND_HELD_MAX || ofi_silent_full(net);
}

/* The progress thread waits, in a handler, for room for a reply. */
static int wait_in_handler(struct tmb_net *net) {
  uint32_t dealt = 0;
  if (tmb_load_rlx(&net->ended) || tmb_load_rlx(&net->client.ends)) return TMB_E_SYS;
  if (!tmb_lock_try_shared(&net->lock)) return TMB_FOUND_BUSY;
  const bool done = housekeeping(net, 0);
  if (has_room(net)) (void)ofi_next_message(net, TMB_SERVE_NOTHING, &dealt);
  if (dealt || done) nudge(net);
  tmb_lock_release(&net->lock);
  return TMB_FOUND_NOTHING;
}

int ofi_progress(struct tmb_net *net, int serve) {
  int found = TMB_FOUND_NOTHING;
  uint32_t dealt = 0;
  if (TMB_UNLIKELY(serve == TMB_SERVE_NOTHING)) return wait_in_handler(net);
  if (tmb_load_rlx(&net->ended)) return TMB_FOUND_NOTHING;
  if (!tmb_lock_try_shared(&net->lock)) return TMB_FOUND_BUSY;
  tmb_store_rlx(&net->client.tick, net->client.tick + 1);
  if (TMB_UNLIKELY(net->client.nudged)) empty_nudge(net);
  if (housekeeping(net, BATCH_POLLS)) found = TMB_FOUND_WORK;
  for (int i = 0; i < PROGRESS_BATCH; i++) {
    struct ofi_buffer *const b = ofi_next_message(net, serve, &dealt);
    struct ofi_op *const done = net->access.done;
    net->access.done = NULL;
    const uint32_t units = ofi_owe(net, b);
    if (!b && !done) break;
    tmb_lock_release(&net->lock);
    found |= TMB_FOUND_WORK;
    ofi_access_report(net, done);
    if (b) ofi_hand_up(net, b, net->env.up->am);
    tmb_lock_acquire_shared(&net->lock);
    ofi_access_free(net, done);
    if (!b) break;
    const uint32_t peer = b->op.peer;
    ofi_finish(net, b);
    if (units) ofi_credit_return(net, peer);
  }
  if (net->client.moved) found |= TMB_FOUND_WORK;
  net->client.moved = false;
  const bool broken = net->peers.broken != 0;
  tmb_lock_release(&net->lock);
  if (TMB_UNLIKELY(broken)) report_lost(net);
  return found;
}

/* Whether something is in flight, or waits for room. */
static bool is_busy(const struct tmb_net *net) {
  return net->tx_busy || net->peers.todo || net->peers.batches || net->in.unposted ||
         net->in.unanswered || net->access.pending || net->access.again;
}

/* For how long nobody need look, as far as this conduit knows. */
static uint64_t quiet_ns(const struct tmb_net *net) {
  if (ofi_holds_any(net) || net->cq.at < net->cq.count || net->access.done) return 0;
  if (is_busy(net) || net->rail[0].wait_fd < 0) return BLIND_NS;
  if (net->peers.broken && net->timeout_ns) return NS_PER_S / 10;
  return net->client.thread || !net->silent.timeout_ns ? UINT64_MAX : net->silent.timeout_ns / 10;
}

uint32_t ofi_wait_fds(struct tmb_net *net, struct pollfd *fds, uint32_t max, uint64_t *timeout_ns) {
  uint32_t count = 0;
  tmb_lock_acquire_shared(&net->lock);
  if (max) (void)ofi_silent_look(net);
  if (max && net->peers.batches) (void)ofi_send_batches(net, 0);
  uint64_t limit = quiet_ns(net);
  if (net->rail[0].wait_fd >= 0 && max) {
    const int rc = ofi_rail_wait(net, fds, max, &count);
    if (rc) limit = rc == -FI_EAGAIN ? 0 : TMB_MIN(limit, BLIND_NS);
  }
  if (count < max && net->client.nudge >= 0)
    fds[count++] = (struct pollfd){.fd = net->client.nudge, .events = POLLIN};
  if (limit < *timeout_ns) *timeout_ns = limit;
  if (max) {
    net->client.wait_tick = net->client.tick;
    net->client.wait_due_ns =
        *timeout_ns > UINT64_MAX / 2 ? UINT64_MAX / 2 : tmb_os_now_ns() + *timeout_ns;
  }
  tmb_lock_release(&net->lock);
  return count;
}

/* ---- while the client computes */

/* Whether the client sleeps: it has asked for descriptors, has polled at most once more since, and
 * nothing has come. It may compute after that poll; then the next message shows it. */
static bool is_asleep(const struct tmb_net *net) {
  if (!net->client.wait_tick || net->client.tick > net->client.wait_tick + 1 ||
      tmb_os_now_ns() >= net->client.wait_due_ns + LATE_NS)
    return false;
  struct pollfd fds[OFI_RAILS];
  nfds_t count = 0;
  for (uint32_t r = 0; r < net->rails; r++)
    if (net->rail[r].ep && net->rail[r].wait_fd >= 0)
      fds[count++] = (struct pollfd){.fd = net->rail[r].wait_fd, .events = POLLIN};
  return !count || poll(fds, count, 0) <= 0;
}

/* Deal with a message that is_by_thread. */
static void serve_by_thread(struct tmb_net *net, struct ofi_buffer *b) TMB_REQUIRES(net->lock);

static void serve_by_thread(struct tmb_net *net, struct ofi_buffer *b) {
  const uint32_t units = ofi_owe(net, b), peer = b->op.peer;
  net->client.serves = peer + 1;
  tmb_lock_release(&net->lock);
  ofi_hand_up(net, b, net->env.up->am_by_thread);
  tmb_lock_acquire_shared(&net->lock);
  net->client.serves = 0;
  ofi_finish(net, b);
  if (units) ofi_credit_return(net, peer);
}

/* Let the library go on with work that needs no client. Returns TMB_FOUND_ bits. */
static int work_by_thread(struct tmb_net *net) TMB_REQUIRES(net->lock);

static int work_by_thread(struct tmb_net *net) {
  if (!net->env.up->thread_work) return TMB_FOUND_NOTHING;
  tmb_lock_release(&net->lock);
  const int found = net->env.up->thread_work();
  tmb_lock_acquire_shared(&net->lock);
  return found;
}

/* Shorten the time until the thread polls again where the library waits for room. in found: of
 * work_by_thread. */
static void library_waits(int found, uint64_t *ns) {
  if (!(found & TMB_FOUND_BUSY)) return;
  *ns = found & TMB_FOUND_WORK ? 0 : TMB_MIN(*ns, (uint64_t)BLIND_NS);
}

/* Descriptors for the next wait of the progress thread; out as for ofi_tend. in room: for further
 * copies. */
static void tend_wait(struct tmb_net *net, bool room, struct pollfd *fds, uint32_t *count,
                      uint64_t *ns) {
  const int rc = room ? ofi_rail_wait(net, fds, TMB_PROGRESS_FDS, count) : -FI_ENOSYS;
  if (rc == -FI_EAGAIN)
    *ns = 0;
  else if (rc || is_busy(net))
    *ns = BLIND_NS;
}

bool ofi_tend(struct tmb_net *net, uint64_t tick, struct pollfd *fds, uint32_t *count,
              uint64_t *ns) {
  uint32_t dealt = 0;
  if (tmb_load_rlx(&net->ended) || !tmb_lock_try_shared(&net->lock)) return false;
  if (ofi_silent_look(net)) nudge(net);
  if (net->ended || net->client.tick != tick || is_asleep(net)) {
    tmb_lock_release(&net->lock);
    return false;
  }
  const bool done = housekeeping(net, 0), room = has_room(net);
  struct ofi_buffer *b;
  for (int i = 0; i < PROGRESS_BATCH && room && net->client.tick == tick; i++) {
    if (!(b = ofi_next_message(net, TMB_SERVE_THREAD, &dealt))) break;
    serve_by_thread(net, b);
  }
  const int found = work_by_thread(net);
  if (dealt || done || (found & TMB_FOUND_WORK)) nudge(net);
  tend_wait(net, room, fds, count, ns);
  library_waits(found, ns);
  tmb_lock_release(&net->lock); /* completions wait for the client */
  return true;
}

bool ofi_gathers(const struct tmb_net *net) {
  return tmb_load_rlx(&net->peers.batches) != 0;
}

bool ofi_drained(struct tmb_net *net) {
  tmb_lock_acquire_shared(&net->lock);
  const bool drained = net->ended || (!net->tx_busy && !ofi_send_owes(net) && !net->peers.batches &&
                                      !net->access.pending && !net->access.again);
  tmb_lock_release(&net->lock);
  if (drained) ofi_fault_print(&net->env);
  return drained;
}

int ofi_lost(struct tmb_net *net, uint32_t peer) {
  tmb_lock_acquire_shared(&net->lock);
  struct ofi_peer *const p = ofi_peer_of(net, peer);
  if (!p->broken) ofi_peer_break(net, peer, FI_ECONNABORTED);
  if (p->broken_ns) net->peers.broken--; /* core knows */
  p->broken_ns = 0;
  ofi_access_lost(net, peer);
  if (!p->lost_ns) p->lost_ns = tmb_os_now_ns();
  /* The provider writes into the memory of accesses until it has said that they failed. */
  bool kept = net->cq.at < net->cq.count || net->client.serves == peer + 1 ||
              (net->in.batch && net->in.batch->op.peer == peer) ||
              (p->accesses && !ofi_given_up(net, peer));
  for (int i = 0; i < TMB_NET_HELD; i++)
    for (const struct ofi_op *op = net->in.held[i].first; op && !kept; op = op->next)
      kept = op->peer == peer;
  tmb_lock_release(&net->lock);
  return kept ? TMB_AGAIN : 0;
}

void ofi_explain(struct tmb_net *net, uint32_t peer, char *text, size_t bytes) {
  tmb_lock_acquire_shared(&net->lock);
  const struct ofi_peer *p = net->peers.of[peer];
  const char *provider = net->rail[0].info->fabric_attr->prov_name;
  if (!p)
    snprintf(text, bytes, "ofi (%s): nothing has been sent yet", provider);
  else if (p->broken)
    snprintf(text, bytes, "ofi (%s): cannot be reached: %s", provider, ofi_silent_why(net, p));
  else
    snprintf(text, bytes,
             "ofi (%s): %u of %u units of credit used, %u accesses in progress, %u regions known",
             provider, p->flying, net->credit, p->accesses, p->regions);
  tmb_lock_release(&net->lock);
}
