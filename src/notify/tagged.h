/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged notification: common declarations of matching (tagged.c), credit (tagged_credit.c),
 * sending (tagged_send.c) and reading (tagged_get.c).
 *
 * Owns: struct tmb_tagged. Called by those files only. Calls
 * nothing. Credits bound the memory of the target: a process may have tmb_tagged_credits()
 * notifications for another one in flight or unmatched. When notifications are matched or dropped
 * the target gives credit back, in batches of half that number: in the reply to the message that
 * made the batch full if there is one, else in a message of its own. Rings of a host keep the order
 * of notifications, conduits need not: those for a process of another host are numbered by their
 * sender, and the target takes them in the order of the numbers.
 */
#ifndef TMB_NOTIFY_TAGGED_H
#define TMB_NOTIFY_TAGGED_H

#include "core/am/kit.h"
#include "core/job.h"
#include "core/op/op.h"
#include "notify/notify.h"
#include "notify/transfer.h"

/* One notification at its target. */
struct tmb_tagged {
  struct tmb_tagged *next; /* in the list of those kept */
  uint64_t uid;            /* of the team */
  uint32_t target;         /* team rank of the member that is notified */
  uint32_t source;         /* team rank of the sender */
  uint32_t jobrank;        /* the sender's process */
  uint32_t tag;
  uint32_t number; /* of those from a process of another host for this one; modulo 2^32 */
  uint64_t nbytes;
};

extern const struct tmb_layer tmb_tagged_layer, tmb_tagged_send_layer, tmb_tagged_get_layer;

/* ---- tagged.c */

/* A notification has arrived: match it with a request, or keep it, or drop it when its team has
 * ended; after those that its sender, on another host, has sent before it. Returns how much credit
 * to give back to its sender now. Any thread; from handlers. */
uint32_t tmb_tagged_arrive(const struct tmb_tagged *tagged);

/* ---- tagged_credit.c */

/* Arguments of a message that returns credit: credit(0). */
enum { TMB_TAGGED_CREDIT_ARGS = 1 };

/* Most notifications for one process that are in flight or unmatched. */
uint32_t tmb_tagged_credits(void);

/* Give credit back to a process; normal context. */
void tmb_tagged_give(uint32_t jobrank, uint32_t credits);

/* A process has returned credit. */
void tmb_tagged_regain(uint32_t jobrank, uint32_t credits);

/* Take credit, waiting for it. Returns false only for an immediate operation. */
bool tmb_tagged_take(const char *call, uint32_t jobrank, bool immediate);

/* Number of sends that have waited for credit. */
uint64_t tmb_tagged_stalls(void);

/* The number of the next notification for a process: 0 within the host. It has to be sent, or taken
 * back. */
uint32_t tmb_tagged_number(uint32_t jobrank);

/* Take a number back. Returns false if a later one has been given since. */
bool tmb_tagged_number_back(uint32_t jobrank, uint32_t number);

/* ---- tagged_send.c */

/* Reply to a message of tagged notification: credit, and completion of op (0: none). */
void tmb_tagged_reply(uint32_t jobrank, uint64_t op, uint32_t credit);

/* One operation. */
struct tmb_tagged_send {
  struct tmb_transfer data;
  uint32_t tag;
};

/* Send a notification without data, also to this process itself; its credit was taken before.
 * Returns 0, or TMB_AGAIN for an immediate one without resources, with the credit returned. */
int tmb_tagged_send_bare(const struct tmb_tagged_send *s);

/* Record the operation in the trace. in op: the op that a wait for it will name. */
void tmb_tagged_record(uint64_t begun, const struct tmb_tagged_send *s, const struct tmb_op *op);

/* The notification as its target sees it, with the next number, which has to be sent. */
struct tmb_tagged tmb_tagged_of(const struct tmb_tagged_send *s);

/* The message of a notification has found no room. Returns whether the number was taken back;
 * false: a later one has been given since, the message must be sent after all, and may wait for
 * room. */
bool tmb_tagged_withdraw(const struct tmb_tagged_send *s, const struct tmb_tagged *tagged);

/* A notification as arguments 0..7 of a message (pack), and back (unpack, which does not know
 * jobrank: the caller sets it). */
enum { TMB_TAGGED_HEAD_ARGS = 8 };
void tmb_tagged_pack(int32_t *args, const struct tmb_tagged *tagged);
struct tmb_tagged tmb_tagged_unpack(const int32_t *args);

/* Debug clients: fatal unless the arguments of the call are valid. */
void tmb_tagged_check(const struct tmb_tagged_send *s);

#endif
