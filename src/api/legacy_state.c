/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The team of GASNet-1 calls, and the rank and size that older clients read as variables.
 *
 * Owns: gexx_legacy_tm, gasneti_mynode, gasneti_nodes. Set by layers.c at initialisation and by
 * legacy.c at attach; read by the inlines of gasnet.h. Calls nothing. Invariant: legacy.c says when
 * gexx_legacy_tm is non-NULL.
 */
#include "core/gex.h"

#include <gasnet.h>

gex_TM_t gexx_legacy_tm;
gasnet_node_t gasneti_mynode, gasneti_nodes;
