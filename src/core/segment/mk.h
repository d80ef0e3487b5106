/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kinds of segment memory.
 *
 * Owns: struct tmb_mk_ops, the functions of a kind for segment_create.c; kinds of devices (mk.c),
 * and their put and get (mk_rma.c). Called by gex_Segment_Create, gex_Segment_Destroy, endpoint.c,
 * segment_table.c, team.c, rma.c. A segment arrives with `base` and `size` as the client asked;
 * functions return GASNET_OK or the code that the public call returns. Invariants: `alloc` sets
 * base and may raise size; `free` undoes alloc; `import` checks and registers memory of the client,
 * `release` (may be NULL) undoes that; an endpoint with a device segment, and each remote name of
 * it, has unmapped delta tables, so that every access comes to mk_rma.c.
 */
#ifndef TMB_CORE_MK_H
#define TMB_CORE_MK_H

#include "core/job.h"

#include "tombolo/mk_plugin.h"

struct tmb_op;
struct tmb_net_memory;
struct gexx_mk_plugin;

struct tmb_mk_ops {
  const char *name;
  bool host_memory; /* the processor may load and store */
  int (*alloc)(struct gexx_segment_s *s);
  void (*free)(struct gexx_segment_s *s);
  int (*import)(struct gexx_segment_s *s);
  void (*release)(struct gexx_segment_s *s);
};

extern const struct tmb_mk_ops tmb_mk_host;

/* A kind of a device. */
struct gexx_mk_s {
  struct tmb_mk_ops ops;
  uint32_t magic;
  uint32_t class_id; /* gex_MK_Class_t */
  gex_Client_t client;
  void *cdata;
  const struct gexx_mk_plugin *plugin;
  void *device;
  uint32_t segments;      /* that use it; atomic */
  struct gexx_mk_s *next; /* list of mk_peer.c */
};

#define TMB_MAGIC_MK 0x6d6b5f31u

/* Functions of a kind handle of the client; NULL when it is none. */
const struct tmb_mk_ops *tmb_mk_ops_of(gex_MK_t kind);

/* Why the last call of this thread into a plug-in failed. */
static inline const char *tmb_mk_reason(const struct gexx_mk_plugin *plugin) {
  const char *text = plugin->reason ? plugin->reason() : NULL;
  return text && text[0] ? text : "the plug-in gives no reason";
}

/* Access of network interfaces to memory of a kind. Returns false if they do not. */
bool tmb_mk_network(const struct gexx_mk_s *kind, struct tmb_net_memory *memory);

/* Kind of a segment in device memory, NULL for host memory and for no segment. */
static inline struct gexx_mk_s *tmb_mk_device(const struct gexx_segment_s *s) {
  return s && s->mk && !s->mk->host_memory ? (struct gexx_mk_s *)(uintptr_t)s->mk : NULL;
}

/* tmb_peer_segment.local of device memory. */
#define TMB_LOCAL_DEVICE ((char *)UINTPTR_MAX)

/* Entry of the tables of segment_table.c for a segment of this process. */
static inline struct tmb_peer_segment tmb_mk_segtab_entry(const struct gexx_segment_s *s) {
  return (struct tmb_peer_segment){(uintptr_t)s->base, s->size,
                                   tmb_mk_device(s) ? TMB_LOCAL_DEVICE : NULL};
}

/* Whether the bound segment of (tm, rank), or that of the local endpoint, is device memory. */
bool tmb_mk_remote(gex_TM_t tm, gex_Rank_t rank);
static inline bool tmb_mk_involved(gex_TM_t tm, gex_Rank_t rank) {
  return TMB_UNLIKELY(tm->reserved) && (tmb_mk_device(tm->ep->segment) || tmb_mk_remote(tm, rank));
}

/* Fatal when (tm, rank) involves device memory, which `call` does not serve. */
void tmb_mk_refuse(const char *call, gex_TM_t tm, gex_Rank_t rank);

/* Copy from the host to memory of a device of this process, and back. Fatal when that fails. */
void tmb_mk_copy_in(struct gexx_mk_s *kind, void *dest, void *host_src, size_t nbytes);
void tmb_mk_copy_out(struct gexx_mk_s *kind, void *host_dest, void *src, size_t nbytes);

/* A put or get that involves device memory; parts that remain are counted in op. Returns 0, or
 * TMB_AGAIN for an immediate one without resources. */
struct tmb_mk_access {
  gex_TM_t tm;
  gex_Rank_t rank;
  bool is_get, immediate;
  bool deferred; /* put: the source stays as it is until the whole operation is complete */
  void *remote, *local;
  size_t nbytes;
  struct tmb_op *op;
  const struct tmb_signal *signal; /* of notify: changes afterwards */
};
int tmb_mk_rma(const struct tmb_mk_access *a);

#endif
