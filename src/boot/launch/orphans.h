/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leftovers of ranks: processes that they have started, and names in /dev/shm.
 *
 * Owns: nothing. Called by launch and
 * supervise. Calls: os, /proc, prctl(2). Invariants: between tmb_orphans_adopt and the end of this
 * process the kernel makes such processes children of this one; only they are ever signalled: no
 * child that was there before, none in a process group of its own (ssh, daemons, job control).
 */
#ifndef TMB_BOOT_ORPHANS_H
#define TMB_BOOT_ORPHANS_H

#include <sys/types.h>

struct tmb_ctl;

/* Become the parent of processes that ranks leave behind. Before the ranks are forked. Returns the
 * children that are there by now, as text, the caller's to free; NULL where the kernel does not
 * list children (CONFIG_PROC_CHILDREN): orphans go to process 1 then. */
char *tmb_orphans_adopt(void);

/* All ranks are reaped and the job failed: end their orphans by SIGTERM, after half a second by
 * SIGKILL, and reap all of them. in before: the result of tmb_orphans_adopt. */
void tmb_orphans_end(const char *before);

/* A process of this user that is reaped did not end in good order: remove the regions that
 * libfabric's provider shm keeps for it, /dev/shm/PID:UID:NUMBER, which only it would remove. */
void tmb_orphans_unlink(pid_t pid);

/* Start a process that removes these regions if this process is killed, and its ranks with it. Only
 * where the settings name the provider shm. Before the ranks are forked. Returns a descriptor for
 * tmb_orphans_guard_end, -1: there is no such process. */
int tmb_orphans_guard(const struct tmb_ctl *ctl);

/* All ranks are reaped, and their regions are removed: the guard ends. in fd: may be -1. */
void tmb_orphans_guard_end(int fd);

#endif
