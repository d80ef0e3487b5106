/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notified access: what the files of this folder share.
 *
 * Owns: declarations of put_signal.c and wait.c. Called by: semaphores, tagged notification, coll.
 * Calls nothing. Invariants: a wait for a word that peers write goes through tmb_signal_wait, which
 * sleeps only where peers wake it.
 */
#ifndef TMB_NOTIFY_NOTIFY_H
#define TMB_NOTIFY_NOTIFY_H

#include "core/gex.h"
#include "core/layer.h"
#include "core/wait/wait.h"

#include "gasnetex_ext.h"

#include <stdbool.h>

/* stats.c, index.c, deferred_put.c, sem.c */
extern const struct tmb_layer tmb_stats_layer, tmb_index_layer, tmb_deferred_layer, tmb_sem_layer;

/* Wait until ready(arg) returns true, running progress. ready must become true either by
 * progress of this process or by a store of a peer that wakes this process afterwards. It may be
 * called once more after it has returned true. */
void tmb_signal_wait(bool (*ready)(void *arg), void *arg,
                     void (*describe)(const void *arg, struct tmb_status_wait *out));

/* Debug clients: fatal unless the thread may wait here and `sig` is an aligned 64-bit word. in
 * what: name of the argument in the message. */
void tmb_signal_check(const char *call, const char *argument, const uint64_t *sig);

#endif
