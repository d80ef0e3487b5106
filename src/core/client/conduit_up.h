/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The upcalls that a conduit gets.
 *
 * Owns: declarations of conduit_up.c. Read by conduit.c. Calls nothing. Invariant: every conduit
 * gets this table.
 */
#ifndef TMB_CORE_CONDUIT_UP_H
#define TMB_CORE_CONDUIT_UP_H

#include "net/net.h"

/* The second one while events are recorded. */
extern const struct tmb_net_up tmb_conduit_up, tmb_conduit_up_traced;

#endif
