/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's state: made when the conduit opens, freed when it closes.
 *
 * Owns struct tmb_net of the udp conduit. Called by udp.c and by tests. Calls the parts whose
 * memory it frees. Invariants: no other thread is inside; the io belongs to the caller and stays
 * open.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/container/list.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define DONE_FIRST 64u /* entries of the list of completions at first; chosen */

struct tmb_net *udp_engine_new(const struct tmb_net_env *env, const struct udp_config *config,
                               const struct udp_io *io) {
  struct tmb_net *e = calloc(1, sizeof *e);
  if (!e) return NULL;
  e->rank = env->rank;
  e->size = env->size;
  e->hosts = env->hosts;
  e->host_of = env->host_of;
  e->job_id = env->job_id;
  e->secret = env->secret;
  e->up = env->up;
  memcpy(e->thread_handlers, env->thread_handlers, sizeof e->thread_handlers);
  e->thread_now = env->thread_now;
  e->stats = env->stats ? env->stats : &e->own_stats;
  e->config = *config;
  e->io = *io;
  e->gets.free = UINT32_MAX;
  e->in.tail_place = udp_tail_place;
  e->in.packet_lends = udp_packet_lends;
  e->time.next_ns = UINT64_MAX;
  e->helper.doorbell_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  e->peers.of = calloc(env->size, sizeof(struct udp_peer *));
  e->done.list = calloc(DONE_FIRST, sizeof *e->done.list);
  e->done.capacity = DONE_FIRST;
  e->tail_key = aligned_alloc(_Alignof(struct udp_nh_key), sizeof *e->tail_key);
  if (!e->peers.of || !e->done.list || !e->tail_key) {
    udp_engine_free(e);
    return NULL;
  }
  udp_auth_tail_key(e->secret, e->job_id, e->tail_key);
  /* One for the client, one for the progress thread, which may receive while the client delivers.
   * Made now, so that memory does not grow late; unused pages are never touched. */
  struct udp_batch *client = udp_batch_get(e);
  udp_batch_put(e, udp_batch_get(e));
  udp_batch_put(e, client);
  return e;
}

void udp_engine_free(struct tmb_net *e) {
  for (uint32_t i = 0; e->peers.of && i < e->size; i++)
    if (e->peers.of[i]) udp_peer_free(e, e->peers.of[i]);
  for (uint32_t c = 0; c < UDP_BUF_CLASSES; c++)
    while (e->spare.bufs[c]) free(TMB_LIST_POP(&e->spare.bufs[c]));
  while (e->spare.batches) udp_batch_free(TMB_LIST_POP(&e->spare.batches));
  while (e->kept.first) free(TMB_LIST_POP(&e->kept.first));
  while (e->spare.pending) free(TMB_LIST_POP(&e->spare.pending));
  if (e->helper.doorbell_fd >= 0) close(e->helper.doorbell_fd);
  free(e->gets.list);
  free(e->tail_key);
  free(e->done.list);
  free(e->peers.of);
  free(e);
}
