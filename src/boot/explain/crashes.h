/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places in the program where ranks were when a fatal signal ended them.
 *
 * Owns: declarations of crashes.c. Called by supervisors, and for several hosts by far_crashes.c of
 * the agents. Calls: addr2line of binutils or eu-addr2line of elfutils, where one is installed.
 * Invariants: what ranks have written is taken for no index or length unchecked; ranks at the same
 * place are named together.
 */
#ifndef TMB_BOOT_EXPLAIN_CRASHES_H
#define TMB_BOOT_EXPLAIN_CRASHES_H

#include "boot/page/ctl.h"

/* Print functions and lines of the ranks of this machine that have crashed since the last call.
 * in limit_ms: for all of them together; what is not found by then is printed as file and offset.
 * Blocks. */
void tmb_crashes_print(const struct tmb_ctl *ctl, uint32_t limit_ms);

/* Takes ranks that have crashed at one place. in ranks: [size] not 0 for these; text: functions and
 * lines, each after the end of a line. */
typedef void tmb_crash_fn(void *arg, uint32_t size, const pid_t *ranks, const char *text);

/* As tmb_crashes_print, but hands each group to fn instead. Those whose lines are not found by then
 * stay for a later call. */
void tmb_crashes_each(const struct tmb_ctl *ctl, uint32_t limit_ms, tmb_crash_fn *fn, void *arg);

/* Prints what tmb_crashes_each hands over. in arg: not used */
void tmb_crash_print(void *arg, uint32_t size, const pid_t *ranks, const char *text);

/* Prints the crash of a job of one rank that no supervisor watches. in crash: of rank 0. */
void tmb_crash_print_alone(const struct tmb_crash *crash, uint32_t limit_ms);

#endif
