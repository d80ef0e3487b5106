/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time that a process has had since it was ordered to end.
 *
 * Owns: nothing. Called by the supervisor. Calls: nothing. Time counts in which the process ran or
 * slept, not time in which it waited for a processor: on a oversubscribed machine a rank that
 * writes out its last lines would be killed before it ran at all. Invariant: no more counts than
 * has passed.
 */
#ifndef TMB_BOOT_GRACE_H
#define TMB_BOOT_GRACE_H

#include <stdint.h>

struct tmb_grace {
  uint64_t seen_ns, cpu_ns; /* at the last reading: time, and processor time of the process */
  uint64_t had_ns;          /* the counted time */
};

/* Reads again. in now_ns: not before the last reading. in state: as in /proc/PID/stat ('R': runs
 * or waits for a processor); 0: unknown. in cpu_ns: processor time used. Returns had_ns. */
uint64_t tmb_grace_check(struct tmb_grace *p, uint64_t now_ns, char state, uint64_t cpu_ns);

#endif
