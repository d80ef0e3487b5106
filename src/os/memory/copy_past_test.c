/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies past the caches: each byte arrives and no other changes, for all places in a line of both
 * sides and lengths below and above a line.
 */
#include <string.h>

#include "base/unit_test.h"
#include "os/os.h"

enum { ROOM = 1024, LINE = 64, LENGTHS = 300 };

TEST(copies_each_byte) {
  static _Alignas(LINE) unsigned char from[ROOM], to[ROOM], wanted[ROOM];
  for (size_t i = 0; i < ROOM; i++) from[i] = (unsigned char)(i * 7 + i / 251);
  for (size_t there = 0; there < LINE; there += 3)
    for (size_t here = 0; here < LINE; here += 5)
      for (size_t bytes = 0; bytes < LENGTHS; bytes++) {
        memset(to, 0xee, sizeof to);
        memset(wanted, 0xee, sizeof wanted);
        memcpy(wanted + there, from + here, bytes);
        tmb_os_copy_past(to + there, from + here, bytes);
        assert_memory_equal(to, wanted, sizeof to);
      }
}

TEST(last_cache_is_one_of_the_topology) {
  struct tmb_os_topology t;
  uint32_t sharers = 0;
  tmb_os_topology(&t);
  const uint64_t bytes = tmb_os_last_cache(&sharers);
  assert_cmp(sharers, >=, 1);
  assert_true(bytes == t.l3 || (t.l3 == 0 && (bytes == t.l2 || bytes == t.l1d)));
}

int main(void) {
  return unit_run(NULL, NULL);
}
