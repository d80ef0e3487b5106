/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of heaps, see heap.h.
 *
 * Owns: memory for one heap, which lies at two addresses. Called by ctest as
 * unit.base.container.heap. Calls: heap.h, by random calls beside a list of what was given out.
 * Each case checks afterwards that the blocks fill the memory and that no two neighbours are free.
 */
#define _GNU_SOURCE 1
#include "base/container/heap.h"
#include "base/unit_test.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 1 << 20, BLOCKS = 200 };

static char *base, *other; /* the same memory */
static struct tmb_heap heap;

static int map_memory(void **state) {
  (void)state;
  const int fd = memfd_create("heap", 0);
  if (fd < 0 || ftruncate(fd, BYTES) != 0) return -1;
  base = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  other = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return base == MAP_FAILED || other == MAP_FAILED ? -1 : 0;
}

static void start(uint64_t begin, uint64_t end) {
  memset(&heap, 0, sizeof heap);
  memset(base, 0xee, BYTES);
  tmb_heap_init(&heap, base, begin, end);
}

/* Walks all blocks. Returns how many are in use. */
static unsigned check_blocks(void) {
  unsigned used = 0;
  uint64_t at = heap.begin, before = 0;
  while (at < heap.end) {
    const struct tmb_heap_block *b = tmb_heap_block(base, at);
    assert_cmp(b->before_bytes, ==, before);
    assert_cmp(b->bytes % TMB_HEAP_ALIGN, ==, 0);
    assert_cmp(b->bytes, >, 0);
    if (b->used)
      used++;
    else if (before)
      assert_cmp(tmb_heap_block(base, at - before)->used, !=, 0);
    before = b->bytes;
    at += before;
  }
  assert_cmp(at, ==, heap.end);
  return used;
}

TEST(test_random_calls_keep_what_was_given_out) {
  static struct { uint64_t at, bytes; } kept[BLOCKS];
  memset(kept, 0, sizeof kept);
  start(4096, BYTES - 7);
  unsigned seed = 1, used = 0;
  for (int i = 0; i < 40000; i++) {
    seed = seed * 1664525u + 1013904223u;
    const unsigned which = (seed >> 8) % BLOCKS, kind = seed >> 29;
    char *here = i & 1 ? other : base; /* as two processes do */
    if (kept[which].at) {
      for (uint64_t k = 0; k < kept[which].bytes; k++)
        assert_cmp((unsigned char)here[kept[which].at + k], ==, which);
      if (kind == 0) {
        assert_true(tmb_heap_cut(&heap, here, kept[which].at, kept[which].bytes / 2));
        kept[which].bytes /= 2;
        continue;
      }
      assert_true(tmb_heap_is_used(&heap, here, kept[which].at));
      tmb_heap_free(&heap, here, kept[which].at);
      assert_false(tmb_heap_is_used(&heap, here, kept[which].at));
      kept[which].at = 0;
      used--;
    } else {
      const uint64_t bytes = (seed >> 12) % 5000, alignment = kind < 6 ? 1 : 1u << (kind + 3);
      const uint64_t at = tmb_heap_alloc(&heap, base, alignment, bytes);
      assert_cmp(at, !=, 0);
      assert_cmp((uintptr_t)(base + at) % alignment, ==, 0);
      assert_cmp(at % TMB_HEAP_ALIGN, ==, 0);
      assert_in_range(at, 4096, BYTES - 7 - bytes);
      assert_cmp(tmb_heap_room(base, at), >=, bytes);
      memset(base + at, (int)which, bytes);
      kept[which].at = at;
      kept[which].bytes = bytes;
      used++;
    }
    if (i % 100 == 0) assert_cmp(check_blocks(), ==, used);
  }
  for (unsigned i = 0; i < BLOCKS; i++)
    if (kept[i].at) tmb_heap_free(&heap, base, kept[i].at);
  assert_cmp(check_blocks(), ==, 0);
  assert_cmp(tmb_heap_largest(&heap, base), ==, heap.end - heap.begin - TMB_HEAP_ALIGN);
}

TEST(test_a_block_at_a_page_leaves_room_on_both_sides) {
  start(0, BYTES);
  const uint64_t page = tmb_heap_alloc(&heap, base, 4096, 100);
  assert_cmp(page, ==, 4096);
  assert_cmp(tmb_heap_alloc(&heap, base, 1, 3000), <, page);
  assert_cmp(tmb_heap_alloc(&heap, base, 1, 5000), >, page);
  assert_cmp(check_blocks(), ==, 3);
}

TEST(test_all_of_the_memory_can_be_had) {
  start(0, BYTES);
  const uint64_t all = tmb_heap_largest(&heap, base);
  assert_cmp(all, ==, BYTES - TMB_HEAP_ALIGN);
  assert_cmp(tmb_heap_alloc(&heap, base, 1, all + 1), ==, 0);
  assert_cmp(tmb_heap_alloc(&heap, base, 1, all), !=, 0);
  assert_cmp(tmb_heap_largest(&heap, base), ==, 0);
  assert_cmp(tmb_heap_alloc(&heap, base, 1, 0), ==, 0);
}

TEST(test_no_memory_and_huge_blocks) {
  for (uint64_t end = 0; end < TMB_HEAP_ALIGN; end++) {
    start(64, 64 + end);
    assert_cmp(tmb_heap_alloc(&heap, base, 1, 1), ==, 0);
    assert_cmp(tmb_heap_largest(&heap, base), ==, 0);
  }
  start(128, 64);
  assert_cmp(tmb_heap_alloc(&heap, base, 1, 1), ==, 0);
  start(0, BYTES);
  assert_cmp(tmb_heap_alloc(&heap, base, 1, UINT64_MAX), ==, 0);
  assert_cmp(tmb_heap_alloc(&heap, base, 1, UINT64_MAX / 4), ==, 0);
  assert_cmp(tmb_heap_alloc(&heap, base, UINT64_C(1) << 63, 1), ==, 0);
  assert_cmp(check_blocks(), ==, 0);
}

TEST(test_names_of_no_block_are_refused) {
  start(64, BYTES);
  const uint64_t at = tmb_heap_alloc(&heap, base, 1, 1000), end = heap.end;
  const uint64_t no_block[] = {0, 1, 64, at - 64, at + 1, at + 64, end, end + 64, UINT64_MAX - 63};
  for (size_t i = 0; i < sizeof no_block / sizeof *no_block; i++)
    assert_false(tmb_heap_is_used(&heap, base, no_block[i]));
  assert_true(tmb_heap_is_used(&heap, base, at));
}

int main(void) {
  return unit_run(map_memory, NULL);
}
