/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines over sockets of the loopback interface: both families, with and without the kernel's
 * dividing and joining; the choice of addresses. */
#include "base/unit_test.h"
#include "net/udp/io/udp_socket.h"
#include "net/udp/udp_rig_test.h"

#include <netinet/in.h>
#include <poll.h>

#define STEPS_MAX 20000000u

static uint64_t requests;

static void on_am(const struct tmb_am_in *in) {
  requests++;
  for (size_t i = 0; i < in->nbytes; i++)
    assert_int_equal(((const uint8_t *)in->payload)[i], (uint8_t)((size_t)in->args[0] + i));
}

/* Joins two ranks' sockets. in cards: their address records. */
static void join_pair(struct udp_io io[2], const struct udp_card cards[2],
                      const struct udp_choice *choice, bool offload, bool search) {
  struct udp_ports ports[2];
  struct udp_sockets *s[2];
  memset(ports, 0, sizeof ports);
  for (int i = 0; i < 2; i++) {
    s[i] = udp_sockets_open(&cards[i], choice, &ports[i]);
    assert_non_null(s[i]);
  }
  for (int i = 0; i < 2; i++) {
    const struct udp_join join = {{cards, ports, 2}, choice, offload, search};
    assert_true(udp_sockets_join(s[i], &join));
    io[i] = udp_sockets_io(s[i]);
  }
}

/* Opens sockets for two engines. Returns false if the family does not exist here. */
static bool open_pair(struct udp_io io[2], int family, bool offload, bool search) {
  struct udp_card cards[2];
  struct udp_choice choice;
  for (int i = 0; i < 2; i++) assert_true(udp_card_fill(&cards[i], NULL));
  if (!udp_choose(cards, 2, family, &choice)) return false;
  assert_true(choice.loopback);
  assert_int_equal(choice.family, family);
  join_pair(io, cards, &choice, offload, search);
  return true;
}

static void step(void) {
  for (uint32_t i = 0; i < 2; i++) (void)rig_progress(i, TMB_SERVE_ALL);
}

static void send_messages(uint32_t count) {
  static uint8_t payload[20000];
  requests = 0;
  for (uint32_t k = 0; k < count; k++) {
    const size_t nbytes = k % 5 == 0 ? 20000 : k % 300;
    int32_t arg = (int32_t)k;
    for (size_t i = 0; i < nbytes; i++) payload[i] = (uint8_t)(k + i);
    struct tmb_am_out out = rig_medium(k & 1, &arg, payload, nbytes);
    for (uint32_t n = 0; udp_am_send(rig_net[!(k & 1)], &out); n++) {
      assert_cmp(n, <, STEPS_MAX);
      step();
    }
  }
  for (uint32_t n = 0; requests < count; n++) {
    assert_cmp(n, <, STEPS_MAX);
    step();
  }
}

static void put_and_get(size_t nbytes) {
  static uint8_t src[3000000], back[3000000];
  uint64_t done = 0;
  for (size_t i = 0; i < nbytes; i++) src[i] = (uint8_t)(i * 7 + (i >> 10));
  struct tmb_rma rma = {
      .peer = 1, .remote = rig_segment[1] + 8, .local = src, .nbytes = nbytes, .op = &done};
  assert_int_equal(udp_put(rig_net[0], &rma), 0);
  for (uint32_t n = 0; !done; n++) {
    assert_cmp(n, <, STEPS_MAX);
    step();
  }
  assert_memory_equal(rig_segment[1] + 8, src, nbytes);
  rma.local = back;
  assert_int_equal(udp_get(rig_net[0], &rma), 0);
  for (uint32_t n = 0; done < 2; n++) {
    assert_cmp(n, <, STEPS_MAX);
    step();
  }
  assert_memory_equal(back, src, nbytes);
}

static void run(int family, bool offload, uint32_t base_bytes, uint32_t packet_bytes,
                const char *fault) {
  struct udp_io io[2];
  if (!open_pair(io, family, offload, base_bytes != 0)) skip();
  struct udp_config config = rig_config();
  config.packet_bytes = packet_bytes;
  config.base_bytes = base_bytes;
  rig_on_am = on_am;
  rig_open_io(2, &config, fault, io);
  send_messages(2000);
  put_and_get(3000000);
  for (size_t n = 1; n < 3000; n += 501) put_and_get(n);
  for (uint32_t n = 0; !udp_drained(rig_net[0]) || !udp_drained(rig_net[1]); n++) {
    assert_cmp(n, <, STEPS_MAX);
    step();
  }
  if (base_bytes && !fault) assert_int_equal(rig_net[0]->peers.of[1]->mtu.bytes, packet_bytes);
  rig_close(2);
}

