/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Greetings and packets of a connection, see udp_frame.h.
 *
 * Owns nothing. Called by udp_stream.c and by the fuzzers. Calls udp_auth.h, udp_siphash.h and
 * getrandom. The keys of greetings are those of packets of another job number, so that no hash of
 * the one kind is one of the other. Invariant: a hash covers both nonces, both ranks, and who says
 * it.
 */
#include "net/udp/stream/udp_frame.h"

#include "base/error.h"
#include "net/udp/guard/udp_auth.h"
#include "net/udp/guard/udp_siphash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define MAGIC UINT64_C(0x746f6d6273747231) /* changes with the greeting */

enum { SAYS_HELLO = 1, SAYS_WELCOME = 2 };

static bool random_bytes(void *out, size_t bytes) {
  return getrandom(out, bytes, 0) == (ssize_t)bytes;
}

/* in from: sender and receiver of the greeting. */
static void hash(const struct udp_greeter *g, const struct udp_challenge *c,
                 const struct udp_hello *h, uint64_t says, uint64_t mac[2]) {
  const uint32_t from = says == SAYS_HELLO ? h->src : h->dst;
  const uint32_t to = says == SAYS_HELLO ? h->dst : h->src;
  uint64_t key[2];
  udp_auth_key(g->secret, ~g->job_id, from, to, key);
  for (uint64_t i = 0; i < 2; i++) {
    struct udp_siphash state;
    udp_siphash_begin(&state, key);
    udp_siphash_feed(&state, (const uint64_t[2]){says, i}, 2 * sizeof(uint64_t));
    udp_siphash_feed(&state, c->nonce, sizeof c->nonce);
    udp_siphash_feed(&state, h->nonce, sizeof h->nonce);
    mac[i] = udp_siphash_end(&state);
  }
}

static bool same(const uint64_t a[2], const uint64_t b[2]) {
  return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0;
}

bool udp_challenge_make(struct udp_challenge *c) {
  c->magic = MAGIC;
  return random_bytes(c->nonce, sizeof c->nonce);
}

bool udp_hello_make(const struct udp_greeter *g, uint32_t dst, const struct udp_challenge *c,
                    struct udp_hello *h) {
  *h = (struct udp_hello){.magic = MAGIC, .src = g->rank, .dst = dst};
  if (c->magic != MAGIC || !random_bytes(h->nonce, sizeof h->nonce)) return false;
  hash(g, c, h, SAYS_HELLO, h->mac);
  return true;
}

bool udp_hello_check(const struct udp_greeter *g, const struct udp_challenge *c,
                     const struct udp_hello *h, struct udp_welcome *w) {
  if (h->magic != MAGIC || h->dst != g->rank || h->src >= g->size || h->src == g->rank)
    return false;
  uint64_t mac[2];
  hash(g, c, h, SAYS_HELLO, mac);
  if (!same(mac, h->mac)) return false;
  w->magic = MAGIC;
  hash(g, c, h, SAYS_WELCOME, w->mac);
  return true;
}

bool udp_welcome_check(const struct udp_greeter *g, const struct udp_challenge *c,
                       const struct udp_hello *h, const struct udp_welcome *w) {
  uint64_t mac[2];
  hash(g, c, h, SAYS_WELCOME, mac);
  return w->magic == MAGIC && same(mac, w->mac);
}

bool udp_bytes_room(struct udp_bytes *b, size_t more, size_t most) {
  const size_t held = b->end - b->start;
  if (b->capacity - b->end >= more) return true;
  if (held + more > most) return false;
  if (b->start) memmove(b->data, b->data + b->start, held);
  b->start = 0;
  b->end = held;
  if (b->capacity - b->end >= more) return true;
  const size_t capacity = TMB_MIN(TMB_MAX(2 * b->capacity, held + more), most);
  uint8_t *data = realloc(b->data, capacity);
  if (!data) return false;
  b->data = data;
  b->capacity = capacity;
  return true;
}

void udp_bytes_free(struct udp_bytes *b) {
  free(b->data);
  *b = (struct udp_bytes){0};
}

int udp_frame_next(const struct udp_bytes *b, uint64_t job_id, uint32_t src) {
  const size_t held = b->end - b->start;
  struct udp_header h;
  if (held < sizeof h) return 0;
  memcpy(&h, b->data + b->start, sizeof h);
  if (h.job != (uint32_t)job_id || h.src != src || h.bytes < sizeof h || h.bytes > UDP_PACKET_MAX)
    return TMB_E_PROTOCOL;
  return h.bytes <= held ? h.bytes : 0;
}
