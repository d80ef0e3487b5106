/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data of a put or get that also signals or notifies the other side: checks, addresses, copies.
 *
 * Owns: struct tmb_transfer. Called by put_signal.c, tagged_send.c and tagged_get.c. Calls: core's
 * checks and tables. Invariants: addresses are those of the client until tmb_transfer_resolve, then
 * the owner's; a transfer is direct when all its data can be reached by load and store.
 */
#ifndef TMB_NOTIFY_TRANSFER_H
#define TMB_NOTIFY_TRANSFER_H

#include "core/job.h"

#define TMB_TRANSFER_FLAGS                                                                      \
 (GEX_FLAG_IMMEDIATE | GEX_FLAG_LC_COPY_YES | GEX_FLAG_LC_COPY_NO | GEX_FLAG_SELF_SEG_UNKNOWN | \
  GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET |                 \
  GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME | GEX_FLAG_PEER_SEG_BOUND |                \
  GEX_FLAG_PEER_SEG_OFFSET | GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_PEER_NEVER_NBRHD)

struct tmb_transfer {
  const char *call;
  gex_TM_t tm;
  gex_Rank_t rank;
  bool is_get;
  void *remote; /* dest of a put, src of a get */
  void *local;
  size_t nbytes;
  gex_Flags_t flags;
  intptr_t delta; /* offset from the peer's addresses to ours, read once; set by
                     tmb_transfer_resolve */
};

/* Debug clients: fatal unless the arguments of the call are valid. */
void tmb_transfer_check(const struct tmb_transfer *t);

/* Whether nbytes at an offset are inside the peer's segment; fatal if not. in argument: the
 * argument. */
void tmb_transfer_check_offset(const struct tmb_transfer *t, const char *argument,
                               const void *offset, size_t nbytes);

/* Turn offsets into addresses, and find out whether the peer's memory is mapped here. */
void tmb_transfer_resolve(struct tmb_transfer *t);

/* Whether data are in device memory on either side. */
bool tmb_transfer_device(const struct tmb_transfer *t);

/* Whether a resolved transfer can be done by copying: all its data are mapped here. */
bool tmb_transfer_direct(const struct tmb_transfer *t);

/* Copy the data of a direct transfer. */
void tmb_transfer_copy(const struct tmb_transfer *t);

/* The lc_opt of a put. Debug clients. */
enum tmb_form { TMB_FORM_BLOCKING, TMB_FORM_NBI, TMB_FORM_NB };
void tmb_transfer_check_lc(const char *call, const gex_Event_t *lc_opt, enum tmb_form form);

#endif
