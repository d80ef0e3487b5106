/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the OpenSHMEM library in this process.
 *
 * Owns: struct sh. Used by all files. Calls nothing. Invariants: zero until shmem_init.
 */
#include "../sh.h"

struct sh_state sh = {.lock = PTHREAD_MUTEX_INITIALIZER};
