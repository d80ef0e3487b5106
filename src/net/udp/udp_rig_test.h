/* SPDX-License-Identifier: BSD-3-Clause */
/* Several engines in one process for tests: over a wire in memory with a clock of its own, or over
 * sockets; a core that counts deliveries, and a segment for each rank. Included by one test program
 * each, so its functions are static. */
#ifndef TMB_UDP_RIG_TEST_H
#define TMB_UDP_RIG_TEST_H

#include "base/error.h"
#include "net/udp/io/udp_fault.h"
#include "net/udp/ops/udp_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RIG_MAX 8u
#ifndef RIG_SEGMENT
# define RIG_SEGMENT (4u << 20)
#endif
#define RIG_QUEUE   4096u
#define RIG_LATENCY 5000u /* ns on the wire */

struct rig_datagram {
  uint8_t *bytes;
  uint32_t count;
  uint64_t due_ns;
};

struct rig_port {
  uint32_t rank;
  struct rig_datagram queue[RIG_QUEUE];
  uint32_t head, tail;
};

static uint64_t rig_now_ns;
static struct rig_port *rig_port[RIG_MAX];
static struct tmb_net *rig_net[RIG_MAX];
static struct tmb_net_stats rig_stats[RIG_MAX];
static uint8_t *rig_segment[RIG_MAX];
static uint32_t rig_current;       /* the rank whose engine runs */
static void (*rig_on_fatal)(void); /* does not return */
static void (*rig_on_am)(const struct tmb_am_in *in);
static void (*rig_on_am_by_thread)(const struct tmb_am_in *in);
static uint64_t rig_thread_handlers[2]; /* of the engines that are made */
static uint64_t rig_done;
static uint32_t rig_lost_peer;
static const char *rig_lost_why;
static uint32_t rig_lost_by;
static uint32_t rig_receives_not[RIG_MAX]; /* bit i: not the packets of rank i */
static const uint32_t rig_host_of[] = {0, 1, 2, 3,
                                       4, 5, 6, 7}; /* each rank has a host of its own */
static struct udp_cipher *rig_cipher;               /* of the configurations that are made */
static uint32_t rig_rails = 1;
static uint8_t rig_secret[TMB_NET_SECRET_BYTES] = "a secret of thirty-two bytes...";

/* ---- core */

static TMB_UNUSED void rig_am(const struct tmb_am_in *in) {
  if (rig_on_am) rig_on_am(in);
}

static TMB_UNUSED void rig_am_by_thread(const struct tmb_am_in *in) {
  if (rig_on_am_by_thread) rig_on_am_by_thread(in);
}

static TMB_UNUSED void *rig_target(uint32_t src, uint64_t addr, uint64_t nbytes) {
  (void)src;
  const uint64_t base = (uint64_t)(uintptr_t)rig_segment[rig_current];
  if (nbytes > RIG_SEGMENT || addr < base || addr - base > RIG_SEGMENT - nbytes) return NULL;
  return (void *)(uintptr_t)addr;
}

static TMB_UNUSED void rig_signal(void *addr, uint32_t op, uint64_t value) {
  uint64_t *word = addr;
  *word = op == TMB_SIGNAL_SET ? value : *word + value;
}

/* Opcode 1 adds, 2 adds nothing; others do not exist. */
static TMB_UNUSED bool rig_atomic(void *addr, const struct tmb_net_atomic *atomic, void *old) {
  uint64_t *word = addr;
  if (atomic->opcode > 2 || atomic->bytes != 8) return false;
  memcpy(old, word, sizeof *word);
  if (atomic->opcode == 1) *word += atomic->operand[0];
  return true;
}

static TMB_UNUSED void rig_op_done(void *op, uint32_t category, uint32_t peer) {
  (void)category;
  (void)peer;
  rig_done++;
  ++*(uint64_t *)op;
}

static TMB_UNUSED void rig_op_more(void *op, uint32_t category, uint32_t peer) {
  (void)op;
  (void)category;
  (void)peer;
}

