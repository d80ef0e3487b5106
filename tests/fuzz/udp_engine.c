/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzer: whole packets with a good hash and any content, as a broken peer would send them. The
 * input is a list of packets: two bytes of length, then the packet, whose job, source, length and
 * hash are put right. What is delivered is read through; nothing outside of the segment changes. */
#define RIG_SEGMENT (1u << 16)
#include "net/udp/udp_rig_test.h"

#include <setjmp.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static jmp_buf refused;

/* A bad address ends a job; here the input. */
static void on_fatal(void) {
  longjmp(refused, 1);
}

static unsigned sum;

static void on_am(const struct tmb_am_in *in) {
  const uint8_t *p = in->payload;
  for (unsigned i = 0; i < in->nargs; i++) sum += (unsigned)in->args[i];
  for (size_t i = 0; p && i < in->nbytes; i++) sum += p[i];
}

/* Write the tag of a tail, if there is one. Returns its bytes. */
static uint32_t add_tag(const uint64_t key[2], uint8_t *packet, uint32_t bytes, uint32_t end) {
  const uint32_t at = udp_tail_at(end);
  if (bytes <= at) return 0;
  const uint64_t tag = udp_auth_tail(key, rig_net[0]->tail_key, NULL, packet + at, bytes - at);
  memcpy(packet + end, &tag, sizeof tag);
  return UDP_TAG_BYTES;
}

/* Make the hash of a packet good, as of rank 1 for rank 0. */
static void sign(uint8_t *packet, uint32_t bytes) {
  struct udp_header h;
  uint64_t key[2];
  memcpy(&h, packet, sizeof h);
  udp_auth_key(rig_secret, rig_net[0]->job_id, 1, 0, key);
  const struct udp_peer *p = rig_net[0]->peers.of[1];
  h.job = (uint32_t)rig_net[0]->job_id;
  h.src = 1;
  h.bytes = (uint16_t)bytes;
  h.control = (uint16_t)TMB_MIN((uint32_t)h.control & ~7u, (bytes - UDP_HEADER_BYTES) & ~7u);
  h.flags &= (uint8_t)~UDP_HASHED;
  struct udp_auth_input input = {.control = packet + UDP_HEADER_BYTES,
                                 .control_bytes = h.control,
                                 .tail_key = rig_net[0]->tail_key};
  if (rig_net[0]->config.hash_payload) {
    h.flags |= UDP_HASHED;
    input.control_bytes += add_tag(key, packet, bytes, UDP_HEADER_BYTES + h.control);
  }
  input.seq = udp_extend(p ? p->rx.next : 1, h.seq);
  input.ack = udp_extend(p ? p->tx.una : 1, h.ack);
  h.mac = udp_auth_hash(key, &h, &input);
  memcpy(packet, &h, sizeof h);
}

/* Addresses cannot be guessed: the top byte of a field that says 0xa5 stands for the segment. */
static void place_addresses(uint8_t *packet, uint32_t bytes) {
  for (uint32_t at = UDP_HEADER_BYTES; at + 8 <= bytes; at += 8) {
    uint64_t v;
    memcpy(&v, packet + at, 8);
    if (v >> 56 != 0xa5) continue;
    v = (uint64_t)(uintptr_t)rig_segment[0] + (v & 0xffff);
    memcpy(packet + at, &v, 8);
  }
}

static TMB_ALIGNED(64) uint8_t memory[UDP_DATAGRAM_MAX];
static struct udp_delivery list[UDP_DATAGRAM_MAX / 8];
static struct udp_batch batch; /* a refused input leaves it before its end */

/* What a connection does: ask with the head where the tail belongs, and put it there. Returns false
 * if that is nowhere; and for packets that ask for an acknowledgement, so that both ways are tried.
 */
static bool take_placed(struct tmb_net *e, uint32_t bytes) {
  struct udp_header h;
  memcpy(&h, memory, sizeof h);
  const uint32_t head = udp_tail_at(UDP_HEADER_BYTES + h.control);
  if (h.flags & UDP_ACK_NOW || h.bytes != bytes || head >= bytes) return false;
  uint8_t *place = udp_tail_place(e, memory, head);
  if (!place) return false;
  memcpy(place, memory + head, bytes - head);
  memset(memory + head, 0x5a, bytes - head);
  batch.in = (struct udp_datagrams){.memory = memory, .count = 1, .bytes = {head}, .placed = 1};
  udp_batch_take(e, &batch);
  return true;
}

static void feed(const uint8_t *data, size_t size) {
  struct tmb_net *e = rig_net[0];
  while (size > 2) {
    uint32_t bytes = (uint32_t)data[0] << 8 | data[1];
    bytes = TMB_MAX(TMB_MIN(bytes, (uint32_t)size - 2), UDP_HEADER_BYTES);
    const size_t given = TMB_MIN((size_t)bytes, size - 2);
    memset(memory, 0, bytes);
    memcpy(memory, data + 2, given);
    data += 2 + given;
    size -= 2 + given;
    place_addresses(memory, bytes);
    sign(memory, bytes);
    batch = (struct udp_batch){.list = list, .capacity = TMB_ARRAY_LEN(list)};
    if (!take_placed(e, bytes)) udp_datagram_take(e, &batch, memory, bytes);
    udp_deliver_run(&batch, e->up->am);
    udp_deliver_credit(e, &batch);
    udp_push_all(e, true, true);
    udp_batch_end(&batch);
    rig_now_ns += 1000000;
    e->time.now_ns = rig_now_ns;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct udp_config config = rig_config();
  config.hash_payload = size % 2; /* else tails are read to their places */
  static uint8_t src[5000];
  uint64_t done = 0;
  rig_on_am = on_am;
  rig_on_fatal = on_fatal;
  rig_rails = 2;
  rig_open(2, &config, NULL);
  /* Something in flight, so that acknowledgements and data of gets have something to hit. */
  const struct tmb_rma rma = {
      .peer = 1, .remote = rig_segment[1], .local = src, .nbytes = sizeof src, .op = &done};
  (void)udp_put(rig_net[0], &rma);
  (void)udp_get(rig_net[0], &rma);
  if (size < 60000 && !setjmp(refused)) {
    feed(data, size);
    udp_engine_lock(rig_net[0]);
    udp_engine_unlock(rig_net[0]);
  }
  udp_batch_end(&batch);
  rig_close(2);
  return 0;
}
