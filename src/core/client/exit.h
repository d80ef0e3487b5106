/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaving the job: gasnet_exit, exit() and return from main, and signals.
 *
 * Owns: the process's signal actions for fatal signals, terminators and SIGQUIT, as far as the
 * client left them at their defaults; the SIGALRM timer once the process is exiting. Called by core
 * at initialisation and by the api layer. Calls: boot (note_exit), os, base. Invariants: an action
 * that the client has installed is never replaced; whoever calls tmb_exit first decides the
 * process's exit code; the process ends a bounded time after tmb_exit was entered.
 */
#ifndef TMB_CORE_EXIT_H
#define TMB_CORE_EXIT_H

#include "base/compiler.h"
#include "boot/boot.h"

/*
 * Install the signal handlers and the hook on exit(). Settings: GASNET_NO_CATCH_SIGNAL,
 * GASNET_CATCH_EXIT, GASNET_FS_SYNC. A word in GASNET_NO_CATCH_SIGNAL that is no signal is fatal.
 * in boot: of this process, must stay valid to the end. Call once, after tmb_cfg_init, on the
 * thread that initialises: that thread gets an alternate signal stack unless it has one.
 */
void tmb_exit_install(struct tmb_boot *boot);

/*
 * End the job with an exit code, see API 00 section 11. Flushes all
 * streams, but does not wait for a stream that is locked for ever; runs no atexit handlers.
 * in code: low 8 bits reach the launcher. Threads: any, several at once; handlers; signal handlers.
 */
_Noreturn void tmb_exit(int code);

/*
 * As tmb_exit, but messages of this rank to other hosts get through first, and the conduit ends in
 * good order: gasnet_exit. Takes some seconds at most. Where a signal handler that calls it has
 * interrupted the conduit, nothing is waited for.
 */
_Noreturn void tmb_exit_in_order(int code);

#endif
