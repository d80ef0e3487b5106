/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures strided, transposing and indexed puts and gets between rank 0 and the mapped memory of
 * rank 1, each beside the loop nest that a programmer would write for it.
 *
 * Owns: the vis rows. Called by: `tombolo bench vis`. Calls: bench/lib, the public API.
 * Both ranks have a block of (n + 2)^3 doubles, of which the outermost layer is halo; the faces of
 * the interior are copied to the same place of the other block. The loops go through the mapping of
 * the peer's segment, with runtime bounds, and are compiled with the flags of this program.
 */
#include "lib/bench.h"
#include "lib/floors.h"
#include "lib/pieces.h"

#include <gasnet_vis.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK_MAX = 128, BLOCK_BYTES = (BLOCK_MAX + 2) * (BLOCK_MAX + 2) * (BLOCK_MAX + 2) * 8 };
_Static_assert(BLOCK_BYTES <= FLOOR_COLD_BYTES, "a block fits the memory of the floors");
enum { INDEXED_MAX = 4096 };

static size_t n; /* interior of the block along each axis */
static double *near_block, *far_block, *far_at;

static size_t place(size_t i, size_t j, size_t k) {
  return (i * (n + 2) + j) * (n + 2) + k;
}

#define TIME(count, statement)             \
 const uint64_t start = bench_now_ns();    \
 for (size_t op = 0; op < (count); op++) { \
  statement;                               \
  bench_fence();                           \
 }                                         \
 const double per_op = (double)(bench_now_ns() - start) / (double)(count)

/* ---- loop nests */

__attribute__((noinline)) static void loop_face_i(double *to, const double *from) {
  for (size_t j = 1; j <= n; j++)
    for (size_t k = 1; k <= n; k++) to[place(1, j, k)] = from[place(1, j, k)];
}

__attribute__((noinline)) static void loop_face_j(double *to, const double *from) {
  for (size_t i = 1; i <= n; i++)
    for (size_t k = 1; k <= n; k++) to[place(i, 1, k)] = from[place(i, 1, k)];
}

__attribute__((noinline)) static void loop_face_k(double *to, const double *from) {
  for (size_t i = 1; i <= n; i++)
    for (size_t j = 1; j <= n; j++) to[place(i, j, 1)] = from[place(i, j, 1)];
}

__attribute__((noinline)) static void loop_block(double *to, const double *from) {
  for (size_t i = 1; i <= n; i++)
    for (size_t j = 1; j <= n; j++)
      for (size_t k = 1; k <= n; k++) to[place(i, j, k)] = from[place(i, j, k)];
}

__attribute__((noinline)) static void loop_transpose(double *to, const double *from) {
  const size_t m = 8 * n;
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < m; j++) to[i * m + j] = from[j * m + i];
}

/* ---- indexed: every third double of the block, in scattered order */

static void *near_index[INDEXED_MAX], *far_index[INDEXED_MAX], *far_mapped[INDEXED_MAX];
static size_t indexed;

static void make_index(void) {
  indexed = 16 * n < INDEXED_MAX ? 16 * n : INDEXED_MAX;
  for (size_t i = 0; i < indexed; i++) {
    const size_t at = i * 7919 % indexed * 3;
    near_index[i] = near_block + at;
    far_index[i] = far_at + at;
    far_mapped[i] = far_block + at;
  }
}

__attribute__((noinline)) static void loop_indexed(void **to, void **from) {
  for (size_t i = 0; i < indexed; i++) *(double *)to[i] = *(const double *)from[i];
}

/* ---- figures: put or get, and the loop beside it */

enum shape { FACE_I, FACE_J, FACE_K, BLOCK, TRANSPOSE, SHAPES };

/* Counts and strides of a shape, in elements of 8 bytes, as a programmer would give them. */
struct strided {
  size_t first, count[3], levels;
  ptrdiff_t dst[3], src[3];
};
static struct strided shapes[SHAPES];

