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

#include "gasnetex_ext.h"

#include <stdbool.h>

/* Wait until ready(arg), which a peer's release operation followed by a wake-up, or progress, makes
 * true. It may be asked again after it has said yes. */
void tmb_signal_wait(bool (*ready)(void *arg), void *arg);

/* Debug clients: context, and `sig` as an aligned word. in what: name of the argument. */
void tmb_signal_check(const char *call, const char *what, const uint64_t *sig);

#endif
