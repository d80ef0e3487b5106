/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged notification: what matching (tagged.c) and sending (tagged_send.c) share.
 *
 * Owns: struct tmb_note, message handler indices 64..66. Called by those two files only. Calls
 * nothing. Credits: a process may have tmb_note_credits() notifications for another one in flight
 * or unmatched; the target gives credit back in batches of half of that when notifications are
 * matched, by the reply of the message that made the batch full or, when a request was started, by
 * a message.
 */
#ifndef TMB_NOTIFY_TAGGED_H
#define TMB_NOTIFY_TAGGED_H

#include "core/job.h"
#include "notify/notify.h"

enum { TMB_NOTE_AM_NOTE = 64, TMB_NOTE_AM_ACK = 65, TMB_NOTE_AM_CREDIT = 66 };

/* One notification at its target. */
struct tmb_note {
  struct tmb_note *next; /* kept */
  uint64_t uid;          /* of the team */
  uint32_t target;       /* rank in it of the member that is notified */
  uint32_t source;       /* rank in it of the sender */
  uint32_t jobrank;      /* the sender's process */
  uint32_t tag;
  uint64_t nbytes;
};

/* ---- tagged.c */

/* Match a notification or keep it. Returns how much credit to give back to its sender now. */
uint32_t tmb_note_arrive(const struct tmb_note *note);

/* ---- tagged_send.c */

/* Most notifications for one process that are in flight or unmatched. */
uint32_t tmb_note_credits(void);

/* Give credit back to a process; normal context. */
void tmb_note_give(uint32_t jobrank, uint32_t credits);

/* Sends that found no credit. */
uint64_t tmb_note_stalls(void);

#endif
