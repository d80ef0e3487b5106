/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit test of the copies of put and get in include/tombolo/inline_rma.h.
 *
 * The addresses of peers mostly equal those of the caller, so the distances that these tests use
 * are rare in a job: segments that could not be placed at one address in all ranks of a host.
 */
#include "base/unit_test.h"
#include "core/check.h"

#include <gasnetex_ext.h>
#include <stdbool.h>
#include <string.h>

enum { ROOM = 640, AT = 64, MOST = 300, GUARD = 0xb1 };

static unsigned char room[4][ROOM];

/* Fills the source with values by size, and what is around the destination with the guard. */
static void prepare(unsigned char *src, unsigned char *dest, size_t nbytes) {
  for (size_t i = 0; i < ROOM; i++) src[i] = (unsigned char)(i * 7 + nbytes);
  memset(dest, GUARD, ROOM);
}

/* The destination has the bytes of the source at AT, and nothing else has changed. */
static void compare(const unsigned char *src, const unsigned char *dest, size_t nbytes) {
  size_t wrong = 0;
  for (size_t i = 0; i < ROOM; i++) {
    const bool inside = i >= AT && i < AT + nbytes;
    wrong += dest[i] != (inside ? src[i] : GUARD);
  }
  assert_int_equal(wrong, 0);
}

/* As a put and a get do: to or from an address of a peer with this delta. */
static void put(intptr_t delta, void *dest, const void *src, size_t nbytes) {
  assert_int_equal(gexx_rma_reach(delta, 0, &dest), 1);
  gexx_rma_copy(dest, src, nbytes);
}

static void get(intptr_t delta, void *dest, void *src, size_t nbytes) {
  assert_int_equal(gexx_rma_reach(delta, 0, &src), 1);
  gexx_rma_copy(dest, src, nbytes);
}

TEST(copies_by_distance) {
  static const int pages[][2] = {{0, 1}, {1, 0}, {3, 1}, {0, 3}};
  volatile size_t size; /* not known when this is compiled */
  for (size_t k = 0; k < sizeof pages / sizeof *pages; k++)
    for (size = 0; size < MOST; size++) {
      unsigned char *const src = room[pages[k][0]], *const dest = room[pages[k][1]];
      const intptr_t away = (intptr_t)(dest - src);
      prepare(src, dest, size);
      put(away, src + AT, src + AT, size);
      compare(src, dest, size);
      prepare(src, dest, size);
      get(-away, dest + AT, dest + AT, size);
      compare(src, dest, size);
      prepare(src, dest, size);
      put(0, dest + AT, src + AT, size);
      compare(src, dest, size);
    }
}

/* Sizes that the compiler knows take other branches. */
TEST(copies_of_known_sizes) {
  unsigned char *const src = room[0], *const dest = room[2];
  prepare(src, dest, 8);
  gexx_rma_copy(dest + AT, src + AT, 8);
  compare(src, dest, 8);
  prepare(src, dest, 256);
  gexx_rma_copy(dest + AT, src + AT, 256);
  compare(src, dest, 256);
  prepare(src, dest, 512);
  gexx_rma_copy(dest + AT, src + AT, 512);
  compare(src, dest, 512);
}

/* What the library serves leaves the address as it was. */
TEST(library_serves) {
  void *addr = room[1];
  assert_int_equal(gexx_rma_reach(GEXX_UNMAPPED, 0, &addr), 0);
  assert_int_equal(gexx_rma_reach(0, GEX_FLAG_PEER_SEG_OFFSET, &addr), 0);
  assert_int_equal(gexx_rma_reach(64, GEX_FLAG_SELF_SEG_OFFSET, &addr), 0);
  assert_ptr_equal(addr, room[1]);
}

int main(void) {
  return unit_run(NULL, NULL);
}
