/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: the events of a trace as columns of numbers, for the page.
 *
 * Owns: nothing. Included by page.c. Calls: nothing.
 * Invariants: a column is a script element of type text/plain, its id "column-" and its name, its
 * data-type the type of its numbers (u8, u16, u32, f32), little-endian, in base64.
 */
#ifndef TMB_TOOLS_VIEW_COLUMNS_H
#define TMB_TOOLS_VIEW_COLUMNS_H

#include "view/analysis/report.h"

#include <stdio.h>

/* Nanoseconds of one step of the columns' times. */
int64_t view_quantum(const struct view_trace *t);

void view_write_columns(const struct view_trace *t, const struct view_report *r, FILE *to);

#endif
