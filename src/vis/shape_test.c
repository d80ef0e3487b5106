/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of the contiguity analysis, of copies that follow a shape, and of lists.
 *
 * Run by ctest as unit.vis.shape. Calls: shape.c, copy.c, list.c. Random shapes are compared with a
 * walk over the caller's description; the seed is printed on failure. Invariant: no process but
 * this one, no job.
 */
#include "base/unit_test.h"
#include "vis/shape.h"

#include "vis/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS 8
#define ROOM   8192

static uint64_t random_state = 12345;

static size_t below(size_t limit) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (size_t)(random_state >> 33) % limit;
}

struct given {
  ptrdiff_t dst[LEVELS], src[LEVELS];
  size_t count[LEVELS], elem, levels;
};

static int make(struct tmb_vis_shape *s, const struct given *g) {
  const struct tmb_vis_strided in = {{g->dst, g->src}, g->count, g->elem, g->levels};
  return tmb_vis_shape_make(s, &in);
}

/* ---- normal forms */

static void one_piece(const struct given *g, size_t bytes) {
  struct tmb_vis_shape s;
  assert_int_equal(make(&s, g), 1);
  assert_int_equal(s.levels, 0);
  assert_int_equal(s.elem, bytes);
  assert_int_equal(s.bytes, bytes);
}

TEST(contiguous_becomes_one_piece) {
  one_piece(&(struct given){{8, 80, 800}, {8, 80, 800}, {10, 10, 3}, 8, 3}, 2400);
}

TEST(order_of_dimensions_does_not_matter) {
  one_piece(&(struct given){{800, 8, 80}, {800, 8, 80}, {3, 10, 10}, 8, 3}, 2400);
}

TEST(counts_of_one_are_dropped) {
  struct tmb_vis_shape s;
  const struct given g = {{7, 100, 9}, {5, 64, -3}, {1, 4, 1}, 16, 3};
  assert_int_equal(make(&s, &g), 1);
  assert_int_equal(s.levels, 1);
  assert_int_equal(s.elem, 16);
  assert_int_equal(s.dim[0].count, 4);
  assert_int_equal(s.dim[0].stride[TMB_VIS_DST], 100);
  assert_int_equal(s.dim[0].stride[TMB_VIS_SRC], 64);
}

TEST(padded_rows_merge_outwards) {
  struct tmb_vis_shape s; /* a column of a matrix in both, three matrices deep */
  const struct given g = {{40, 400}, {80, 800}, {10, 3}, 8, 2};
  assert_int_equal(make(&s, &g), 1);
  assert_int_equal(s.levels, 1);
  assert_int_equal(s.dim[0].count, 30);
  assert_int_equal(s.dim[0].stride[TMB_VIS_SRC], 80);
}

TEST(one_sided_contiguity_stays) {
  struct tmb_vis_shape s;
  const struct given g = {{8, 80}, {8, 160}, {10, 10}, 8, 2};
  assert_int_equal(make(&s, &g), 1);
  assert_int_equal(s.elem, 80);
  assert_int_equal(s.levels, 1);
}

TEST(reflection_of_both_sides_is_contiguous) {
  struct tmb_vis_shape s;
  const struct given g = {{-4}, {-4}, {25}, 4, 1};
  assert_int_equal(make(&s, &g), 1);
  assert_int_equal(s.levels, 0);
  assert_int_equal(s.elem, 100);
  assert_int_equal(s.first[TMB_VIS_DST], -96);
  assert_int_equal(s.first[TMB_VIS_SRC], -96);
}

TEST(reflection_of_one_side_is_not) {
  struct tmb_vis_shape s;
  const struct given g = {{-4}, {4}, {25}, 4, 1};
  assert_int_equal(make(&s, &g), 1);
  assert_int_equal(s.levels, 1);
  assert_int_equal(s.first[TMB_VIS_DST], -96);
  assert_int_equal(s.first[TMB_VIS_SRC], 96);
  assert_int_equal(s.dim[0].stride[TMB_VIS_DST], 4);
  assert_int_equal(s.dim[0].stride[TMB_VIS_SRC], -4);
}

TEST(transposition_shows_the_source) {
  struct tmb_vis_shape s;
  const struct given g = {{8, 800, 80000}, {80000, 800, 8}, {10, 10, 10}, 8, 3};
  assert_int_equal(make(&s, &g), 1);
  assert_int_equal(s.levels, 3);
  assert_int_equal(s.dim[0].stride[TMB_VIS_DST], 8);
  assert_int_equal(s.dim[1].stride[TMB_VIS_SRC], 8);
}

