/* SPDX-License-Identifier: BSD-3-Clause */
/* A packet with one short message, alone on its way: it is checked as every other one, and taken
 * once. */
#include "base/unit_test.h"
#include "net/udp/udp_rig_test.h"

#define RANKS 2u

static uint32_t come;
static int32_t last;
static bool silent; /* requests get no answer */

static void on_am(const struct tmb_am_in *in) {
  come++;
  last = in->nargs ? in->args[0] : 0;
  if (in->is_reply || silent) return;
  struct tmb_am_out reply = {.peer = in->src,
                             .category = TMB_AM_SHORT,
                             .handler = 201,
                             .nargs = 1,
                             .is_reply = 1,
                             .staged = -1,
                             .args = in->args};
  assert_int_equal(udp_am_send(rig_net[rig_current], &reply), 0);
}

static void begin(const struct udp_config *config) {
  rig_open(RANKS, config, NULL);
  rig_on_am = on_am;
  come = 0;
}

static void end(void) {
  rig_on_am = NULL;
  rig_close(RANKS);
}

static void ask(int32_t value, size_t nbytes) {
  static const uint8_t payload[64] = "a payload";
  struct tmb_am_out out = rig_medium(1, &value, payload, nbytes);
  if (!nbytes) out.category = TMB_AM_SHORT;
  assert_int_equal(udp_am_send(rig_net[0], &out), 0);
}

/* Polls until the answer has come. */
static void answered(uint32_t wanted) {
  for (uint32_t i = 0; i < 1000 && come < wanted; i++) rig_step(RANKS);
  assert_int_equal(come, wanted);
}

/* The datagram that waits for a rank. */
static struct rig_datagram *waiting(uint32_t rank) {
  struct rig_port *port = rig_port[rank];
  assert_int_equal(port->tail - port->head, 1);
  return &port->queue[port->head % RIG_QUEUE];
}

/* Give rank 1 a datagram; what it sends is dropped. */
static void give(const uint8_t *bytes, uint32_t count) {
  struct rig_port *port = rig_port[1];
  struct rig_datagram *d = &port->queue[port->tail++ % RIG_QUEUE];
  d->bytes = malloc(count + 1);
  assert_non_null(d->bytes);
  memcpy(d->bytes, bytes, count);
  d->count = count;
  d->due_ns = rig_now_ns;
  (void)rig_progress(1, TMB_SERVE_ALL);
}

/* The bytes of the request on its way to rank 1, which does not come. Returns their number. */
static uint32_t caught(uint8_t *bytes) {
  struct rig_datagram *d = waiting(1);
  const uint32_t count = d->count;
  memcpy(bytes, d->bytes, count);
  free(d->bytes);
  rig_port[1]->head++;
  return count;
}

static void altered(const struct udp_config *config, size_t nbytes) {
  uint8_t bytes[512];
  begin(config);
  ask(1, nbytes);
  answered(2);
  ask(2, nbytes);
  const uint32_t count = caught(bytes);
  for (uint32_t bit = 0; bit < 8 * count; bit++) {
    bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    give(bytes, count);
    bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
  }
  for (uint32_t less = 0; less < count; less++) give(bytes, less);
  assert_int_equal(come, 2);
  assert_cmp(rig_stats[1].refused, >=, 8 * count);
  give(bytes, count);
  assert_int_equal(come, 3);
  assert_int_equal(last, 2);
  give(bytes, count); /* again, and once more */
  give(bytes, count);
  assert_int_equal(come, 3);
  assert_int_equal(rig_stats[1].duplicates, 2);
  end();
}

TEST(altered_and_again) {
  struct udp_config config = rig_config();
  altered(&config, 0);
  altered(&config, 24);
  config.hash_payload = false;
  altered(&config, 0);
}

/* Each message takes a packet, which acknowledges the one before; no other is sent. */
TEST(one_packet_each) {
  const struct udp_config config = rig_config();
  begin(&config);
  for (uint32_t i = 1; i <= 300; i++) {
    ask((int32_t)i, i % 2 ? 0 : 32);
    answered(2 * i);
    assert_int_equal(last, (int32_t)i);
  }
  assert_int_equal(rig_stats[0].packets_out, 300);
  assert_int_equal(rig_stats[1].packets_out, 300);
  assert_int_equal(rig_stats[0].retransmits + rig_stats[1].retransmits, 0);
  assert_int_equal(rig_net[0]->peers.of[1]->tx.rail[0].in_flight, 0);
  end();
}

/* A packet that comes before an earlier one. */
TEST(out_of_order) {
  const struct udp_config config = rig_config();
  uint8_t first[512], second[512];
  begin(&config);
  ask(1, 0);
  answered(2);
  silent = true;
  ask(2, 0);
  const uint32_t count = caught(first);
  rig_net[0]->peers.of[1]->gather.soon_end = 0; /* the next one leaves at once, too */
  ask(3, 0);
  assert_int_equal(caught(second), count);
  give(second, count);
  assert_int_equal(last, 3);
  assert_int_equal(rig_net[1]->peers.of[0]->rx.next, 2);
  give(first, count);
  assert_int_equal(last, 2);
  assert_int_equal(rig_net[1]->peers.of[0]->rx.next, 4);
  give(second, count);
  assert_int_equal(come, 4);
  silent = false;
  end();
}

/* The packet that a message acknowledges held puts, one with a signal and one without: they are
 * complete. */
TEST(completes_puts) {
  const struct udp_config config = rig_config();
  uint64_t done = 0, word = 7;
  begin(&config);
  ask(1, 0);
  answered(2);
  silent = true;
  const struct tmb_rma put = {
      .peer = 1, .remote = rig_segment[1] + 64, .local = &word, .nbytes = sizeof word, .op = &done};
  const struct tmb_signal signal = {.addr = rig_segment[1], .value = 1, .op = TMB_SIGNAL_ADD};
  for (uint32_t i = 1; i <= 2; i++) {
    const int rc = i == 1 ? udp_put_signal(rig_net[0], &put, &signal) : udp_put(rig_net[0], &put);
    assert_int_equal(rc, 0);
    (void)rig_progress(0, TMB_SERVE_ALL);
    rig_now_ns += RIG_LATENCY;
    (void)rig_progress(1, TMB_SERVE_ALL); /* takes it, and owes an acknowledgement */
    struct rig_port *port = rig_port[0];
    for (; port->head != port->tail; port->head++) free(port->queue[port->head % RIG_QUEUE].bytes);
    int32_t value = 3;
    struct tmb_am_out out = rig_medium(0, &value, NULL, 0);
    assert_int_equal(udp_am_send(rig_net[1], &out), 0);
    rig_now_ns += RIG_LATENCY;
    (void)rig_progress(0, TMB_SERVE_ALL);
    assert_int_equal(come, 2 + i);
    assert_int_equal(done, i);
  }
  silent = false;
  end();
}

int main(void) {
  return unit_run(NULL, NULL);
}
