/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Initialisation of a rank.
 *
 * Owns: the declaration of client.c. Called by api/layers.c, which has the array of layers. Calls
 * nothing. Invariant: the job starts once in a process.
 */
#ifndef TMB_CORE_CLIENT_H
#define TMB_CORE_CLIENT_H

#include "core/gex.h"
#include "core/layer.h"

/* Make this process a rank of its job, as documented at gexx_client_init. in layers: [count]; they
 * live as long as the process. Returns as gex_Client_Init. Collective. */
int tmb_client_init(const struct gexx_client_args *init, const struct tmb_layer *const *layers,
                    size_t count);

/* Serves gexx_Client_Join, which may follow on other clients; otherwise as tmb_client_init. */
int tmb_client_join(const struct gexx_client_args *init, const struct tmb_layer *const *layers,
                    size_t count);

#endif
