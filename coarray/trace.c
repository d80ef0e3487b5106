/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions of a Fortran program in a trace (`tombolo run --trace`).
 *
 * Owns: nothing. Called by Fortran programs through the module tombolo_caf. Calls: gexx_Trace_Begin
 * and gexx_Trace_End, which copy the name and do nothing without a trace. Invariant: the blanks at
 * the end of a name, which Fortran fills up with, are not part of it.
 */
#include "caf.h"

#include <gasnetex_ext.h>

#include <ISO_Fortran_binding.h>
#include <string.h>

enum { NAME_MAX_BYTES = 64 }; /* of a region, with the zero */

CAF_EXPORT void tombolo_caf_trace_begin(const CFI_cdesc_t *name);
CAF_EXPORT void tombolo_caf_trace_end(void);

void tombolo_caf_trace_begin(const CFI_cdesc_t *name) {
  char text[NAME_MAX_BYTES];
  const char *const from = name->base_addr;
  size_t bytes = name->elem_len < sizeof text ? name->elem_len : sizeof text - 1;
  while (bytes && from[bytes - 1] == ' ') bytes--;
  memcpy(text, from, bytes);
  text[bytes] = 0;
  gexx_Trace_Begin(text);
}

void tombolo_caf_trace_end(void) {
  gexx_Trace_End();
}