TEST(nothing_to_move) {
  struct tmb_vis_shape s;
  const struct given none = {{8}, {8}, {0}, 8, 1}, empty = {{8}, {8}, {5}, 0, 1};
  assert_int_equal(make(&s, &none), 0);
  assert_int_equal(s.bytes, 0);
  assert_int_equal(make(&s, &empty), 0);
  assert_int_equal(s.bytes, 0);
  const struct tmb_vis_strided bare = {{NULL, NULL}, NULL, 24, 0};
  assert_int_equal(tmb_vis_shape_make(&s, &bare), 1);
  assert_int_equal(s.levels, 0);
  assert_int_equal(s.elem, 24);
}

TEST(overflow_is_reported) {
  struct tmb_vis_shape s;
  const struct given g = {{8, 8}, {8, 8}, {SIZE_MAX / 4, 16}, 8, 2};
  assert_int_equal(make(&s, &g), -1);
  const struct tmb_vis_strided in = {{g.dst, g.src}, g.count, g.elem, g.levels};
  char byte = 0;
  assert_false(tmb_vis_strided_copy(&byte, &byte, &in));
}

TEST(many_levels) {
  enum { MANY = 1000 };
  static ptrdiff_t stride[MANY];
  static size_t count[MANY];
  for (size_t i = 0; i < MANY; i++) count[i] = 1;
  count[500] = 3;
  stride[500] = 16;
  struct tmb_vis_shape s;
  const struct tmb_vis_strided in = {{stride, stride}, count, 4, MANY};
  assert_int_equal(tmb_vis_shape_make(&s, &in), 1);
  assert_int_equal(s.levels, 1);
  assert_int_equal(s.bytes, 12);
}

/* ---- random shapes against the caller's description */

enum order { SHUFFLED, INNER_FIRST, OUTER_FIRST };

static int draw_strides(struct given *g, ptrdiff_t *stride, ptrdiff_t *low, enum order how) {
  size_t order[LEVELS], reach = g->elem;
  *low = 0;
  for (size_t i = 0; i < g->levels; i++) order[i] = how == OUTER_FIRST ? g->levels - 1 - i : i;
  for (size_t i = g->levels; how == SHUFFLED && i > 1; i--) {
    const size_t k = below(i), t = order[i - 1];
    order[i - 1] = order[k];
    order[k] = t;
  }
  for (size_t i = 0; i < g->levels; i++) {
    const size_t d = order[i], step = reach + below(2) * below(9);
    const ptrdiff_t span = (ptrdiff_t)(step * (g->count[d] - 1));
    reach += (size_t)span;
    stride[d] = below(3) ? (ptrdiff_t)step : -(ptrdiff_t)step;
    if (stride[d] < 0) *low += span;
  }
  return reach <= ROOM;
}

static void walk(const struct given *g, char *dst, const char *src) {
  size_t index[LEVELS] = {0};
  for (;;) {
    ptrdiff_t to = 0, from = 0;
    for (size_t d = 0; d < g->levels; d++) {
      to += (ptrdiff_t)index[d] * g->dst[d];
      from += (ptrdiff_t)index[d] * g->src[d];
    }
    memcpy(dst + to, src + from, g->elem);
    size_t d = 0;
    while (d < g->levels && ++index[d] == g->count[d]) index[d++] = 0;
    if (d == g->levels) return;
  }
}

/* Invariants of shape.h. */
static void check_form(const struct tmb_vis_shape *s) {
  size_t bytes = s->elem;
  for (uint32_t i = 0; i < s->levels; i++) {
    const struct tmb_vis_dim *d = &s->dim[i];
    bytes *= d->count;
    assert_cmp(d->count, >, 1);
    assert_cmp(d->stride[TMB_VIS_DST], >=, (ptrdiff_t)s->elem);
    if (i != 1 && i > 2) assert_cmp(d->stride[TMB_VIS_DST], >, s->dim[i - 1].stride[TMB_VIS_DST]);
  }
  assert_int_equal(bytes, s->bytes);
  if (s->levels && s->dim[0].stride[0] == (ptrdiff_t)s->elem)
    assert_int_not_equal(s->dim[0].stride[1], (ptrdiff_t)s->elem);
}

