/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the run-time library in this process.
 *
 * Owns: struct caf. Used by every file of coarray/. Calls nothing. Invariants: zero until
 * caf_start; the fields say who writes them.
 */
#include "caf.h"

struct caf caf;
_Thread_local bool caf_is_server;
