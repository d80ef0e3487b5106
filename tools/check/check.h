/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo run --check`: prepare the ranks, and print what was found.
 *
 * Owns: struct check_run. Called by tools/run. Calls: lines.c, print.c. The memory that the ranks
 * share has the layout of check/area.h. Invariants: the ranks find it by the path of a descriptor
 * of the launcher, so nothing has a name in a file system, and nothing is left; lines are found
 * after the ranks have ended.
 */
#ifndef TMB_TOOL_CHECK_H
#define TMB_TOOL_CHECK_H

#include "check/area.h"

#include <stdbool.h>
#include <stdio.h>

struct check_run {
  const char *list; /* races, leaks, misuse; NULL: nothing is checked */
  const char *json; /* file for the findings, or NULL */
  struct chk_area *area;
  int fd;
};

/* Read the list of --check. Returns 0, or the exit code of a usage error after a message. */
int check_parse(struct check_run *run, const char *list);

/* Make the area, and set what the ranks need in the environment. Returns 0 or an exit code. */
int check_begin(struct check_run *run, uint32_t ranks);

/* Print the findings. in code: of the job. Returns the exit code of the run. */
int check_end(struct check_run *run, int code);

/* Load a runtime before the program, in all ranks. in file: its name, beside the library; option:
 * of `tombolo run`, for messages. Returns 0 or an exit code after a message. */
int check_load(const char *file, const char *option);

/* ---- lines.c */

/* A line of a program. */
struct check_line {
  char *file; /* NULL: not known; owned */
  unsigned line;
};

/* The lines of all sites of an area, [area->sites]; free with check_lines_free. NULL: no memory. */
struct check_line *check_lines(struct chk_area *area);
void check_lines_free(struct check_line *lines, uint32_t count);

/* The line of one return address, an offset in a module; free its file. */
struct check_line check_line_of(const char *module, uint64_t offset);

/* ---- print.c */
void check_print_text(struct chk_area *area, const struct check_line *lines, FILE *out);
void check_print_json(struct chk_area *area, const struct check_line *lines, FILE *out);

#endif
