/* SPDX-License-Identifier: BSD-3-Clause */
/* Long transfers by connections beside datagrams: which of the two carries what, bytes that are
 * read straight to their place, connections that break. */
#include "net/udp/udp_pair_test.h"

enum { PUTS = 24, PUT_BYTES = 400000 };

/* Put from a quarter of the segment to that quarter of the peer, each rank with values of its own;
 * messages beside. in spoil: called between, or NULL. */
static void transfers(uint32_t (*spoil)(void)) {
  uint64_t done = 0;
  for (uint32_t r = 0; r < 2; r++)
    for (uint32_t i = 0; i < PUT_BYTES; i++) rig_segment[r][i] = (uint8_t)(i * 7 + i / 251 + r);
  for (uint32_t k = 0; k < PUTS; k++) {
    for (uint32_t r = 0; r < 2; r++) {
      memset(rig_segment[r] + (1u << 20), 0, PUT_BYTES);
      struct tmb_rma rma = {.peer = !r,
                            .remote = rig_segment[!r] + (1u << 20),
                            .local = rig_segment[r],
                            .nbytes = PUT_BYTES,
                            .op = &done,
                            .category = 0};
      assert_int_equal(udp_put(rig_net[r], &rma), 0);
      message(r, k, k * 41 % 2000);
    }
    if (spoil && k % 7 == 3) (void)spoil();
    for (uint32_t steps = 0; done < 2 * (k + 1); steps++) {
      assert_cmp(steps, <, STEPS_MAX);
      step();
    }
    for (uint32_t r = 0; r < 2; r++)
      assert_memory_equal(rig_segment[r] + (1u << 20), rig_segment[!r], PUT_BYTES);
  }
}

/* Transfers by gets, with a signal at the owner. */
static void get_all(void) {
  uint64_t done = 0;
  uint64_t *signal[2];
  for (uint32_t r = 0; r < 2; r++) {
    signal[r] = (uint64_t *)(void *)(rig_segment[r] + (3u << 19));
    *signal[r] = 0;
  }
  for (uint32_t k = 0; k < PUTS; k++) {
    for (uint32_t r = 0; r < 2; r++) {
      memset(rig_segment[r] + (1u << 20), 0, PUT_BYTES);
      struct tmb_rma rma = {.peer = !r,
                            .remote = rig_segment[!r],
                            .local = rig_segment[r] + (1u << 20),
                            .nbytes = PUT_BYTES,
                            .op = &done,
                            .category = 0};
      const struct tmb_signal s = {signal[!r], TMB_SIGNAL_ADD, 1};
      assert_int_equal(udp_get_signal(rig_net[r], &rma, &s), 0);
    }
    for (uint32_t steps = 0; done < 2 * (k + 1); steps++) {
      assert_cmp(steps, <, STEPS_MAX);
      step();
    }
    for (uint32_t r = 0; r < 2; r++)
      assert_memory_equal(rig_segment[r] + (1u << 20), rig_segment[!r], PUT_BYTES);
  }
  for (uint32_t steps = 0; *signal[0] < PUTS || *signal[1] < PUTS; steps++) {
    assert_cmp(steps, <, STEPS_MAX);
    step();
  }
}

static uint64_t in_place, lent; /* packets */
static const struct udp_io_ops *counted;

static void count_places(void *io, struct udp_datagrams *in, bool many) {
  counted->recv(io, in, many);
  in_place += (uint64_t)__builtin_popcount(in->placed);
  lent += (uint64_t)__builtin_popcount(in->lent);
}

/* in all: all of a packet is authenticated. */
static void place_all(bool all) {
  static struct udp_io_ops ops;
  begin(UDP_STREAM_AUTO, AF_INET, NULL);
  counted = rig_net[0]->io.ops;
  ops = *counted;
  ops.recv = count_places;
  in_place = lent = 0;
  for (uint32_t i = 0; i < 2; i++) {
    rig_net[i]->io.ops = &ops;
    rig_net[i]->config.hash_payload = all;
  }
  transfers(NULL);
  get_all();
  if (all) assert_int_equal(in_place, 0);
  end(2 * PUTS);
}

