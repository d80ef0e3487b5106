/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The emulated link; see model.h.
 *
 * Owns: nothing global. Called by wire.c. Calls: libc. The line from a host is busy for the length
 * of a frame, and so is the line to a host; a frame that finds both free takes its length once, as
 * through a switch that sends on while it receives. Invariants: see model.h. Random numbers:
 * splitmix64 (Steele, Lea, Flood, OOPSLA 2014, doi:10.1145/2660193.2660195).
 */
#include "model.h"

#include <string.h>

#define NS_PER_S 1000000000u

static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* A number in [0, 1). */
static double fraction(uint64_t *state) {
  return (double)(next_random(state) >> 11) * 0x1p-53;
}

static uint64_t later(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

void wire_model_init(struct wire_model *m, uint32_t count, uint64_t seed,
                     const struct wire_settings *settings) {
  memset(m, 0, sizeof *m);
  m->count = count;
  for (uint32_t i = 0; i < count; i++) {
    m->ports[i].settings = *settings;
    m->ports[i].random = seed + i;
    m->ports[i].random = next_random(&m->ports[i].random); /* far apart from those of other ports */
  }
}

/* Time that `bytes` bytes take at a rate. */
static uint64_t length_ns(uint64_t rate_bps, size_t bytes) {
  return rate_bps ? (uint64_t)((double)bytes * 8 * NS_PER_S / (double)rate_bps) : 0;
}

#define NEVER UINT64_MAX

/* Occupy a line from `start_ns` on, or when it is free. Returns when that is; NEVER: the queue is
 * full. */
static uint64_t occupy(const struct wire_settings *s, uint64_t *free_ns, uint64_t start_ns,
                       size_t bytes) {
  const uint64_t begin = later(start_ns, *free_ns);
  if (begin - start_ns > length_ns(s->rate_bps, s->queue_bytes)) return NEVER;
  *free_ns = begin + length_ns(s->rate_bps, bytes);
  return begin;
}

/* Fate of one frame, drawn from random numbers. */
struct luck {
  bool lost, duplicate, reorder, corrupt, forge;
  double jitter, jitter_copy;
  uint64_t damage, forgery;
};

static struct luck draw(struct wire_port *port) {
  const struct wire_settings *s = &port->settings;
  struct luck luck;
  luck.lost = fraction(&port->random) < s->loss;
  luck.duplicate = fraction(&port->random) < s->duplicate;
  luck.reorder = fraction(&port->random) < s->reorder;
  luck.corrupt = fraction(&port->random) < s->corrupt;
  luck.jitter = fraction(&port->random);
  luck.jitter_copy = fraction(&port->random);
  luck.damage = next_random(&port->random);
  luck.forge = fraction(&port->random) < s->forge;
  luck.forgery = next_random(&port->random);
  return luck;
}

/* A frame that has found the line from its host free at `begin_ns`. */
struct sent {
  uint64_t begin_ns;
  size_t bytes;
  struct luck luck;
};

/* When a frame that has left the line at `done_ns` arrives. */
static uint64_t arrival(struct wire_port *port, uint32_t to, uint64_t done_ns, double jitter,
                        bool reorder) {
  const struct wire_settings *s = &port->settings;
  const uint64_t at = done_ns + s->delay_ns + (uint64_t)(jitter * (double)s->jitter_ns);
  if (reorder) return at + s->hold_ns;
  port->last_ns[to] = later(port->last_ns[to], at);
  return port->last_ns[to];
}

/* One frame to one port. Returns the number of copies. */
static uint32_t deliver(struct wire_model *m, struct wire_port *port, uint32_t to,
                        const struct sent *frame, struct wire_copy *copies) {
  const struct luck *luck = &frame->luck;
  if (m->ports[to].cut) {
    port->counts.unplugged++;
    return 0;
  }
  const uint64_t begin =
      occupy(&port->settings, &m->ports[to].in_free_ns, frame->begin_ns, frame->bytes);
  if (begin == NEVER) {
    port->counts.overflowed++;
    return 0;
  }
  const uint64_t done = begin + length_ns(port->settings.rate_bps, frame->bytes);
  const uint64_t at_ns = arrival(port, to, done, luck->jitter, luck->reorder);
  uint32_t count = 0;
  if (luck->forge)
    copies[count++] = (struct wire_copy){.at_ns = at_ns, .forged = true, .random = luck->forgery};
  copies[count++] =
      (struct wire_copy){.at_ns = at_ns, .corrupt = luck->corrupt, .random = luck->damage};
  if (luck->duplicate)
    copies[count++] =
        (struct wire_copy){.at_ns = arrival(port, to, done, luck->jitter_copy, false)};
  port->counts.reordered += luck->reorder;
  port->counts.corrupted += luck->corrupt;
  port->counts.duplicated += luck->duplicate;
  port->counts.forged += luck->forge;
  port->counts.delivered += count;
  return count;
}

void wire_model_pass(struct wire_model *m, uint32_t from, uint32_t to, uint64_t now_ns,
                     size_t bytes, struct wire_fate *fate) {
  struct wire_port *port = &m->ports[from];
  struct sent frame = {.bytes = bytes, .luck = draw(port)};
  if (port->settings.udp_only && !fate->datagram)
    frame.luck = (struct luck){.jitter = frame.luck.jitter};
  if (!fate->payload) frame.luck.forge = false;
  memset(fate->counts, 0, sizeof fate->counts);
  port->counts.frames++;
  port->counts.bytes += bytes;
  if (port->cut) {
    port->counts.unplugged++;
    return;
  }
  frame.begin_ns = occupy(&port->settings, &port->out_free_ns, now_ns, bytes);
  if (frame.begin_ns == NEVER) {
    port->counts.overflowed++;
    return;
  }
  if (frame.luck.lost) {
    port->counts.lost++;
    return;
  }
  for (uint32_t i = 0; i < m->count; i++)
    if (to >> i & 1) fate->counts[i] = deliver(m, port, i, &frame, fate->copies[i]);
}
