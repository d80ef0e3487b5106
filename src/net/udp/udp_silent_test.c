/* SPDX-License-Identifier: BSD-3-Clause */
/* Cost of a peer that nothing is sent to: memory of sockets, connections and engine is counted for
 * few ranks and for many. */
#include "base/unit_test.h"
#include "net/udp/io/udp_socket.h"
#include "net/udp/stream/udp_stream.h"
#include "net/udp/udp_rig_test.h"

#include <malloc.h>

#define FEW  1000u
#define MANY 201000u

static size_t memory(void) {
  const struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

/* Bytes of a rank of a job of `size` ranks, each on a host of its own. */
static size_t cost(uint32_t size, int family, uint16_t rails) {
  struct udp_card *cards = calloc(size, sizeof *cards);
  struct udp_ports *ports = calloc(size, sizeof *ports);
  struct udp_choice choice;
  assert_non_null(cards);
  assert_non_null(ports);
  assert_true(udp_card_fill(&cards[0], NULL));
  for (uint32_t i = 0; i < size; i++) {
    cards[i] = cards[0];
    cards[i].machine = i;
    struct udp_card_family *f = &cards[i].family[family == AF_INET6];
    f->count = rails;
    for (uint32_t r = 0; r < rails; r++) {
      f->mtu[r] = 1500;
      memcpy(f->ip[r], (const uint8_t[4]){127, 0, 0, (uint8_t)(1 + r)}, 4);
    }
  }
  assert_true(udp_choose(cards, size, family, &choice) && !choice.loopback);
  const size_t before = memory();
  struct udp_sockets *s = udp_sockets_open(&cards[0], &choice, &ports[0]);
  assert_non_null(s);
  struct udp_stream *t = udp_stream_open(&cards[0], &choice, &ports[0]);
  assert_non_null(t);
  const struct udp_join join = {{cards, ports, size}, &choice, true, true};
  assert_true(udp_sockets_join(s, &join));
  struct udp_io io = udp_sockets_io(s);
  const struct udp_stream_plan plan = {.greeter = {rig_secret, 1, 0, size},
                                       .ports = ports,
                                       .book = udp_sockets_book(s),
                                       .mode = UDP_STREAM_AUTO,
                                       .up = rig_up(),
                                       .stats = &rig_stats[0]};
  assert_true(udp_stream_join(t, &plan, &io));
  const struct tmb_net_env env = {.abi = TMB_NET_ABI,
                                  .size = size,
                                  .job_id = 1,
                                  .secret = rig_secret,
                                  .stats = &rig_stats[0],
                                  .up = rig_up()};
  const struct udp_config config = rig_config();
  struct tmb_net *e = udp_engine_new(&env, &config, &io);
  assert_non_null(e);
  const size_t bytes = memory() - before;
  udp_engine_free(e);
  io.ops->close(io.state);
  free(ports);
  free(cards);
  return bytes;
}

TEST(bytes_each) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip(); /* their allocators do not report it */
#endif
  static const struct {
    int family;
    uint16_t rails;
  } rows[] = {{AF_INET, 1}, {AF_INET, 4}, {AF_INET6, 1}, {AF_INET6, 4}};
  for (size_t i = 0; i < TMB_ARRAY_LEN(rows); i++) {
    const size_t many = cost(MANY, rows[i].family, rows[i].rails);
    const size_t few = cost(FEW, rows[i].family, rows[i].rails);
    const double each = (double)(many - few) / (MANY - FEW);
    print_message("%d rails of IPv%c: %.1f bytes\n", rows[i].rails,
                  rows[i].family == AF_INET ? '4' : '6', each);
    assert_cmp(each, <=, 64);
  }
}

int main(void) {
  return unit_run(NULL, NULL);
}
