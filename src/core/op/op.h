/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations behind events: pending parts, by category.
 *
 * Owns: struct tmb_op, its pool, and the encoding of gex_Event_t. Called by rma, barrier, nbi and
 * event entry points. Encoding: a root event is the address of an op (64-byte aligned); a leaf is
 * that address plus 1 + category index. So 0 (INVALID), 1 (NO_OP) and the GEX_EVENT_ sentinels are
 * never live events. Invariants: an op is complete when every pending counter is zero; the
 * initiator increments before it sends, completions decrement with release, a test acquires; a root
 * is freed by the one successful sync; freed ops are reused oldest first, so that a stale handle is
 * found out in debug clients.
 */
#ifndef TMB_CORE_OP_H
#define TMB_CORE_OP_H

#include "base/compiler.h"
#include "boot/status.h"
#include "core/gex.h"

#include <stdbool.h>

/* Category indices: bit number of the GEX_EC_ constants. */
enum { TMB_CAT_GET, TMB_CAT_PUT, TMB_CAT_AM, TMB_CAT_LC, TMB_CAT_RMW, TMB_CAT_COUNT };

enum tmb_op_kind { TMB_OP_FREE, TMB_OP_SINGLE, TMB_OP_REGION, TMB_OP_IMPLICIT };

struct tmb_op {
  uint32_t pending[TMB_CAT_COUNT]; /* parts outstanding; atomic */
  uint32_t kind;                   /* enum tmb_op_kind */
  uint32_t leaves;                 /* categories that QueryLeaf may name, GEX_EC_ bits */
  uint32_t serial; /* how often this slot has been used, so that an old event is recognised */
  union {
    uint64_t value; /* gasnet_get_nb_val: the value fetched */
    struct {
      uint32_t number; /* of the collective call in its team, from 1; its kind is below */
      uint32_t peer;   /* jobrank that completes it, or the root; TMB_STATUS_NOBODY */
    };
  };
  struct tmb_op *next; /* pool, or queue of its owner */
  uint32_t lost_mask;  /* GEX_EC_ bits of parts that ended with the loss of a peer */
  uint32_t lost;       /* jobrank of such a peer, while lost_mask is not 0 */
  uint32_t thread;     /* id of the one that last asked for it: a hint; atomic */
  uint8_t what;        /* enum tmb_what, for `tombolo why` */
  uint8_t team;        /* index of its team on the status page, or TMB_STATUS_NO_TEAM */
  bool rows;           /* a collective over shared memory: number is that of its first chunk */
  bool joined;         /* an access region: an operation was started in it */
} TMB_ALIGNED(64);
_Static_assert(sizeof(struct tmb_op) == 64, "one cache line");

/* Make the first operations, so that a first call does not end the process where there is no
 * memory. Returns 0 or TMB_E_NOMEM. */
int tmb_op_init(void);

/* Take an op from the pool, all counters zero. Fatal when there is no memory. Any thread. */
struct tmb_op *tmb_op_new(enum tmb_op_kind kind, uint32_t leaves);

/* Give an op back. */
void tmb_op_free(struct tmb_op *op);

/* Whether nothing is pending; acquires when true. in mask: GEX_EC_ bits. */
bool tmb_op_done(const struct tmb_op *op, uint32_t mask);

/* Describe an op, for `tombolo why`. in what: enum tmb_what; in peer: a jobrank or
 * TMB_STATUS_NOBODY. */
static inline void tmb_op_name(struct tmb_op *op, uint32_t what, uint32_t peer) {
  op->what = (uint8_t)what;
  op->peer = peer;
}

/* Wait until the sources of the puts of an op have been read; runs progress. In rma.c. */
void tmb_op_wait_local(const struct tmb_op *op);

static inline gex_Event_t tmb_op_event(struct tmb_op *op) {
  return (gex_Event_t)(void *)op;
}

/* The op of an event or of a leaf of it, whose number is in the low bits. Fixed: ops are aligned.
 */
#define TMB_EVENT_TAG ((uintptr_t)63)
static inline struct tmb_op *tmb_op_of_event(gex_Event_t event) {
  return (struct tmb_op *)((uintptr_t)event & ~TMB_EVENT_TAG);
}

/* For tests and reports. out live: ops in use; slots: ops ever allocated. */
void tmb_op_stats(uint64_t *live, uint64_t *slots);

#endif
