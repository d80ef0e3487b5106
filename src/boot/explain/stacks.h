/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places in the program where ranks are: the innermost frames of each thread that are not the
 * library's.
 *
 * Owns: declarations of stacks.c. Called by `tombolo why` and the watchdog. Calls: eu-stack of
 * elfutils or gdb, where one is installed. Invariants: only ranks of this machine are read;
 * each is stopped while its stack is read, some tenths of a second.
 */
#ifndef TMB_BOOT_EXPLAIN_STACKS_H
#define TMB_BOOT_EXPLAIN_STACKS_H

#include "boot/explain/explain.h"

/* Print the frames of ranks, in paragraphs. in all: of all ranks; else, at most four that hang or
 * keep others waiting, and are at different places. in limit_ms: for all ranks together, 0: each
 * has some seconds. Returns how many ranks could be read. */
uint32_t tmb_stacks_print(const struct tmb_explain *e, FILE *out, bool all, uint32_t limit_ms);

/* Whether a function is the library's, or of a run-time library that comes with it. in module: path
 * of the file that has it, or empty where that is not known. */
bool tmb_stacks_is_ours(const char *name, const char *module);

/* Whether a function is around every program and thread. */
bool tmb_stacks_is_outside(const char *name);

#endif
