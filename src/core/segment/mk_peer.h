/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device memory of other processes of this machine, see mk_peer.c.
 *
 * Owns: declarations of mk_peer.c. Called by mk.c, segment_table.c, mk_rma.c. Calls: job.h for
 * types. Invariants: handles have GEXX_MK_HANDLE_BYTES (tombolo/mk_plugin.h) and mean something to
 * the plug-ins of one class only.
 */
#ifndef TMB_CORE_MK_PEER_H
#define TMB_CORE_MK_PEER_H

#include "core/job.h"

struct gexx_mk_s;

/* A kind of this process begins, or ends: its attached memory is detached. */
void tmb_mk_peer_enlist(struct gexx_mk_s *kind);
void tmb_mk_peer_delist(struct gexx_mk_s *kind);

/* Name a device segment of this process to its neighbourhood. out handle. Returns false when peers
 * must send messages. */
bool tmb_mk_peer_share(const struct gexx_segment_s *s, void *handle);

/* Record the handle of a device segment that a process published; ignored for processes of other
 * neighbourhoods. in class_id: class of its kind. */
void tmb_mk_peer_set(uint32_t jobrank, gex_EP_Index_t ep, uint32_t class_id, const void *handle);

/* A place in the bound device segment of another process. */
struct tmb_mk_far {
  uint32_t jobrank;
  gex_EP_Index_t ep;
  void *addr;             /* there */
  struct gexx_mk_s *near; /* of the local endpoint, tried first; may be NULL */
};

/* Make a place of another process accessible here. out kind, addr: arguments of the plug-in's copy.
 * Returns false when only messages reach it. Any thread. */
bool tmb_mk_peer_map(const struct tmb_mk_far *at, struct gexx_mk_s **kind, void **addr);

#endif
