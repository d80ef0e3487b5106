/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What gfortran 15 calls for coindexed objects, and 16 too: transfers by accessors.
 *
 * Owns nothing. Called by compiled programs. Calls: remote.c. Invariants: an accessor is a function
 * of the program that finds the object on the image that has it, so components and subscripts need
 * no description; its values travel as a copy of `add`. A get, and its answer, are one message
 * each. Earlier compilers call transfer.c and ref.c instead; one library serves both. Not tried
 * with a compiler: written from the manual's "Coarray Programming", tested by hand-made calls.
 */
#include "data/pending.h"
#include "data/remote.h"

#include <stdlib.h>
#include <string.h>

CAF_EXPORT void CAF(register_accessor)(int hash, void (*accessor)(void));
CAF_EXPORT void CAF(register_accessors_finish)(void);
CAF_EXPORT int CAF(get_remote_function_index)(int hash);
CAF_EXPORT void CAF(get_from_remote)(void *token, const struct caf_desc *src,
                                     const size_t *src_chars, int image, size_t dst_size,
                                     void **dst, size_t *dst_chars, struct caf_desc *dst_desc,
                                     bool may_realloc, int index, void *add, size_t add_bytes,
                                     int *stat, void **team, int *team_number);
CAF_EXPORT int32_t CAF(is_present_on_remote)(void *token, int image, int index, void *add,
                                             size_t add_bytes);
CAF_EXPORT void CAF(send_to_remote)(void *token, struct caf_desc *dst, const size_t *dst_chars,
                                    int image, size_t src_size, const void *src,
                                    const size_t *src_chars, const struct caf_desc *src_desc,
                                    int index, void *add, size_t add_bytes, int *stat, void **team,
                                    int *team_number);
CAF_EXPORT void CAF(transfer_between_remotes)(
    void *dst_token, struct caf_desc *dst_desc, size_t *dst_chars, int dst_image, int dst_index,
    void *dst_add, size_t dst_add_bytes, void *src_token, const struct caf_desc *src_desc,
    const size_t *src_chars, int src_image, int src_index, void *src_add, size_t src_add_bytes,
    size_t src_size, bool scalar, int *dst_stat, int *src_stat, void **dst_team,
    int *dst_team_number, void **src_team, int *src_team_number);

void CAF(register_accessor)(int hash, void (*accessor)(void)) {
  caf_accessor_add(hash, accessor);
}

void CAF(register_accessors_finish)(void) {
  caf_accessors_sort();
}

int CAF(get_remote_function_index)(int hash) {
  const int index = caf_accessor_index(hash);
  const struct caf_status none = {0};
  if (index < 0)
    caf_fail(&none, CAF_STAT_ERROR,
             "the compiler asks for accessor %d, which is not registered [TMB-2013]", hash);
  return index;
}

/* Ask an image of the named or current team; ends the statement when that fails. */
static bool ask_image(const struct caf_ask *ask, uint32_t rank, struct caf_answer *answer,
                      const struct caf_status *to) {
  if (rank == UINT32_MAX || !caf_address(ask->token, 0, 0, rank, to)) return false;
  if (caf.pending & CAF_UNDER_WAY)
    caf_complete(); /* the accessor may read what this image has written */
  const int code = caf_remote_call(rank, ask, answer);
  if (!code) return true;
  caf_fail(to, code, "image %u of the initial team %s [TMB-2012]", rank + 1,
           code == CAF_STAT_ERROR ? "has no memory for a transfer, or not the same program"
                                  : caf_end_name(code));
  return false;
}

