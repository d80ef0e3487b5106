/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encrypted packets: XChaCha20-Poly1305 of libsodium, by TOMBOLO_UDP_AUTH=encrypt.
 *
 * Owns nothing. Called by udp.c, which loads the library, and by the engine. Calls libsodium, which
 * is loaded when it is asked for. A sealed packet is the header as it is, with the number of the
 * nonce in place of the hash, then control part and tail encrypted, then the tag. The tag covers
 * the header and the input of other packets' hash. Each ordered pair of ranks has a key of its own
 * and its sender counts the packets made with it, also those that are sent again, so no nonce is
 * used twice. Invariant: nothing of a packet is used before its tag was right.
 */
#ifndef TMB_UDP_SEAL_H
#define TMB_UDP_SEAL_H

#include "net/udp/guard/udp_auth.h"

/* Bytes; fixed by XChaCha20-Poly1305. */
#define UDP_SEAL_TAG 16u /* behind the packet */
#define UDP_SEAL_KEY 32u

/* The functions of libsodium. */
struct udp_cipher;

/* Keys for the packets of a peer. */
struct udp_seal {
  uint8_t out[UDP_SEAL_KEY], in[UDP_SEAL_KEY];
  uint64_t count; /* packets sealed with `out`: the next nonce */
};

/* Load libsodium. Returns NULL, with the reason in `why`, if it is not there. */
struct udp_cipher *udp_cipher_load(char *why, size_t bytes);
/* in cipher: may be NULL. */
void udp_cipher_free(struct udp_cipher *cipher);

/* The key of sealed packets from `src` to `dst`. in secret: [TMB_NET_SECRET_BYTES]. */
void udp_seal_key(const struct udp_cipher *cipher, const uint8_t *secret, uint64_t job_id,
                  const uint32_t pair[2], uint8_t key[UDP_SEAL_KEY]);

/*
 * Seal a packet: its header lies at the start of `packet` with room behind it for the rest and the
 * tag; header->mac becomes the nonce's number.
 * in input: numbers, and the bytes to be encrypted: `control` and then `tail`, back to back. in
 * nonce: never given before with this key.
 */
void udp_seal_close(const struct udp_cipher *cipher, const uint8_t key[UDP_SEAL_KEY],
                    uint8_t *packet, const struct udp_auth_input *input, uint64_t nonce);

/*
 * Open a sealed packet in place. in packet: [header->bytes]; header: read and checked; input: the
 * numbers. Returns whether it is authentic; then the tag is no longer counted in header->bytes.
 */
bool udp_seal_open(const struct udp_cipher *cipher, const uint8_t key[UDP_SEAL_KEY],
                   uint8_t *packet, struct udp_header *header, const struct udp_auth_input *input);

#endif
