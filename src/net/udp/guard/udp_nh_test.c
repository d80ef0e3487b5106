/* SPDX-License-Identifier: BSD-3-Clause */
/* NH against the tags of UMAC-64 in RFC 4418, of which this file has the rest; with and without the
 * wide instructions; and that each bit of a block counts. */
#include "base/unit_test.h"
#include "net/udp/guard/udp_auth.h"
#include "net/udp/guard/udp_nh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define L1_BLOCK 1024u /* of RFC 4418 */
#define P36      ((UINT64_C(1) << 36) - 5)
#define P64      (UINT64_MAX - 58)

__extension__ typedef unsigned __int128 uint128;

/* ---- AES-128 (FIPS 197), one block, by the book */

static uint8_t sbox[256];

static uint8_t twice(uint8_t x) {
  return (uint8_t)(x << 1 ^ (x & 0x80 ? 0x1b : 0));
}

/* By walking the field with the generator 3 and with its inverse. */
static void make_sbox(void) {
  uint8_t p = 1, q = 1;
  do {
    p = (uint8_t)(p ^ twice(p));
    q = (uint8_t)(q ^ q << 1);
    q = (uint8_t)(q ^ q << 2);
    q = (uint8_t)(q ^ q << 4);
    if (q & 0x80) q ^= 0x09;
    uint8_t x = q;
    for (unsigned i = 1; i < 5; i++) x ^= (uint8_t)(q << i | q >> (8 - i));
    sbox[p] = x ^ 0x63;
  } while (p != 1);
  sbox[0] = 0x63;
}

static void expand(const uint8_t key[16], uint8_t round[11][16]) {
  uint8_t power = 1, *w = round[0];
  memcpy(w, key, 16);
  for (unsigned i = 16; i < 176; i++) {
    uint8_t t = w[i - 4];
    if (i % 16 < 4) t = sbox[w[i % 4 == 3 ? i - 7 : i - 3]];
    if (i % 16 == 0) t ^= power;
    if (i % 16 == 15) power = twice(power);
    w[i] = w[i - 16] ^ t;
  }
}

static void mix(uint8_t s[16]) {
  for (uint8_t *c = s; c < s + 16; c += 4) {
    const uint8_t first = c[0], all = c[0] ^ c[1] ^ c[2] ^ c[3];
    for (unsigned i = 0; i < 4; i++) c[i] ^= all ^ twice(c[i] ^ (i < 3 ? c[i + 1] : first));
  }
}

static void encipher(const uint8_t key[16], const uint8_t in[16], uint8_t out[16]) {
  uint8_t round[11][16], s[16];
  expand(key, round);
  for (unsigned i = 0; i < 16; i++) s[i] = in[i] ^ round[0][i];
  for (unsigned r = 1; r <= 10; r++) {
    uint8_t t[16];
    for (unsigned i = 0; i < 16; i++) t[i] = sbox[s[(i + 4 * (i % 4)) % 16]];
    if (r < 10) mix(t);
    for (unsigned i = 0; i < 16; i++) s[i] = t[i] ^ round[r][i];
  }
  memcpy(out, s, 16);
}

/* ---- the rest of UMAC-64 */

static const uint8_t user_key[17] = "abcdefghijklmnop";

static uint64_t big_endian(const uint8_t *p, unsigned bytes) {
  uint64_t v = 0;
  for (unsigned i = 0; i < bytes; i++) v = v << 8 | p[i];
  return v;
}

/* out: [bytes], a multiple of 16. */
static void kdf(uint8_t index, uint8_t *out, size_t bytes) {
  for (size_t i = 0; i < bytes / 16; i++) {
    uint8_t t[16] = {0};
    t[7] = index;
    t[14] = (uint8_t)((i + 1) >> 8);
    t[15] = (uint8_t)(i + 1);
    encipher(user_key, t, out + 16 * i);
  }
}

static uint64_t poly_step(uint64_t k, uint64_t y, uint64_t m) {
  return (uint64_t)(((uint128)k * y + m) % P64);
}