static void make_shapes(void) {
  const ptrdiff_t k = 8, j = (ptrdiff_t)(n + 2) * 8, i = (ptrdiff_t)(n + 2) * j;
  const size_t m = 8 * n, first = place(1, 1, 1);
  const ptrdiff_t row = (ptrdiff_t)m * 8;
  shapes[FACE_I] = (struct strided){first, {n, n}, 2, {j, k}, {j, k}};
  shapes[FACE_J] = (struct strided){first, {n, n}, 2, {i, k}, {i, k}};
  shapes[FACE_K] = (struct strided){first, {n, n}, 2, {i, j}, {i, j}};
  shapes[BLOCK] = (struct strided){first, {n, n, n}, 3, {i, j, k}, {i, j, k}};
  shapes[TRANSPOSE] = (struct strided){0, {m, m}, 2, {row, 8}, {8, row}};
}

static double put(struct bench *b, enum shape shape, size_t count) {
  const struct strided *s = &shapes[shape];
  TIME(count, gex_VIS_StridedPutBlocking(b->tm, b->peer, far_at + s->first, s->dst,
                                         near_block + s->first, s->src, 8, s->count, s->levels, 0));
  return per_op;
}

static double get(struct bench *b, enum shape shape, size_t count) {
  const struct strided *s = &shapes[shape];
  TIME(count, gex_VIS_StridedGetBlocking(b->tm, near_block + s->first, s->dst, b->peer,
                                         far_at + s->first, s->src, 8, s->count, s->levels, 0));
  return per_op;
}

static double put_face_i(struct bench *b, size_t count, size_t bytes) {
  (void)bytes;
  return put(b, FACE_I, count);
}

static double floor_put_face_i(struct bench *b, size_t count, size_t bytes) {
  (void)b, (void)bytes;
  TIME(count, loop_face_i(far_block, near_block));
  return per_op;
}

static double get_face_i(struct bench *b, size_t count, size_t bytes) {
  (void)bytes;
  return get(b, FACE_I, count);
}

static double floor_get_face_i(struct bench *b, size_t count, size_t bytes) {
  (void)b, (void)bytes;
  TIME(count, loop_face_i(near_block, far_block));
  return per_op;
}

static double put_face_j(struct bench *b, size_t count, size_t bytes) {
  (void)bytes;
  return put(b, FACE_J, count);
}

static double floor_put_face_j(struct bench *b, size_t count, size_t bytes) {
  (void)b, (void)bytes;
  TIME(count, loop_face_j(far_block, near_block));
  return per_op;
}

static double get_face_j(struct bench *b, size_t count, size_t bytes) {
  (void)bytes;
  return get(b, FACE_J, count);
}

static double floor_get_face_j(struct bench *b, size_t count, size_t bytes) {
  (void)b, (void)bytes;
  TIME(count, loop_face_j(near_block, far_block));
  return per_op;
}

static double put_face_k(struct bench *b, size_t count, size_t bytes) {
  (void)bytes;
  return put(b, FACE_K, count);
}

static double floor_put_face_k(struct bench *b, size_t count, size_t bytes) {
  (void)b, (void)bytes;
  TIME(count, loop_face_k(far_block, near_block));
  return per_op;
}

static double get_face_k(struct bench *b, size_t count, size_t bytes) {
  (void)bytes;
  return get(b, FACE_K, count);
}

static double floor_get_face_k(struct bench *b, size_t count, size_t bytes) {
  (void)b, (void)bytes;
  TIME(count, loop_face_k(near_block, far_block));
  return per_op;
}

static double put_block(struct bench *b, size_t count, size_t bytes) {
  (void)bytes;
  return put(b, BLOCK, count);
}

static double floor_put_block(struct bench *b, size_t count, size_t bytes) {
  (void)b, (void)bytes;
  TIME(count, loop_block(far_block, near_block));
  return per_op;
}

static double get_block(struct bench *b, size_t count, size_t bytes) {
  (void)bytes;
  return get(b, BLOCK, count);
}

static double floor_get_block(struct bench *b, size_t count, size_t bytes) {
  (void)b, (void)bytes;
  TIME(count, loop_block(near_block, far_block));
  return per_op;
}

static double put_transpose(struct bench *b, size_t count, size_t bytes) {
  (void)bytes;
  return put(b, TRANSPOSE, count);
}

