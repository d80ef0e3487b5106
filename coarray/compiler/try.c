/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run of an accessor whose result is kept.
 *
 * Owns nothing beyond a call. Called by trial.c and follow_run.c. Calls: accessors. Invariants: the
 * result is copied within the run, as an accessor may return the place of elements that it has not
 * read.
 */
#include "compiler/try.h"

#include "section.h"

#include <stdlib.h>
#include <string.h>

/* Keeps the elements of the result of a get. */
static void see_result(struct caf_seen *seen, const struct caf_ask *ask,
                       const struct caf_found *found) {
  struct caf_section s = {.base = found->at, .elem_len = ask->result_bytes};
  if (ask->result_chars) s.elem_len *= ask->result_chars;
  if (ask->result) caf_section_of(&s, &found->desc, found->at, NULL);
  seen->bytes = caf_section_elements(&s) * s.elem_len;
  seen->result = malloc(seen->bytes + 1);
  if (seen->result) caf_section_pack(&s, seen->result);
}

int caf_try(const struct caf_ask *ask, char *object, struct caf_seen *seen) {
  struct caf_found found;
  struct caf_desc shape = {.base = NULL};
  struct caf_ask own = *ask;
  const struct caf_asker self = {caf.rank, (uintptr_t)ask->add};
  *seen = (struct caf_seen){.bytes = 0};
  if (ask->result) {
    shape.dtype = ask->result->dtype;
    own.result = &shape;
  }
  const int code = caf_accessor_call(&own, object, &self, &found);
  if (!code && ask->kind == CAF_ACCESS_GET && found.at) see_result(seen, ask, &found);
  if (!code && ask->kind == CAF_ACCESS_PRESENT) {
    seen->bytes = sizeof found.present;
    seen->result = malloc(seen->bytes);
    if (seen->result) memcpy(seen->result, &found.present, seen->bytes);
  }
  return code;
}

bool caf_try_differs(const struct caf_seen *one, const struct caf_seen *two) {
  return one->result && two->result && one->bytes == two->bytes &&
         memcmp(one->result, two->result, one->bytes) != 0;
}
