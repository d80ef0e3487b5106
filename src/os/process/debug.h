/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Help for debugging a dying or stuck process: backtraces and waiting for a debugger.
 *
 * Owns: the list of backtrace mechanisms, the flag that frozen processes watch, and the handlers of
 * GASNET_BACKTRACE_SIGNAL and GASNET_FREEZE_SIGNAL. Called by base/log's fatal path through hooks
 * that are set when the library is loaded, by core at start-up and in its signal handlers, by the
 * api layer. Calls: config, log, os.h, signals.h, libc. Invariants: everything here but
 * tmb_os_debug_init may be called in a handler of a fatal signal, on a best-effort basis.
 */
#ifndef TMB_OS_DEBUG_H
#define TMB_OS_DEBUG_H

#include "base/compiler.h"

/*
 * Prepare: read the settings, check them, load the libraries for backtraces, install the handlers
 * of the two debugging signals, and wait for a debugger if GASNET_FREEZE is set. Call once, after
 * tmb_cfg_init.
 */
void tmb_os_debug_init(void);

/*
 * Print a backtrace of this process with the first mechanism of GASNET_BACKTRACE_TYPE that works.
 * in fd: file descriptor to write to. Returns 0 if printed.
 */
int tmb_os_backtrace(int fd);

/* tmb_os_backtrace if GASNET_BACKTRACE is on and GASNET_BACKTRACE_NODES names this rank; else
 * returns 1. */
int tmb_os_backtrace_ifenabled(int fd);

/*
 * Add a client's mechanism in front of the list.
 * in name: constant, must stay valid; in print: returns 0 if it printed, else the next one is
 * tried.
 */
void tmb_os_backtrace_add_user(const char *name, int (*print)(int fd));

/*
 * Set *flag to 1, print how to attach a debugger, and wait until somebody sets *flag to 0.
 * in flag_name: how to name the flag in a debugger.
 */
void tmb_os_freeze(volatile int *flag, const char *flag_name);

/* tmb_os_freeze on the default flag if GASNET_FREEZE_ON_ERROR is set. */
void tmb_os_freeze_on_error(void);

/* Replace the default flag (the api layer: gasnet_frozen). */
void tmb_os_freeze_set_flag(volatile int *flag, const char *flag_name);

#endif
