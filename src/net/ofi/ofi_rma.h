/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote memory access by the provider: registered memory, keys, puts, gets and their signals.
 *
 * Owns: declarations of ofi_memory.c, ofi_region.c and ofi_rma.c. Called by the files of this
 * conduit, the slots by core. Calls: libfabric by its table, env->up. Invariants: the lock is held
 * where it is not said otherwise; an access is used again only after core has been notified.
 */
#ifndef TMB_NET_OFI_OFI_RMA_H
#define TMB_NET_OFI_OFI_RMA_H

#include "net/ofi/ofi_engine.h"

enum { OFI_ACCESSES = 256, OFI_TRIES = 8 };

/* A put, a get or an atomic operation that is in progress. */
struct ofi_access {
  struct ofi_op op;
  void *client_op;
  uint32_t category, local_category;
  bool report_local, lost;
  uint32_t serial;          /* which use of this access it is */
  struct ofi_access *whole; /* this is a stripe of it; NULL: it is none */
  uint8_t rail;             /* that it takes */
  uint8_t pieces;           /* that the provider still has: its own, its stripes */
  bool striped;             /* it has had stripes */
  uint8_t parts;            /* completions that are still to come: of the provider, of the signal */
  bool signals, started;    /* has a signal; it is being sent */
  bool signalled;           /* it has been sent, and not been answered: the signal, or an atomic */
  struct ofi_change signal;
  void *buffer;            /* of this rank; stays as it is until core has been notified */
  struct ofi_buffer *copy; /* NULL, or of a pool: `buffer` is its memory */
  uint32_t chain;          /* of a put in a batch: 1 + the access of the one before; 0: the first */
  bool gathered;           /* it is one; `signalled` until the batch is answered */
  bool atomic;             /* an atomic operation; `before` goes to `buffer`, unless that is NULL */
  uint64_t before;
  uint64_t operand, compare; /* of one that the provider performs */
  uint32_t opcode, dt;       /* of that, for messages to the user */
  uint64_t remote, nbytes;
  bool is_get, device; /* device: its local side may be memory of a device */
  bool held;           /* its owner checks when all is over; core is not notified */
  bool exposed;        /* it writes to memory that `key` names */
  struct tmb_net_key key;
  uint8_t tries;            /* times that it has failed by itself, at most OFI_TRIES */
  struct ofi_memory *local; /* NULL, or the registration that it uses */
};

/* Accesses of so many bytes take all rails. Chosen, not measured; study/RESULTS.md has
 * the bandwidth of several links. */
#define OFI_STRIPED_BYTES (UINT64_C(256) << 10)

/* ---- ofi_memory.c: memory of this rank that the provider knows */

struct ofi_memory {
  struct ofi_memory *next;
  uintptr_t base;
  size_t bytes;
  struct fid_mr *mr[OFI_RAILS]; /* NULL: that rail does not have it; the first always has */
  uint32_t users;               /* accesses in progress */
  bool lasting;                 /* a segment: until it is destroyed; else as long as it has users */
  bool exposed; /* for a peer, until the peer has written; not for accesses of ours */
};

/* The registered segment that holds `addr`, or NULL: it is no segment, or cannot be registered. */
struct ofi_memory *ofi_memory_segment(struct tmb_net *net, uint64_t addr);
/* Registered memory that holds a buffer of this rank; it has one more user. NULL: none can be
 * had. */
struct ofi_memory *ofi_memory_use(struct tmb_net *net, const void *addr, size_t bytes);
void ofi_memory_unuse(struct tmb_net *net, struct ofi_memory *memory);
/* Register memory outside of segments for writes of peers, on the first rail. Returns NULL if that
 * cannot be done. Conceal: it is registered no longer. */
struct ofi_memory *ofi_memory_expose(struct tmb_net *net, void *base, size_t bytes);
void ofi_memory_conceal(struct tmb_net *net, uint64_t key);
/* A range is to be unmapped. Returns whether some of it was registered for good. */
bool ofi_memory_forget(struct tmb_net *net, const void *base, size_t bytes);
/* Register the buffers of a pool, if the provider needs it. Returns 0 or a code of libfabric. */
int ofi_memory_pool(struct tmb_net *net, struct ofi_pool *pool);
void ofi_memory_close(struct tmb_net *net);

/* ---- ofi_region.c: memory of peers */

/* The region of a peer that holds a range, or NULL; then the peer is asked for the next time. */
const struct ofi_region *ofi_region_find(struct tmb_net *net, uint32_t peer, uint64_t addr,
                                         uint64_t bytes);
/* As ofi_region_find, for accesses that cannot go by messages; the peer may be this rank or one of
 * its host. out refused: the owner says that it is not registered. Else NULL means: ask again
 * later. */
const struct ofi_region *ofi_region_need(struct tmb_net *net, uint32_t peer, uint64_t addr,
                                         uint64_t bytes, bool *refused);
/* The key for an address of a peer may be wrong: ask for it anew before the next access. */
void ofi_region_doubt(struct tmb_net *net, uint32_t peer, uint64_t addr);
/* An OFI_ASK, OFI_REGION or OFI_FREED has come. */
void ofi_region_message(struct tmb_net *net, const struct ofi_head *head, const void *payload);
/* The slot segment_freed; without the lock. */
void ofi_segment_freed(struct tmb_net *net, void *base, size_t bytes);

