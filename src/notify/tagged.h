/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged notification: what matching (tagged.c), sending (tagged_send.c) and reading (tagged_get.c)
 * share.
 *
 * Owns: struct tmb_note, message handler indices 64..68. Called by those files only. Calls nothing.
 * Credits: a process may have tmb_note_credits() notifications for another one in flight or
 * unmatched; the target gives credit back in batches of half of that when notifications are matched
 * or dropped, by the reply of the message that made the batch full or else by a message.
 */
#ifndef TMB_NOTIFY_TAGGED_H
#define TMB_NOTIFY_TAGGED_H

#include "core/job.h"
#include "core/op.h"
#include "notify/notify.h"
#include "notify/transfer.h"

enum {
  TMB_NOTE_AM_NOTE = 64,
  TMB_NOTE_AM_ACK = 65,
  TMB_NOTE_AM_CREDIT = 66,
  TMB_NOTE_AM_GET = 67,
  TMB_NOTE_AM_DATA = 68
};

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

/* Match a notification, or keep it, or drop it when its team has ended. Returns how much credit to
 * give back to its sender now. Any thread; from handlers. */
uint32_t tmb_note_arrive(const struct tmb_note *note);

/* ---- tagged_send.c */

/* Most notifications for one process that are in flight or unmatched. */
uint32_t tmb_note_credits(void);

/* Give credit back to a process; normal context. */
void tmb_note_give(uint32_t jobrank, uint32_t credits);

/* Credit came back from a process. */
void tmb_note_regain(uint32_t jobrank, uint32_t credits);

/* Take credit, waiting for it. Returns false only for an immediate operation. */
bool tmb_note_take(const char *call, uint32_t jobrank, bool immediate);

/* Reply to a message of tagged notification: credit, and completion of op (0: none). */
void tmb_note_reply(uint32_t jobrank, uint64_t op, uint32_t credit);

/* One operation. */
struct tmb_note_send {
  struct tmb_transfer data;
  uint32_t tag;
};

/* A notification without data, for which credit was taken; of one for this process itself, too.
 * Returns 0, or TMB_AGAIN, credit regained, for an immediate one without resources. */
int tmb_note_send_bare(const struct tmb_note_send *s);

/* The notification as its target sees it. */
struct tmb_note tmb_note_of(const struct tmb_note_send *s);

/* Arguments 0..6 of messages that carry it, and back; the sender's process is set by the caller. */
enum { TMB_NOTE_HEAD_ARGS = 7 };
void tmb_note_pack(int32_t *args, const struct tmb_note *note);
struct tmb_note tmb_note_unpack(const int32_t *args);

/* Debug clients: whether the call may be made so. */
void tmb_note_check(const struct tmb_note_send *s);

/* Sends that found no credit. */
uint64_t tmb_note_stalls(void);

#endif
