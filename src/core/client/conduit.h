/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choice of the conduit to the other hosts, and its arguments.
 *
 * Owns: declarations of conduit.c. Called by client.c, once, and at exit. Calls: the conduit's open
 * and drained. Invariants: with one host there is no conduit, whatever was asked for; otherwise
 * tmb_job.net has its mandatory slots.
 */
#ifndef TMB_CORE_CONDUIT_H
#define TMB_CORE_CONDUIT_H

/* Choose, load and open the conduit, if the job has several hosts; collective. Returns 0, or a
 * negative code after a message. */
int tmb_conduit_open(void);

/* The process ends: waits until its messages have been acknowledged, two seconds at most, and runs
 * handlers of replies only. Then closes the conduit, and gives it the code with which the process
 * ends. */
void tmb_conduit_leave(int code);

#endif
