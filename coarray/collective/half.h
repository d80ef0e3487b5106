/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reals and complex numbers of 2 bytes a part: kind 2 (binary16, r2) and kind 3 (bfloat16, r3).
 *
 * Owns nothing. Included by collective.c. Calls nothing. Invariants: the functions combine `count`
 * elements: b = a op b; c_: complex numbers.
 */
#ifndef CAF_HALF_H
#define CAF_HALF_H

#include <stddef.h>

void caf_sum_r2(const void *a, void *b, size_t count, const void *cdata);
void caf_min_r2(const void *a, void *b, size_t count, const void *cdata);
void caf_max_r2(const void *a, void *b, size_t count, const void *cdata);
void caf_sum_c_r2(const void *a, void *b, size_t count, const void *cdata);
void caf_sum_r3(const void *a, void *b, size_t count, const void *cdata);
void caf_min_r3(const void *a, void *b, size_t count, const void *cdata);
void caf_max_r3(const void *a, void *b, size_t count, const void *cdata);
void caf_sum_c_r3(const void *a, void *b, size_t count, const void *cdata);

#endif
