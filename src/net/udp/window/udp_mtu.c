/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The search for the length of packets, see udp_mtu.h.
 *
 * Owns nothing. Called by the engine. Calls nothing. Source: RFC 8899, whose three tries and whose
 * search from the largest size down are used; its times are shorter, because an answer takes a
 * round trip of a network that this rank has measured. Invariant: `probe` is 0 while nothing is
 * searched, and then due_ns is UINT64_MAX.
 */
#include "net/udp/window/udp_mtu.h"

#include "base/compiler.h"

/* Chosen; RFC 8899 recommends MAX_PROBES 3. */
#define TRIES_MAX 3u           /* of one length */
#define LOST_MAX  3u           /* transmissions of a long packet that are lost */
#define REST_NS   30000000000u /* between searches */

void udp_mtu_open(struct udp_mtu *m, uint32_t base, uint32_t most) {
  *m = (struct udp_mtu){.bytes = base ? TMB_MIN(base, most) : most,
                        .base = base,
                        .most = most,
                        .failed = most + UDP_MTU_STEP,
                        .due_ns = UINT64_MAX};
}

/* Try a length now. */
static void try_length(struct udp_mtu *m, uint32_t bytes, uint64_t now_ns) {
  m->probe = bytes;
  m->id++;
  m->tries = 0;
  m->due_ns = now_ns;
}

void udp_mtu_want(struct udp_mtu *m, uint64_t now_ns) {
  if (m->bytes == m->most || m->probe || now_ns < m->rest_ns) return;
  m->failed = m->most + UDP_MTU_STEP;
  try_length(m, m->most, now_ns);
}

static void stop(struct udp_mtu *m, uint64_t now_ns) {
  m->probe = 0;
  m->due_ns = UINT64_MAX;
  m->rest_ns = now_ns + REST_NS;
}

/* Go on between the longest length that passes and the shortest that does not. */
static void narrow(struct udp_mtu *m, uint64_t now_ns) {
  const uint32_t middle = TMB_ALIGN_DOWN((m->bytes + m->failed) / 2, UDP_MTU_STEP);
  if (middle <= m->bytes)
    stop(m, now_ns);
  else
    try_length(m, middle, now_ns);
}

uint32_t udp_mtu_next(struct udp_mtu *m, uint64_t now_ns, uint64_t wait_ns) {
  if (m->probe && m->tries == TRIES_MAX) {
    m->failed = m->probe;
    narrow(m, now_ns);
  }
  if (!m->probe) return 0;
  m->tries++;
  m->due_ns = now_ns + wait_ns;
  return m->probe;
}

bool udp_mtu_answered(struct udp_mtu *m, uint32_t id, uint64_t now_ns) {
  if (!m->probe || id != m->id) return false;
  m->bytes = m->probe;
  m->passed_ns = now_ns;
  narrow(m, now_ns);
  return true;
}

bool udp_mtu_lost(struct udp_mtu *m, uint64_t bytes, uint32_t tries, uint64_t sent_ns) {
  if (tries < LOST_MAX || !m->base || bytes > m->bytes || bytes <= UDP_MTU_LOW) return false;
  if (m->bytes > m->base && bytes <= m->base) return false;
  if (sent_ns <= m->passed_ns) return false; /* others have passed since */
  m->bytes = m->bytes > m->base ? m->base : UDP_MTU_LOW;
  m->probe = 0;
  m->due_ns = UINT64_MAX;
  m->rest_ns = 0;
  return true;
}
