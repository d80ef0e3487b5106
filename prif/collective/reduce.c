/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * prif_co_reduce and prif_co_reduce_cptr: reductions by a procedure of the program.
 *
 * Owns nothing. Called by programs. Calls: coarray/collective. Invariants: operands are taken in
 * the order of images, for the operation is associative, not always commutative; a call gets the
 * `cdata` of its own image.
 */
#include "collective/argument.h"

/* Arguments of the program. */
struct operation {
  prif_operation_fn *wrapper;
  void *cdata;
};

static void apply(const void *first, void *both_and_out, size_t count, const void *cdata) {
  const struct operation *op = cdata;
  op->wrapper((void *)(uintptr_t)first, both_and_out, count, op->cdata);
}

static void reduce(const struct caf_section *s, const char *procedure, struct operation *op,
                   const int32_t *result_image, const struct prif_status *to) {
  struct prif_core core;
  int image;
  if (!op->wrapper) {
    prif_fail(to, PRIF_STAT_ERROR, "%s: operation_wrapper is not associated: set it [TMB-2245]",
              procedure);
    return;
  }
  if (!prif_result_image(result_image, procedure, &image, to)) return;
  const struct caf_reduction how = {
      .name = "CO_REDUCE", .dt = GEX_DT_USER, .op = GEX_OP_USER_NC, .fn = apply, .cdata = op};
  caf_reduce_run(s, image, &how, prif_core(&core, to));
  prif_pass(to, &core);
}

void PRIF(co_reduce)(const struct prif_desc *a, prif_operation_fn *const *operation_wrapper,
                     void *cdata, const int32_t *result_image, PRIF_STATUS) {
  struct operation op = {*operation_wrapper, cdata};
  struct caf_section s;
  PRIF_STATEMENT("CO_REDUCE");
  prif_desc_section(&s, a);
  reduce(&s, "prif_co_reduce", &op, result_image, PRIF_TO);
}

void PRIF(co_reduce_cptr)(void *const *a_ptr, const size_t *element_size,
                          const size_t *element_count, prif_operation_fn *const *operation_wrapper,
                          void *cdata, const int32_t *result_image, PRIF_STATUS) {
  struct operation op = {*operation_wrapper, cdata};
  struct caf_section s;
  PRIF_STATEMENT("CO_REDUCE");
  prif_plain_section(&s, *a_ptr, *element_count, *element_size);
  reduce(&s, "prif_co_reduce_cptr", &op, result_image, PRIF_TO);
}