/* Most bytes that come by connections are read straight to their place; where all of a packet is
 * authenticated nothing is, but most is checked, and put in place, from the buffer that it was read
 * to. On a busy machine connections come later: then it is tried again. */
TEST(places) {
  bulk = true;
  for (int all = 0; all < 2; all++) {
    const uint64_t *placed = all ? &lent : &in_place;
    const uint64_t wanted = (all ? 2 : 3) * PUTS * (PUT_BYTES / UDP_PACKET_MAX) / 2;
    for (int tries = 0; tries < 5 && (tries == 0 || *placed <= wanted); tries++) place_all(all);
    assert_cmp(*placed, >, wanted);
  }
  bulk = false;
}

/* Less those sent again, which on a busy machine are many. */
static uint64_t packets(void) {
  return rig_stats[0].packets_out + rig_stats[1].packets_out - rig_stats[0].retransmits -
         rig_stats[1].retransmits;
}

/* A third of the packets that datagrams would take. On a busy machine it may be more, for there
 * connections come later: then it is tried again. */
static void few_packets(uint64_t by_datagrams, const char *fault) {
  uint64_t sent = 0;
  for (int tries = 0; tries < 5; tries++) {
    begin(UDP_STREAM_AUTO, AF_INET, fault);
    transfers(NULL);
    sent = packets();
    end(2 * PUTS);
    if (4 * sent < 3 * by_datagrams) return;
  }
  assert_cmp(4 * sent, <, 3 * by_datagrams);
}

/* Long transfers take connections soon: few packets are sent, and short messages add none. */
TEST(long_transfers) {
  const uint64_t by_datagrams = 2 * PUTS * (uint64_t)(PUT_BYTES / 1440);
  bulk = true;
  few_packets(by_datagrams, NULL);
  few_packets(by_datagrams, "loss=5,dup=1,reorder=2,seed=3");
  bulk = false;
  begin(UDP_STREAM_AUTO, AF_INET, NULL);
  transfers(NULL);
  assert_cmp(packets(), >, by_datagrams);
  end(2 * PUTS);
}

static uint32_t standing; /* bytes in a queue of this host */

static uint32_t stands(void *io, uint32_t peer, uint32_t rail) {
  (void)io;
  (void)peer;
  return rail == 0 ? standing : 0;
}

/* Whether datagrams carry all where the link is full, else connections most. */
static bool carried(bool full) {
  const uint64_t by_datagrams = 2 * PUTS * (uint64_t)(PUT_BYTES / 1440);
  static struct udp_io_ops ops[2];
  begin(UDP_STREAM_AUTO, AF_INET, NULL);
  for (uint32_t i = 0; i < 2; i++) {
    ops[i] = *rig_net[i]->io.ops;
    ops[i].waiting = stands;
    rig_net[i]->io.ops = &ops[i];
  }
  transfers(NULL);
  const bool knows = rig_net[0]->peers.of[1]->bulk.fills_link == full;
  const bool so = (packets() > by_datagrams) == full;
  end(2 * PUTS);
  return knows && so;
}

/* Where packets stand in a queue of this host, and only there, datagrams carry all. On a busy
 * machine connections come later: then it is tried again. */
TEST(full_link) {
  bulk = narrow = true;
  for (standing = 60000; standing <= 120000; standing += 60000) {
    bool good = false;
    for (int tries = 0; tries < 5 && !good; tries++) good = carried(standing >= 98304);
    assert_int_equal(good, true);
  }
  bulk = narrow = false;
}

/* Connections that end lose nothing and double nothing; where none can be made datagrams carry all,
 * and where no datagram arrives connections do. */
TEST(hard_transfers) {
  bulk = true;
  begin(UDP_STREAM_AUTO, AF_INET, NULL);
  transfers(cut);
  end(2 * PUTS);
  begin(UDP_STREAM_AUTO, AF_INET, "loss=100");
  transfers(NULL);
  end(2 * PUTS);
  shut = true;
  begin(UDP_STREAM_AUTO, AF_INET, NULL);
  transfers(NULL);
  assert_cmp(packets(), >, 2 * PUTS * (uint64_t)(PUT_BYTES / 1440));
  end(2 * PUTS);
  bulk = shut = false;
}

int main(void) {
  return unit_run(NULL, NULL);
}
