/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/ext_notify.h: the owner's side of signals, semaphores, and tagged notification.
 *
 * Included by gasnetex_ext.h. Implemented in src/notify. Invariants: every test and wait acquires
 * when it succeeds and drives progress; a wait spins, yields, then sleeps until it is signalled;
 * any number of threads may wait for one signal. Test and Try forms return GASNET_OK or
 * GASNET_ERR_NOT_READY. Unless stated otherwise: normal context, any thread.
 */
#ifndef GEXX_EXT_NOTIFY_H
#define GEXX_EXT_NOTIFY_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- signals: the owner's side */

/* Comparisons: (signal) cmp (value), unsigned. */
#define GEXX_SIG_EQ 0
#define GEXX_SIG_NE 1
#define GEXX_SIG_GT 2
#define GEXX_SIG_GE 3
#define GEXX_SIG_LT 4
#define GEXX_SIG_LE 5

/* Polls once and returns the value of a signal of this process. */
GEXX_API uint64_t gexx_Signal_Fetch(const uint64_t *sig);

/* Whether the signal compares as asked; polls once when it does not. [in] cmp: GEXX_SIG_EQ..LE. */
GEXX_API int gexx_Signal_Test(const uint64_t *sig, int cmp, uint64_t value);

/* Waits until the signal compares as asked; returns the value that did. */
GEXX_API uint64_t gexx_Signal_Wait(const uint64_t *sig, int cmp, uint64_t value);

/* Subtracts n atomically if the signal is at least n; polls once when it is not. */
GEXX_API int gexx_Signal_TryConsume(uint64_t *sig, uint64_t n);

/* Waits until the signal is at least n, then subtracts n; returns what is left. */
GEXX_API uint64_t gexx_Signal_WaitConsume(uint64_t *sig, uint64_t n);

/* Sets the signal to zero and returns what it was. Restricted context: yes. */
GEXX_API uint64_t gexx_Signal_Reset(uint64_t *sig);

/* Finds a signal that is not zero among `count` signals, `stride` bytes apart. [in,out] index: the
 * search begins at *index (below count) and goes round once; on success the index found, so that
 * passing it on plus one serves all in turn. Cost: one load per signal looked at. */
GEXX_API int gexx_Signal_TestSome(const uint64_t *sigs, size_t count, size_t stride, size_t *index);

/* Waits for one; returns its value. The caller resets or consumes it. */
GEXX_API uint64_t gexx_Signal_WaitSome(const uint64_t *sigs, size_t count, size_t stride,
                                       size_t *index);

#ifdef __cplusplus
}
#endif

#endif