/* Give an allocatable variable the shape of a result. Returns whether there is memory. */
static bool reshape(struct caf_desc *dst, const struct caf_desc *shape) {
  size_t elements = 1;
  bool same = dst->base != NULL && dst->dtype.rank == shape->dtype.rank;
  for (int d = 0; d < shape->dtype.rank; d++) {
    const ptrdiff_t n = shape->dim[d].ub - shape->dim[d].lb + 1;
    same = same && dst->dim[d].ub - dst->dim[d].lb + 1 == n;
    elements *= n > 0 ? (size_t)n : 0;
  }
  if (same) return true;
  const size_t len = shape->dtype.elem_len;
  void *memory = realloc(dst->base, elements * len + 1);
  if (!memory) return false;
  dst->base = memory;
  dst->dtype = shape->dtype;
  dst->span = (ptrdiff_t)len;
  dst->offset = 0;
  ptrdiff_t stride = 1;
  for (int d = 0; d < shape->dtype.rank; d++) {
    const ptrdiff_t n = shape->dim[d].ub - shape->dim[d].lb + 1;
    dst->dim[d] = (struct caf_dim){stride, 1, n};
    dst->offset -= (size_t)stride;
    stride *= n;
  }
  return true;
}

/* Where the result of a get goes. */
struct target {
  void **dst;
  size_t *chars;
  struct caf_desc *desc;
  bool may_realloc;
};

static void store(const struct target *t, const struct caf_answer *a, const struct caf_status *to) {
  if (t->chars) *t->chars = a->chars;
  if (t->desc) {
    if (t->may_realloc && !reshape(t->desc, &a->desc)) {
      caf_fail(to, CAF_STAT_ERROR,
               "out of memory for an assignment to an allocatable variable [TMB-0001]");
      return;
    }
    struct caf_section s;
    caf_section_of(&s, t->desc, t->desc->base, NULL);
    if (caf_section_elements(&s) * s.elem_len <= a->bytes) caf_section_unpack(&s, a->data);
    if (t->dst) *t->dst = t->desc->base;
  } else {
    if (t->may_realloc) {
      void *memory = realloc(*t->dst, a->bytes + 1);
      if (memory) *t->dst = memory;
    }
    memcpy(*t->dst, a->data, a->bytes);
  }
  caf_ok(to->stat);
}

void CAF(get_from_remote)(void *token, const struct caf_desc *src, const size_t *src_chars,
                          int image, size_t dst_size, void **dst, size_t *dst_chars,
                          struct caf_desc *dst_desc, bool may_realloc, int index, void *add,
                          size_t add_bytes, int *stat, void **team, int *team_number) {
  CAF_STATEMENT("get");
  const struct caf_status to = {.stat = stat};
  const struct caf_ask ask = {.kind = CAF_ACCESS_GET,
                              .index = index,
                              .token = token,
                              .object = src,
                              .object_chars = src_chars,
                              .add = add,
                              .add_bytes = add_bytes,
                              .result_bytes = dst_size,
                              .result_desc = dst_desc != NULL};
  const struct target target = {dst, dst_chars, dst_desc, may_realloc};
  struct caf_answer answer = {.data = NULL};
  if (ask_image(&ask, caf_rank_in(image, team, team_number, &to), &answer, &to))
    store(&target, &answer, &to);
  free(answer.data);
}

int32_t CAF(is_present_on_remote)(void *token, int image, int index, void *add, size_t add_bytes) {
  const struct caf_status to = {0};
  const struct caf_ask ask = {.kind = CAF_ACCESS_PRESENT,
                              .index = index,
                              .token = token,
                              .add = add,
                              .add_bytes = add_bytes};
  struct caf_answer answer = {.data = NULL};
  return ask_image(&ask, caf_rank(image, &to), &answer, &to) ? answer.present : 0;
}

/* A descriptor of packed data with the shape of another. */
static struct caf_desc packed_like(const struct caf_desc *desc) {
  struct caf_desc d;
  memcpy(&d, desc, offsetof(struct caf_desc, dim));
  d.span = (ptrdiff_t)desc->dtype.elem_len;
  d.offset = 0;
  ptrdiff_t stride = 1;
  for (int i = 0; i < desc->dtype.rank; i++) {
    const ptrdiff_t n = desc->dim[i].ub - desc->dim[i].lb + 1;
    d.dim[i] = (struct caf_dim){stride, 1, n > 0 ? n : 0};
    d.offset -= (size_t)stride;
    stride *= d.dim[i].ub;
  }
  return d;
}