/* ---- ofi_rma.c */

/* The slots; without the lock. */
int ofi_put(struct tmb_net *net, const struct tmb_rma *rma);
int ofi_get(struct tmb_net *net, const struct tmb_rma *rma);
int ofi_device_rma(struct tmb_net *net, const struct tmb_rma *rma, bool is_get);
int ofi_put_signal(struct tmb_net *net, const struct tmb_rma *rma, const struct tmb_signal *signal);
int ofi_get_signal(struct tmb_net *net, const struct tmb_rma *rma, const struct tmb_signal *signal);

/* Start a put of the conduit itself; with the lock. in key: NULL, or of the memory that it writes;
 * out index: of its access. When the put is over, `parts` of the access is 0, and `lost` says
 * whether it failed; the caller then returns the access by ofi_access_unhold. Returns 0, TMB_AGAIN
 * or TMB_E_UNSUPPORTED. */
int ofi_access_hold(struct tmb_net *net, const struct tmb_rma *rma, const struct tmb_net_key *key,
                    uint32_t *index);
void ofi_access_unhold(struct tmb_net *net, struct ofi_access *a);

/* Take one for an atomic operation; with the lock. Returns NULL if there is no room. It is given
 * back by ofi_access_free, or started by ofi_access_count: then it completes. */
struct ofi_access *ofi_access_take(struct tmb_net *net, const struct tmb_net_atomic *atomic);
void ofi_access_count(struct tmb_net *net, struct ofi_access *a);

bool ofi_access_make(struct tmb_net *net);
/* The provider is done with one, or has failed. */
void ofi_access_done(struct tmb_net *net, struct ofi_op *op);
void ofi_access_failed(struct tmb_net *net, struct ofi_op *op);
/* The provider has failed one that it had taken. Returns whether it is tried again, because the
 * failure says nothing of the peer. in error: of libfabric, positive. */
bool ofi_access_again(struct tmb_net *net, struct ofi_op *op, int error);
/* Whether an error of libfabric, positive, says that the peer, or the path to it, is lost. */
bool ofi_error_of_peer(int error);
/* Retry the accesses that are due. Returns whether something was started or given up. */
bool ofi_access_retry(struct tmb_net *net);
/* The peer has changed the signal of one. */
void ofi_access_changed(struct tmb_net *net, uint32_t peer, const struct ofi_change *change);
/* A put of a peer has come in a batch: write it; with the lock. in nbytes: of the payload. */
void ofi_write_serve(struct tmb_net *net, uint32_t src, const void *payload, uint32_t nbytes);
/* The peer has written the puts of a batch. in write: of the last one. */
void ofi_access_written(struct tmb_net *net, uint32_t peer, const struct ofi_write *write);
/* The peer has performed an atomic operation. */
void ofi_access_result(struct tmb_net *net, uint32_t peer, const struct ofi_rmw *rmw);
/* Send signals for which there was no room. Returns whether one was sent. */
bool ofi_access_rest(struct tmb_net *net);
/* Report a list of them to core; without the lock. Then they may be used again. */
void ofi_access_report(struct tmb_net *net, struct ofi_op *list);
void ofi_access_free(struct tmb_net *net, struct ofi_op *list);
/* Stop notifying core of accesses towards a peer. */
void ofi_access_lost(struct tmb_net *net, uint32_t peer);
/* A signal has come: change it; without the lock. */
void ofi_signal_message(struct tmb_net *net, const struct ofi_head *head, const void *payload);

/* ---- ofi_atomic.c */

/* The slot; without the lock. */
int ofi_atomic(struct tmb_net *net, const struct tmb_net_atomic *atomic);
/* The slot offloads. */
bool ofi_offloads(struct tmb_net *net, uint32_t dt, uint32_t ops);
/* Find out the operations that the provider performs on all ranks; collective, and called only with
 * net->atomics.asked. in good: this rank is ready. */
void ofi_atomics_open(struct tmb_net *net, bool good);
/* Operations of one domain of libfabric. out can: as struct ofi_atomics. */
void ofi_atomics_query(const struct ofi_calls *calls, struct fid_domain *domain,
                       uint32_t can[TMB_ATOMIC_TYPES]);
/* Whether the needs of a domain are among the possible operations. */
bool ofi_atomics_cover(const uint32_t can[TMB_ATOMIC_TYPES], uint32_t dt, uint32_t ops);
/* The provider has failed an access: say so if it is an atomic operation and the peer is not at
 * fault; with the lock. in error: of libfabric, positive. */
void ofi_atomic_failed(struct tmb_net *net, const struct ofi_op *op, int error);
/* An OFI_ATOMIC has come: perform it, and turn its payload into that of OFI_RESULT. */
void ofi_atomic_serve(struct tmb_net *net, uint32_t src, void *payload);

/* ---- ofi_long.c */

/* The slots; without the lock. */
int ofi_am_long(struct tmb_net *net, struct tmb_am_out *out);
bool ofi_expose(struct tmb_net *net, void *base, size_t nbytes, struct tmb_net_key *key);
void ofi_conceal(struct tmb_net *net, const struct tmb_net_key *key);
/* Complete the put that an OFI_LONG announces. Returns false if its payload lies in no segment. */
bool ofi_long_take(struct tmb_net *net, const struct ofi_head *head, const void *payload,
                   struct tmb_am_in *in);

#endif
