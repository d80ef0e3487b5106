/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conduits that are part of the library, see list.h.
 *
 * Owns: the list. Read by core/client/conduit.c. Calls nothing. Invariant: the conduits that a
 * program can choose by TOMBOLO_CONDUIT without a plug-in are here; the skeleton (stub) is not.
 */
#include "net/list.h"

extern const struct tmb_net_ops tmb_net_loop;

const struct tmb_net_ops *const tmb_net_built_in[] = {&tmb_net_loop, NULL};
