/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encrypted packets, see udp_seal.h.
 *
 * Owns nothing. Called by udp.c and by the engine. Calls libsodium through pointers: its
 * interface is declared here, so that its headers are not needed. A key is BLAKE2b, keyed with the
 * secret, of the job and the two ranks. Invariant: a nonce is the number of the packet under its
 * key, the rest of its 24 bytes is zero.
 */
#include "net/udp/guard/udp_seal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONCE_BYTES 24u /* fixed by XChaCha20 */

typedef int init_fn(void);
typedef int hash_fn(unsigned char *out, size_t out_bytes, const unsigned char *in,
                    unsigned long long in_bytes, const unsigned char *key, size_t key_bytes);
typedef int close_fn(unsigned char *out, unsigned char *tag, unsigned long long *tag_bytes,
                     const unsigned char *in, unsigned long long in_bytes,
                     const unsigned char *more, unsigned long long more_bytes,
                     const unsigned char *none, const unsigned char *nonce,
                     const unsigned char *key);
typedef int open_fn(unsigned char *out, unsigned char *none, const unsigned char *in,
                    unsigned long long in_bytes, const unsigned char *tag,
                    const unsigned char *more, unsigned long long more_bytes,
                    const unsigned char *nonce, const unsigned char *key);

struct udp_cipher {
  void *library;
  init_fn *init;
  hash_fn *hash;
  close_fn *close;
  open_fn *open;
};

/* Input of the tag beside the encrypted bytes. */
struct more {
  uint8_t header[UDP_HEADER_BYTES];
  uint64_t upper; /* halves of the numbers that do not travel */
};

/* The address of a function, without a conversion that ISO C does not know. Returns whether there.
 */
static bool find(void *library, const char *name, void *place) {
  void *const symbol = dlsym(library, name);
  memcpy(place, &symbol, sizeof symbol);
  return symbol != NULL;
}

static bool find_all(struct udp_cipher *cipher, char *why, size_t bytes) {
  void *const library = cipher->library;
  if (!find(library, "sodium_init", &cipher->init) ||
      !find(library, "crypto_generichash", &cipher->hash) ||
      !find(library, "crypto_aead_xchacha20poly1305_ietf_encrypt_detached", &cipher->close) ||
      !find(library, "crypto_aead_xchacha20poly1305_ietf_decrypt_detached", &cipher->open)) {
    snprintf(why, bytes, "it is older than 1.0.12, which brought XChaCha20-Poly1305");
    return false;
  }
  if (cipher->init() >= 0) return true;
  snprintf(why, bytes, "its sodium_init fails");
  return false;
}

struct udp_cipher *udp_cipher_load(char *why, size_t bytes) {
  static const char *const names[] = {"libsodium.so.23", "libsodium.so.26", "libsodium.so"};
  struct udp_cipher *cipher = calloc(1, sizeof *cipher);
  snprintf(why, bytes, "no memory");
  if (!cipher) return NULL;
  for (size_t i = 0; i < TMB_ARRAY_LEN(names) && !cipher->library; i++)
    cipher->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (!cipher->library) {
    const char *text = dlerror();
    snprintf(why, bytes, "%s", text ? text : "not found");
  } else if (find_all(cipher, why, bytes)) {
    return cipher;
  }
  udp_cipher_free(cipher);
  return NULL;
}

void udp_cipher_free(struct udp_cipher *cipher) {
  if (cipher && cipher->library) dlclose(cipher->library);
  free(cipher);
}

void udp_seal_key(const struct udp_cipher *cipher, const uint8_t *secret, uint64_t job_id,
                  const uint32_t pair[2], uint8_t key[UDP_SEAL_KEY]) {
  struct {
    char purpose[16];
    uint64_t job_id;
    uint32_t pair[2];
  } of = {.job_id = job_id, .pair = {pair[0], pair[1]}};
  memcpy(of.purpose, "tombolo udp seal", sizeof of.purpose);
  (void)cipher->hash(key, UDP_SEAL_KEY, (const unsigned char *)&of, sizeof of, secret,
                     TMB_NET_SECRET_BYTES);
}

static struct more more_of(const uint8_t *packet, const struct udp_auth_input *input) {
  struct more more = {.upper = (input->seq >> 32) << 32 | input->ack >> 32};
  memcpy(more.header, packet, sizeof more.header);
  return more;
}

void udp_seal_close(const struct udp_cipher *cipher, const uint8_t key[UDP_SEAL_KEY],
                    uint8_t *packet, const struct udp_auth_input *input, uint64_t nonce) {
  uint8_t *const body = packet + UDP_HEADER_BYTES;
  uint8_t whole[NONCE_BYTES] = {0};
  const size_t bytes = (size_t)input->control_bytes + input->tail_bytes;
  const uint8_t *from = input->control;
  memcpy(whole, &nonce, sizeof nonce);
  memcpy(packet, &nonce, sizeof nonce); /* header->mac */
  if (input->tail_bytes) {
    memcpy(body, input->control, input->control_bytes);
    memcpy(body + input->control_bytes, input->tail, input->tail_bytes);
    from = body;
  }
  const struct more more = more_of(packet, input);
  (void)cipher->close(body, body + bytes, NULL, from, bytes, (const unsigned char *)&more,
                      sizeof more, NULL, whole, key);
}

bool udp_seal_open(const struct udp_cipher *cipher, const uint8_t key[UDP_SEAL_KEY],
                   uint8_t *packet, struct udp_header *header, const struct udp_auth_input *input) {
  if (!(header->flags & UDP_SECRET) || header->bytes < UDP_HEADER_BYTES + UDP_SEAL_TAG)
    return false;
  const uint32_t bytes = header->bytes - UDP_HEADER_BYTES - UDP_SEAL_TAG;
  if (header->control > bytes) return false;
  uint8_t *const body = packet + UDP_HEADER_BYTES;
  uint8_t nonce[NONCE_BYTES] = {0};
  memcpy(nonce, packet, sizeof header->mac);
  const struct more more = more_of(packet, input);
  if (cipher->open(body, NULL, body, bytes, body + bytes, (const unsigned char *)&more, sizeof more,
                   nonce, key))
    return false;
  header->bytes = (uint16_t)(header->bytes - UDP_SEAL_TAG);
  return true;
}
