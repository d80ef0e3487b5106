/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries of coarrays: their memory, cobounds, and which image has which cosubscripts.
 *
 * Owns nothing. Called by programs. Calls: teams of coarray/. Invariants: context data belong to
 * the allocation, all else to the handle; indices of images are those of the team of the argument,
 * or of the current one, which the last upper cobound follows, too.
 */
#include "memory/memory.h"

#include <stdlib.h>

/* ---- memory */

void prif_set_context_data(prif_handle coarray_handle, void *context_data) {
  PRIF_STATEMENT("prif_set_context_data");
  prif_coarray(coarray_handle, PRIF_NO_STATUS)->block->context = context_data;
}

void prif_get_context_data(prif_handle coarray_handle, void **context_data) {
  PRIF_STATEMENT("prif_get_context_data");
  *context_data = prif_coarray(coarray_handle, PRIF_NO_STATUS)->block->context;
}

void prif_size_bytes(prif_handle coarray_handle, size_t *data_size) {
  PRIF_STATEMENT("prif_size_bytes");
  *data_size = prif_coarray(coarray_handle, PRIF_NO_STATUS)->token->bytes;
}

void prif_local_data_pointer(prif_handle coarray_handle, void **local_data) {
  PRIF_STATEMENT("prif_local_data_pointer");
  const struct prif_co *const co = prif_coarray(coarray_handle, PRIF_NO_STATUS);
  *local_data = (char *)co->token->base + co->offset;
}

/* ---- cobounds */

/* The coarray, of which codimension `dim`, from 1, is asked for. */
static const struct prif_co *with_dim(prif_handle handle, int32_t dim) {
  const struct prif_co *const co = prif_coarray(handle, PRIF_NO_STATUS);
  if (dim < 1 || dim > co->corank)
    prif_fail(PRIF_NO_STATUS, PRIF_STAT_ERROR,
              "%s: dim is %d: the coarray has codimensions 1 to %d [TMB-2219]", caf.statement.call,
              (int)dim, co->corank);
  return co;
}

/* The coarray, of which an array has one element for each codimension. */
static const struct prif_co *with_array(prif_handle handle, const struct prif_desc *array,
                                        const char *name) {
  const struct prif_co *const co = prif_coarray(handle, PRIF_NO_STATUS);
  if (prif_desc_count(array) != (size_t)co->corank)
    prif_fail(PRIF_NO_STATUS, PRIF_STAT_ERROR,
              "%s: %s has %zu elements: the coarray has %d codimensions [TMB-2218]",
              caf.statement.call, name, prif_desc_count(array), co->corank);
  return co;
}

static void store(const struct prif_desc *array, int k, int64_t value) {
  *(int64_t *)prif_desc_at(array, (size_t)k) = value;
}

void PRIF(lcobound_with_dim)(const prif_handle *coarray_handle, const int32_t *dim,
                             int64_t *lcobound) {
  PRIF_STATEMENT("prif_lcobound_with_dim");
  *lcobound = with_dim(*coarray_handle, *dim)->lower[*dim - 1];
}
PRIF_FLANG(lcobound_with_dim)

void PRIF(lcobound_no_dim)(const prif_handle *coarray_handle, const struct prif_desc *lcobounds) {
  PRIF_STATEMENT("prif_lcobound_no_dim");
  const struct prif_co *const co = with_array(*coarray_handle, lcobounds, "lcobounds");
  for (int k = 0; k < co->corank; k++) store(lcobounds, k, co->lower[k]);
}
PRIF_FLANG(lcobound_no_dim)

void PRIF(ucobound_with_dim)(const prif_handle *coarray_handle, const int32_t *dim,
                             int64_t *ucobound) {
  PRIF_STATEMENT("prif_ucobound_with_dim");
  const struct prif_co *const co = with_dim(*coarray_handle, *dim);
  *ucobound = prif_bounds_upper(co, *dim - 1, caf.team->size);
}
PRIF_FLANG(ucobound_with_dim)

void PRIF(ucobound_no_dim)(const prif_handle *coarray_handle, const struct prif_desc *ucobounds) {
  PRIF_STATEMENT("prif_ucobound_no_dim");
  const struct prif_co *const co = with_array(*coarray_handle, ucobounds, "ucobounds");
  for (int k = 0; k < co->corank; k++)
    store(ucobounds, k, prif_bounds_upper(co, k, caf.team->size));
}
PRIF_FLANG(ucobound_no_dim)

void PRIF(coshape)(const prif_handle *coarray_handle, const struct prif_desc *sizes) {
  PRIF_STATEMENT("prif_coshape");
  const struct prif_co *const co = with_array(*coarray_handle, sizes, "sizes");
  for (int k = 0; k < co->corank; k++)
    store(sizes, k, prif_bounds_upper(co, k, caf.team->size) - co->lower[k] + 1);
}
PRIF_FLANG(coshape)

/* ---- images */

