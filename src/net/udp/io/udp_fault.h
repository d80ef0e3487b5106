/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bad network on purpose: packets that leave are lost, doubled, held back or corrupted.
 *
 * Owns nothing; the io that it makes owns the io that it wraps. Called by udp.c for
 * TOMBOLO_TEST_UDP_FAULT and by tests. Chosen by a seed, so a run can be repeated. Invariant:
 * corruption is of a kind that reaches a real receiver: without payload hashes the checksum of UDP
 * guards payloads, so only bytes that our hash covers are changed.
 */
#ifndef TMB_UDP_FAULT_H
#define TMB_UDP_FAULT_H

#include "net/udp/io/udp_io.h"

struct udp_fault_config {
  double loss, duplicate, reorder, corrupt; /* share of packets, 0..1 */
  uint64_t seed;
  bool payload_hashed; /* corruption may hit payloads too */
};

/* Read "loss=1,dup=0.5,reorder=2,corrupt=0.1,seed=7": percent of packets. Returns false for a text
 * that is none. */
bool udp_fault_parse(const char *text, struct udp_fault_config *config);

/* Wrap `io`, which is closed with the result. Returns false without memory. */
bool udp_fault_wrap(struct udp_io *io, const struct udp_fault_config *config);

#endif
