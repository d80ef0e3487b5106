/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reals and complex numbers of 2 bytes a part: kind 2 (binary16, r2) and kind 3 (bfloat16, r3).
 *
 * Owns nothing. Included by collective.c and its test. Calls nothing. Invariants: the functions
 * combine `count` elements: b = a op b; c_: complex numbers.
 */
#ifndef CAF_HALF_H
#define CAF_HALF_H

#include <stddef.h>
#include <stdint.h>

float caf_half_get(uint16_t half);
uint16_t caf_half_set(float value);
float caf_brain_get(uint16_t brain);
uint16_t caf_brain_set(float value);

void caf_sum_r2(const void *a, void *b, size_t count, const void *cdata);
void caf_min_r2(const void *a, void *b, size_t count, const void *cdata);
void caf_max_r2(const void *a, void *b, size_t count, const void *cdata);
void caf_sum_c_r2(const void *a, void *b, size_t count, const void *cdata);
void caf_sum_r3(const void *a, void *b, size_t count, const void *cdata);
void caf_min_r3(const void *a, void *b, size_t count, const void *cdata);
void caf_max_r3(const void *a, void *b, size_t count, const void *cdata);
void caf_sum_c_r3(const void *a, void *b, size_t count, const void *cdata);

#endif
