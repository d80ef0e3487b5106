/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where in the program ranks were when a fatal signal ended them.
 *
 * Owns: declarations of crashes.c. Called by supervisors. Calls: addr2line of binutils or
 * eu-addr2line of elfutils, where one is installed. Invariants: what ranks have written is taken
 * for no index or length unchecked; ranks at the same place are named together.
 */
#ifndef TMB_BOOT_EXPLAIN_CRASHES_H
#define TMB_BOOT_EXPLAIN_CRASHES_H

#include "boot/page/ctl.h"

/* Print functions and lines of the ranks of this machine that have crashed since the last call.
 * in limit_ms: for all of them together; what is not found by then is printed as file and offset.
 * Blocks. */
void tmb_crashes_print(const struct tmb_ctl *ctl, uint32_t limit_ms);

/* Prints the crash of a job of one rank that no supervisor watches. in crash: of rank 0. */
void tmb_crash_print_alone(const struct tmb_crash *crash, uint32_t limit_ms);

#endif
