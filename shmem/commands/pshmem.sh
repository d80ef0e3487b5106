#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Writes pshmem.h: what shmem.h declares, by the names of the profiling interface.
# Usage: pshmem.sh COMPILER FOLDER_OF_SHMEM_H OUTPUT
set -eu
declared=$("$1" -E -P -DSHMEM_NO_GENERIC_ "$2/shmem.h" | tr '\n' ' ' | tr ';' '\n' |
  sed -n 's/^.*} *\([a-z]\)/\1/; s/^ *\(.*[ *]\)shmem_\([a-z0-9_]*\) *(\(.*\)$/\1pshmem_\2(\3;/p' |
  sed 's/^ *//; s/_Noreturn //')
{
  cat <<'END'
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pshmem.h: the profiling interface of OpenSHMEM (1.6, 10), made from shmem.h.
 *
 * Included by profiling libraries. Each routine shmem_X is a weak alias of pshmem_X: a library that
 * defines shmem_X takes its place, and calls pshmem_X.
 */
#ifndef PSHMEM_H
#define PSHMEM_H

#ifndef SHMEM_NO_INLINE
# define SHMEM_NO_INLINE 1 /* a tool may define the routines that have inline bodies */
#endif
#include "shmem.h"

#ifdef __cplusplus
extern "C" {
#endif
END
  printf '%s\n' "$declared" | grep -v typedef
  printf '\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n'
} >"$3"
