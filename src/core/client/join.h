/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Further clients of a process that is a rank already.
 *
 * Owns: the declarations of join.c. Called by client.c, attach.c and api/layers.c. Calls nothing.
 * Invariant: the job has started.
 */
#ifndef TMB_CORE_JOIN_H
#define TMB_CORE_JOIN_H

#include "core/gex.h"

#include <stdbool.h>

/* Makes a client with an endpoint and a team of its own. in call: name for messages. Returns as
 * gexx_Client_Join. Collective over the job. */
int tmb_client_add(const char *call, const struct gexx_client_args *init);

/* Whether a team belongs to such a client. */
bool tmb_client_is_added(gex_TM_t tm);

/* gex_Segment_Attach for the team of such a client: makes a segment, binds and publishes it.
 * Collective over the team. */
int tmb_client_attach(gex_Segment_t *segment_p, gex_TM_t tm, uintptr_t size);

#endif
