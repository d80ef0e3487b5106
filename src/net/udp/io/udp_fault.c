/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets lost, doubled, held back or corrupted on purpose, see udp_fault.h.
 *
 * Owns the packets that are held back. Called by the engine as its io. Calls the io it wraps. A
 * packet that is held back leaves after the next one, or after HOLD_NS. Invariant: the packet that
 * the engine gave is not changed; a corrupted one is a copy.
 */
#include "net/udp/io/udp_fault.h"

#include "base/ascii.h"

#include "net/udp/wire/udp_packet.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* Of injected faults: datagrams held back and their delay, chosen; the largest seed. */
#define HELD_MAX 8u
#define HOLD_NS  1000000u
#define SEED_MAX 1e15 /* exact in a double */

struct held {
  struct udp_out out;
  uint64_t since_ns;
  uint8_t *bytes;
};

struct fault {
  struct udp_io io; /* wrapped */
  struct udp_fault_config config;
  uint64_t random;
  struct held held[HELD_MAX];
  uint32_t held_count;
};

/* xorshift64*: S. Vigna, doi:10.1145/2845077. */
static double chance(struct fault *f) {
  f->random ^= f->random >> 12;
  f->random ^= f->random << 25;
  f->random ^= f->random >> 27;
  return (double)((f->random * 2685821657736338717u) >> 11) / 9007199254740992.0;
}

static uint8_t *flat(const struct udp_out *out, struct udp_out *copy) {
  uint8_t *bytes = malloc(out->head_bytes + out->tail_bytes + 1);
  if (!bytes) return NULL;
  memcpy(bytes, out->head, out->head_bytes);
  if (out->tail_bytes) memcpy(bytes + out->head_bytes, out->tail, out->tail_bytes);
  *copy = *out;
  copy->head = bytes;
  copy->head_bytes = out->head_bytes + out->tail_bytes;
  copy->tail = NULL;
  copy->tail_bytes = 0;
  return bytes;
}

static void send_corrupt(struct fault *f, const struct udp_out *out) {
  struct udp_out copy;
  uint8_t *bytes = flat(out, &copy);
  if (!bytes) return;
  struct udp_header h;
  memcpy(&h, bytes, sizeof h);
  uint32_t covered = UDP_HEADER_BYTES + h.control;
  if (f->config.payload_hashed) covered = copy.head_bytes;
  if (covered > copy.head_bytes) covered = copy.head_bytes;
  const uint32_t bit = (uint32_t)(chance(f) * covered * 8);
  bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
  (void)f->io.ops->send(f->io.state, &copy, 1);
  free(bytes);
}

static void release(struct fault *f, uint64_t until_ns) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < f->held_count; i++) {
    if (f->held[i].since_ns > until_ns) {
      f->held[left++] = f->held[i];
      continue;
    }
    (void)f->io.ops->send(f->io.state, &f->held[i].out, 1);
    free(f->held[i].bytes);
  }
  f->held_count = left;
}

static bool hold(struct fault *f, const struct udp_out *out) {
  if (f->held_count == HELD_MAX) return false;
  struct held *h = &f->held[f->held_count];
  h->bytes = flat(out, &h->out);
  if (!h->bytes) return false;
  h->since_ns = f->io.ops->now(f->io.state);
  f->held_count++;
  return true;
}

static uint32_t fault_send(void *io, const struct udp_out *out, uint32_t count) {
  struct fault *f = io;
  for (uint32_t i = 0; i < count; i++) {
    if (chance(f) < f->config.loss) continue;
    if (chance(f) < f->config.reorder && hold(f, &out[i])) continue;
    if (chance(f) < f->config.corrupt) {
      send_corrupt(f, &out[i]);
      continue;
    }
    if (!f->io.ops->send(f->io.state, &out[i], 1)) return i;
    if (chance(f) < f->config.duplicate) (void)f->io.ops->send(f->io.state, &out[i], 1);
    if (f->held_count && chance(f) < 0.5) release(f, UINT64_MAX);
  }
  return count;
}

static uint64_t fault_now(void *io) {
  const struct fault *f = io;
  return f->io.ops->now(f->io.state);
}

static void fault_recv(void *io, struct udp_datagrams *in, bool many) {
  struct fault *f = io;
  if (f->held_count) {
    const uint64_t now = fault_now(f);
    if (now > HOLD_NS) release(f, now - HOLD_NS);
  }
  f->io.ops->recv(f->io.state, in, many);
}

static uint32_t fault_fds(void *io, struct pollfd *fds, uint32_t max) {
  struct fault *f = io;
  release(f, UINT64_MAX); /* nobody may call again soon */
  return f->io.ops->fds(f->io.state, fds, max);
}

static bool fault_refused(void *io, uint32_t peer) {
  const struct fault *f = io;
  return f->io.ops->refused(f->io.state, peer);
}

static uint32_t fault_waiting(void *io, uint32_t peer, uint32_t rail) {
  const struct fault *f = io;
  return f->io.ops->waiting ? f->io.ops->waiting(f->io.state, peer, rail) : 0;
}

static void fault_close(void *io) {
  struct fault *f = io;
  for (uint32_t i = 0; i < f->held_count; i++) free(f->held[i].bytes);
  f->io.ops->close(f->io.state);
  free(f);
}

static const struct udp_io_ops fault_ops = {UDP_IO_MANDATORY(fault), .waiting = fault_waiting};

static bool set(struct udp_fault_config *c, const char *name, size_t bytes, double value) {
  const struct {
    const char *name;
    double *share;
  } rows[] = {{"loss", &c->loss},
              {"dup", &c->duplicate},
              {"reorder", &c->reorder},
              {"corrupt", &c->corrupt}};
  for (size_t i = 0; i < TMB_ARRAY_LEN(rows); i++)
    if (bytes == strlen(rows[i].name) && !memcmp(name, rows[i].name, bytes)) {
      if (value > 100) return false;
      *rows[i].share = value / 100;
      return true;
    }
  if (bytes != 4 || memcmp(name, "seed", 4) != 0) return false;
  if (value > SEED_MAX) return false;
  c->seed = (uint64_t)value;
  return true;
}

bool udp_fault_parse(const char *text, struct udp_fault_config *config) {
  *config = (struct udp_fault_config){.seed = 1};
  while (*text) {
    const char *equals = strchr(text, '=');
    if (!equals) return false;
    char *end = NULL;
    const double value = tmb_ascii_strtod(equals + 1, &end);
    if (end == equals + 1 || !(value >= 0)) return false;
    if (!set(config, text, (size_t)(equals - text), value)) return false;
    if (*end && *end != ',') return false;
    text = *end ? end + 1 : end;
  }
  return true;
}

bool udp_fault_wrap(struct udp_io *io, const struct udp_fault_config *config) {
  struct fault *f = calloc(1, sizeof *f);
  if (!f) return false;
  f->io = *io;
  f->config = *config;
  f->random = config->seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  if (!f->random) f->random = 1;
  io->ops = &fault_ops;
  io->state = f;
  return true;
}
