/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fortran compilers, as `tombolo fc` knows them.
 *
 * Owns nothing. Included by fc.c. Calls the compilers. Invariants: a compiler is asked once, and
 * names itself; one that cannot be run is taken by its name.
 */
#ifndef FC_COMPILER_H
#define FC_COMPILER_H

#include <stdbool.h>

#define FLANG_FIRST    22 /* the first one with -fcoarray */
#define GFORTRAN_PRIF  12 /* the first one that compiles the module prif */
#define COMPILER_BYTES 32

struct fc_compiler {
  bool is_flang;
  int major;                    /* first number of its version; 0: it printed none */
  char version[COMPILER_BYTES]; /* all that it printed, as "22.1.8" */
  char modules[COMPILER_BYTES]; /* folder of its modules, as "12", "flang-22"; "": unknown */
};

/* Asks a compiler for its name and version. */
void fc_compiler_ask(struct fc_compiler *compiler, const char *command);

/* Whether $FC names a compiler that is known here, and nothing else. */
bool fc_compiler_is_known(const char *command);

#endif
