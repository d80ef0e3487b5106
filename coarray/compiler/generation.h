/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Constants that gfortran 15 and 16 pass in different ways by equal calls.
 *
 * Owns: the constants' names. Included by the files of this folder; compiler12.c defines them for
 * libcaf_tombolo, compiler16.c for libcaf_tombolo16. Calls nothing. Invariants: gfortran up to 15
 * needs libcaf_tombolo, from 16 on libcaf_tombolo16.
 */
#ifndef CAF_GENERATION_H
#define CAF_GENERATION_H

#include <stdbool.h>

/* Whether an accessor that asks for ALLOCATED of a component of a scalar takes the address of a
 * pointer to the scalar; else the scalar's. */
extern const bool caf_scalars_by_pointer;

#endif