TEST(ipv4) {
  run(AF_INET, true, 0, 1440, NULL);
  run(AF_INET, true, 0, UDP_PACKET_MAX, NULL);
  run(AF_INET, false, 0, 1440, NULL);
  run(AF_INET, true, UDP_MTU_BASE, UDP_PACKET_MAX, NULL);
}

TEST(ipv6) {
  run(AF_INET6, true, 0, 1440, NULL);
  run(AF_INET6, false, 0, 8000, NULL);
  run(AF_INET6, true, UDP_MTU_BASE, 8000, NULL);
}

TEST(faults) {
  run(AF_INET, true, UDP_MTU_BASE, 1440, "loss=2,dup=2,reorder=2,corrupt=2,seed=5");
}

/* Of three ranks on two machines one has no IPv4. */
TEST(choice) {
  struct udp_card cards[3];
  struct udp_choice c;
  memset(cards, 0, sizeof cards);
  for (uint32_t i = 0; i < 3; i++) {
    cards[i].machine = i;
    for (uint32_t f = 0; f < 2; f++) {
      cards[i].family[f].works = 1;
      cards[i].family[f].count = (uint16_t)(1 + (i > 0));
      cards[i].family[f].mtu[0] = 1500 + i;
      cards[i].family[f].mtu[1] = 9000;
    }
  }
  assert_true(udp_choose(cards, 3, 0, &c));
  assert_int_equal(c.family, AF_INET);
  assert_true(!c.loopback);
  assert_int_equal(c.rails, 1);
  assert_int_equal(c.mtu, 1500);
  cards[2].family[0].count = 0;
  assert_true(udp_choose(cards, 3, 0, &c));
  assert_int_equal(c.family, AF_INET6);
  assert_false(udp_choose(cards, 3, AF_INET, &c));
  cards[1].family[1].works = 0;
  assert_false(udp_choose(cards, 3, 0, &c));
}

/* Each rail has a socket, bound to its address; none is bound to all addresses. */
TEST(bound) {
  struct udp_card cards[2];
  struct udp_choice c;
  struct udp_io io[2];
  memset(cards, 0, sizeof cards);
  for (uint32_t i = 0; i < 2; i++) {
    cards[i].machine = i;
    struct udp_card_family *f = &cards[i].family[0];
    *f = (struct udp_card_family){.works = 1, .count = 2, .mtu = {1500, 1500}};
    for (uint32_t r = 0; r < 2; r++)
      memcpy(f->ip[r], (const uint8_t[4]){127, 0, (uint8_t)(1 + i), (uint8_t)(1 + r)}, 4);
  }
  assert_true(udp_choose(cards, 2, 0, &c));
  assert_int_equal(c.rails, 2);
  assert_false(c.loopback);
  join_pair(io, cards, &c, true, true);
  for (uint32_t i = 0; i < 2; i++) {
    struct pollfd fds[4];
    assert_int_equal(io[i].ops->fds(io[i].state, fds, 4), 2);
    for (uint32_t r = 0; r < 2; r++) {
      struct sockaddr_in own;
      socklen_t bytes = sizeof own;
      assert_int_equal(getsockname(fds[r].fd, (struct sockaddr *)&own, &bytes), 0);
      assert_memory_equal(&own.sin_addr, cards[i].family[0].ip[r], 4);
    }
  }
  struct udp_config config = rig_config();
  rig_on_am = on_am;
  rig_open_io(2, &config, NULL, io);
  send_messages(2000);
  put_and_get(3000000);
  for (uint32_t n = 0; !udp_drained(rig_net[0]) || !udp_drained(rig_net[1]); n++) {
    assert_cmp(n, <, STEPS_MAX);
    step();
  }
  rig_close(2);
}

/* A lost peer: the network says so. */
TEST(refused) {
  struct udp_io io[2];
  if (!open_pair(io, AF_INET, true, false)) skip();
  io[1].ops->close(io[1].state);
  const struct udp_out out = {.peer = 1, .head = "0123456789", .head_bytes = 10};
  (void)io[0].ops->send(io[0].state, &out, 1);
  bool said = false;
  for (uint32_t n = 0; n < 1000000 && !said; n++) said = io[0].ops->refused(io[0].state, 1);
  assert_true(said);
  assert_false(io[0].ops->refused(io[0].state, 0));
  io[0].ops->close(io[0].state);
}

int main(void) {
  return unit_run(NULL, NULL);
}
