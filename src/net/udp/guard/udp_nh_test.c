/* SPDX-License-Identifier: BSD-3-Clause */
/* NH with a parity against its definition; with and without the wide instructions; and that each
 * bit of a block counts twice. */
#include "base/unit_test.h"
#include "net/udp/guard/udp_auth.h"
#include "net/udp/guard/udp_nh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t secret[TMB_NET_SECRET_BYTES] = {1, 2, 3};

static void open_key(struct udp_nh_key *key) {
  udp_auth_tail_key(secret, 3, key);
}

/* NH of a column: NH of CRYPTO '99 for words of 32 bits, whose sum is taken modulo 2^64. */
static uint64_t nh(const uint32_t *message, const uint32_t *key, size_t words) {
  uint64_t sum = 0;
  for (size_t i = 0; i < words; i += 2) {
    const uint32_t a = message[i] + key[i], b = message[i + 1] + key[i + 1];
    sum += (uint64_t)a * b;
  }
  return sum;
}

/* The definition: columns are taken out of the block one by one, with their part of the key. */
static void define(const struct udp_nh_key *key, const uint8_t *data, uint32_t bytes,
                   uint64_t out[UDP_NH_RESULTS]) {
  static uint32_t column[UDP_NH_RESULTS][8 * UDP_NH_STRIPES], part[8 * UDP_NH_STRIPES];
  static uint8_t block[UDP_NH_BLOCK];
  const uint32_t stripes = (bytes + UDP_NH_STRIPE - 1) / UDP_NH_STRIPE;
  memset(block, 0, sizeof block);
  memset(column, 0, sizeof column);
  if (bytes) memcpy(block, data, bytes);
  for (uint32_t i = 0; i < 8 * UDP_NH_STRIPES; i++)
    for (uint32_t c = 0; c + 1 < UDP_NH_RESULTS; c++) {
      memcpy(&column[c][i], block + (size_t)(i / 8) * UDP_NH_STRIPE + 32 * c + 4 * (i % 8), 4);
      column[UDP_NH_RESULTS - 1][i] ^= column[c][i];
    }
  for (uint32_t c = 0; c < UDP_NH_RESULTS; c++) {
    for (uint32_t i = 0; i < 8 * UDP_NH_STRIPES; i++) part[i] = key->word[i / 8][8 * c + i % 8];
    out[c] = nh(column[c], part, 8 * (size_t)stripes);
  }
}

/* Each length, at each place in 32 bytes: the definition, portable C and what the processor can do
 * agree, and nothing behind the data is read (valgrind and the sanitizer look). */
TEST(lengths) {
  static struct udp_nh_key key;
  open_key(&key);
  const bool wide = key.wide;
  printf("wide instructions: %s\n", wide ? "yes" : "no");
  for (uint32_t bytes = 0; bytes <= UDP_NH_BLOCK; bytes += bytes < 400 ? 1 : 61) {
    const uint32_t shift = bytes % 33;
    uint8_t *data = malloc(shift + bytes + 1);
    uint64_t right[UDP_NH_RESULTS], out[UDP_NH_RESULTS];
    assert_non_null(data);
    for (uint32_t i = 0; i < shift + bytes; i++) data[i] = (uint8_t)(i * 167 + bytes);
    data = realloc(data, shift + bytes ? shift + bytes : 1);
    assert_non_null(data);
    define(&key, data + shift, bytes, right);
    for (int i = 0; i <= wide; i++) {
      key.wide = i == 1;
      udp_nh(&key, NULL, data + shift, bytes, out);
      assert_memory_equal(out, right, sizeof out);
      uint8_t *to = malloc(bytes + 1);
      assert_non_null(to);
      to[bytes] = 0x5a;
      udp_nh(&key, to, data + shift, bytes, out);
      assert_memory_equal(out, right, sizeof out);
      assert_memory_equal(to, data + shift, bytes);
      assert_int_equal(to[bytes], 0x5a);
      free(to);
    }
    free(data);
  }
}

/* A bit that is turned over changes the result of its column, and that of the parity, and no
 * other. Two bits in one place of two columns change those two: the parity is as before. */
TEST(every_bit) {
  static struct udp_nh_key key;
  static uint8_t data[UDP_NH_BLOCK];
  uint64_t right[UDP_NH_RESULTS], out[UDP_NH_RESULTS];
  open_key(&key);
  for (uint32_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 31);
  udp_nh(&key, NULL, data, sizeof data, right);
  for (uint32_t bit = 0; bit < sizeof data * 8; bit += 5) {
    const uint32_t at = bit / 8, column = at / 32 % 4, other = at ^ 32;
    const uint8_t turned = (uint8_t)(1u << bit % 8);
    data[at] ^= turned;
    udp_nh(&key, NULL, data, sizeof data, out);
    for (uint32_t c = 0; c < UDP_NH_RESULTS; c++)
      assert_int_equal(out[c] != right[c], c == column || c == 4);
    data[other] ^= turned;
    udp_nh(&key, NULL, data, sizeof data, out);
    for (uint32_t c = 0; c < UDP_NH_RESULTS; c++)
      assert_int_equal(out[c] != right[c], c == column || c == (column ^ 1));
    data[at] ^= turned;
    data[other] ^= turned;
  }
}

