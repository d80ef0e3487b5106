/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run-time library of UPC, inside: state, memory layout, functions that its files call of each
 * other.
 *
 * Included by the files of upc/runtime. Calls: the public headers of Tombolo. Invariants: a
 * UPC thread is a rank of the job; the memory of each thread is its bound segment, with one layout
 * on all: a page that nothing uses (so that no object has offset 0), struct upcr_root, static
 * shared data, the heap of objects that lie on all threads (managed in thread 0's memory), the heap
 * of the thread's own objects. One thread of the process is in the library at a time.
 */
#ifndef UPCR_RT_H
#define UPCR_RT_H

#define UPCR_RUNTIME 1
#include "base/container/heap.h"
#include "upcr.h"

#include <gasnet_ratomic.h>
#include <gasnetex.h>
#include <gasnetex_ext.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tombolo/check_hook.h>

#define RT_EXPORT   __attribute__((visibility("default")))
#define RT_ALIGN    64u
#define RT_GUARD    65536u /* bytes; the largest pages of Linux on ARM have as many */
#define RT_ADDR_MAX ((uint64_t)1 << UPCR_ADDR_BITS)
#define RT_TABLE_HALF                                                        \
 ((long)1 << (UPCR_THREAD_BITS - 1)) /* numbers of threads, a sign with them \
                                      */

struct upcr_heap {
  uint32_t lock; /* 1: taken; by any process that maps the memory */
  uint32_t pad;
  struct tmb_heap all; /* offsets are from the beginning of the owner's memory */
};

/* At offset RT_GUARD of every thread's memory. */
struct upcr_root {
  struct upcr_heap own;    /* objects with affinity to this thread */
  struct upcr_heap global; /* thread 0: objects that lie on all threads */
  /* Number of the first barrier that some thread will not come to, because it ends. */
  uint64_t ended_at;
  uint64_t pts_lock; /* 1: an atomic operation on a wide pointer-to-shared goes on here */
};

struct upcr_state {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_AD_t ad32, ad64;
  char *memory;             /* this thread's */
  uint64_t bytes;           /* of each thread's memory */
  uint64_t heap, heap_half; /* offsets: the global heap, the threads' own heaps */
  uintptr_t *owner_base;    /* [threads]: address of the memory in its owner's address space */
  /* [threads]: where the memory is mapped here, or NULL. upcr_base is a second such table; while
   * events are recorded it has this thread's memory alone: then accesses come to far.c. */
  char **mapped;
  char **counters;         /* [threads]: of their semaphores, as gexx_sem_counters says */
  struct upcr_part *parts; /* shared libraries, in the order they were loaded (crt.h) */
  bool ready, ended;
  bool traced;               /* events are recorded, or operations counted */
  bool ordered;              /* recorded or replayed: locks are atomic operations alone */
  gexx_WaitInfo_t statement; /* of the program, whose access goes on: RT_SITE; caller NULL: none */
  uint64_t *held;  /* [GEXX_WAIT_HELD_COUNT] locks of this thread, as `tombolo why` shows them */
  bool all_mapped; /* the memory of all threads is mapped here */
#ifdef UPCR_WIDE
  bool table_is_whole; /* upcr_base has an entry for any thread number; accesses may fault */
#endif
};
extern struct upcr_state rt;

/* Owner's address of p, for operations of the library. */
static inline void *rt_owner_addr(upcr_pts_t p) {
  return (void *)(rt.owner_base[upcr_threadof(p)] + upcr_addrfield(p));
}

/* End the program with a message. The format ends in the number of the message, as [TMB-2101]. */
__attribute__((noreturn, format(printf, 1, 2))) void rt_fatal(const char *format, ...);

/* Object at RT_GUARD in this thread's memory. */
static inline struct upcr_root *rt_own_root(void) {
  return (struct upcr_root *)(void *)(rt.memory + RT_GUARD);
}

/* Address of p in this process; NULL where its memory is not mapped. */
static inline char *rt_mapped(upcr_pts_t p) {
  char *base = rt.mapped[upcr_threadof(p)];
  return base ? base + upcr_addrfield(p) : base;
}

/* While events are recorded, those until the end of the block are of this access of the program,
 * unless it is a part of another one. in from: return address of the access; NULL: not known. */
static inline bool rt_site(const char *call, const void *from) {
  if (__builtin_expect(!rt.traced, 1) || rt.statement.caller) return false;
  rt.statement.call = call;
  rt.statement.caller = from;
  return true;
}
static inline void rt_site_end(const bool *begun) {
  if (*begun) rt.statement.caller = NULL;
}
#define RT_SITE_FROM(call, from) \
 __attribute__((cleanup(rt_site_end), unused)) const bool rt_site_begun = rt_site((call), (from))
#define RT_SITE(call) RT_SITE_FROM(call, __builtin_return_address(0))

/* The call that a thread waits in, for `tombolo why`: name and place of the call in the program. */
#define RT_WAIT(name, who)                                                            \
 {                                                                                    \
  .call = (name), .needs = (who), .peer = GEX_RANK_INVALID, .home = GEX_RANK_INVALID, \
  .event = GEX_EVENT_INVALID, .caller = __builtin_return_address(0)                   \
 }

/* Between attempts whose success nobody announces: serves other threads, for a microsecond at first
 * and 0.1 ms at last. [in] tries: attempts so far. */
static inline void rt_pause(unsigned tries) {
  enum { LONGEST_US = 100 };
  (void)gexx_Event_WaitUntil(GEX_EVENT_NO_OP, NULL, NULL,
                             tries < LONGEST_US ? tries + 1 : LONGEST_US);
}

/* ---- far.c */
/* Waits for the puts in progress that touch these bytes. */
void rt_far_order(upcr_pts_t p, uint64_t bytes);

/* ---- names.c */
/* The operation or type as a program writes it, for a message; a number where it has no name. */
const char *rt_name_operation(unsigned long op);
const char *rt_name_type(int type);

/* ---- fault.c */
/* The line of the program that a call returns to, as " at f.upc:12, in main"; a word how to see it
 * where it is not known. in from: the address of return. */
void rt_name_place(const void *from, char *place, size_t place_bytes);
/* Ends the job where p points to no shared memory; what: the access. */
void rt_check_pointer(upcr_pts_t p, const char *what);
/* From here on a fault of an access to shared memory is explained. Call when all is mapped. */
void rt_fault_start(void);

/* ---- heap.c */
/* Offset of a block of the heap in the memory at base; 0: no room. */
uint64_t rt_heap_alloc(struct upcr_heap *heap, char *base, uint64_t bytes);
void rt_heap_free(struct upcr_heap *heap, char *base, uint64_t at);

/* ---- alloc.c */
void rt_alloc_start(void);
size_t rt_alloc_handlers(gex_AM_Entry_t *table);

/* ---- sync.c */
/* The thread comes to no further barrier: waits until all have come to that. */
void rt_end_barrier(void);

#endif
