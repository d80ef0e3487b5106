/* SPDX-License-Identifier: BSD-3-Clause */
/* Class table, initial data, decay factors and the operation count of NAS FT.
 * Called by the solver and the report; calls libm only.
 * Invariant: the random stream is one sequence over the whole grid, so each rank jumps to where
 * each of its planes begins instead of drawing what belongs to others: x(k) = a^k x(0) mod 2^46,
 * and arithmetic modulo 2^64 is exact for that because 2^46 divides 2^64.
 */
#include "problem.h"

#include "layout.h"

#include <ctype.h>
#include <math.h>

#include "reference_data.h"

#define RANDOM_SEED       UINT64_C(314159265)
#define RANDOM_MULTIPLIER UINT64_C(1220703125) /* 5^13 */
#define RANDOM_MASK       ((UINT64_C(1) << 46) - 1)
#define ALPHA             1.0e-6

const struct ft_class *ft_class_find(char name) {
  for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
    if (classes[i].name == toupper((unsigned char)name)) return &classes[i];
  return NULL;
}

double ft_class_points(const struct ft_class *class) {
  return (double)class->n[0] * class->n[1] * class->n[2];
}

/* Generator state after `steps` further steps from the benchmark's seed. Cost: log2(steps)
 * multiplications. */
static uint64_t ft_random_state(uint64_t steps) {
  uint64_t state = RANDOM_SEED;
  uint64_t power = RANDOM_MULTIPLIER;
  for (; steps != 0; steps >>= 1) {
    if (steps & 1) state = (state * power) & RANDOM_MASK;
    power = (power * power) & RANDOM_MASK;
  }
  return state;
}

static double random_next(uint64_t *state) {
  *state = (*state * RANDOM_MULTIPLIER) & RANDOM_MASK;
  return (double)*state * 0x1p-46;
}

void ft_initial_data(struct cplx *out, const struct ft_layout *layout) {
  size_t plane = (size_t)layout->n[1] * (size_t)layout->n[0];
  size_t mine =
      (size_t)layout->ny_x * (size_t)layout->n[0]; /* contiguous in the stream for one z */
  for (int z = 0; z < layout->nz; z++) {
    size_t point = (size_t)(layout->z0 + z) * plane + (size_t)layout->y0_x * (size_t)layout->n[0];
    uint64_t state = ft_random_state(2 * (uint64_t)point);
    for (size_t i = 0; i < mine; i++, out++) {
      out->re = random_next(&state);
      out->im = random_next(&state);
    }
  }
}

void ft_decay_table(double *table, int first, int count, int n, double time, double scale) {
  double rate = -4.0 * ALPHA * M_PI * M_PI * time;
  for (int i = 0; i < count; i++) {
    int k = first + i < n / 2 ? first + i : first + i - n;
    table[i] = scale * exp(rate * (double)k * (double)k);
  }
}

double ft_mops(const struct ft_class *class, int iterations, double seconds) {
  double points = ft_class_points(class);
  double setup = 14.8157 + 7.19641 * log(points);
  double each = 5.23518 + 7.21113 * log(points);
  return 1e-6 * points * (setup + each * iterations) / seconds;
}