/* Words of the key are used once, and differ. */
TEST(key_words) {
  static struct udp_nh_key key;
  static uint8_t data[UDP_NH_BLOCK];
  uint64_t right[UDP_NH_RESULTS], out[UDP_NH_RESULTS];
  open_key(&key);
  memset(data, 7, sizeof data);
  udp_nh(&key, NULL, data, sizeof data, right);
  for (uint32_t i = 0; i < UDP_NH_STRIPES * UDP_NH_KEY_WORDS; i++) {
    uint32_t *word = &key.word[i / UDP_NH_KEY_WORDS][i % UDP_NH_KEY_WORDS];
    *word ^= 1;
    udp_nh(&key, NULL, data, sizeof data, out);
    for (uint32_t c = 0; c < UDP_NH_RESULTS; c++)
      assert_int_equal(out[c] != right[c], c == i % UDP_NH_KEY_WORDS / 8);
    *word ^= 1;
    for (uint32_t k = 1; k < 4; k++)
      assert_int_not_equal(
          *word, key.word[(i / UDP_NH_KEY_WORDS + k) % UDP_NH_STRIPES][(i + k) % UDP_NH_KEY_WORDS]);
  }
}

/* Each bit of a few words counts, and so does their number, where words are zero, too; each word of
 * the key is used. */
TEST(few_words) {
  static struct udp_nh_key key;
  uint64_t words[UDP_NH_WORDS + 1] = {0}, right[2], out[2], before[UDP_NH_WORDS + 1][2];
  open_key(&key);
  for (uint32_t count = 0; count <= UDP_NH_WORDS; count++) {
    udp_nh_words(&key, words, count, before[count]);
    for (uint32_t i = 0; i < count; i++)
      assert_true(before[count][0] != before[i][0] || before[count][1] != before[i][1]);
  }
  for (uint32_t i = 0; i < UDP_NH_WORDS; i++) words[i] = i * UINT64_C(0x9e3779b97f4a7c15);
  udp_nh_words(&key, words, UDP_NH_WORDS, right);
  for (uint32_t bit = 0; bit < UDP_NH_WORDS * 64; bit++) {
    words[bit / 64] ^= UINT64_C(1) << bit % 64;
    udp_nh_words(&key, words, UDP_NH_WORDS, out);
    assert_true(out[0] != right[0] || out[1] != right[1]);
    words[bit / 64] ^= UINT64_C(1) << bit % 64;
  }
  for (uint32_t i = 0; i <= UDP_NH_WORDS; i++) {
    key.few[i] ^= 1;
    udp_nh_words(&key, words, UDP_NH_WORDS, out);
    assert_true(out[0] != right[0] || out[1] != right[1]);
    key.few[i] ^= 1;
  }
}

/* The hash of a packet with this control part, or the tag of this tail. */
static uint64_t hash_of(const struct udp_nh_key *nh, bool tail, const uint8_t *data,
                        uint32_t bytes) {
  const uint64_t key[2] = {1, 2};
  const struct udp_header h = {.control = (uint16_t)bytes};
  const struct udp_auth_input in = {.tail_key = nh, .control = data, .control_bytes = bytes};
  return tail ? udp_auth_tail(key, nh, NULL, data, bytes) : udp_auth_hash(key, &h, &in);
}

/* Each bit of a control part and of a tail counts, also where NH makes it short. */
static void check_parts(bool tail) {
  static uint8_t data[20000];
  static struct udp_nh_key nh;
  open_key(&nh);
  for (uint32_t bytes = 8; bytes <= sizeof data; bytes += bytes < 1000 ? 8 : 3000) {
    const uint64_t whole = hash_of(&nh, tail, data, bytes);
    for (uint32_t i = 0; i < bytes; i += bytes < 1000 ? 1 : 7) {
      data[i] ^= (uint8_t)(1u << i % 8);
      assert_cmp(hash_of(&nh, tail, data, bytes), !=, whole);
      data[i] ^= (uint8_t)(1u << i % 8);
    }
    assert_cmp(hash_of(&nh, tail, data, bytes), ==, whole);
  }
}

TEST(control_parts) {
  check_parts(false);
}

TEST(tails) {
  check_parts(true);
}

/* The longest packet; and the format, which all versions of a job's hosts must share: the value of
 * a packet is that of a program of its own (Python) by the text of udp_nh.h and udp_auth.h. */
TEST(format) {
  static uint8_t control[512], tail[UDP_PACKET_MAX];
  static struct udp_nh_key nh;
  const uint64_t key[2] = {1, 2};
  struct udp_header h = {.job = 9, .src = 3, .seq = 77, .bytes = 10512, .control = sizeof control};
  open_key(&nh);
  for (uint32_t i = 0; i < sizeof control; i++) control[i] = (uint8_t)(i * 7);
  for (uint32_t i = 0; i < sizeof tail; i++) tail[i] = (uint8_t)(i * 13 + i / 256);
  struct udp_auth_input in = {.seq = (UINT64_C(5) << 32) + 77,
                              .ack = UINT64_C(6) << 32,
                              .control = control,
                              .control_bytes = sizeof control,
                              .tail_key = &nh};
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  assert_int_equal(udp_auth_hash(key, &h, &in), UINT64_C(0xa005b8d18241e4f2));
  assert_int_equal(udp_auth_tail(key, &nh, NULL, tail, 10000), UINT64_C(0x42d2eb5e4141fd22));
  in.control_bytes = 16;
  assert_int_equal(udp_auth_hash(key, &h, &in), UINT64_C(0xb5ab23874ad49cf9));
  in.control_bytes = UDP_AUTH_DIRECT;
  assert_int_equal(udp_auth_hash(key, &h, &in), UINT64_C(0x797ae3c22274a107));
#endif
  static uint8_t copy[sizeof tail];
  const uint64_t longest = udp_auth_tail(key, &nh, copy, tail, sizeof tail);
  assert_memory_equal(copy, tail, sizeof tail);
  tail[sizeof tail - 1] ^= 1;
  assert_cmp(udp_auth_tail(key, &nh, NULL, tail, sizeof tail), !=, longest);
}

int main(void) {
  return unit_run(NULL, NULL);
}
