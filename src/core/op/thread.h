/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Per-thread state: context, implicit operations, prepared message, tokens, held locks.
 *
 * Owns: struct tmb_thread, one per client thread that has entered the library, reclaimed when the
 * thread exits. Called by every operation that depends on the calling thread. Calls: op.h for the
 * implicit set. Invariants: only the owning thread writes it, except the counters inside `nbi`,
 * which completions decrement.
 */
#ifndef TMB_CORE_THREAD_H
#define TMB_CORE_THREAD_H

#include "boot/status.h"
#include "core/gex.h"
#include "core/op/op.h"
#include "net/message.h"

#include <stdbool.h>

/* Bits of tmb_thread.context. */
enum {
  TMB_IN_REQUEST = 1,   /* a request handler is running on this thread */
  TMB_IN_REPLY = 2,     /* a reply handler is running on this thread */
  TMB_PREPARED = 4,     /* between Prepare and Commit or Cancel */
  TMB_NO_INTERRUPT = 8, /* between gasnet_hold_interrupts and resume */
  TMB_IN_OPERATOR = 16  /* a client's function of a reduction; debug clients */
};

#define TMB_MAGIC_TOKEN 0x746f6b31u

/* The message whose handler runs; gex_Token_t points at one. */
struct gexx_token_s {
  uint32_t magic; /* TMB_MAGIC_TOKEN while the handler runs */
  uint32_t src;
  const gex_AM_Entry_t *entry;
  uint16_t route; /* of the message */
  bool is_long, replied;
  bool is_req; /* fixed, as `thread` is */
  struct tmb_thread *thread;
};

/* A prepared message; gex_AM_SrcDesc_t points at one. */
struct gexx_srcdesc_s {
  bool live, is_reply, is_long, immediate;
  unsigned nargs;
  unsigned refused; /* immediate commits of it that found no resources */
  void *addr;
  size_t size;
  size_t canary_bytes; /* prefix that Prepare filled, 0: none */
  void *dest;          /* Long: given at Prepare, or NULL */
  gex_Event_t *lc_opt;
  gex_Token_t token; /* replies */
  gex_TM_t tm;       /* requests */
  gex_Rank_t rank;
  gex_Flags_t resolve;   /* flags of Prepare that give the meaning of dest */
  struct tmb_am_out out; /* peer, is_reply, route, staged buffer */
};

struct tmb_thread {
  uint32_t context;             /* TMB_IN_* */
  uint32_t id;                  /* 1.. */
  uint64_t hsl_since_ns;        /* when the first of them was acquired */
  gex_HSL_t *hsl;               /* locks held, last first, through gexx_debug; debug clients */
  struct gexx_token_s token[2]; /* request, and a reply handler run inside it */
  struct gexx_srcdesc_s srcdesc;
  void *long_buf[2];     /* library buffers of prepared Longs: request, reply; made at first use */
  void *self_buf[2];     /* payloads of Mediums to this rank: request, reply; made at first use */
  struct tmb_op nbi;     /* implicit operations outside access regions */
  struct tmb_op *region; /* open access region, or NULL */
  bool unanswered;       /* the last request handled got no reply */
  uint32_t src_last; /* sender of the last message handled since this was last read; this process's
                        rank: none */
  uint32_t
      yields_paid; /* waits that ended after a yield, less those that ended while spinning; >= 0 */
  uint32_t lost;   /* 1 + jobrank of a peer whose loss an operation met, 0: none since asked */
  uint64_t yield_ns;              /* how long the last yield took */
  uint64_t yield_debt_ns;         /* lost in yields to processes that compute */
  uint64_t no_yield_ns;           /* until then waits sleep without yielding */
  uint64_t short_ticks;           /* a yield of at most so many is short; 0: time the next one */
  gex_HSL_t *hsl_wanted;          /* lock that it wanted last */
  struct tmb_status_wait *shown;  /* entry on the status page, NULL: never slept, or none is free */
  struct gexx_waitinfo *declared; /* description of the wait by a layer above, or NULL */
  uint32_t declared_count;        /* such waits begun */
  bool detailed;                  /* its detail function has been called */
  uint32_t confined; /* yields after which waits of this thread spin again; 0: they spin. It may use
                        one processor, on which other ranks have their turns; see place.c */
  bool yield_ran;    /* another rank had its turn during the last yield */
  uint32_t looks;    /* waits ended by yields, where ranks outnumber processors */
  uint64_t turns_elsewhere; /* of ranks on other processors, at the last look */
  uint64_t moved_ns;        /* when this thread last asked for another processor */
  uint32_t unpolled; /* operations that were complete at once since one of them polled; ratomic */
};

extern _Thread_local struct tmb_thread *tmb_thread_self __attribute__((tls_model("initial-exec")));

/* Enter the calling thread; fatal when more threads are alive than gex_System_QueryMaxThreads. */
struct tmb_thread *tmb_thread_enter(void);

/* State of the calling thread, created at first use. */
static inline struct tmb_thread *tmb_thread(void) {
  struct tmb_thread *t = tmb_thread_self;
  return TMB_LIKELY(t != NULL) ? t : tmb_thread_enter();
}

/* Counter of an implicit operation that this thread starts. */
static inline struct tmb_op *tmb_thread_iop(struct tmb_thread *t) {
  if (!t->region) return &t->nbi;
  t->region->joined = true;
  return t->region;
}

#endif
