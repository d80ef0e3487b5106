/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting: a blocking operation spins, yields and sleeps here, and gives its processor away in
 * progress/place.c. Other loops wait for events that no poll brings: locks (os/sync/lock.c), ranks
 * that start (boot/page/ctl.c, core/shared.c), the end of the process (client/exit.c,
 * client/last_thread.c, client/conduit.c, net/mpi/mpi_end.c), copies (segment/mk_stage.c), room for
 * a thread of the conduit (am/am_send.c), a client that polls (progress/progress.c).
 *
 * Owns: declarations of wait.c. Loop shape: tmb_wait_begin; while (!condition) tmb_wait_step; or
 * tmb_wait_until. Calls: progress.h, the engine's sleep.
 * Invariants: a thread sleeps without a limit only when it has itself polled everything, after its
 * intention was visible, and the event is announced; where it could not poll because another thread
 * was at work, or where nobody announces the change, the sleep is bounded.
 */
#ifndef TMB_CORE_WAIT_H
#define TMB_CORE_WAIT_H

#include "boot/status.h"
#include "core/gex.h"
#include "core/op/status.h"

#include <gasnetex_ext.h>
#include <stdbool.h>

/* Begin a wait; the second of a client's condition. */
void tmb_wait_begin(struct gexx_wait *wait);
void tmb_wait_begin_client(struct gexx_wait *wait);

/* Run progress; when nothing happened, spin, yield or sleep until something may have. For
 * conditions that only progress changes. */
void tmb_wait_step(struct gexx_wait *wait, struct tmb_why why);

/* tmb_wait_step for a condition of the client, which a store by anybody may change without a
 * wake-up: its sleeps are bounded. */
void tmb_wait_step_client(struct gexx_wait *wait);

/* Wait for a condition of the client, which peers' stores make true: gexx_Wait_Until. */
void tmb_wait_client(const gexx_WaitCond_t *cond);

/* tmb_wait_step between attempts to get a resource whose return nobody announces: its sleeps are
 * bounded. in serve: TMB_SERVE_REPLIES inside request handlers, else TMB_SERVE_ALL. */
void tmb_wait_retry(struct gexx_wait *wait, int serve, struct tmb_why why);

/*
 * Wait until ready(arg), which a peer's store or progress makes true; peers that store must notify
 * (peer.h). At most timeout_ns (UINT64_MAX: no limit). in describe: of struct tmb_why, with arg
 * as its object. Returns whether it became true.
 */
bool tmb_wait_until(bool (*ready)(void *arg), void *arg, uint64_t timeout_ns,
                    void (*describe)(const void *arg, struct tmb_status_wait *out));

/* tmb_wait_until for a condition that a store by anybody may make true, without a wake-up: its
 * sleeps are bounded. */
bool tmb_wait_until_stored(bool (*ready)(void *arg), void *arg, uint64_t timeout_ns,
                           void (*describe)(const void *arg, struct tmb_status_wait *out));

/* Wait until progress is made, by any thread, or this process is woken, at most timeout_ns. Returns
 * whether it was. */
bool tmb_wait_event(uint64_t timeout_ns);

/* Read the settings; after rank and size are known. Collective. */
int tmb_wait_policy_init(void);

#endif
