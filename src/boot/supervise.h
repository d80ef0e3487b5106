/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Supervision: follows the ranks of a job from their start to the job's exit code.
 *
 * Owns: the order in which a job ends. Called by boot (a program that started its own peers) and by
 * `tombolo run`. Calls: launch, ctl, os, base.
 * Invariants: returns only when every rank is reaped; when one rank has ended the others are ended,
 * unless all of them have said that they want to go on (tmb_boot_report), within a bounded time,
 * stopped ones included, except that the clock stands still while nothing failed and the reader of
 * our output is slow.
 */
#ifndef TMB_BOOT_SUPERVISE_H
#define TMB_BOOT_SUPERVISE_H

#include "base/compiler.h"
#include "boot/launch.h"

#define TMB_EXIT_TIMEOUT 124 /* the job's code when its time is over, as of timeout(1) */
#define TMB_EXIT_HANG    125 /* the job's code when the watchdog has ended it */

struct tmb_supervise_options {
  double timeout_s; /* in: end the job after this many seconds; 0: never */
  bool cut_short;   /* out: the job was ended by the timeout or by a signal to the supervisor */
};

/*
 * Wait for the ranks and end the job when one of them ends, or, while they want to outlive each
 * other, when all have ended. Messages name the rank that failed, its
 * process, the host, how and when.
 * inout launch: after tmb_launch_fork; its `pids` are 0 afterwards.
 * Returns the job's exit code: the first non-zero code that a rank gave by itself (128 + signal for
 * a signal death), TMB_EXIT_TIMEOUT, TMB_EXIT_HANG, or 128 + the signal that ended the supervisor;
 * else 0.
 */
int tmb_supervise(struct tmb_launch *launch, struct tmb_supervise_options *options);

#endif