/* Number of the image with cosubscripts `sub`, 0: none of `images`. */
static uint32_t index_of(prif_handle handle, const struct prif_desc *sub, uint32_t images) {
  int64_t at[CAF_RANK_MAX];
  const struct prif_co *const co = with_array(handle, sub, "sub");
  for (int k = 0; k < co->corank; k++) at[k] = *(int64_t *)prif_desc_at(sub, (size_t)k);
  return prif_bounds_index(co, at, images);
}

void PRIF(image_index)(const prif_handle *coarray_handle, const struct prif_desc *sub,
                       int32_t *image_index) {
  PRIF_STATEMENT("prif_image_index");
  *image_index = (int32_t)index_of(*coarray_handle, sub, caf.team->size);
}
PRIF_FLANG(image_index)

void PRIF(image_index_with_team)(const prif_handle *coarray_handle, const struct prif_desc *sub,
                                 const prif_team *team, int32_t *image_index) {
  PRIF_STATEMENT("prif_image_index_with_team");
  const uint32_t images = prif_team_of(team, PRIF_NO_STATUS)->size;
  *image_index = (int32_t)index_of(*coarray_handle, sub, images);
}

void PRIF(image_index_with_team_number)(const prif_handle *coarray_handle,
                                        const struct prif_desc *sub, const int64_t *team_number,
                                        int32_t *image_index) {
  PRIF_STATEMENT("prif_image_index_with_team_number");
  const uint32_t images = prif_sibling(*team_number, NULL, PRIF_NO_STATUS);
  *image_index = (int32_t)index_of(*coarray_handle, sub, images);
}
PRIF_FLANG(image_index_with_team_number)

/* The image of the initial team with cosubscripts `sub` in a team of `images` with these ranks. */
static void find_initial(prif_handle handle, const struct prif_desc *sub, const uint32_t *jobrank,
                         uint32_t images, int32_t *initial_team_index,
                         const struct prif_status *to) {
  const uint32_t index = index_of(handle, sub, images);
  if (index == 0) {
    prif_fail(to, PRIF_STAT_ERROR,
              "%s: sub names no image: the cosubscripts are out of the cobounds, or beyond the %u "
              "images of the team [TMB-2217]",
              caf.statement.call, images);
    return;
  }
  *initial_team_index = (int32_t)jobrank[index - 1] + 1;
  prif_done(to);
}

#define TO_STAT (&(const struct prif_status){.stat = stat})

void PRIF(initial_team_index)(const prif_handle *coarray_handle, const struct prif_desc *sub,
                              int32_t *initial_team_index, int32_t *stat) {
  PRIF_STATEMENT("prif_initial_team_index");
  find_initial(*coarray_handle, sub, caf.team->jobrank, caf.team->size, initial_team_index,
               TO_STAT);
}
PRIF_FLANG(initial_team_index)

void PRIF(initial_team_index_with_team)(const prif_handle *coarray_handle,
                                        const struct prif_desc *sub, const prif_team *team,
                                        int32_t *initial_team_index, int32_t *stat) {
  PRIF_STATEMENT("prif_initial_team_index_with_team");
  const struct caf_team *const of = prif_team_of(team, TO_STAT);
  if (of) find_initial(*coarray_handle, sub, of->jobrank, of->size, initial_team_index, TO_STAT);
}

void PRIF(initial_team_index_with_team_number)(const prif_handle *coarray_handle,
                                               const struct prif_desc *sub,
                                               const int64_t *team_number,
                                               int32_t *initial_team_index, int32_t *stat) {
  PRIF_STATEMENT("prif_initial_team_index_with_team_number");
  uint32_t *const jobrank = malloc(caf.size * sizeof *jobrank);
  const uint32_t images = jobrank ? prif_sibling(*team_number, jobrank, TO_STAT) : 0;
  if (!jobrank)
    prif_fail(TO_STAT, PRIF_STAT_OUT_OF_MEMORY,
              "%s: out of memory for a table of %u images [TMB-0001]", caf.statement.call,
              caf.size);
  if (images) find_initial(*coarray_handle, sub, jobrank, images, initial_team_index, TO_STAT);
  free(jobrank);
}
PRIF_FLANG(initial_team_index_with_team_number)

void PRIF(this_image_with_coarray)(const prif_handle *coarray_handle, const prif_team *team,
                                   const struct prif_desc *cosubscripts) {
  PRIF_STATEMENT("prif_this_image_with_coarray");
  int64_t sub[CAF_RANK_MAX];
  const struct prif_co *const co = with_array(*coarray_handle, cosubscripts, "cosubscripts");
  prif_bounds_subscripts(co, prif_team_of(team, PRIF_NO_STATUS)->rank + 1, sub);
  for (int k = 0; k < co->corank; k++) store(cosubscripts, k, sub[k]);
}

void PRIF(this_image_with_dim)(const prif_handle *coarray_handle, const int32_t *dim,
                               const prif_team *team, int64_t *cosubscript) {
  PRIF_STATEMENT("prif_this_image_with_dim");
  int64_t sub[CAF_RANK_MAX];
  const struct prif_co *const co = with_dim(*coarray_handle, *dim);
  prif_bounds_subscripts(co, prif_team_of(team, PRIF_NO_STATUS)->rank + 1, sub);
  *cosubscript = sub[*dim - 1];
}
