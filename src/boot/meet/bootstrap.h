/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of a bootstrap: how the ranks of a job synchronise, exchange data before a network
 * exists, and record their ends.
 *
 * Owns no state. Included by src/boot only; core sees the calls of boot.h. Tables: `alone` (one
 * process), `agent` (ranks of a supervisor on this machine: forked by itself, by `tombolo run`, or
 * by an agent of `tombolo run --hosts`, which then speaks for them with the other machines), `pm`
 * (ranks that mpirun, mpiexec or srun has started). All but `alone` have a control block.
 * Invariant: the contract of boot.h for the call of that name holds for the slot.
 */
#ifndef TMB_BOOT_BOOTSTRAP_H
#define TMB_BOOT_BOOTSTRAP_H

#include "boot/boot.h"

struct tmb_bootstrap_ops {
  bool (*barrier)(struct tmb_boot *boot);
  /* in bytes: 1..TMB_CTL_PART_BYTES. Returns false, and `all` is undefined, if it gives up. */
  bool (*gather)(struct tmb_boot *boot, const void *mine, size_t bytes, void *all);
  int (*record_exit)(struct tmb_boot *boot, int code); /* any thread, signal handlers */
  void (*note_handlers)(struct tmb_boot *boot);        /* empty: nothing to do */
  void (*stop)(struct tmb_boot *boot);                 /* empty: nothing to do */
};

extern const struct tmb_bootstrap_ops tmb_bootstrap_alone, tmb_bootstrap_agent, tmb_bootstrap_pm;

/*
 * bootstrap_pm.c: become the rank that a foreign process manager has started. inout boot: zeroed
 * but for descriptors. Returns 0; TMB_E_NOT_FOUND: there is none, or it started this process alone;
 * another negative code after a message.
 */
int tmb_boot_manage(struct tmb_boot *boot);

/*
 * join.c: become the rank that the launcher's variable names. in text: its value. inout boot:
 * zeroed but for descriptors. Returns 0, TMB_E_ARG, TMB_E_SYS, TMB_E_STATE, TMB_E_NOMEM after a
 * message.
 */
int tmb_boot_join(struct tmb_boot *boot, const char *text);

/* join.c: fill the fields that follow from the control block: places, bells, secret, table. Returns
 * as tmb_boot_join. */
int tmb_boot_settle(struct tmb_boot *boot);

#endif
