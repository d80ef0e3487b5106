/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of ranks for messages, as "0-3, 7".
 *
 * Owns: nothing. Called by supervise and `tombolo run`. Calls: libc.
 * Invariants: the text is always terminated and never longer than the buffer.
 */
#ifndef TMB_BOOT_RANKLIST_H
#define TMB_BOOT_RANKLIST_H

#include "base/compiler.h"

#include <sys/types.h>

#define TMB_RANKLIST_BYTES 256 /* enough for most lists: longer ones are cut with "..." */

/*
 * Format the ranks whose entry is not 0.
 * out buf: [bytes >= 8], always terminated; "none" if there is none.
 * in size: ranks; in pids: [size]. Returns buf.
 */
char *tmb_ranklist_format(char *buf, size_t bytes, uint32_t size, const pid_t *pids);

#endif
