/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between the engines of a rig, each answered in its handler.
 *
 * Compares their payloads, and counts requests and replies. Included by one test program each, so
 * its functions are static. */
#ifndef TMB_UDP_TALK_TEST_H
#define TMB_UDP_TALK_TEST_H

#include "base/unit_test.h"
#include "net/udp/udp_rig_test.h"

#define STEPS_MAX 4000000u

static uint64_t requests, replies, sum, bad;
static uint32_t ranks;

/* Bytes of a payload follow from its number. */
static uint8_t byte_of(uint64_t number, size_t i) {
  return (uint8_t)(number * 131 + i * 7 + (i >> 8));
}

static void reply(const struct tmb_am_in *in) {
  const uint32_t at = rig_current;
  struct tmb_am_out out = {.peer = in->src,
                           .category = in->category,
                           .handler = 201,
                           .nargs = in->nargs,
                           .is_reply = 1,
                           .staged = -1,
                           .args = in->args,
                           .src = in->payload,
                           .nbytes = in->category == TMB_AM_MEDIUM ? in->nbytes : 0};
  if (in->category == TMB_AM_LONG) out.category = TMB_AM_SHORT;
  uint32_t tries = 0;
  while (udp_am_send(rig_net[at], &out)) {
    assert_cmp(++tries, <, STEPS_MAX);
    (void)rig_progress(at, TMB_SERVE_REPLIES);
    for (uint32_t i = 0; i < ranks; i++)
      if (i != at) (void)rig_progress(i, TMB_SERVE_REPLIES);
    rig_now_ns += 1000;
  }
}

static void on_am(const struct tmb_am_in *in) {
  if (in->is_reply) {
    replies++;
  } else {
    requests++;
    sum += (uint64_t)(uint32_t)in->args[0];
  }
  const uint8_t *p = in->payload;
  for (size_t i = 0; i < in->nbytes && in->category != TMB_AM_SHORT; i++)
    if (p[i] != byte_of((uint64_t)(uint32_t)in->args[0], i)) bad++;
  if (in->nbytes && (uintptr_t)p % 16 && in->category == TMB_AM_MEDIUM) bad++;
  if (!in->is_reply) reply(in);
}

static void begin(uint32_t n, const struct udp_config *config, const char *fault) {
  requests = replies = sum = bad = 0;
  ranks = n;
  rig_on_am = on_am;
  rig_open(n, config, fault);
}

static void end(void) {
  uint32_t steps = 0;
  for (bool all = false; !all;) {
    assert_cmp(++steps, <, STEPS_MAX);
    rig_step(ranks);
    all = true;
    for (uint32_t i = 0; i < ranks; i++) all = udp_drained(rig_net[i]) && all;
  }
  rig_close(ranks);
}

static void send(uint32_t from, uint32_t to, int32_t number, size_t nbytes) {
  static uint8_t payload[TMB_AM_MEDIUM_BYTES_MAX];
  for (size_t i = 0; i < nbytes; i++) payload[i] = byte_of((uint64_t)(uint32_t)number, i);
  int32_t args[16] = {number};
  struct tmb_am_out out = {.peer = to,
                           .category = nbytes ? TMB_AM_MEDIUM : TMB_AM_SHORT,
                           .handler = 200,
                           .nargs = (uint8_t)(1 + number % 16),
                           .staged = -1,
                           .args = args,
                           .src = payload,
                           .nbytes = nbytes};
  uint32_t tries = 0;
  while (udp_am_send(rig_net[from], &out)) {
    assert_cmp(++tries, <, STEPS_MAX);
    rig_step(ranks);
  }
}

#endif
