/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: writers of a trace and its report.
 *
 * Owns: nothing. Included by view.c and the writers. Calls: nothing.
 * Invariants: a writer reports an error of its stream by its return value only; all texts of a
 * trace are escaped for the language that they are written into.
 */
#ifndef TMB_TOOLS_VIEW_OUTPUT_H
#define TMB_TOOLS_VIEW_OUTPUT_H

#include "view/analysis/report.h"

#include <stdio.h>

/* page.c: the HTML page. summary.c: plain text. diagram.c: an SVG of [from, to) in ns, 0: all.
 * compare.c: two traces as text. Return 0, or -1 when writing failed. */
struct view_side {
  const char *file;
  const struct view_trace *t;
  const struct view_report *r;
};
int view_write_compare(const struct view_side *before, const struct view_side *after, FILE *to);
int view_write_page(const struct view_trace *t, const struct view_report *r, const char *title,
                    FILE *to);
int view_write_summary(const struct view_trace *t, const struct view_report *r, FILE *to);
int view_write_diagram(const struct view_trace *t, const struct view_report *r, int64_t from,
                       int64_t until, FILE *to);

/* assets.c: the files of the page, as they were when the command was built. */
struct view_asset {
  const char *name, *text, *end;
};
const struct view_asset *view_asset(const char *name);

#endif
