/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * prif_co_sum, prif_co_min, prif_co_max, those of characters, and prif_co_broadcast.
 *
 * Owns nothing. Called by programs. Calls: coarray/collective. Invariants: type and kind are those
 * of the descriptor; the layer reduces once and sends the result, so it is equal on all images.
 */
#include "collective/argument.h"

static void fold(const struct prif_desc *a, const char *procedure, enum caf_fold kind,
                 const int32_t *result_image, const struct prif_status *to) {
  struct prif_core core;
  struct caf_section s;
  struct caf_elem e;
  int image;
  if (!prif_result_image(result_image, procedure, &image, to)) return;
  prif_desc_section(&s, a);
  prif_desc_elem(&e, a);
  caf_fold_run(&s, &e, image, kind, prif_core(&core, to));
  prif_pass(to, &core);
}

#define FOLD(NAME, STATEMENT, KIND)                                                     \
 void PRIF(NAME)(const struct prif_desc *a, const int32_t *result_image, PRIF_STATUS) { \
  PRIF_STATEMENT(STATEMENT);                                                            \
  fold(a, "prif_" #NAME, KIND, result_image, PRIF_TO);                                  \
 }
FOLD(co_sum, "CO_SUM", CAF_FOLD_SUM)
FOLD(co_min, "CO_MIN", CAF_FOLD_MIN)
FOLD(co_max, "CO_MAX", CAF_FOLD_MAX)
FOLD(co_min_character, "CO_MIN", CAF_FOLD_MIN)
FOLD(co_max_character, "CO_MAX", CAF_FOLD_MAX)

/* ---- broadcast */

static void broadcast(const struct caf_section *s, const char *procedure, int32_t source,
                      const struct prif_status *to) {
  struct prif_core core;
  if (!prif_member(source, procedure, "source_image", to)) return;
  caf_broadcast_run(s, source, prif_core(&core, to));
  prif_pass(to, &core);
}

void PRIF(co_broadcast)(const struct prif_desc *a, const int32_t *source_image, PRIF_STATUS) {
  struct caf_section s;
  PRIF_STATEMENT("CO_BROADCAST");
  prif_desc_section(&s, a);
  broadcast(&s, "prif_co_broadcast", *source_image, PRIF_TO);
}

void PRIF(co_broadcast_cptr)(void *const *a_ptr, const size_t *size_in_bytes,
                             const int32_t *source_image, PRIF_STATUS) {
  struct caf_section s;
  PRIF_STATEMENT("CO_BROADCAST");
  prif_plain_section(&s, *a_ptr, *size_in_bytes, 1);
  broadcast(&s, "prif_co_broadcast_cptr", *source_image, PRIF_TO);
}
