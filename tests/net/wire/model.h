/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fate of a frame on an emulated link: when, whether and how often it arrives, and how intact.
 *
 * Owns: the state of a link of up to WIRE_PORTS_MAX ports. Called by wire.c and wire_test.c. Calls:
 * nothing, and reads no clock: the caller says what time it is. Invariants: what is decided about
 * frame k of a port depends on the seed, the port and k only; a frame that is not reordered does
 * not overtake another from the same port to the same port; each frame takes as many random numbers
 * as any other, so that one setting does not change what another decides.
 */
#ifndef TMB_TESTS_WIRE_MODEL_H
#define TMB_TESTS_WIRE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_PORTS_MAX  32
#define WIRE_COPIES_MAX 3

/* How the frames that a port sends are treated. Probabilities are of each frame, 0 to 1. */
struct wire_settings {
  uint64_t delay_ns;
  uint64_t jitter_ns;   /* the delay is longer by up to this, evenly distributed */
  uint64_t rate_bps;    /* bits per second in each direction, 0: unlimited */
  uint64_t queue_bytes; /* what may wait for a port to be free; frames beyond it are dropped */
  double loss, duplicate;
  double reorder;   /* frames held back ... */
  uint64_t hold_ns; /* ... for so long, while others pass */
  double corrupt;
  double forge;      /* a changed copy of the frame arrives right before it, if it has a payload */
  uint64_t udp_only; /* not 0: only datagrams are lost, duplicated, reordered, corrupted, forged */
};

struct wire_counts {
  uint64_t frames, bytes; /* handed over by a host */
  uint64_t delivered;     /* copies that go to a host */
  uint64_t lost, overflowed, unplugged;
  uint64_t duplicated, reordered, corrupted, forged;
};

struct wire_port {
  struct wire_settings settings;
  struct wire_counts counts;
  bool cut;                         /* its cable is out */
  uint64_t random;                  /* state of the generator */
  uint64_t out_free_ns, in_free_ns; /* when the line from, to the host is free */
  uint64_t last_ns[WIRE_PORTS_MAX]; /* latest arrival at each port of a frame not reordered */
};

struct wire_model {
  uint32_t count; /* of ports */
  struct wire_port ports[WIRE_PORTS_MAX];
};

/* One copy that arrives. */
struct wire_copy {
  uint64_t at_ns;
  bool corrupt;
  bool forged;
  uint64_t random; /* where and how it is changed */
};

/* Begin with `count` ports that have these settings. */
void wire_model_init(struct wire_model *m, uint32_t count, uint64_t seed,
                     const struct wire_settings *settings);

/* Port `from` hands over a frame of `bytes` bytes for the ports of `to` (bit i: port i). out
 * copies: [WIRE_PORTS_MAX][WIRE_COPIES_MAX]; out counts: [WIRE_PORTS_MAX] how many of them each
 * port gets. */
struct wire_fate {
  bool datagram; /* in: the frame is a UDP datagram */
  bool payload;  /* in: it has a payload, of UDP or TCP */
  struct wire_copy copies[WIRE_PORTS_MAX][WIRE_COPIES_MAX];
  uint32_t counts[WIRE_PORTS_MAX];
};
void wire_model_pass(struct wire_model *m, uint32_t from, uint32_t to, uint64_t now_ns,
                     size_t bytes, struct wire_fate *fate);

/* Whether a frame is a UDP datagram, and whole. */
bool wire_is_datagram(const uint8_t *frame, size_t bytes);

/* Whether a frame has a payload, of UDP or TCP. */
bool wire_has_payload(const uint8_t *frame, size_t bytes);

/* Change a byte of the payload of UDP or TCP, and make the checksum fit. in random: as below. */
void wire_forge(uint8_t *frame, size_t bytes, uint64_t random);

/* Change a byte behind the Ethernet header. The payload of a UDP datagram is preferred, and its
 * checksum is made to fit, so that the kernel hands the datagram up. in random: which and how. */
void wire_corrupt(uint8_t *frame, size_t bytes, uint64_t random);

/* Read one setting, "NAME=VALUE"; names are those of struct wire_settings without the unit. Times:
 * ns, us, ms, s; rates: kbit, mbit, gbit; probabilities: 0.01 or 1%; sizes: k, m. Returns false if
 * it is not known or not a value. */
bool wire_setting(struct wire_settings *settings, const char *text);

#endif
