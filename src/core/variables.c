/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Variables that a client may define itself or assign (API 08.2).
 *
 * Owns: their defaults. Read by core at initialisation and attach.
 * A debugger clears gasnet_frozen; the os layer waits on it. Invariant: weak, so that a client's
 * own definition replaces ours, in the static and in the shared library alike.
 */
#include "base/compiler.h"
#include "core/gex.h"
#include "gasnet_tools.h"
#include "os/process/debug.h"

TMB_WEAK const char *gasnet_max_segsize_str = NULL;
TMB_WEAK uint64_t gasnet_max_segsize = 0;
TMB_WEAK void (*gasnet_client_attach_hook)(void *segbase, uintptr_t size) = NULL;
TMB_WEAK volatile int gasnet_frozen = 0;
int gexx_tools_linkconfig_2025_8_0 = 1; /* GASNETT_LINKCONFIG_IDIOTCHECK: an int, as clients say */

TMB_AT_LOAD static void adopt_gasnet_frozen(void) {
  tmb_os_freeze_set_flag(&gasnet_frozen, "gasnet_frozen");
}
