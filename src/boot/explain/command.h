/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output of another program, for the explanation of a job.
 *
 * Owns: declarations of command.c. Called by source.c, stacks.c. Calls: nothing of the library.
 * Invariants: no shell is in between; a program that does not end in time is killed.
 */
#ifndef TMB_BOOT_EXPLAIN_COMMAND_H
#define TMB_BOOT_EXPLAIN_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* Run argv[0], found by PATH, and read its standard output. in argv: NULL-terminated; out buf: at
 * most bytes - 1 and a zero, the rest is dropped; in timeout_ms: for all of it. Returns whether it
 * was found, ended by itself with code 0, and printed something. Blocks. */
bool tmb_command_output(char *const argv[], char *buf, size_t bytes, int timeout_ms);

#endif
