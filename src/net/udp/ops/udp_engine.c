/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's lock, its buffers and its completions, see udp_engine.h.
 *
 * Owns the lists of free buffers and of completions. Called by the parts of the engine. Calls core
 * through the upcalls of the environment, and no other part. Invariants: completions are reported
 * after the lock has been released, by the thread that released it; buffers come from lists and go
 * back to them.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/container/list.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the sizes of buffers, and entries of a chunk of completions. Chosen. */
#define DONE_CHUNK  32u
#define TINY_BUF    512u /* a packet of a transfer, whose payload stays where it lies */
#define SMALL_BUF   2048u
#define MIDDLE_BUF  9216u
#define HALF_BUF    17408u /* this and the next: copies of sources */
#define LONG_BUF    33792u
/* Of each class, kept for later packets: copies for one peer take as much in buffers of twice their
 * length. Chosen. */
#define SPARE_BYTES (2u << 20)

static uint32_t class_bytes(uint32_t size_class) {
  const uint32_t bytes[UDP_BUF_CLASSES] = {TINY_BUF, SMALL_BUF, MIDDLE_BUF,
                                           HALF_BUF, LONG_BUF,  UDP_BUF_MAX};
  return bytes[size_class];
}

uint32_t udp_buf_bytes(const struct udp_buf *buf) {
  return class_bytes(buf->size_class);
}

_Static_assert(UDP_BUF_MAX >= UDP_PACKET_MAX, "a packet fits");
_Static_assert(UDP_HEADER_BYTES + UDP_RECORD_MAX + 32 <= TINY_BUF, "a packet without tail fits");

struct udp_buf *udp_buf_get(struct tmb_net *e, uint32_t bytes) {
  uint32_t c = 0;
  while (c + 1 < UDP_BUF_CLASSES && class_bytes(c) < bytes) c++;
  struct udp_buf *buf = TMB_LIST_POP(&e->spare.bufs[c]);
  if (buf) {
    e->spare.buf_count[c]--;
    buf->next = NULL;
    return buf;
  }
  buf = malloc(sizeof *buf + class_bytes(c) + 32);
  if (!buf) e->up->fatal("no memory for a packet of %u bytes", bytes);
  buf->next = NULL;
  buf->size_class = c;
  return buf;
}

void udp_buf_put(struct tmb_net *e, struct udp_buf *buf) {
  const uint32_t c = buf->size_class;
  if (TMB_UNLIKELY((e->spare.buf_count[c] + 1) * class_bytes(c) > SPARE_BYTES)) {
    free(buf);
    return;
  }
  TMB_LIST_PUSH(&e->spare.bufs[c], buf);
  e->spare.buf_count[c]++;
}

void udp_done_add(struct tmb_net *e, const struct udp_done *done) {
  const bool completes = done->op && done->category != UDP_NO_CATEGORY;
  if (!done->addr && !done->lost && !completes) return;
  if (e->done.count == e->done.capacity) {
    struct udp_done *more = realloc(e->done.list, 2 * e->done.capacity * sizeof *more);
    if (!more) e->up->fatal("no memory for %u completions", 2 * e->done.capacity);
    e->done.list = more;
    e->done.capacity *= 2;
  }
  e->done.list[e->done.count++] = *done;
}

void *udp_target(struct tmb_net *e, struct udp_peer *p, uint64_t addr, uint64_t bytes) {
  void *place = e->up->target(p->rank, addr, bytes);
  if (!place)
    e->up->fatal("rank %u accesses %" PRIu64 " bytes at 0x%" PRIx64
                 " of this rank, which lie in none of its segments",
                 p->rank, bytes, addr);
  return place;
}

void udp_engine_clock(struct tmb_net *e) {
  e->time.now_ns = e->io.ops->now(e->io.state);
}

bool udp_engine_try(struct tmb_net *e) {
  if (!tmb_lock_try_shared(&e->lock)) return false;
  udp_engine_clock(e);
  return true;
}

void udp_engine_lock(struct tmb_net *e) {
  tmb_lock_acquire_shared(&e->lock);
  udp_engine_clock(e);
}

void udp_engine_lock_blind(struct tmb_net *e) {
  tmb_lock_acquire_shared(&e->lock);
}

static void report(const struct tmb_net *e, const struct udp_done *done) {
  if (TMB_UNLIKELY(done->lost != NULL))
    e->up->peer_lost(done->peer, done->lost);
  else if (done->addr)
    e->up->signal(done->addr, done->category, done->value);
  else
    for (uint32_t i = 0; i <= done->more; i++) e->up->op_done(done->op, done->category, done->peer);
}

/* Completions wait for the client while the progress thread is in a handler. */
static bool reports(const struct tmb_net *e) {
  return !e->helper.delivers || !pthread_equal(e->helper.self, pthread_self());
}

/* Report completions, each without the lock. */
static TMB_NOINLINE void report_all(struct tmb_net *e) TMB_REQUIRES(e->lock) {
  while (e->done.count && reports(e)) {
    struct udp_done list[DONE_CHUNK];
    const uint32_t count = TMB_MIN(e->done.count, DONE_CHUNK);
    e->done.count -= count;
    memcpy(list, e->done.list + e->done.count, count * sizeof *list);
    tmb_lock_release(&e->lock);
    for (uint32_t i = 0; i < count; i++) report(e, &list[i]);
    tmb_lock_acquire_shared(&e->lock);
  }
}

void udp_engine_unlock(struct tmb_net *e) {
  if (TMB_UNLIKELY(e->done.count)) report_all(e);
  tmb_lock_release(&e->lock);
}