static TMB_UNUSED void rig_peer_lost(uint32_t peer, const char *why) {
  rig_lost_peer = peer;
  rig_lost_by = rig_current;
  rig_lost_why = why;
}

__attribute__((format(printf, 1, 2))) static TMB_UNUSED void rig_print(const char *format, ...) {
  (void)format;
}

__attribute__((format(printf, 1, 2), noreturn)) static TMB_UNUSED void rig_fatal(const char *format,
                                                                                 ...) {
  if (rig_on_fatal) rig_on_fatal();
  fprintf(stderr, "fatal: %s\n", format);
  abort();
}

static TMB_UNUSED const struct tmb_net_up *rig_up(void) {
  static struct tmb_net_up up;
#define RIG(NAME) .NAME = rig_##NAME
  up =
      (struct tmb_net_up){RIG(am),      RIG(am_by_thread), RIG(target),    RIG(signal), RIG(atomic),
                          RIG(op_done), RIG(op_more),      RIG(peer_lost), RIG(print),  RIG(fatal)};
  return &up;
}

/* ---- wire in memory */

static TMB_UNUSED uint64_t rig_wire_now(void *io) {
  (void)io;
  return rig_now_ns;
}

static TMB_UNUSED uint32_t rig_wire_send(void *io, const struct udp_out *out, uint32_t count) {
  const uint32_t from = io ? ((const struct rig_port *)io)->rank : 0;
  for (uint32_t i = 0; i < count; i++) {
    struct rig_port *to = rig_port[out[i].peer];
    if (to->tail - to->head == RIG_QUEUE) continue; /* a full socket buffer */
    if (rig_receives_not[out[i].peer] >> from & 1) continue;
    struct rig_datagram *d = &to->queue[to->tail++ % RIG_QUEUE];
    d->count = out[i].head_bytes + out[i].tail_bytes;
    d->bytes = malloc(d->count + 1);
    memcpy(d->bytes, out[i].head, out[i].head_bytes);
    if (out[i].tail_bytes) memcpy(d->bytes + out[i].head_bytes, out[i].tail, out[i].tail_bytes);
    d->due_ns = rig_now_ns + RIG_LATENCY;
  }
  return count;
}

static TMB_UNUSED void rig_wire_recv(void *io, struct udp_datagrams *in, bool many) {
  struct rig_port *port = io;
  in->count = 0;
  while (port->head != port->tail && in->count < (many ? UDP_BATCH : 1)) {
    struct rig_datagram *d = &port->queue[port->head % RIG_QUEUE];
    if (d->due_ns > rig_now_ns) break;
    memcpy(in->memory + (size_t)in->count * UDP_DATAGRAM_MAX, d->bytes, d->count);
    in->bytes[in->count++] = d->count;
    free(d->bytes);
    port->head++;
  }
}

static TMB_UNUSED uint32_t rig_wire_fds(void *io, struct pollfd *fds, uint32_t max) {
  (void)io;
  (void)fds;
  (void)max;
  return 0;
}

static TMB_UNUSED bool rig_wire_refused(void *io, uint32_t peer) {
  (void)io;
  (void)peer;
  return false;
}

static TMB_UNUSED void rig_wire_close(void *io) {
  struct rig_port *port = io;
  for (; port->head != port->tail; port->head++) free(port->queue[port->head % RIG_QUEUE].bytes);
  rig_port[port->rank] = NULL;
  free(port);
}

static TMB_UNUSED struct udp_io rig_wire(uint32_t rank) {
  static const struct udp_io_ops ops = {UDP_IO_MANDATORY(rig_wire)};
  rig_port[rank] = calloc(1, sizeof *rig_port[rank]);
  if (!rig_port[rank]) abort();
  rig_port[rank]->rank = rank;
  return (struct udp_io){.ops = &ops, .state = rig_port[rank], .rails = rig_rails};
}

/* ---- the rig */

