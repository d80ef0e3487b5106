/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: the order of the whole analysis.
 *
 * Owns: nothing global. Called by view.c. Calls: the parts of the analysis. Invariants: advice
 * comes last, from sums that are in order.
 */
#include "view/analysis/report.h"

void view_analyse(const struct view_trace *t, struct view_report *r) {
  view_measure(t, r);
  view_find_crowded(t, r);
  view_find_waits(t, r);
  view_find_meetings(t, r);
  view_overlap(t, r);
  view_find_path(t, r);
  view_sort_report(r);
  view_advise(t, r);
}
