/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments that several collective subroutines have.
 *
 * Owns nothing. Called by the files of prif/collective. Calls: prif.h. Invariants: as in
 * argument.h.
 */
#include "collective/argument.h"

#include <string.h>

bool prif_member(int32_t image, const char *procedure, const char *argument,
                 const struct prif_status *to) {
  if (image >= 1 && (uint32_t)image <= caf.team->size) return true;
  prif_fail(to, PRIF_STAT_ERROR, "%s: %s is %d: the current team has images 1 to %u [TMB-2244]",
            procedure, argument, image, caf.team->size);
  return false;
}

bool prif_result_image(const int32_t *result_image, const char *procedure, int *image,
                       const struct prif_status *to) {
  *image = result_image ? *result_image : 0;
  return !result_image || prif_member(*result_image, procedure, "result_image", to);
}

void prif_plain_section(struct caf_section *s, void *base, size_t count, size_t bytes) {
  memset(s, 0, sizeof *s);
  s->base = base;
  s->levels = 1;
  s->elem_len = bytes;
  s->count[0] = count;
  s->stride[0] = (ptrdiff_t)bytes;
}
