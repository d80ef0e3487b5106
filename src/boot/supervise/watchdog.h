/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ending a job in which nothing happens.
 *
 * Owns: struct tmb_watchdog, one per supervisor. Called by supervise. Calls: snapshot, explain.
 * A rank that computes does nothing in the library, so the time limit is to be longer than the
 * longest part of the program in which no rank communicates. Invariants: the status pages are read
 * a few times in the time limit, and not at all without one.
 */
#ifndef TMB_BOOT_WATCHDOG_H
#define TMB_BOOT_WATCHDOG_H

#include "boot/explain/snapshot.h"

struct tmb_watchdog {
  uint64_t limit_ns; /* 0: off */
  uint64_t look_ns;  /* time of the next reading */
  /* Reads the status pages of ranks on several machines, see struct tmb_sup_far; NULL: all ranks
   * are on this one. */
  bool (*look)(void *arg, struct tmb_snapshot *now);
  void *arg;
  bool seen;                /* `last` is filled */
  struct tmb_snapshot last; /* when something had happened last */
};

/* Set the limit. in seconds: 0: off. */
void tmb_watchdog_open(struct tmb_watchdog *w, double seconds);

/* Read the pages, if it is time. Returns whether nothing has happened for as long as the limit;
 * then the waits of the ranks have been printed. */
bool tmb_watchdog_bites(struct tmb_watchdog *w, const struct tmb_ctl *ctl);

/* Milliseconds until the next reading, at most `most`. */
int tmb_watchdog_sleep_ms(const struct tmb_watchdog *w, int most);

void tmb_watchdog_close(struct tmb_watchdog *w);

#endif