static TMB_UNUSED struct udp_config rig_config(void) {
  return (struct udp_config){.packet_bytes = 1440,
                             .credit = 1024,
                             .coalesce = true,
                             .cipher = rig_cipher,
                             .hash_payload = true,
                             .peer_timeout_ns = UINT64_MAX};
}

static TMB_UNUSED void rig_open_io(uint32_t ranks, const struct udp_config *config,
                                   const char *fault, const struct udp_io *ios) {
  rig_now_ns = 1000000000;
  rig_done = 0;
  rig_lost_why = NULL;
  memset(rig_stats, 0, sizeof rig_stats);
  for (uint32_t i = 0; i < ranks; i++) {
    struct udp_io io = ios[i];
    struct udp_fault_config f;
    if (fault && udp_fault_parse(fault, &f)) {
      f.seed += i * 77;
      f.payload_hashed = config->hash_payload || config->cipher;
      (void)udp_fault_wrap(&io, &f);
    }
    const struct tmb_net_env env = {
        .abi = TMB_NET_ABI,
        .rank = i,
        .size = ranks,
        .host = i,
        .hosts = ranks,
        .host_of = rig_host_of,
        .job_id = 0x1234567890abcdefu,
        .secret = rig_secret,
        .thread_handlers = {rig_thread_handlers[0], rig_thread_handlers[1]},
        .thread_now = rig_thread_handlers,
        .stats = &rig_stats[i],
        .up = rig_up()};
    rig_net[i] = udp_engine_new(&env, config, &io);
    rig_segment[i] = calloc(1, RIG_SEGMENT);
    if (!rig_segment[i]) abort();
  }
}

/* Over the wire in memory. */
static TMB_UNUSED void rig_open(uint32_t ranks, const struct udp_config *config,
                                const char *fault) {
  struct udp_io ios[RIG_MAX];
  for (uint32_t i = 0; i < ranks; i++) ios[i] = rig_wire(i);
  rig_open_io(ranks, config, fault, ios);
}

static TMB_UNUSED void rig_close(uint32_t ranks) {
  for (uint32_t i = 0; i < ranks; i++) {
    struct udp_io io = rig_net[i]->io;
    udp_engine_free(rig_net[i]);
    io.ops->close(io.state);
    free(rig_segment[i]);
  }
}

static TMB_UNUSED int rig_progress(uint32_t rank, int serve) {
  const uint32_t before = rig_current;
  rig_current = rank;
  const int found = udp_progress(rig_net[rank], serve);
  rig_current = before;
  return found;
}

/* One poll of each rank, and time passes. */
static TMB_UNUSED void rig_step(uint32_t ranks) {
  for (uint32_t i = 0; i < ranks; i++) (void)rig_progress(i, TMB_SERVE_ALL);
  rig_now_ns += 1000;
}

/* Wires for two engines whose calls a test replaces: out ops: kept while they run. */
static TMB_UNUSED void rig_wires(struct udp_io below[2], struct udp_io_ops *ops) {
  for (uint32_t i = 0; i < 2; i++) {
    below[i] = rig_wire(i);
    *ops = *below[i].ops;
    below[i].ops = ops;
  }
}

/* A Medium request of handler 200 with one argument. */
static TMB_UNUSED struct tmb_am_out rig_medium(uint32_t peer, int32_t *arg, const void *payload,
                                               size_t nbytes) {
  return (struct tmb_am_out){.peer = peer,
                             .category = TMB_AM_MEDIUM,
                             .handler = 200,
                             .nargs = 1,
                             .staged = -1,
                             .args = arg,
                             .src = payload,
                             .nbytes = nbytes};
}

/* Whether packets can be sealed here: from now on all are, until rig_unseal. */
static TMB_UNUSED bool rig_seal(void) {
  char why[128];
  rig_cipher = udp_cipher_load(why, sizeof why);
  return rig_cipher != NULL;
}

static TMB_UNUSED void rig_unseal(void) {
  udp_cipher_free(rig_cipher);
  rig_cipher = NULL;
}

#endif
