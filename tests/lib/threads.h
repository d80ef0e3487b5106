/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of client threads of one process: start them together, wait for all. For PAR and PARSYNC
 * programs.
 */
#ifndef TMB_TEST_THREADS_H
#define TMB_TEST_THREADS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Runs body(id) on `count` new threads, id 0 .. count-1; returns when all have ended. None enters
 * body before all exist. */
void run_threads(int count, void (*body)(int id));

/* Called by each thread of the running group: returns once all of them have called. Does not poll.
 */
void threads_meet(void);

#ifdef __cplusplus
}
#endif

#endif