/* Pack and unpack in pieces of odd sizes; the result is that of a copy. */
static void by_pieces(const struct tmb_vis_shape *s, char *dst, char *src) {
  static char packed[ROOM];
  for (size_t at = 0; at < s->bytes;) {
    size_t n = 1 + below(below(2) ? 40 : 3000);
    if (n > s->bytes - at) n = s->bytes - at;
    tmb_vis_pack(&(struct tmb_vis_part){s, TMB_VIS_SRC, src, packed, at, n});
    tmb_vis_unpack(&(struct tmb_vis_part){s, TMB_VIS_DST, dst, packed, at, n});
    at += n;
  }
}

TEST(random_shapes) {
  static char src[ROOM], want[ROOM], got[ROOM], pieces[ROOM], flat[ROOM];
  for (size_t i = 0; i < ROOM; i++) src[i] = (char)below(256);
  for (int round = 0; round < 4000; round++) {
    const uint64_t seed = random_state;
    struct given g;
    ptrdiff_t low[2];
    const enum order how = (enum order)below(3);
    do {
      g.levels = below(7);
      g.elem = below(2) ? (size_t)1 << below(8) : 1 + below(90);
      for (size_t d = 0; d < g.levels; d++) g.count[d] = 1 + below(below(3) ? 4 : 40);
    } while (!draw_strides(&g, g.dst, &low[0], how) || !draw_strides(&g, g.src, &low[1], how));
    struct tmb_vis_shape s;
    assert_int_equal(make(&s, &g), 1);
    check_form(&s);
    for (unsigned side = 0; side < 2; side++) {
      ptrdiff_t lowest;
      size_t extent;
      tmb_vis_shape_hull(&s, side, &lowest, &extent);
      assert_int_equal(s.first[side] + lowest, -low[side]);
      assert_cmp(extent, <=, ROOM);
    }
    memset(want, 1, ROOM);
    memset(got, 1, ROOM);
    memset(pieces, 1, ROOM);
    memset(flat, 1, ROOM);
    walk(&g, want + low[0], src + low[1]);
    tmb_vis_copy(&s, got + low[0] + s.first[0], src + low[1] + s.first[1]);
    by_pieces(&s, pieces + low[0] + s.first[0], src + low[1] + s.first[1]);
    const struct tmb_vis_strided in = {{g.dst, g.src}, g.count, g.elem, g.levels};
    assert_true(tmb_vis_strided_copy(flat + low[0], src + low[1], &in));
    if (memcmp(want, got, ROOM) != 0 || memcmp(want, pieces, ROOM) != 0 ||
        memcmp(want, flat, ROOM) != 0)
      fail_msg("round %d differs: random_state %llu", round, (unsigned long long)seed);
  }
}

/* ---- lists */

/* Every length and misalignment, and nothing written beside it. */
TEST(short_pieces) {
  enum { MOST = 300, GUARD = 16 };
  char src[MOST + 8], dst[MOST + 2 * GUARD], want[sizeof dst];
  for (size_t i = 0; i < sizeof src; i++) src[i] = (char)below(256);
  for (size_t n = 0; n <= MOST - 8; n++)
    for (size_t skew = 0; skew < 8; skew++) {
      memset(dst, 7, sizeof dst);
      memset(want, 7, sizeof want);
      memcpy(want + GUARD + skew, src + 7 - skew, n);
      tmb_vis_bytes(dst + GUARD + skew, src + 7 - skew, n);
      assert_memory_equal(dst, want, sizeof want);
    }
}

/* A list over consecutive bytes from `base` on. Returns how many entries. */
static size_t draw_vector(gex_Memvec_t *vec, char *base, size_t total, size_t entries) {
  size_t at = 0, n = 0;
  for (; n < entries && at < total; n++) {
    const size_t most = total - at, len = n + 1 == entries ? most : below(4) ? below(130) : 0;
    vec[n] = (gex_Memvec_t){len ? base + at : NULL, len < most ? len : most};
    at += vec[n].gex_len;
  }
  return n;
}

