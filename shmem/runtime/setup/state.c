/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the OpenSHMEM library in this process.
 *
 * Owns: struct sh_state. Used by all files. Calls nothing. Invariants: start.c fills it in before
 * any other call; its lock guards the lists of teams and contexts.
 */
#include "../sh.h"

struct sh_state sh = {.lock = PTHREAD_MUTEX_INITIALIZER, .ctx.team = &sh.world};
