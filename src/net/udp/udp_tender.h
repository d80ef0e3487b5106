/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that keeps the network going while the client computes.
 *
 * Owns the thread. Called by udp.c. Calls the engine. It looks now and then whether the client has
 * called; if not, it receives, acknowledges, sends again and goes on with transfers, so that long
 * transfers overlap with computation and a rank that computes is not taken for a dead one. It calls
 * nothing of core but `target` and `fatal`: messages, signals and completions wait for the client's
 * next call. Invariant: it does not touch the socket while the client polls or sleeps on it.
 */
#ifndef TMB_UDP_TENDER_H
#define TMB_UDP_TENDER_H

#include "net/udp/udp_engine.h"

/* Start the thread. Returns NULL if that is not possible: then things wait for the client. */
struct udp_tender *udp_tender_start(struct tmb_net *e);

/* End it; waits for it. */
void udp_tender_stop(struct udp_tender *tender);

/* A long transfer waits for acknowledgements: look more often. Cheap. */
void udp_tender_kick(struct udp_tender *tender);

#endif
