/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cobounds: which cosubscripts an image has.
 *
 * Owns nothing. Called by allocation and by the queries of coarrays. Calls nothing. Invariants: 1 +
 * sum of (sub[k] - lower[k]) * product of the extents before k is the number of the image. The
 * product of all extents but the last fits an int64_t, as it is at most the number of images, or
 * all images have one last cosubscript.
 */
#include "memory/memory.h"

static int64_t element(const struct prif_desc *d, size_t i) {
  return *(const int64_t *)prif_desc_at(d, i);
}

/* Cobounds of one codimension. Returns its extent, 0 after prif_fail where there is none. */
static int64_t set_dimension(struct prif_co *co, int k, int64_t lower, int64_t upper,
                             const struct prif_status *to) {
  int64_t extent;
  co->lower[k] = lower;
  co->upper[k] = upper;
  if (upper >= lower && !__builtin_sub_overflow(upper, lower, &extent) && extent < INT64_MAX)
    return extent + 1;
  prif_fail(to, PRIF_STAT_ERROR,
            "%s: cobounds %lld:%lld of codimension %d: the upper must be at least the lower one, "
            "and not 2**63 above it [TMB-2206]",
            caf.statement.call, (long long)lower, (long long)upper, k + 1);
  return 0;
}

/* The least last upper cobound with which `images` have cosubscripts. in before: product of the
 * other extents. [out] upper: the cobound. Returns false where it does not fit. */
static bool find_last(int64_t lower, int64_t before, uint32_t images, int64_t *upper) {
  const int64_t extent = before >= images ? 1 : (images + before - 1) / before;
  return !__builtin_add_overflow(lower, extent - 1, upper);
}

static bool set_last(struct prif_co *co, int64_t before, uint32_t images,
                     const struct prif_status *to) {
  const int last = co->corank - 1;
  if (find_last(co->lower[last], before, images, &co->upper[last])) return true;
  prif_fail(to, PRIF_STAT_ERROR,
            "%s: lower cobound %lld of codimension %d: %u images do not fit behind it [TMB-2205]",
            caf.statement.call, (long long)co->lower[last], last + 1, images);
  return false;
}

/* Whether a last upper cobound that is given leaves room for all images. */
static bool is_enough(int64_t before, int64_t last, uint32_t images) {
  int64_t product;
  return __builtin_mul_overflow(before, last, &product) || product >= images;
}

bool prif_bounds_set(struct prif_co *co, const struct prif_desc *lower,
                     const struct prif_desc *upper, uint32_t images, const struct prif_status *to) {
  const size_t corank = prif_desc_count(lower), uppers = upper ? prif_desc_count(upper) : 0;
  int64_t before = 1;
  if (corank < 1 || corank > CAF_RANK_MAX || (uppers != corank && uppers != corank - 1)) {
    prif_fail(to, PRIF_STAT_ERROR,
              "%s: %zu lower and %zu upper cobounds: there must be 1 to %d lower ones, and as many "
              "upper ones or one less [TMB-2204]",
              caf.statement.call, corank, uppers, CAF_RANK_MAX);
    return false;
  }
  co->corank = (int)corank;
  for (size_t k = 0; k < corank; k++) co->lower[k] = element(lower, k);
  for (size_t k = 0; k + 1 < corank; k++) {
    const int64_t extent = set_dimension(co, (int)k, co->lower[k], element(upper, k), to);
    if (!extent) return false;
    if (__builtin_mul_overflow(before, extent, &before)) before = INT64_MAX;
  }
  if (uppers == corank) {
    const int64_t last =
        set_dimension(co, (int)corank - 1, co->lower[corank - 1], element(upper, corank - 1), to);
    if (!last) return false;
    if (!is_enough(before, last, images)) {
      prif_fail(to, PRIF_STAT_ERROR,
                "%s: the cobounds have room for %lld images, the team has %u: make the last upper "
                "cobound larger, or leave it out [TMB-2203]",
                caf.statement.call, (long long)(before * last), images);
      return false;
    }
  }
  return set_last(co, before, images, to);
}

int64_t prif_bounds_upper(const struct prif_co *co, int k, uint32_t images) {
  int64_t before = 1, last;
  if (k + 1 < co->corank) return co->upper[k];
  for (int i = 0; i < k; i++)
    if (__builtin_mul_overflow(before, co->upper[i] - co->lower[i] + 1, &before))
      before = INT64_MAX;
  return find_last(co->lower[k], before, images, &last) ? last : INT64_MAX;
}

uint32_t prif_bounds_index(const struct prif_co *co, const int64_t *sub, uint32_t images) {
  uint64_t index = 0, before = 1;
  for (int k = 0; k < co->corank; k++) {
    if (sub[k] < co->lower[k]) return 0;
    if (k + 1 < co->corank && sub[k] > co->upper[k]) return 0;
    const uint64_t at = (uint64_t)sub[k] - (uint64_t)co->lower[k];
    uint64_t add;
    if (__builtin_mul_overflow(at, before, &add)) return 0;
    if (__builtin_add_overflow(index, add, &index) || index >= images) return 0;
    const uint64_t extent = (uint64_t)co->upper[k] - (uint64_t)co->lower[k] + 1;
    if (__builtin_mul_overflow(before, extent, &before)) before = UINT64_MAX;
  }
  return (uint32_t)index + 1;
}

void prif_bounds_subscripts(const struct prif_co *co, uint32_t index, int64_t *sub) {
  uint64_t rest = index - 1;
  for (int k = 0; k < co->corank; k++) {
    const uint64_t extent = (uint64_t)co->upper[k] - (uint64_t)co->lower[k] + 1;
    const uint64_t at = k + 1 < co->corank ? rest % extent : rest;
    sub[k] = co->lower[k] + (int64_t)at;
    rest /= extent;
  }
}
