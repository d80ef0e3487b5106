/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the library that programs of flang 22 link: it notices how a program ends.
 *
 * Owns nothing. Called by compiled programs, which are linked with --wrap for each of these
 * functions of flang's run-time library (docs/PRIF.md). Calls: prif/flang, and the functions
 * themselves. Invariants: it is no part of libprif_tombolo, whose calls --wrap does not reach.
 */
#include "flang/ends.h"

/* Of flang's run-time library. */
void __real__FortranAProgramEndStatement(void);
void __real__FortranAFailImageStatement(void);
void __real__FortranAStopStatement(int code, bool is_error, bool quiet);
void __real__FortranAStopStatementText(const char *text, size_t len, bool is_error, bool quiet);
void _FortranAFlush(int unit);

void __wrap__FortranAProgramEndStatement(void);
void __wrap__FortranAFailImageStatement(void);
void __wrap__FortranAStopStatement(int code, bool is_error, bool quiet);
void __wrap__FortranAStopStatementText(const char *text, size_t len, bool is_error, bool quiet);

static void flush_units(void) {
  enum { ALL_UNITS = -1 };
  _FortranAFlush(ALL_UNITS);
}

__attribute__((constructor)) static void start(void) {
  tombolo_prif_flang_flush(flush_units);
}

void __wrap__FortranAProgramEndStatement(void) {
  tombolo_prif_flang_ends(PRIF_FLANG_STOPS, true, NULL, NULL, 0);
  __real__FortranAProgramEndStatement();
}

void __wrap__FortranAFailImageStatement(void) {
  tombolo_prif_flang_ends(PRIF_FLANG_FAILS, true, NULL, NULL, 0);
  __real__FortranAFailImageStatement();
}

void __wrap__FortranAStopStatement(int code, bool is_error, bool quiet) {
  const int32_t code32 = code;
  tombolo_prif_flang_ends(is_error ? PRIF_FLANG_ERROR : PRIF_FLANG_STOPS, quiet, &code32, NULL, 0);
  __real__FortranAStopStatement(code, is_error, quiet);
}

void __wrap__FortranAStopStatementText(const char *text, size_t len, bool is_error, bool quiet) {
  tombolo_prif_flang_ends(is_error ? PRIF_FLANG_ERROR : PRIF_FLANG_STOPS, quiet, NULL, text, len);
  __real__FortranAStopStatementText(text, len, is_error, quiet);
}
