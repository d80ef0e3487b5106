/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parsing and formatting of numbers, memory sizes, durations, booleans and rank lists.
 *
 * Owns: nothing. Called by config, the tools API (gasnett_parse_int, gasnett_format_number),
 * tools/. Calls: libc only. Independent of the locale for everything it formats. Invariants: a
 * parser either consumes the whole text (surrounding blanks apart) and writes its output, or
 * returns TMB_E_ARG and leaves the output untouched. Nothing here logs or ends the process.
 */
#ifndef TMB_BASE_FMT_H
#define TMB_BASE_FMT_H

#include "base/compiler.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

/* A buffer of this many bytes holds every result of the formatters here. */
#define TMB_FMT_BYTES 32

/*
 * Parse an integer or a memory size (API 09 section 9).
 * in text: may be NULL or empty, which gives 0.
 * in unit_bytes: 0: decimal or 0x hexadecimal, with sign; else a size, optionally fractional and
 * with a suffix B, KB, MB, GB, TB, PB (binary, any case, "K", "KiB" too); without suffix it is
 * times unit_bytes. out value: the result, rounded down to whole bytes. Returns 0, or TMB_E_ARG for
 * malformed text or a result outside int64_t. Threads: any.
 */
int tmb_fmt_parse_int(const char *text, uint64_t unit_bytes, int64_t *value);

/* Parse a floating-point number or a fraction "3/8". Returns 0 or TMB_E_ARG. */
int tmb_fmt_parse_dbl(const char *text, double *value);

/* Parse 1|y|yes|true|on or 0|n|no|false|off in any letter case. Returns 0 or TMB_E_ARG. */
int tmb_fmt_parse_bool(const char *text, bool *value);

/*
 * Parse a duration: a number with suffix ns, us, ms, s, min or h; without suffix times unit_ns.
 * out ns: nanoseconds, >= 0. Returns 0 or TMB_E_ARG.
 */
int tmb_fmt_parse_duration(const char *text, uint64_t unit_ns, uint64_t *ns);

/* A segment limit as in GASNET_MAX_SEGSIZE: "<size or fraction of memory>[/P|/H]". */
struct tmb_segsize {
  uint64_t bytes;  /* absolute size, 0 if `fraction` holds the limit */
  double fraction; /* of the memory limit, 0 < fraction <= 1, or 0 */
  bool per_host;   /* true: for all ranks of a host together (/H); false: per process (/P) */
};

/*
 * Parse a segment limit: "0.85/H", "85%", "1.5GB/P", "65536". A number that is not above 1 and has
 * no suffix is a fraction; a plain integer above 1 counts bytes; without /P or /H the limit is per
 * process. Returns 0 or TMB_E_ARG.
 */
int tmb_fmt_parse_segsize(const char *text, struct tmb_segsize *out);

/*
 * Test a rank against a list such as "0,2-4,6" or "*"; an empty or NULL list names every rank.
 * Returns 1 if named, 0 if not, TMB_E_ARG for malformed text.
 */
int tmb_fmt_rank_listed(const char *list, uint32_t rank);

/*
 * Format a number as gasnett_format_number does (API 09 section 9).
 * out buf: [buf_bytes], truncated and NUL-terminated if too small; TMB_FMT_BYTES always suffices.
 * in is_mem_size: false: plain decimal; true: quotient, space, unit (the largest unit that either
 * divides the value or leaves a quotient of at least 10), 0x hexadecimal from 2^50 on. Returns buf.
 */
char *tmb_fmt_number(int64_t value, char *buf, size_t buf_bytes, bool is_mem_size);

/* snprintf with a decimal point, whatever the locale. */
TMB_PRINTF(3, 4) int tmb_fmt_print(char *buf, size_t buf_bytes, const char *fmt, ...);

/* Format bytes for people with three significant digits: "1.50 GB". Returns buf. */
char *tmb_fmt_bytes(uint64_t bytes, char *buf, size_t buf_bytes);

/*
 * Length of the edit script between two names: insertions, deletions, substitutions and swaps of
 * neighbours, letter case ignored. Texts longer than 63 characters count as their first 63.
 */
unsigned tmb_fmt_edit_distance(const char *a, const char *b);

/* Write text as a string of JSON, with its quotes; bytes that are no UTF-8 become U+FFFD. */
void tmb_fmt_json(FILE *f, const char *text);

#endif
