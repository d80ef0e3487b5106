/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that keeps the network going while the client computes.
 *
 * Owns the thread. Called by ofi.c. Calls ofi_tend, which is in ofi_progress.c. It looks now and
 * then whether the client has called; if not, it has the provider go on, receives, answers what the
 * conduit itself is asked, and sends what is owed. It calls nothing of core but `segment` and
 * `fatal`: messages, signals and completions wait for the client's next call. Most providers make
 * progress only when they are called; those that have threads of their own leave it little to do.
 * Invariant: it does nothing while the client polls or sleeps.
 */
#ifndef TMB_NET_OFI_OFI_TENDER_H
#define TMB_NET_OFI_OFI_TENDER_H

#include "net/ofi/ofi_engine.h"

/* Start the thread. Returns NULL if that is not possible: then things wait for the client. */
struct ofi_tender *ofi_tender_start(struct tmb_net *net);

/* End it; waits for it. in tender: NULL: nothing is done. */
void ofi_tender_stop(struct ofi_tender *tender);

#endif
