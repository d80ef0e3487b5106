/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers that are lost while this process goes on.
 *
 * Owns: declarations of failure.c (noticing, reporting). Called by progress and by everything that
 * sends. Calls: boot, peer.h. Invariant: the state GONE of a peer (lost.h) is entered and left by
 * one thread at a time.
 */
#ifndef TMB_CORE_FAILURE_H
#define TMB_CORE_FAILURE_H

#include "core/job.h"
#include "core/op/lost.h"

/* Drop a message for a process that is gone: release its buffer, as if it had been sent. Returns 0.
 */
int tmb_failure_drop(struct tmb_am_out *out);

/* A put or get with a process that is gone. Data that are still mapped are moved all the same.
 * Returns 0: the access is complete, and its op is marked as having met a loss. */
int tmb_failure_rma(const struct tmb_rma *rma, bool is_get);

/* The conduit has given a process up: nothing can be sent to it or received from it. in why: one
 * clause. Ends the job, unless failures are reported: then the process counts as failed. Any
 * thread. */
void tmb_failure_cut(uint32_t jobrank, const char *why);

/* Deal with what has become of peers since the last call; while tmb_job.special has
 * TMB_SPECIAL_LOSS. Returns TMB_FOUND_ bits. */
int tmb_failure_progress(int serve);

/* Failures are to be reported from now on: allocates tmb_job.lost. out doors: what the supervisor
 * rings; fields as in boot.h. Once. */
struct tmb_boot_doors;
void tmb_failure_begin(struct tmb_boot_doors *doors);

#endif