static uint64_t poly(uint64_t k, const uint64_t *m, size_t count) {
  uint64_t y = 1;
  for (size_t i = 0; i < count; i++) {
    if (m[i] >= UINT64_MAX - UINT32_MAX) {
      y = poly_step(k, y, P64 - 1);
      y = poly_step(k, y, m[i] - 59);
    } else {
      y = poly_step(k, y, m[i]);
    }
  }
  return y;
}

static uint32_t l3(const uint8_t *key1, const uint8_t *key2, uint64_t b) {
  uint64_t y = 0;
  for (unsigned i = 0; i < 4; i++) { /* the upper half of the 16 bytes is zero */
    const uint64_t m = b >> (48 - 16 * i) & 0xffff;
    y = (y + m * (big_endian(key1 + 8 * (i + 4), 8) % P36)) % P36;
  }
  return (uint32_t)y ^ (uint32_t)big_endian(key2, 4);
}

static void open_key(struct udp_nh_key *key) {
  static uint8_t bytes[UDP_NH_UNITS * 16];
  uint32_t words[UDP_NH_UNITS * 4];
  kdf(1, bytes, sizeof bytes);
  for (size_t i = 0; i < sizeof bytes / 4; i++) words[i] = (uint32_t)big_endian(bytes + 4 * i, 4);
  udp_nh_open(key, words);
}

static uint64_t pad(void) {
  static const uint8_t nonce[16] = "bcdefghi"; /* its lowest bit says which half: 1 */
  uint8_t key[16], t[16], n[16];
  kdf(0, key, sizeof key);
  memcpy(n, nonce, sizeof n);
  n[7] &= 0xfe;
  encipher(key, n, t);
  return big_endian(t + 8 * (nonce[7] & 1), 8);
}

static uint64_t umac64(const struct udp_nh_key *key, const uint8_t *message, size_t bytes,
                       uint32_t step) {
  const size_t count = bytes > L1_BLOCK ? (bytes + L1_BLOCK - 1) / L1_BLOCK : 1;
  uint64_t tag = 0, *l1[2];
  l1[0] = calloc(count, 8);
  l1[1] = calloc(count, 8);
  uint8_t l2_key[48], l3_key1[128], l3_key2[16];
  assert_true(l1[0] && l1[1]);
  for (size_t i = 0; i < count; i++) {
    uint64_t out[2];
    const size_t left = bytes - i * L1_BLOCK;
    udp_nh(key, message + i * L1_BLOCK, (uint32_t)(left < L1_BLOCK ? left : L1_BLOCK), step, out);
    l1[0][i] = out[0];
    l1[1][i] = out[1];
  }
  kdf(2, l2_key, sizeof l2_key);
  kdf(3, l3_key1, sizeof l3_key1);
  kdf(4, l3_key2, sizeof l3_key2);
  for (unsigned i = 0; i < 2; i++) {
    const uint64_t k = big_endian(l2_key + 24 * i, 8) & UINT64_C(0x01ffffff01ffffff);
    const uint64_t b = count > 1 ? poly(k, l1[i], count) : l1[i][0];
    tag = tag << 32 | l3(l3_key1 + 64 * i, l3_key2 + 4 * i, b);
    free(l1[i]);
  }
  return tag ^ pad();
}

