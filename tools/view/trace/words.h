/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: numbers as words, and texts inside JSON and XML.
 *
 * Owns: nothing. Included by the analysis and the writers. Calls: nothing.
 * Invariants: see words.c.
 */
#ifndef TMB_TOOLS_VIEW_WORDS_H
#define TMB_TOOLS_VIEW_WORDS_H

#include <stdio.h>

#define VIEW_WORD_BYTES 32

/* "1.23 ms", "64 kB", "41 %". out text: [VIEW_WORD_BYTES]. Return text. */
const char *view_time(double ns, char *text);
/* A tick of an axis of time: all have the unit of the step. step: ns, from 1. */
const char *view_time_of_axis(double ns, double step, char *text);
const char *view_bytes(double bytes, char *text);
const char *view_percent(double part, double whole, char *text);
void view_json_text(FILE *to, const char *text);
void view_xml_text(FILE *to, const char *text);

#endif
