/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUBIC and pacing, see udp_cc.h.
 *
 * Owns nothing. Called by udp_window.c. Calls nothing. Source: RFC 8312; its constants are C = 0.4
 * packets/s^3 and beta = 0.7. A packet counts as at most 1500 bytes, so that long packets of
 * loopback do not make the curve steeper than TCP's. Invariant: the window stays between two
 * packets and WINDOW_MAX_BYTES.
 */
#include "net/udp/window/udp_cc.h"

/* FIRST_* are those of RFC 6928, CUBIC_* those of RFC 8312. The others were chosen;
 * tests/net/fair_test.py checks the share beside TCP. */
#define WINDOW_MAX_BYTES (2u << 20) /* half of the content of a socket's buffer at best */
#define FIRST_PACKETS    10u        /* of a window at first */
#define FIRST_BYTES_MIN  14600u     /* of a window at first, at least */
#define CUBIC_C          0.4
#define CUBIC_BETA       0.7
#define LINK_BETA        0.95    /* where no queue stands */
#define CURVE_BYTES_MAX  1500u   /* packet length that the curve counts in */
#define BURST_NS         500000u /* the most that a paced sender may catch up */
#define BURST_BYTES_MAX  60000u  /* one burst: one call's, see udp_socket.c */
#define BURST_S          0.001   /* or the bytes of so much time */

void udp_cc_open(struct udp_cc *cc, uint32_t packet_bytes) {
  *cc = (struct udp_cc){.packet_bytes = packet_bytes, .threshold = UINT64_MAX};
  cc->window = FIRST_PACKETS * (uint64_t)packet_bytes;
  if (cc->window < FIRST_BYTES_MIN) cc->window = FIRST_BYTES_MIN;
}

static void limit(struct udp_cc *cc) {
  if (cc->window > WINDOW_MAX_BYTES) cc->window = WINDOW_MAX_BYTES;
  if (cc->window < 2 * (uint64_t)cc->packet_bytes) cc->window = 2 * (uint64_t)cc->packet_bytes;
}

static double unit(const struct udp_cc *cc) {
  return cc->packet_bytes < CURVE_BYTES_MAX ? cc->packet_bytes : CURVE_BYTES_MAX;
}

/* Newton's method; x > 0. */
static double cube_root(double x) {
  double r = x > 1 ? x : 1;
  for (int i = 0; i < 60; i++) {
    const double next = (2 * r + x / (r * r)) / 3;
    if (next >= r) break;
    r = next;
  }
  return r;
}

static void curve(struct udp_cc *cc, uint64_t bytes, uint64_t now_ns, uint64_t srtt_ns) {
  if (!cc->epoch_ns) {
    cc->epoch_ns = now_ns;
    const double below = cc->max_bytes > cc->window ? (double)(cc->max_bytes - cc->window) : 0;
    cc->origin_s = below > 0 ? cube_root(below / unit(cc) / CUBIC_C) : 0;
    if (cc->max_bytes < cc->window) cc->max_bytes = cc->window;
    cc->reno_bytes = (double)cc->window;
  }
  const double t = (double)(now_ns - cc->epoch_ns + srtt_ns) * 1e-9 - cc->origin_s;
  const double cubic = CUBIC_C * t * t * t * unit(cc) + (double)cc->max_bytes;
  cc->reno_bytes +=
      3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA) * unit(cc) * (double)bytes / (double)cc->window;
  double target = cubic > cc->reno_bytes ? cubic : cc->reno_bytes;
  const double most = 1.5 * (double)cc->window;
  if (target > most) target = most;
  if (target > (double)cc->window)
    cc->window += (uint64_t)((target - (double)cc->window) * (double)bytes / (double)cc->window);
}

void udp_cc_acked(struct udp_cc *cc, uint64_t bytes, uint64_t now_ns, uint64_t srtt_ns) {
  if (cc->window < cc->threshold)
    cc->window += bytes;
  else
    curve(cc, bytes, now_ns, srtt_ns);
  limit(cc);
}

void udp_cc_lost(struct udp_cc *cc, bool crowded) {
  const double beta = crowded ? CUBIC_BETA : LINK_BETA;
  cc->before_window = cc->window;
  cc->before_threshold = cc->threshold;
  cc->before_max = cc->max_bytes;
  /* Fast convergence: a flow below its last maximum leaves room for others. */
  cc->max_bytes =
      cc->window < cc->max_bytes ? (uint64_t)((double)cc->window * (1 + beta) / 2) : cc->window;
  cc->window = (uint64_t)((double)cc->window * beta);
  cc->epoch_ns = 0;
  limit(cc);
  cc->threshold = cc->window;
}

void udp_cc_take_back(struct udp_cc *cc) {
  if (!cc->before_window) return;
  if (cc->window < cc->before_window) cc->window = cc->before_window;
  cc->threshold = cc->before_threshold;
  cc->max_bytes = cc->before_max;
  cc->before_window = 0;
  cc->epoch_ns = 0;
  limit(cc);
}

void udp_cc_collapsed(struct udp_cc *cc) {
  cc->max_bytes = cc->window;
  cc->threshold = cc->window / 2;
  cc->window = 0;
  cc->before_window = 0;
  cc->epoch_ns = 0;
  limit(cc);
}

static uint64_t burst_bytes(const struct udp_cc *cc, double ns_per_byte) {
  const double most = BURST_S * 1e9 / (ns_per_byte > 1e-3 ? ns_per_byte : 1e-3);
  const uint64_t bytes = most < BURST_BYTES_MAX ? (uint64_t)most : BURST_BYTES_MAX;
  return bytes > 2 * (uint64_t)cc->packet_bytes ? bytes : 2 * (uint64_t)cc->packet_bytes;
}

void udp_cc_pace(struct udp_cc *cc, uint64_t bytes, uint64_t now_ns, uint64_t srtt_ns) {
  const double gain = cc->window < cc->threshold ? 2.0 : 1.25;
  const double ns_per_byte = (double)srtt_ns / (gain * (double)cc->window);
  if (cc->next_ns + BURST_NS < now_ns) cc->next_ns = now_ns - BURST_NS;
  if (!cc->burst) cc->burst = burst_bytes(cc, ns_per_byte);
  cc->burst = cc->burst >= bytes + cc->packet_bytes ? cc->burst - bytes : 0;
  cc->next_ns += (uint64_t)((double)bytes * ns_per_byte);
}
