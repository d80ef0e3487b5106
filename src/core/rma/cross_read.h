/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether ranks may read each other's memory through the kernel.
 *
 * Owns: the declaration of cross_read.c. Called by client.c. Calls nothing. The answer is
 * tmb_job.peer_copy. Invariants: all ranks of a host agree, so that both sides of a transfer on
 * that host choose one protocol; ranks of other hosts are not read.
 */
#ifndef TMB_CORE_CROSS_READ_H
#define TMB_CORE_CROSS_READ_H

/* Find out and set tmb_job.peer_copy. Collective, bootstrap only; after rank and size are known. */
void tmb_cross_read_init(void);

#endif
