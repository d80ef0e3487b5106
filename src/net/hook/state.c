/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the hooks of this process, see struct tmb_hooks in hook.h.
 *
 * Owns: the one struct tmb_hooks. Calls nothing. A process has one because upcalls have no argument
 * that could lead to another.
 */
#include "net/hook/hook.h"

struct tmb_hooks tmb_hooks;