void CAF(send_to_remote)(void *token, struct caf_desc *dst, const size_t *dst_chars, int image,
                         size_t src_size, const void *src, const size_t *src_chars,
                         const struct caf_desc *src_desc, int index, void *add, size_t add_bytes,
                         int *stat, void **team, int *team_number) {
  CAF_STATEMENT("put");
  const struct caf_status to = {.stat = stat};
  struct caf_ask ask = {.kind = CAF_ACCESS_PUT,
                        .index = index,
                        .token = token,
                        .object = dst,
                        .object_chars = dst_chars,
                        .add = add,
                        .add_bytes = add_bytes,
                        .data = src,
                        .data_bytes = src_size * (src_chars ? *src_chars : 1),
                        .data_chars = src_chars};
  struct caf_desc shape;
  void *copy = NULL;
  if (src_desc) {
    struct caf_section s;
    caf_section_of(&s, src_desc, src_desc->base, NULL);
    shape = packed_like(src_desc);
    ask.data_desc = &shape;
    ask.data_bytes = caf_section_elements(&s) * s.elem_len;
    ask.data = copy = malloc(ask.data_bytes + 1);
    if (!copy) {
      caf_fail(&to, CAF_STAT_ERROR, "out of memory: %zu bytes for a transfer [TMB-0001]",
               ask.data_bytes);
      return;
    }
    caf_section_pack(&s, copy);
  }
  struct caf_answer answer;
  if (ask_image(&ask, caf_rank_in(image, team, team_number, &to), &answer, &to)) caf_ok(stat);
  free(copy);
}

void CAF(transfer_between_remotes)(void *dst_token, struct caf_desc *dst_desc, size_t *dst_chars,
                                   int dst_image, int dst_index, void *dst_add,
                                   size_t dst_add_bytes, void *src_token,
                                   const struct caf_desc *src_desc, const size_t *src_chars,
                                   int src_image, int src_index, void *src_add,
                                   size_t src_add_bytes, size_t src_size, bool scalar,
                                   int *dst_stat, int *src_stat, void **dst_team,
                                   int *dst_team_number, void **src_team, int *src_team_number) {
  CAF_STATEMENT("put");
  const struct caf_status dst_to = {.stat = dst_stat}, src_to = {.stat = src_stat};
  const struct caf_ask get = {.kind = CAF_ACCESS_GET,
                              .index = src_index,
                              .token = src_token,
                              .object = src_desc,
                              .object_chars = src_chars,
                              .add = src_add,
                              .add_bytes = src_add_bytes,
                              .result_bytes = src_size,
                              .result_desc = !scalar};
  struct caf_answer between = {.data = NULL}, answer;
  const uint32_t from = caf_rank_in(src_image, src_team, src_team_number, &src_to);
  if (!ask_image(&get, from, &between, &src_to)) return;
  const size_t chars = between.chars;
  const struct caf_desc shape = packed_like(&between.desc);
  const struct caf_ask put = {.kind = CAF_ACCESS_PUT,
                              .index = dst_index,
                              .token = dst_token,
                              .object = dst_desc,
                              .object_chars = dst_chars,
                              .add = dst_add,
                              .add_bytes = dst_add_bytes,
                              .data = between.data,
                              .data_bytes = between.bytes,
                              .data_desc = scalar ? NULL : &shape,
                              .data_chars = chars ? &chars : NULL};
  const uint32_t into = caf_rank_in(dst_image, dst_team, dst_team_number, &dst_to);
  if (ask_image(&put, into, &answer, &dst_to)) {
    caf_ok(dst_stat);
    caf_ok(src_stat);
  }
  free(between.data);
}
