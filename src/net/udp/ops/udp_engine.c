/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's memory, its lock and its completions, see udp_engine.h.
 *
 * Owns struct tmb_net of the udp conduit. Called by udp.c, by the parts of the engine and by tests.
 * Calls core through the upcalls of the environment. Invariants: completions are reported after the
 * lock has been released, by the thread that released it; buffers and batches come from lists and
 * go back to them.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define DONE_FIRST 64u
#define DONE_CHUNK 32u
#define TINY_BUF   512u /* a packet of a transfer, whose payload stays where it lies */
#define SMALL_BUF  2048u
#define MIDDLE_BUF 9216u

struct tmb_net *udp_engine_new(const struct tmb_net_env *env, const struct udp_config *config,
                               const struct udp_io *io) {
  struct tmb_net *e = calloc(1, sizeof *e);
  if (!e) return NULL;
  e->rank = env->rank;
  e->size = env->size;
  e->job_id = env->job_id;
  e->secret = env->secret;
  e->up = env->up;
  e->stats = env->stats ? env->stats : &e->own_stats;
  e->config = *config;
  e->io = *io;
  e->get_free = UINT32_MAX;
  e->next_ns = UINT64_MAX;
  e->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  e->peers = calloc(env->size, sizeof(struct udp_peer *));
  e->done = calloc(DONE_FIRST, sizeof *e->done);
  e->done_capacity = DONE_FIRST;
  e->tail_key = aligned_alloc(_Alignof(struct udp_nh_key), sizeof *e->tail_key);
  if (!e->peers || !e->done || !e->tail_key) {
    udp_engine_free(e);
    return NULL;
  }
  udp_auth_tail_key(e->secret, e->job_id, e->tail_key);
  /* One for the client, one for the progress thread, which may receive while the client delivers.
   * Made now, so that memory does not grow late; what is not received into is never touched. */
  struct udp_batch *client = udp_batch_get(e);
  udp_batch_put(e, udp_batch_get(e));
  udp_batch_put(e, client);
  return e;
}

void udp_engine_free(struct tmb_net *e) {
  for (uint32_t i = 0; e->peers && i < e->size; i++)
    if (e->peers[i]) udp_peer_free(e, e->peers[i]);
  for (uint32_t c = 0; c < UDP_BUF_CLASSES; c++)
    while (e->free_bufs[c]) {
      struct udp_buf *next = e->free_bufs[c]->next;
      free(e->free_bufs[c]);
      e->free_bufs[c] = next;
    }
  while (e->free_batches) {
    struct udp_batch *next = e->free_batches->next;
    udp_batch_free(e->free_batches);
    e->free_batches = next;
  }
  while (e->held_first) {
    struct udp_held *next = e->held_first->next;
    free(e->held_first);
    e->held_first = next;
  }
  while (e->free_told) {
    struct udp_told *next = e->free_told->next;
    free(e->free_told);
    e->free_told = next;
  }
  if (e->news_fd >= 0) close(e->news_fd);
  free(e->gets);
  free(e->tail_key);
  free(e->done);
  free(e->peers);
  free(e);
}

static uint32_t class_bytes(const struct tmb_net *e, uint32_t size_class) {
  const uint32_t bytes[UDP_BUF_CLASSES] = {TINY_BUF, SMALL_BUF, MIDDLE_BUF, UDP_PACKET_MAX};
  (void)e;
  return bytes[size_class];
}

uint32_t udp_buf_bytes(const struct tmb_net *e, const struct udp_buf *buf) {
  return class_bytes(e, buf->size_class);
}

_Static_assert(UDP_HEADER_BYTES + UDP_RECORD_MAX + 32 <= TINY_BUF, "a packet without tail fits");

struct udp_buf *udp_buf_get(struct tmb_net *e, uint32_t bytes) {
  uint32_t c = 0;
  while (c + 1 < UDP_BUF_CLASSES && class_bytes(e, c) < bytes) c++;
  struct udp_buf *buf = e->free_bufs[c];
  if (buf) {
    e->free_bufs[c] = buf->next;
    buf->next = NULL;
    return buf;
  }
  buf = malloc(sizeof *buf + class_bytes(e, c) + 32);
  if (!buf) e->up->fatal("no memory for a packet of %u bytes", bytes);
  buf->next = NULL;
  buf->size_class = c;
  return buf;
}

void udp_buf_put(struct tmb_net *e, struct udp_buf *buf) {
  buf->next = e->free_bufs[buf->size_class];
  e->free_bufs[buf->size_class] = buf;
}

void udp_done_add(struct tmb_net *e, const struct udp_done *done) {
  const bool completes = done->op && done->category != UDP_NO_CATEGORY;
  if (!done->addr && !done->lost && !completes) return;
  if (e->done_count == e->done_capacity) {
    struct udp_done *more = realloc(e->done, 2 * e->done_capacity * sizeof *more);
    if (!more) e->up->fatal("no memory for %u completions", 2 * e->done_capacity);
    e->done = more;
    e->done_capacity *= 2;
  }
  e->done[e->done_count++] = *done;
}

static void locked(struct tmb_net *e) {
  e->now_ns = e->io.ops->now(e->io.state);
}

bool udp_engine_try(struct tmb_net *e) {
  if (!tmb_lock_try_shared(&e->lock)) return false;
  locked(e);
  return true;
}

void udp_engine_lock(struct tmb_net *e) {
  tmb_lock_acquire_shared(&e->lock);
  locked(e);
}

static void tell(const struct tmb_net *e, const struct udp_done *done) {
  if (TMB_UNLIKELY(done->lost != NULL))
    e->up->peer_lost(done->peer, done->lost);
  else if (done->addr)
    e->up->signal(done->addr, done->category, done->value);
  else
    for (uint32_t i = 0; i <= done->more; i++) e->up->op_done(done->op, done->category, done->peer);
}

void udp_engine_unlock(struct tmb_net *e) {
  while (TMB_UNLIKELY(e->done_count)) {
    struct udp_done list[DONE_CHUNK];
    const uint32_t count = TMB_MIN(e->done_count, DONE_CHUNK);
    e->done_count -= count;
    memcpy(list, e->done + e->done_count, count * sizeof *list);
    tmb_lock_release(&e->lock);
    for (uint32_t i = 0; i < count; i++) tell(e, &list[i]);
    tmb_lock_acquire_shared(&e->lock);
  }
  tmb_lock_release(&e->lock);
}
