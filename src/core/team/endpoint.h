/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoint objects.
 *
 * Owns: declarations of endpoint.c for client.c. Called at initialisation and by gex_EP_Create.
 * Calls: segment_table.h. Invariant: afterwards the endpoint's TM-pairs are valid and tmb_job.eps
 * names it.
 */
#ifndef TMB_CORE_ENDPOINT_H
#define TMB_CORE_ENDPOINT_H

#include "core/job.h"

/* Complete a zeroed endpoint of a client and enter it under `index`. */
void tmb_ep_init(struct gexx_ep_s *ep, gex_EP_Index_t index, gex_Client_t client);

#endif
