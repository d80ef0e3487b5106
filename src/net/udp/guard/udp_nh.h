/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NH: the universal hash that makes a long payload short before SipHash takes it.
 *
 * Owns nothing. Called by udp_auth.c and by tests. Calls nothing. This is L1-HASH of UMAC-64: NH
 * with two keys, of which the second is the first one shifted by 16 bytes. For any two payloads of
 * one length that somebody chooses who does not know the key, the results are equal with
 * probability 2^-64 at most. A result must not be shown: it reveals the key. udp_auth.c puts it
 * into SipHash. Sources: J. Black, S. Halevi, H. Krawczyk, T. Krovetz, P. Rogaway, "UMAC: Fast and
 * Secure Message Authentication", CRYPTO '99, doi:10.1007/3-540-48405-1_14; RFC 4418, 5.2.
 * Invariant: the result does not depend on the processor.
 */
#ifndef TMB_UDP_NH_H
#define TMB_UDP_NH_H

#include "base/compiler.h"

#include <stdint.h>

#define UDP_NH_BLOCK 2048u /* fixed: bytes of one result, at most; RFC 4418 has 1024 */
#define UDP_NH_UNITS (UDP_NH_BLOCK / 16 + 1)

/* The key, in units of 16 bytes: those with an even number and those with an odd one. */
struct udp_nh_key {
  TMB_ALIGNED(32) uint32_t even[UDP_NH_UNITS / 2 + 1][4];
  TMB_ALIGNED(32) uint32_t odd[UDP_NH_UNITS / 2][4];
  uint32_t step; /* groups of a step, at most: 4 with AVX-512, 2 with AVX2, else 1 */
};

/* Take the key. in words: [UDP_NH_UNITS * 4], random. */
void udp_nh_open(struct udp_nh_key *key, const uint32_t *words);

/* Groups of a step that suits a payload of so many bytes: 1, 2 or 4. Processors begin slowly with
 * instructions of 512 bits, so that only long payloads take them. */
uint32_t udp_nh_step(const struct udp_nh_key *key, uint32_t payload_bytes);

/* Hash one block. in data: [bytes], at most UDP_NH_BLOCK, need not be aligned. in step: of
 * udp_nh_step, or less; the result does not depend on it. */
void udp_nh(const struct udp_nh_key *key, const void *data, uint32_t bytes, uint32_t step,
            uint64_t out[2]);

#endif
