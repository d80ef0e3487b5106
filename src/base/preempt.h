/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Injected preemption: points at which a test build stops a thread at random.
 *
 * Owns nothing. Included by atomic.h, whose publishing operations are such points, and by lock.h.
 * Calls preempt.c in trees configured with TMB_PREEMPT, else nothing: the macro is empty then.
 * Invariants: a point may stand anywhere, under locks and in signal handlers; the kernel, too, may
 * take a thread's processor anywhere.
 */
#ifndef TMB_BASE_PREEMPT_H
#define TMB_BASE_PREEMPT_H

#if defined(TMB_PREEMPT)
/* Now and then yields or sleeps, seldom for milliseconds. in name: of the point, for debuggers. */
void tmb_preempt(const char *name);
# define TMB_PREEMPT_POINT(name) tmb_preempt(name)
#else
# define TMB_PREEMPT_POINT(name) ((void)0)
#endif

#endif
