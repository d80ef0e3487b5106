/* SPDX-License-Identifier: BSD-3-Clause */
/* Two engines over sockets and connections of the loopback interface, for tests.
 *
 * They exchange messages until all have come. Included by one test program each, so its functions
 * are static. */
#ifndef TMB_UDP_PAIR_TEST_H
#define TMB_UDP_PAIR_TEST_H

#include "base/unit_test.h"
#include "net/udp/io/udp_socket.h"
#include "net/udp/stream/udp_stream.h"
#include "net/udp/udp_rig_test.h"

#include <netinet/in.h>

#define STEPS_MAX 20000000u

static uint64_t requests, bad;
static uint16_t door; /* port of rank 1 */
static bool bulk;     /* long transfers take connections */
static bool shut;     /* nobody listens for connections */
static bool narrow;   /* round trips are long */

static void on_am(const struct tmb_am_in *in) {
  requests++;
  for (size_t i = 0; i < in->nbytes; i++)
    bad += ((const uint8_t *)in->payload)[i] != (uint8_t)((size_t)in->args[0] + i);
}

/* Opens sockets and connections for two engines. in fault: of the datagrams, or NULL. */
static void begin(enum udp_stream_mode mode, int family, const char *fault) {
  struct udp_card cards[2];
  struct udp_ports ports[2];
  struct udp_sockets *s[2];
  struct udp_stream *t[2];
  struct udp_choice choice;
  struct udp_io io[2];
  struct udp_config config = rig_config();
  if (mode == UDP_STREAM_ALWAYS) config.rto_min_ns = 200000000;
  for (int i = 0; i < 2; i++) assert_true(udp_card_fill(&cards[i], NULL));
  assert_true(udp_choose(cards, 2, family, &choice));
  for (int i = 0; i < 2; i++) {
    s[i] = udp_sockets_open(&cards[i], &choice, &ports[i]);
    assert_non_null(s[i]);
    t[i] = udp_stream_open(&cards[i], &choice, &ports[i]);
    assert_non_null(t[i]);
  }
  door = ports[1].stream;
  for (int i = 0; shut && i < 2; i++) ports[i].stream = htons(1);
  for (uint32_t i = 0; i < 2; i++) {
    const struct udp_join join = {{cards, ports, 2}, &choice, true, false};
    assert_true(udp_sockets_join(s[i], &join));
    io[i] = udp_sockets_io(s[i]);
    struct udp_fault_config f;
    if (fault && udp_fault_parse(fault, &f)) assert_true(udp_fault_wrap(&io[i], &f));
    const struct udp_stream_plan plan = {.greeter = {rig_secret, 0x1234567890abcdefu, i, 2},
                                         .ports = ports,
                                         .book = udp_sockets_book(s[i]),
                                         .mode = mode,
                                         .bulk = bulk,
                                         .up = rig_up(),
                                         .stats = &rig_stats[i]};
    assert_true(udp_stream_join(t[i], &plan, &io[i]));
  }
  requests = bad = 0;
  rig_on_am = on_am;
  config.packet_bytes = mode == UDP_STREAM_ALWAYS ? UDP_PACKET_MAX - 32 : 1440;
  config.stream_min = 32768;
  config.stream_bytes = UDP_PACKET_MAX - 32;
  rig_open_io(2, &config, NULL, io);
}

static void step(void) {
  for (uint32_t i = 0; i < 2; i++) {
    if (narrow && rig_net[i]->peers.of[!i]) rig_net[i]->peers.of[!i]->tx.rail[0].srtt_ns = 2000000;
    (void)rig_progress(i, TMB_SERVE_ALL);
  }
}

static TMB_UNUSED void message(uint32_t from, uint32_t number, size_t nbytes) {
  static uint8_t payload[65536];
  int32_t arg = (int32_t)number;
  for (size_t i = 0; i < nbytes; i++) payload[i] = (uint8_t)(number + i);
  struct tmb_am_out out = rig_medium(!from, &arg, payload, nbytes);
  uint32_t tries = 0;
  while (udp_am_send(rig_net[from], &out)) {
    assert_cmp(++tries, <, STEPS_MAX);
    step();
  }
}

static void until(uint64_t count) {
  for (uint32_t steps = 0; requests < count; steps++) {
    assert_cmp(steps, <, STEPS_MAX);
    step();
  }
}

static void end(uint64_t count) {
  until(count);
  uint32_t steps = 0;
  for (bool all = false; !all;) {
    assert_cmp(++steps, <, STEPS_MAX);
    step();
    const bool first = udp_drained(rig_net[0]);
    all = udp_drained(rig_net[1]) && first;
  }
  assert_int_equal(requests, count);
  assert_true(!bad);
  rig_close(2);
}

/* Ends all connections of this process, but leaves sockets of datagrams that belong to one peer.
 * Returns how many. */
static uint32_t cut(void) {
  uint32_t count = 0;
  for (int fd = 3; fd < 256; fd++) {
    struct sockaddr_storage peer;
    socklen_t bytes = sizeof peer, type_bytes = sizeof(int);
    int type = 0;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_bytes) || type != SOCK_STREAM) continue;
    if (getpeername(fd, (struct sockaddr *)&peer, &bytes)) continue;
    if (peer.ss_family == AF_INET) count += shutdown(fd, SHUT_RDWR) == 0;
  }
  return count;
}

#endif
