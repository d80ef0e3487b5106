/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers that have fallen silent: found by a question, and never by the time alone.
 *
 * Owns: struct ofi_silent, a part of the engine, and struct ofi_life, a part of each peer. Called
 * by the files of this conduit, under the lock. Calls: libfabric by its table, ofi_pool.c,
 * ofi_send.c. A peer towards which something is outstanding, and of which nothing has come for half
 * of the time-out, is asked; it is silent if nothing has come for a whole time-out after the
 * provider took the question, in which this rank looked LOOKS_MIN times and had read all that had
 * come. A message only sets flags; the clock is read by the looks. Invariants: a peer whose
 * thread cannot answer for it is never judged; a rank that did not run does not judge.
 */
#ifndef TMB_NET_OFI_OFI_SILENT_H
#define TMB_NET_OFI_OFI_SILENT_H

#include "net/ofi/ofi_engine.h"

/* Collective: capabilities of every rank, in one byte each. in good: this rank is ready; answers:
 * it has a thread that answers while its client computes. Returns whether all are ready. */
bool ofi_silent_agree(struct tmb_net *net, bool good, bool answers);
/* Memory for questions; before the endpoint is opened. */
bool ofi_silent_make(struct tmb_net *net);

/* Check the peers, if it is time to. Returns whether one was found silent, which is broken then, or
 * this rank's own host cut off: silent.cut_off. */
bool ofi_silent_look(struct tmb_net *net);
/* The provider is done with a question, or (in error: of libfabric, positive) could not send it. */
void ofi_silent_sent(struct tmb_net *net, struct ofi_op *op, int error);
/* While this rank receives nothing, it sees no questions of its peers: it reports now and then,
 * unasked, that it lives. Returns whether it did; then a few messages may be received. */
bool ofi_silent_full(struct tmb_net *net);
/* Whether a peer that has been broken for the time-out is lost; if not, this rank's own host is cut
 * off, as silent.cut_off says then. */
bool ofi_silent_blames(struct tmb_net *net, const struct ofi_peer *p);
/* Why a peer that is broken cannot be reached. */
const char *ofi_silent_why(const struct tmb_net *net, const struct ofi_peer *p);

#endif
