/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Content of a connection of the stream mode: a greeting, then packets one after the other.
 *
 * Owns nothing but buffers. Called by udp_stream.c and by the fuzzers. Calls udp_auth.h. The
 * accepting side sends a challenge; the connecting side answers with a hello, whose hash proves
 * that it knows the job's secret and has seen this challenge; the answer to it proves that of the
 * accepting side. So neither an unknown sender nor a recorded greeting is accepted. Then come
 * packets as in datagrams, each with its own hash or tag, cut by the length in their headers.
 * Invariant: a buffer takes bounded memory whatever comes.
 */
#ifndef TMB_UDP_FRAME_H
#define TMB_UDP_FRAME_H

#include "net/udp/wire/udp_packet.h"

#define UDP_NONCE_BYTES 16u /* fixed by the format of a greeting */

/* From who accepts. */
struct udp_challenge {
  uint64_t magic;
  uint8_t nonce[UDP_NONCE_BYTES];
};

/* From who connects. */
struct udp_hello {
  uint64_t magic;
  uint32_t src, dst;
  uint8_t nonce[UDP_NONCE_BYTES];
  uint64_t mac[2];
};

/* From who accepts. */
struct udp_welcome {
  uint64_t magic;
  uint64_t mac[2];
};

/* Sender of a greeting. */
struct udp_greeter {
  const uint8_t *secret;
  uint64_t job_id;
  uint32_t rank, size;
};

/* A challenge, with random bytes. Returns false if the system has none. */
bool udp_challenge_make(struct udp_challenge *c);
/* The hello of `g` to rank `dst` that answers a challenge. Returns false if it is none. */
bool udp_hello_make(const struct udp_greeter *g, uint32_t dst, const struct udp_challenge *c,
                    struct udp_hello *h);
/* Whether a hello to `g` answers `c`, and the welcome that it gets. */
bool udp_hello_check(const struct udp_greeter *g, const struct udp_challenge *c,
                     const struct udp_hello *h, struct udp_welcome *w);
/* Whether a welcome is rank h->dst's answer to our hello. */
bool udp_welcome_check(const struct udp_greeter *g, const struct udp_challenge *c,
                       const struct udp_hello *h, const struct udp_welcome *w);

/* Bytes in order: those that came and are not taken yet, or are still to be sent. */
struct udp_bytes {
  uint8_t *data;
  size_t start, end, capacity;
};

/* Room for `more` bytes behind the last one. Returns false without memory, or if it would hold more
 * than `most`. */
bool udp_bytes_room(struct udp_bytes *b, size_t more, size_t most);
void udp_bytes_free(struct udp_bytes *b);

/*
 * The packet at the start of `b`. Returns its bytes, 0 if it has not all come, or TMB_E_PROTOCOL if
 * no packet from rank `src` can start there: the connection is of no use any more.
 */
int udp_frame_next(const struct udp_bytes *b, uint64_t job_id, uint32_t src);

#endif