TEST(aes) {
  static const uint8_t key[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  uint8_t in[16], out[16];
  for (unsigned i = 0; i < 16; i++) in[i] = (uint8_t)(0x11 * i);
  encipher(key, in, out); /* FIPS 197, appendix C.1 */
  assert_int_equal(big_endian(out, 8), UINT64_C(0x69c4e0d86a7b0430));
  assert_int_equal(big_endian(out + 8, 8), UINT64_C(0xd8cdb78070b4c55a));
}

/* RFC 4418, appendix; with all that the processor has, and without. */
TEST(vectors) {
  static const struct {
    const char *piece;
    size_t times;
    uint64_t tag;
  } all[] = {
      {"", 0, UINT64_C(0x6E155FAD26900BE1)},        {"a", 3, UINT64_C(0x44B5CB542F220104)},
      {"a", 1 << 10, UINT64_C(0x26BF2F5D60118BD9)}, {"a", 1 << 15, UINT64_C(0x27F8EF643B0D118D)},
      {"a", 1 << 20, UINT64_C(0xA4477E87E9F55853)}, {"abc", 1, UINT64_C(0xD4D7B9F6BD4FBFCF)},
      {"abc", 500, UINT64_C(0xD4CF26DDEFD5C01A)},
  };
  static struct udp_nh_key key;
  open_key(&key);
  for (size_t i = 0; i < TMB_ARRAY_LEN(all); i++) {
    const size_t piece = strlen(all[i].piece), bytes = piece * all[i].times;
    uint8_t *message = malloc(bytes + 1);
    assert_non_null(message);
    for (size_t k = 0; k < all[i].times; k++) memcpy(message + k * piece, all[i].piece, piece);
    for (uint32_t step = 1; step <= key.step; step *= 2) {
      const uint64_t tag = umac64(&key, message, bytes, step);
      if (tag != all[i].tag) printf("vector %zu: %016llx\n", i, (unsigned long long)tag);
      assert_int_equal(tag, all[i].tag);
    }
    free(message);
  }
}

/* Each length, at each place in 32 bytes: all steps that the processor can do agree, and nothing
 * behind the data is read (valgrind and the sanitizer look). */
TEST(lengths) {
  static struct udp_nh_key key;
  open_key(&key);
  printf("groups of one step: %u\n", key.step);
  for (uint32_t bytes = 0; bytes <= UDP_NH_BLOCK; bytes += bytes < 200 ? 1 : 61) {
    const uint32_t shift = bytes % 33;
    uint8_t *data = malloc(shift + bytes + 1);
    uint64_t a[2], b[2];
    assert_non_null(data);
    for (uint32_t i = 0; i < shift + bytes; i++) data[i] = (uint8_t)(i * 167 + bytes);
    data = realloc(data, shift + bytes ? shift + bytes : 1);
    assert_non_null(data);
    udp_nh(&key, data + shift, bytes, 1, a);
    for (uint32_t step = 2; step <= key.step; step *= 2) {
      udp_nh(&key, data + shift, bytes, step, b);
      assert_int_equal(a[0], b[0]);
      assert_int_equal(a[1], b[1]);
    }
    assert_int_not_equal(a[0], a[1]);
    free(data);
  }
}

/* A bit that is turned over changes both results, a zero at the end, too. */
TEST(every_bit) {
  static struct udp_nh_key key;
  static uint8_t data[UDP_NH_BLOCK];
  uint64_t right[2], out[2];
  open_key(&key);
  for (uint32_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 31);
  udp_nh(&key, data, sizeof data, key.step, right);
  for (uint32_t bit = 0; bit < sizeof data * 8; bit += 5) {
    data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    udp_nh(&key, data, sizeof data, key.step, out);
    assert_int_not_equal(out[0], right[0]);
    assert_int_not_equal(out[1], right[1]);
    data[bit / 8] ^= (uint8_t)(1u << bit % 8);
  }
  data[100] = 0;
  udp_nh(&key, data, 100, key.step, right);
  udp_nh(&key, data, 101, key.step, out);
  assert_int_not_equal(out[0], right[0]);
  assert_int_not_equal(out[1], right[1]);
}

/* Each bit of a control part counts, also of one that is so long that NH makes it short. */
TEST(control_parts) {
  static const uint8_t secret[TMB_NET_SECRET_BYTES] = {1, 2, 3};
  static uint8_t control[5000];
  static struct udp_nh_key nh;
  const uint64_t key[2] = {1, 2};
  udp_auth_tail_key(secret, 3, &nh);
  for (uint32_t bytes = 8; bytes <= sizeof control; bytes += bytes < 1000 ? 8 : 1000) {
    struct udp_header h = {.control = (uint16_t)bytes};
    const struct udp_auth_input in = {.control = control, .control_bytes = bytes, .tail_key = &nh};
    const uint64_t whole = udp_auth_hash(key, &h, &in);
    for (uint32_t i = 0; i < bytes; i++) {
      control[i] ^= (uint8_t)(1u << i % 8);
      assert_cmp(udp_auth_hash(key, &h, &in), !=, whole);
      control[i] ^= (uint8_t)(1u << i % 8);
    }
    assert_cmp(udp_auth_hash(key, &h, &in), ==, whole);
  }
}

int main(void) {
  make_sbox();
  return unit_run(NULL, NULL);
}
