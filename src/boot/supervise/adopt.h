/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watcher of a host: a process that supervises ranks which a foreign process manager has
 * started.
 *
 * Owns no state. Started by the leader of a host (bootstrap_pm.c); its life is in `tombolo watch`.
 * Calls: supervise, ctl, os, base. Invariants: it is no child of a rank, and in a session of its
 * own, so that neither the program nor the manager's signals see it; it ends with the last rank;
 * without it a job works, but the end of a rank ends the others only as far as the manager sees to
 * it.
 */
#ifndef TMB_BOOT_ADOPT_H
#define TMB_BOOT_ADOPT_H

#include "boot/boot.h"

struct watch;

/* Leader of a host, when all of its ranks have joined: start the watcher. in ctl_fd: the control
 * block's descriptor. Says so (verbose) where it cannot be done. */
void tmb_adopt_start(const struct tmb_boot *boot, int ctl_fd);

/*
 * The watcher. in ctl_fd, arena_fd: inherited; all descriptors but these, the bells that the
 * control block names, and the standard ones are closed. Returns NULL after a message. The
 * descriptors serve a child of this process as well.
 */
struct watch *tmb_adopt_open(int ctl_fd, int arena_fd);

/* Watch, and release the descriptors. Returns when the ranks of the host have ended: 0, or a
 * negative code after a message. */
int tmb_adopt_run(struct watch *watch);

#endif
