/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of os/memory/stream: each length and alignment, and nothing outside.
 *
 * Owns: nothing. Run by ctest. Calls: os/memory/stream.
 * Invariants: the bytes around the target hold a value that no source has.
 */
#include "os/memory/stream.h"

#include "base/unit_test.h"

enum { LENGTHS = 80, PLACES = 17, ROOM = 128 };

TEST(copies_each_length_from_and_to_each_place) {
  char from[ROOM], to[ROOM], want[ROOM];
  for (int i = 0; i < ROOM; i++) from[i] = (char)(i + 1);
  for (size_t length = 0; length < LENGTHS; length++)
    for (size_t place = 0; place < PLACES; place++) {
      const size_t source = (place * 5) % PLACES;
      memset(to, -1, sizeof to);
      memset(want, -1, sizeof want);
      memcpy(want + place, from + source, length);
      tmb_os_copy_streaming(to + place, from + source, length);
      assert_memory_equal(to, want, sizeof to);
    }
}

int main(void) {
  return unit_run(NULL, NULL);
}
