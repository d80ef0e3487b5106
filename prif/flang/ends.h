/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a program of flang 22, as the library hears of it.
 *
 * Owns nothing. Included by ends.c and by the part that programs link (program/program.c). Calls
 * nothing. Invariants: flang 22 ends a program in its own run-time library, which closes the units
 * and calls exit(); program.c calls this before.
 */
#ifndef PRIF_FLANG_ENDS_H
#define PRIF_FLANG_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum prif_flang_end { PRIF_FLANG_RUNS, PRIF_FLANG_STOPS, PRIF_FLANG_ERROR, PRIF_FLANG_FAILS };

/* Says how the program ends, and runs its stop callbacks. code, text [len]: NULL: it has none. */
void tombolo_prif_flang_ends(enum prif_flang_end how, bool quiet, const int32_t *code,
                             const char *text, size_t len);

/* Gives the library the function that writes the output of flang's units. */
void tombolo_prif_flang_flush(void (*flush)(void));

#endif
