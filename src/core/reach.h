/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether ranks may read each other's memory through the kernel.
 *
 * Owns: the declaration of reach.c. Called by client.c. Calls nothing. The answer is
 * tmb_job.peer_copy. Invariants: it is the same on all ranks, so that both sides of a transfer
 * choose the same protocol.
 */
#ifndef TMB_CORE_REACH_H
#define TMB_CORE_REACH_H

/* Find out and set tmb_job.peer_copy. Collective, bootstrap only; after rank and size are known. */
void tmb_reach_init(void);

#endif
