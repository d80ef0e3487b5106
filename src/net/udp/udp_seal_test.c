/* SPDX-License-Identifier: BSD-3-Clause */
/* Authentic and encrypted packets: the view of a listener between two engines, and the success of
 * one that changes packets. Without libsodium only the first kind. */
#include "base/unit_test.h"
#include "net/udp/udp_rig_test.h"

#define STEPS_MAX    4000000u
#define NONCES_MAX   20000u
#define PAYLOAD_WORD 0x5ec4e7da7a5ec4e7u

static struct udp_io wires[2];
static uint64_t nonces[2][NONCES_MAX];
static uint32_t nonce_count[2];
static uint64_t clear_words;  /* words of payload seen on the wire */
static int64_t flip_bit = -1; /* of each packet that passes, modulo its length */
static uint32_t flipped;
static uint32_t flipped_gap; /* of them: between control part and tail, where nothing lies */
static uint32_t drop;        /* packets that get lost */
static uint64_t handled;
static uint8_t *restless; /* [restless_bytes] the program writes to it while it is sent */
static size_t restless_bytes;

static void on_am(const struct tmb_am_in *in) {
  for (size_t i = 0; i + 8 <= in->nbytes; i += 8)
    assert_int_equal(*(const uint64_t *)(const void *)((const uint8_t *)in->payload + i),
                     PAYLOAD_WORD);
  handled++;
}

static bool in_gap(const uint8_t *packet, uint32_t at) {
  struct udp_header h;
  memcpy(&h, packet, sizeof h);
  const uint32_t end = UDP_HEADER_BYTES + h.control;
  return h.flags & UDP_HASHED && at >= end && at < TMB_ALIGN_UP(end, 16u);
}

/* Between the engine and the wire: looks, and turns a bit over. */
static uint32_t spy_send(void *io, const struct udp_out *out, uint32_t count) {
  const uint32_t from = io == &wires[1];
  for (uint32_t i = 0; i < count; i++) {
    uint8_t *flat = malloc(out[i].head_bytes + out[i].tail_bytes);
    assert_non_null(flat);
    for (size_t k = 0; k < restless_bytes; k += 64) restless[k]++;
    struct udp_out copy = out[i];
    memcpy(flat, out[i].head, out[i].head_bytes);
    if (out[i].tail_bytes) memcpy(flat + out[i].head_bytes, out[i].tail, out[i].tail_bytes);
    copy.head = flat;
    copy.head_bytes += copy.tail_bytes;
    copy.tail_bytes = 0;
    assert_cmp(nonce_count[from], <, NONCES_MAX);
    memcpy(&nonces[from][nonce_count[from]++], flat, sizeof(uint64_t));
    for (uint32_t k = 0; k + 8 <= copy.head_bytes; k++) {
      uint64_t word;
      memcpy(&word, flat + k, sizeof word);
      clear_words += word == PAYLOAD_WORD;
    }
    if (drop) {
      drop--;
      free(flat);
      continue;
    }
    if (flip_bit >= 0) {
      const uint64_t bit = (uint64_t)flip_bit % (copy.head_bytes * 8u);
      flipped_gap += in_gap(flat, (uint32_t)(bit / 8));
      flat[bit / 8] ^= (uint8_t)(1u << bit % 8);
      flipped++;
    }
    (void)wires[from].ops->send(wires[from].state, &copy, 1);
    free(flat);
  }
  return count;
}

static uint64_t spy_now(void *io) {
  (void)io;
  return rig_now_ns;
}

static void spy_recv(void *io, struct udp_datagrams *in, bool many) {
  const struct udp_io *wire = io;
  wire->ops->recv(wire->state, in, many);
}

static uint32_t spy_fds(void *io, struct pollfd *fds, uint32_t max) {
  (void)io, (void)fds, (void)max;
  return 0;
}

static bool spy_refused(void *io, uint32_t peer) {
  (void)io, (void)peer;
  return false;
}

static void spy_close(void *io) {
  const struct udp_io *wire = io;
  wire->ops->close(wire->state);
}

static void begin(void) {
  static const struct udp_io_ops ops = {UDP_IO_MANDATORY(spy)};
  const struct udp_config config = rig_config();
  struct udp_io ios[2];
  for (uint32_t i = 0; i < 2; i++) {
    wires[i] = rig_wire(i);
    ios[i] = (struct udp_io){.ops = &ops, .state = &wires[i], .rails = 1};
    nonce_count[i] = 0;
  }
  clear_words = handled = 0;
  flip_bit = -1;
  flipped = 0;
  rig_on_am = on_am;
  rig_open_io(2, &config, NULL, ios);
}

static void drain(void) {
  uint32_t steps = 0;
  for (bool all = false; !all;) {
    assert_cmp(++steps, <, STEPS_MAX);
    rig_step(2);
    const bool first = udp_drained(rig_net[0]);
    all = udp_drained(rig_net[1]) && first;
  }
}

static void send(size_t nbytes) {
  static uint64_t payload[8000];
  for (size_t i = 0; i < TMB_ARRAY_LEN(payload); i++) payload[i] = PAYLOAD_WORD;
  struct tmb_am_out out = {.peer = 1,
                           .category = TMB_AM_MEDIUM,
                           .handler = 200,
                           .staged = -1,
                           .src = payload,
                           .nbytes = nbytes};
  uint32_t tries = 0;
  while (udp_am_send(rig_net[0], &out)) {
    assert_cmp(++tries, <, STEPS_MAX);
    rig_step(2);
  }
}

