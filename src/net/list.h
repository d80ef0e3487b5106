/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conduits that are part of the library; all others are plug-ins.
 *
 * Owns: declarations of list.c. Read by core/client/conduit.c. Calls nothing. Invariant: a name
 * occurs once.
 */
#ifndef TMB_NET_LIST_H
#define TMB_NET_LIST_H

#include "net/net.h"

/* Ended by NULL. */
extern const struct tmb_net_ops *const tmb_net_built_in[];

#endif
