/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strided shapes: the contiguity analysis, and copies that follow a shape.
 *
 * Owns: struct tmb_vis_shape. Called by vis.c (mapped peers) and vis_send.c (packing). Calls
 * nothing. A shape describes both sides of a transfer at once. Invariants after tmb_vis_shape_make:
 * no dimension has count 1; destination strides are positive and grow outwards, except that dim[1]
 * is the one with the least source stride when that is not dim[0] (a transposition); no two
 * adjacent dimensions, nor element and dim[0], are contiguous on both sides. The order of
 * dimensions is the order of packed data.
 */
#ifndef TMB_VIS_SHAPE_H
#define TMB_VIS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A dimension that counts at least doubles the number of bytes. */
#define TMB_VIS_LEVELS_MAX 64

enum { TMB_VIS_DST = 0, TMB_VIS_SRC = 1 };

struct tmb_vis_dim {
  size_t count;
  ptrdiff_t stride[2]; /* bytes; by side */
};

struct tmb_vis_shape {
  size_t elem;        /* contiguous bytes */
  size_t bytes;       /* of the whole */
  ptrdiff_t first[2]; /* add to the caller's address to get that of element 0; by side */
  uint32_t levels;
  struct tmb_vis_dim dim[TMB_VIS_LEVELS_MAX]; /* [levels] */
};

/* A strided transfer as the caller describes it. */
struct tmb_vis_strided {
  const ptrdiff_t *stride[2]; /* [levels] */
  const size_t *count;        /* [levels] */
  size_t elemsz, levels;
};

/* Normalise. Pure. Returns 1, 0 when there is nothing to move (only `bytes` and `levels` are set
 * then), or -1 when the number of bytes overflows. */
int tmb_vis_shape_make(struct tmb_vis_shape *shape, const struct tmb_vis_strided *in);

/* Lowest address and extent in bytes of one side, relative to element 0. */
void tmb_vis_shape_hull(const struct tmb_vis_shape *shape, unsigned side, ptrdiff_t *low,
                        size_t *extent);

/* ---- copy.c */

/* Copy everything. in dst, src: addresses of element 0. */
void tmb_vis_copy(const struct tmb_vis_shape *shape, char *dst, const char *src);

/* Copy the described data; no count and no size is zero. in dst, src: addresses of index 0. Returns
 * false, with nothing done, when the number of bytes overflows. */
bool tmb_vis_strided_copy(char *dst, const char *src, const struct tmb_vis_strided *in);

/* A range of the packed form of one side. */
struct tmb_vis_part {
  const struct tmb_vis_shape *shape;
  unsigned side;     /* only its strides are read */
  char *base;        /* address of element 0 */
  char *packed;      /* [nbytes] */
  size_t at, nbytes; /* range of the packed bytes */
};
void tmb_vis_pack(const struct tmb_vis_part *part);
void tmb_vis_unpack(const struct tmb_vis_part *part);

/* Copy n bytes; up to 64 without a call: loads and stores of one width, the last over the end of
 * the one before. Longer ones go to memcpy, which has wider registers than this file may use. */
static inline void tmb_vis_bytes(char *dst, const char *src, size_t n) {
  typedef uint64_t wide __attribute__((vector_size(16)));
  wide a, b, c, d;
  if (n == 8) {
    __builtin_memcpy(dst, src, 8);
  } else if (n > 64) {
    __builtin_memcpy(dst, src, n);
  } else if (n > 32) {
    __builtin_memcpy(&a, src, 16);
    __builtin_memcpy(&b, src + 16, 16);
    __builtin_memcpy(&c, src + n - 32, 16);
    __builtin_memcpy(&d, src + n - 16, 16);
    __builtin_memcpy(dst, &a, 16);
    __builtin_memcpy(dst + 16, &b, 16);
    __builtin_memcpy(dst + n - 32, &c, 16);
    __builtin_memcpy(dst + n - 16, &d, 16);
  } else if (n >= 16) {
    __builtin_memcpy(&a, src, 16);
    __builtin_memcpy(&b, src + n - 16, 16);
    __builtin_memcpy(dst, &a, 16);
    __builtin_memcpy(dst + n - 16, &b, 16);
  } else if (n > 8) {
    uint64_t low, high;
    __builtin_memcpy(&low, src, 8);
    __builtin_memcpy(&high, src + n - 8, 8);
    __builtin_memcpy(dst, &low, 8);
    __builtin_memcpy(dst + n - 8, &high, 8);
  } else if (n >= 4) {
    uint32_t low, high;
    __builtin_memcpy(&low, src, 4);
    __builtin_memcpy(&high, src + n - 4, 4);
    __builtin_memcpy(dst, &low, 4);
    __builtin_memcpy(dst + n - 4, &high, 4);
  } else if (n) {
    const char first = src[0], middle = src[n / 2], last = src[n - 1];
    dst[0] = first;
    dst[n / 2] = middle;
    dst[n - 1] = last;
  }
}

#endif
