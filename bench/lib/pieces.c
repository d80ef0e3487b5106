/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of many pieces of one size, see pieces.h.
 *
 * Owns: the lists of pieces. Called by: tombolo-bench-vis. Calls: bench.h, floors.h, the public
 * API. Invariant: the row in progress is described by the static variables, which change between
 * rows.
 */
#include "lib/pieces.h"

#include "lib/floors.h"

#include <gasnet_vis.h>
#include <stdio.h>
#include <string.h>

enum { PIECES_MAX = 1024 };
enum kind { VECTOR, INDEXED, STRIDED, KINDS };

static enum kind kind;
static bool is_get;
static size_t pieces, piece_bytes;
static char *near_base, *far_base;
static gex_Memvec_t near_vec[PIECES_MAX], far_vec[PIECES_MAX];
static void *near_addr[PIECES_MAX], *far_addr[PIECES_MAX], *far_mapped[PIECES_MAX];

static void prepare(struct bench *b) {
  near_base = floor_private(b);
  far_base = b->theirs_at;
  for (size_t i = 0; i < pieces; i++) {
    const size_t at = i * 2 * piece_bytes;
    near_addr[i] = near_base + at;
    far_addr[i] = far_base + at;
    far_mapped[i] = b->theirs + at;
    near_vec[i] = (gex_Memvec_t){near_addr[i], piece_bytes};
    far_vec[i] = (gex_Memvec_t){far_addr[i], piece_bytes};
  }
}

static void move_lists(struct bench *b) {
  if (kind == VECTOR && is_get)
    gex_VIS_VectorGetBlocking(b->tm, pieces, near_vec, b->peer, pieces, far_vec, 0);
  else if (kind == VECTOR)
    gex_VIS_VectorPutBlocking(b->tm, b->peer, pieces, far_vec, pieces, near_vec, 0);
  else if (is_get)
    gex_VIS_IndexedGetBlocking(b->tm, pieces, near_addr, piece_bytes, b->peer, pieces, far_addr,
                               piece_bytes, 0);
  else
    gex_VIS_IndexedPutBlocking(b->tm, b->peer, pieces, far_addr, piece_bytes, pieces, near_addr,
                               piece_bytes, 0);
}

static void move_strided(struct bench *b) {
  const ptrdiff_t stride = (ptrdiff_t)(2 * piece_bytes);
  if (is_get)
    gex_VIS_StridedGetBlocking(b->tm, near_base, &stride, b->peer, far_base, &stride, piece_bytes,
                               &pieces, 1, 0);
  else
    gex_VIS_StridedPutBlocking(b->tm, b->peer, far_base, &stride, near_base, &stride, piece_bytes,
                               &pieces, 1, 0);
}

static double figure(struct bench *b, size_t n, size_t bytes) {
  (void)bytes;
  const uint64_t start = bench_now_ns();
  for (size_t op = 0; op < n; op++) {
    if (kind == STRIDED)
      move_strided(b);
    else
      move_lists(b);
    bench_fence();
  }
  return (double)(bench_now_ns() - start) / (double)n;
}

/* The loop by hand; it does not know the size either. */
__attribute__((noinline)) static void loop(void **to, void **from) {
  for (size_t i = 0; i < pieces; i++) memcpy(to[i], from[i], piece_bytes);
}

static double floor_loop(struct bench *b, size_t n, size_t bytes) {
  (void)b, (void)bytes;
  const uint64_t start = bench_now_ns();
  for (size_t op = 0; op < n; op++) {
    if (is_get)
      loop(near_addr, far_mapped);
    else
      loop(far_mapped, near_addr);
    bench_fence();
  }
  return (double)(bench_now_ns() - start) / (double)n;
}

void pieces_measure(struct bench *b) {
  static const char *const names[KINDS] = {"vector", "indexed", "strided"};
  static const size_t shapes[][2] = {{1, 8}, {16, 64}, {1024, 512}};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
    for (unsigned k = 0; k < 2 * KINDS; k++) {
      char name[40];
      pieces = shapes[s][0];
      piece_bytes = shapes[s][1];
      kind = (enum kind)(k / 2);
      is_get = k % 2;
      prepare(b);
      snprintf(name, sizeof name, "%s_%s_%zux%zu", is_get ? "get" : "put", names[kind], pieces,
               piece_bytes);
      const struct bench_row row = {.group = "vis",
                                    .name = name,
                                    .floor_name = "memcpy_loop",
                                    .figure = figure,
                                    .floor = floor_loop,
                                    .bytes = pieces * piece_bytes,
                                    .alone = true};
      bench_measure(b, &row);
    }
}