static int by_value(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* Sent data can be read in the clear without encryption, and not with it; no nonce is used twice,
 * also where packets are lost and retransmitted. */
TEST(listener) {
  if (!rig_cipher) skip();
  static const size_t sizes[] = {8, 200, 1000, 1368, 8000, 64000};
  struct udp_cipher *cipher = rig_cipher;
  for (uint32_t sealed = 0; sealed < 2; sealed++) {
    rig_cipher = sealed ? cipher : NULL;
    begin();
    for (uint32_t k = 0; k < 300; k++) {
      drop = k % 10 == 9;
      send(sizes[k % TMB_ARRAY_LEN(sizes)]);
      if (k % 3 == 0) rig_step(2);
    }
    drain();
    assert_int_equal(handled, 300);
    assert_int_equal((clear_words == 0), (sealed == 1));
    for (uint32_t i = 0; sealed && i < 2; i++) {
      assert_cmp(nonce_count[i], >, 100);
      qsort(nonces[i], nonce_count[i], sizeof nonces[i][0], by_value);
      for (uint32_t k = 1; k < nonce_count[i]; k++)
        assert_int_not_equal(nonces[i][k], nonces[i][k - 1]);
    }
    rig_close(2);
  }
}

/* A packet of `bytes` bytes of payload, of which one bit is turned over, whichever, is dropped and
 * counted. */
static void turn_bits(size_t bytes, int64_t bits, int64_t step) {
  begin();
  send(bytes);
  drain();
  uint64_t refused = rig_stats[1].refused, sent = 1;
  for (int64_t bit = 0; bit < bits; bit += step) {
    flip_bit = bit;
    flipped = flipped_gap = 0;
    send(bytes);
    (void)rig_progress(0, TMB_SERVE_ALL);
    flip_bit = -1;
    assert_cmp(flipped, >=, 1);
    rig_now_ns += RIG_LATENCY;
    (void)rig_progress(1, TMB_SERVE_ALL);
    if (!flipped_gap) assert_cmp(rig_stats[1].refused, >, refused);
    drain();
    refused = rig_stats[1].refused;
    assert_int_equal(handled, ++sent);
  }
  rig_close(2);
}

#if defined(__SANITIZE_ADDRESS__) /* no multiple of it is 8: of each byte two bits or three */
# define STEP 3
#else
# define STEP 1
#endif

TEST(every_bit_sealed) {
  if (!rig_cipher) skip();
  turn_bits(100, (40 + 16 + 100 + 16) * 8, STEP);
}

/* With the payload in the control part, and in the tail. */
TEST(every_bit_hashed) {
  struct udp_cipher *cipher = rig_cipher;
  rig_cipher = NULL;
  turn_bits(96, (40 + 24 + 96) * 8, STEP);
  turn_bits(1000, (40 + 24 + 1000) * 8, 5 * STEP);
  rig_cipher = cipher;
}

/* Memory that the program writes to all the time is read by a get, and put, although the sent bytes
 * differ from the hashed ones: a retransmission is a copy. A short get is one at once. */
TEST(restless_memory) {
  static uint8_t local[100000], src[100000];
  struct udp_cipher *cipher = rig_cipher;
  rig_cipher = NULL;
  for (uint32_t kind = 0; kind < 3; kind++) {
    begin();
    uint64_t done = 0;
    const size_t nbytes = kind == 0 ? 4000 : sizeof local;
    struct tmb_rma rma = {
        .peer = 1, .remote = rig_segment[1], .local = local, .nbytes = nbytes, .op = &done};
    restless = kind < 2 ? rig_segment[1] : src;
    restless_bytes = sizeof local;
    if (kind == 2) rma.local = src;
    assert_int_equal((kind < 2 ? udp_get : udp_put)(rig_net[0], &rma), 0);
    for (uint32_t steps = 0; !done; steps++) {
      assert_cmp(steps, <, STEPS_MAX);
      rig_step(2);
    }
    drain();
    restless_bytes = 0;
    if (kind == 0) assert_int_equal(rig_stats[1].retransmits, 0);
    if (kind == 1) assert_cmp(rig_stats[1].retransmits, >, 0);
    if (kind == 2) assert_cmp(rig_stats[0].retransmits, >, 0);
    rig_close(2);
  }
  rig_cipher = cipher;
}

/* Packets of a rank that does not encrypt, or has another secret, are refused. */
TEST(unknown_senders) {
  if (!rig_cipher) skip();
  begin();
  send(8);
  drain();
  const uint64_t before = rig_stats[1].refused;
  rig_net[0]->config.cipher = NULL;
  send(8);
  for (uint32_t i = 0; i < 1000; i++) rig_step(2);
  assert_int_equal(handled, 1);
  assert_cmp(rig_stats[1].refused, >, before);
  rig_net[0]->config.cipher = rig_cipher;
  drain();
  assert_int_equal(handled, 2);
  rig_net[0]->peers.of[1]->seal.out[3] ^= 1;
  send(8);
  for (uint32_t i = 0; i < 1000; i++) rig_step(2);
  assert_int_equal(handled, 2);
  rig_close(2);
}

int main(void) {
  char why[128];
  rig_cipher = udp_cipher_load(why, sizeof why);
  if (!rig_cipher) printf("without libsodium, so nothing is encrypted: %s\n", why);
  const int failed = unit_run(NULL, NULL);
  rig_unseal();
  return failed;
}
