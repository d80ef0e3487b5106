/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzer: the file that `tombolo view` reads: loaded, arranged, analysed, and written as a summary
 * and as a drawing. Whatever the file says, events lie where the analysis may look for them. */
#include "../../tools/view/analysis/report.h"
#include "../../tools/view/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What trace.h promises of arranged events. */
static void check(const struct view_trace *t) {
  for (size_t i = 0; i < t->tracks; i++) {
    const struct view_track *track = &t->track[i];
    if (track->rank >= t->ranks || track->first + (size_t)track->count > t->events) abort();
    for (uint32_t p = 1; p < track->pieces; p++)
      if (t->piece[track->piece + p].start != t->piece[track->piece + p - 1].end) abort();
  }
  for (size_t i = 0; i < t->arrows; i++)
    if (t->arrow[i].from >= t->events || t->arrow[i].to >= t->events) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FILE *nowhere;
  struct view_trace t = {.program = VIEW_NONE};
  struct view_report r = {.share = NULL};
  char why[VIEW_WHY_BYTES], *text = malloc(size + !size);
  if (!text) abort();
  if (!nowhere && !(nowhere = fopen("/dev/null", "w"))) abort();
  memcpy(text, data, size);
  const int rc = view_load(&t, text, size, why);
  free(text);
  if (rc == 0 && t.ranks <= 64) {
    view_arrange(&t);
    check(&t);
    view_analyse(&t, &r);
    view_write_summary(&t, &r, nowhere);
    view_write_diagram(&t, &r, 0, 0, nowhere);
    view_report_free(&r);
  }
  view_trace_free(&t);
  return 0;
}