/* Boundaries that meet for a while, then do not; empty entries; one side that is shorter. */
TEST(vectors) {
  enum { ENTRIES = 40, BYTES = 2000 };
  static char src[BYTES], dst[BYTES], want[BYTES];
  for (size_t i = 0; i < BYTES; i++) src[i] = (char)(1 + below(255));
  for (int round = 0; round < 3000; round++) {
    gex_Memvec_t to[ENTRIES + 1], from[ENTRIES + 1];
    const size_t total = below(BYTES), same = below(ENTRIES);
    size_t n = draw_vector(to, dst, total, 1 + below(ENTRIES)), k = 0, at = 0;
    for (; k < same && k < n; at += to[k++].gex_len)
      from[k] = (gex_Memvec_t){src + at, to[k].gex_len};
    if (k < n) k += draw_vector(from + k, src + at, total - at, ENTRIES - k);
    const size_t cut = below(4) == 0 && n > 0 ? to[n - 1].gex_len : 0; /* dst is shorter */
    if (cut) n--;
    memset(dst, 0, BYTES);
    memset(want, 0, BYTES);
    memcpy(want, src, total - cut);
    /* a shift belongs to every address */
    for (size_t i = 0; i < n; i++) to[i].gex_addr = (char *)((uintptr_t)to[i].gex_addr - 4096);
    const struct tmb_vis_list d = {.vec = to, .count = n, .shift = 4096};
    const struct tmb_vis_list s = {.vec = from, .count = k};
    size_t bytes[2];
    assert_true(tmb_vis_list_bytes(&d, &bytes[0]) && tmb_vis_list_bytes(&s, &bytes[1]));
    assert_int_equal(bytes[0], total - cut);
    assert_int_equal(bytes[1], total);
    tmb_vis_list_copy(&d, &s);
    assert_memory_equal(dst, want, BYTES);
  }
}

TEST(list_cursor) {
  char a[10] = "abcdefghi", packed[10] = "";
  const gex_Memvec_t vec[] = {{NULL, 0}, {a + 4, 3}, {NULL, 0}, {a, 2}, {NULL, 0}};
  const struct tmb_vis_list list = {.vec = vec, .count = 5};
  size_t bytes;
  assert_true(tmb_vis_list_bytes(&list, &bytes));
  assert_int_equal(bytes, 5);
  struct tmb_vis_cursor c = {&list, 0, 0};
  tmb_vis_list_pack(&c, packed, 2);
  assert_memory_equal(packed, "ef", 2);
  tmb_vis_list_pack(&c, packed, 3);
  assert_memory_equal(packed, "gab", 3);
  char *at;
  assert_int_equal(tmb_vis_next(&c, &at), 0);
  struct tmb_vis_cursor back = {&list, 0, 0};
  tmb_vis_list_advance(&back, 4);
  tmb_vis_list_unpack(&back, "Z", 1);
  assert_string_equal(a, "aZcdefghi");
}

TEST(list_overflow) {
  const gex_Memvec_t vec[] = {{NULL, SIZE_MAX}, {NULL, 1}};
  const struct tmb_vis_list list = {.vec = vec, .count = 2},
                            indexed = {.count = 3, .len = SIZE_MAX};
  size_t bytes;
  assert_false(tmb_vis_list_bytes(&list, &bytes));
  assert_false(tmb_vis_list_bytes(&indexed, &bytes));
}

TEST(indexed_of_unequal_lengths) {
  char src[64], dst[64], want[64];
  for (size_t ratio = 1; ratio <= 4; ratio++)
    for (size_t len = 1; len <= 16; len++) {
      void *to[16], *from[16];
      const size_t n = 16 / ratio > 64 / (len * ratio) ? 64 / (len * ratio) : 16 / ratio;
      for (size_t i = 0; i < 64; i++) src[i] = (char)below(256);
      for (size_t i = 0; i < n; i++) to[i] = dst + (n - 1 - i) * len * ratio;
      for (size_t i = 0; i < n * ratio && i < 16; i++) from[i] = src + i * len;
      memset(dst, 0, sizeof dst);
      memset(want, 0, sizeof want);
      for (size_t i = 0; i < n; i++)
        memcpy(want + (n - 1 - i) * len * ratio, src + i * len * ratio, len * ratio);
      const struct tmb_vis_list d = {.addr = to, .count = n, .len = len * ratio};
      const struct tmb_vis_list s = {.addr = from, .count = n * ratio, .len = len};
      tmb_vis_list_copy(&d, &s);
      assert_memory_equal(dst, want, sizeof want);
      memset(want, 0, sizeof want);
      tmb_vis_list_copy(&(struct tmb_vis_list){.addr = from, .count = n * ratio, .len = len},
                        &(struct tmb_vis_list){.addr = to, .count = n, .len = len * ratio});
      for (size_t i = 0; i < n; i++)
        assert_memory_equal(src + i * len * ratio, (char *)to[i], len * ratio);
    }
}

int main(void) {
  return unit_run(NULL, NULL);
}
