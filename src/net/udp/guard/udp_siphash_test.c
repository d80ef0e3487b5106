/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash-2-4 against the test vector of the paper, and fed in pieces. */
#include "base/unit_test.h"
#include "net/udp/guard/udp_siphash.h"

static uint8_t input[64];
static uint64_t key[2];

static uint64_t hash(size_t bytes, size_t piece) {
  struct udp_siphash s;
  udp_siphash_begin(&s, key);
  for (size_t at = 0; at < bytes; at += piece)
    udp_siphash_feed(&s, input + at, bytes - at < piece ? bytes - at : piece);
  return udp_siphash_end(&s);
}

static void setup(void) {
  uint8_t k[16];
  for (unsigned i = 0; i < sizeof input; i++) input[i] = (uint8_t)i;
  for (unsigned i = 0; i < 16; i++) k[i] = (uint8_t)i;
  key[0] = key[1] = 0;
  for (unsigned i = 0; i < 16; i++) key[i / 8] |= (uint64_t)k[i] << 8 * (i & 7);
}

TEST(paper) {
  setup();
  /* Appendix A of the paper: key 00..0f, input 00..0e. */
  assert_int_equal(hash(15, 15), 0xa129ca6149be45e5u);
}

TEST(pieces) {
  setup();
  for (size_t bytes = 0; bytes <= sizeof input; bytes++)
    for (size_t piece = 1; piece <= 17; piece++)
      assert_int_equal(hash(bytes, piece), hash(bytes, sizeof input));
  assert_int_not_equal(hash(8, 8), hash(9, 9));
}

TEST(words) {
  setup();
  for (uint32_t first = 0; first <= 4; first++)
    for (uint32_t second = 0; second <= 4; second++) {
      const struct udp_siphash_part parts[] = {{input, first}, {input + 8 * first, second}};
      const uint64_t whole = hash(8 * (size_t)(first + second), sizeof input);
      assert_int_equal(udp_siphash_words(key, parts, 2), whole);
    }
  const struct udp_siphash_part last = {input + 8, 7};
  assert_int_not_equal(udp_siphash_words(key, &last, 1), hash(56, 56));
}

int main(void) {
  return unit_run(NULL, NULL);
}