static double floor_put_transpose(struct bench *b, size_t count, size_t bytes) {
  (void)b, (void)bytes;
  TIME(count, loop_transpose(far_block, near_block));
  return per_op;
}

static double get_transpose(struct bench *b, size_t count, size_t bytes) {
  (void)bytes;
  return get(b, TRANSPOSE, count);
}

static double floor_get_transpose(struct bench *b, size_t count, size_t bytes) {
  (void)b, (void)bytes;
  TIME(count, loop_transpose(near_block, far_block));
  return per_op;
}

static double put_indexed(struct bench *b, size_t count, size_t bytes) {
  (void)bytes;
  TIME(count, gex_VIS_IndexedPutBlocking(b->tm, b->peer, indexed, far_index, 8, indexed, near_index,
                                         8, 0));
  return per_op;
}

static double get_indexed(struct bench *b, size_t count, size_t bytes) {
  (void)bytes;
  TIME(count, gex_VIS_IndexedGetBlocking(b->tm, indexed, near_index, 8, b->peer, indexed, far_index,
                                         8, 0));
  return per_op;
}

static double floor_put_indexed(struct bench *b, size_t count, size_t bytes) {
  (void)b, (void)bytes;
  TIME(count, loop_indexed(far_mapped, near_index));
  return per_op;
}

static double floor_get_indexed(struct bench *b, size_t count, size_t bytes) {
  (void)b, (void)bytes;
  TIME(count, loop_indexed(near_index, far_mapped));
  return per_op;
}

/* ---- rows */

static const struct {
  const char *name;
  bench_fn *put, *get, *put_floor, *get_floor;
  double target;
} rows[] = {
    {"face_i", put_face_i, get_face_i, floor_put_face_i, floor_get_face_i, 0.8},
    {"face_j", put_face_j, get_face_j, floor_put_face_j, floor_get_face_j, 0.8},
    {"face_k", put_face_k, get_face_k, floor_put_face_k, floor_get_face_k, 0.8},
    {"block", put_block, get_block, floor_put_block, floor_get_block, 0},
    {"transpose", put_transpose, get_transpose, floor_put_transpose, floor_get_transpose, 0},
    {"indexed8", put_indexed, get_indexed, floor_put_indexed, floor_get_indexed, 0},
};

static size_t bytes_of(size_t row) {
  if (row < BLOCK) return n * n * 8;
  if (row == BLOCK) return n * n * n * 8;
  return row == TRANSPOSE ? 64 * n * n * 8 : indexed * 8;
}

static void measure(struct bench *b) {
  make_shapes();
  make_index();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int is_get = 0; is_get < 2; is_get++) {
      char name[32];
      snprintf(name, sizeof name, "%s_%s_n%zu", is_get ? "get" : "put", rows[i].name, n);
      const struct bench_row row = {.group = "vis",
                                    .name = name,
                                    .floor_name = "loop_nest",
                                    .figure = is_get ? rows[i].get : rows[i].put,
                                    .floor = is_get ? rows[i].get_floor : rows[i].put_floor,
                                    .bytes = bytes_of(i),
                                    .target = rows[i].target,
                                    .bandwidth = true,
                                    .alone = true};
      bench_measure(b, &row);
    }
}

int main(int argc, char **argv) {
  static struct bench b;
  bench_start(&b, "vis", &argc, &argv);
  bench_attach(&b, NULL, 0, FLOOR_COLD_BYTES);
  near_block = (double *)(void *)floor_private(&b);
  far_block = (double *)(void *)b.theirs;
  far_at = (double *)(void *)b.theirs_at;
  if (b.rank == 0) memset(far_block, 0, BLOCK_BYTES); /* no page faults in the timed loops */
  if (b.rank == 0) memset(near_block, 0, BLOCK_BYTES);
  bench_barrier(&b);
  for (n = b.opts.quick ? 64 : 16; n <= (b.opts.quick ? 64 : BLOCK_MAX); n *= 2) measure(&b);
  pieces_measure(&b);
  bench_finish(&b);
}
