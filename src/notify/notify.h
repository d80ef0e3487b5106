/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notified access: common declarations of the files of this folder.
 *
 * Owns: declarations of put_signal.c and wait.c. Called by: semaphores, tagged notification, coll.
 * Calls nothing. Invariants: a wait for a word that peers write goes through tmb_signal_wait, which
 * sleeps only where peers wake it.
 */
#ifndef TMB_NOTIFY_NOTIFY_H
#define TMB_NOTIFY_NOTIFY_H

#include "core/gex.h"
#include "core/layer.h"
#include "core/progress/wait.h"
#include "core/segment/mk.h"

#include "gasnetex_ext.h"

#include <stdbool.h>

/* stats.c, index.c, deferred_put.c, mk_signal.c, sem.c */
extern const struct tmb_layer tmb_stats_layer, tmb_index_layer, tmb_deferred_layer,
    tmb_mk_signal_layer, tmb_sem_layer;

/* Wait until ready(arg) returns true, running progress. ready must become true either by
 * progress of this process or by a store of a peer that wakes this process afterwards. It may be
 * called once more after it has returned true. */
void tmb_signal_wait(bool (*ready)(void *arg), void *arg,
                     void (*describe)(const void *arg, struct tmb_status_wait *out));

/* Debug clients: fatal unless the thread may wait here and `sig` is an aligned 64-bit word. in
 * what: name of the argument in the message. */
void tmb_signal_check(const char *call, const char *argument, const uint64_t *sig);

/* mk_signal.c: a put or get as tmb_mk_rma, after which a->signal changes. The op of a put may be
 * NULL: no completion is reported. */
int tmb_mk_rma_signal(const struct tmb_mk_access *a);

/* Fatal when a signal is not in a host segment of (tm, rank)'s process that this one knows. */
void tmb_mk_check_signal(const char *call, gex_TM_t tm, gex_Rank_t rank, const uint64_t *sig);

#endif
