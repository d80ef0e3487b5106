/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start and end of a UPC program.
 *
 * Owns: the addresses of all threads' memory. Called by main of crt.c, before any other
 * function. Calls: the public interface. Invariants: every thread gives the static shared objects
 * their addresses in the order of the program's file, so that no communication is needed; when a
 * thread's main returns or it calls exit, it serves the others until all have come to that.
 */
#include "rt.h"
/* rt.h says first that this is the library itself */
#include "crt.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

RT_EXPORT void upcr_announce_part(struct upcr_part *part);
RT_EXPORT void upcr_start(int *argc, char ***argv, const struct upcr_object *const *objects,
                          size_t object_count, upcr_init *const *inits, size_t init_count);
RT_EXPORT void upcr_check_threads(int compiled);
RT_EXPORT __attribute__((noreturn)) void upc_global_exit(int status);

void upc_global_exit(int status) {
  fflush(NULL);
  gasnet_exit(status);
  abort();
}

static void attach(void) {
  gex_Segment_t segment;
  uint64_t bytes = gasnet_getMaxLocalSegmentSize();
  if (bytes > RT_ADDR_MAX) bytes = RT_ADDR_MAX;
  if (gex_Segment_Attach(&segment, rt.tm, bytes) != GASNET_OK)
    rt_fatal(
        "no shared memory of %llu bytes for each thread; set GASNET_MAX_SEGSIZE to less [TMB-2119]",
        (unsigned long long)bytes);
  rt.memory = gex_Segment_QueryAddr(segment);
  rt.bytes = gex_Segment_QuerySize(segment);
}

#ifdef UPCR_WIDE
/* The table of addresses. Only the part in use is accessible: a pointer whose thread does not exist
 * faults in the rest, which is addresses without memory. */
static char **make_table(void) {
  const size_t half = (size_t)RT_TABLE_HALF * sizeof *upcr_base;
  char *whole = mmap(NULL, 2 * half, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  rt.table_is_whole = whole != MAP_FAILED;
  if (!rt.table_is_whole) return calloc((size_t)upcr_threads, sizeof *upcr_base);
  if (mprotect(whole + half, (size_t)upcr_threads * sizeof *upcr_base, PROT_READ | PROT_WRITE) != 0)
    return NULL;
  return (char **)(void *)(whole + half);
}
#endif

/* While events are recorded, rt.mapped is a table of its own, and upcr_base has this thread alone.
 */
static void make_mapped(void) {
#ifdef UPCR_WIDE
  const size_t count = (size_t)upcr_threads;
#else
  const size_t count = UPCR_THREADS_MAX; /* also for pointers whose thread does not exist */
#endif
  rt.traced = gexx_Trace_Follow(&rt.statement);
  rt.ordered = gasnet_getenv("TOMBOLO_REPLAY_AREA") != NULL;
  rt.mapped = rt.traced ? calloc(count, sizeof *rt.mapped) : upcr_base;
  if (!rt.mapped) rt_fatal("out of memory for a table of %d threads [TMB-0001]", upcr_threads);
}

static void find_peers(void) {
  rt.owner_base = calloc((size_t)upcr_threads, sizeof *rt.owner_base);
  rt.counters = calloc((size_t)upcr_threads, sizeof *rt.counters);
#ifdef UPCR_WIDE
  upcr_base = make_table();
  if (!upcr_base) rt_fatal("out of memory for a table of %d threads [TMB-0001]", upcr_threads);
#endif
  if (!rt.owner_base || !rt.counters)
    rt_fatal("out of memory for a table of %d threads [TMB-0001]", upcr_threads);
  make_mapped();
  rt.all_mapped = true;
  uint64_t least = rt.bytes;
  for (int t = 0; t < upcr_threads; t++) {
    void *owner = NULL, *here = NULL;
    uintptr_t bytes = 0;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(rt.tm, (gex_Rank_t)t, &owner, &here, &bytes, 0));
    rt.owner_base[t] = (uintptr_t)owner;
    rt.counters[t] = rt.traced ? NULL : gexx_sem_counters((gex_Rank_t)t);
    rt.mapped[t] = t == upcr_mythread ? rt.memory : here;
    rt.all_mapped = rt.all_mapped && rt.mapped[t];
    if (t == upcr_mythread) upcr_base[t] = rt.memory;
    if (bytes < least) least = bytes;
  }
  rt.bytes = least; /* one layout for all */
  const uint64_t at = RT_GUARD + sizeof(struct upcr_root);
  if (at > rt.bytes)
    rt_fatal(
        "each thread's shared memory has %llu bytes, and %llu are needed for the library alone; "
        "raise GASNET_MAX_SEGSIZE [TMB-2140]",
        (unsigned long long)rt.bytes, (unsigned long long)at);
}

/* Accesses through null are to fail: nothing lies at the beginning of a thread's memory. */
static void guard_null(void) {
  for (int t = 0; t < upcr_threads; t++)
    if (rt.mapped[t]) mprotect(rt.mapped[t], RT_GUARD, PROT_NONE);
}

void upcr_announce_part(struct upcr_part *part) {
  struct upcr_part **last = &rt.parts;
  while (*last) last = &(*last)->next;
  *last = part;
}

/* Gives the static shared objects of the program or a shared library their places, from offset `at`
 * on. Returns the offset behind them. */
static uint64_t place_part(const struct upcr_part *part, uint64_t at) {
  for (size_t i = 0; i < part->object_count; i++) {
    const struct upcr_object *o = part->objects[i];
    if (*o->address) continue; /* declared in several files */
    const uint64_t bytes = o->bytes ? o->bytes : 1;
    if (bytes > rt.bytes || at > rt.bytes - bytes)
      rt_fatal(
          "the static shared data need more than the %llu bytes of each thread's shared memory "
          "(object '%s', %llu bytes); raise GASNET_MAX_SEGSIZE or use more threads [TMB-2118]",
          (unsigned long long)rt.bytes, o->name, (unsigned long long)bytes);
    *o->address = upcr_make(at, 0, 0);
    at = (at + bytes + RT_ALIGN - 1) / RT_ALIGN * RT_ALIGN;
  }
  return at;
}

static void place_objects(const struct upcr_part *program) {
  uint64_t at = RT_GUARD + (sizeof(struct upcr_root) + RT_ALIGN - 1) / RT_ALIGN * RT_ALIGN;
  for (const struct upcr_part *p = program; p; p = p->next) at = place_part(p, at);
  rt.heap = at;
  rt.heap_half = (at + (rt.bytes - at) / 2) / RT_ALIGN * RT_ALIGN;
}

static void store_values(const struct upcr_part *part) {
  for (size_t i = 0; i < part->object_count; i++) {
    const struct upcr_object *o = part->objects[i];
    if (!o->data) continue;
    const unsigned long own =
        o->bytes / o->elem_bytes; /* more than there are threads for is left */
    const unsigned long room = o->block ? own * (unsigned long)upcr_threads : own;
    upcr_spread(*o->address, o->data, o->count < room ? o->count : room, o->elem_bytes, o->block);
  }
}

static void initialise(const struct upcr_part *program) {
  const bool traced = rt.traced;
  rt.traced = false; /* this is no access of the program */
  for (const struct upcr_part *p = program; upcr_mythread == 0 && p; p = p->next) store_values(p);
  rt.traced = traced;
  for (const struct upcr_part *p = program; p; p = p->next)
    for (size_t i = 0; i < p->init_count; i++) p->inits[i]();
}

static void at_exit(void) {
  if (rt.ended) return;
  rt.ended = true;
  fflush(NULL);
  rt_end_barrier();
}

void upcr_check_threads(int compiled) {
  if (compiled != upcr_threads)
    rt_fatal("the program was compiled for %d threads; start it with %d [TMB-2117]", compiled,
             compiled);
}

void upcr_start(int *argc, char ***argv, const struct upcr_object *const *objects,
                size_t object_count, upcr_init *const *inits, size_t init_count) {
  if (rt.ready) return;
  rt.ready = true;
  if (gexx_Client_Join(&rt.client, &rt.ep, &rt.tm, "UPC", argc, argv, 0) != GASNET_OK) {
    fprintf(stderr, "UPC: %s\n", "the communication layer does not start [TMB-2101]");
    exit(1);
  }
  /* Coarrays in this process go on without an image that failed, threads cannot. */
  if (gexx_Job_QueryFailurePolicy() != GEXX_FAILURE_ABORT)
    gexx_Job_SetFailurePolicy(GEXX_FAILURE_ABORT);
  upcr_mythread = (int)gex_TM_QueryRank(rt.tm);
  upcr_threads = (int)gex_TM_QuerySize(rt.tm);
  gexx_WaitInfo_SetMembers("thread", 0);
  rt.held = gexx_WaitInfo_Held();
  if (upcr_threads > UPCR_THREADS_MAX)
    rt_fatal("pointers-to-shared of this form name at most %d threads; compile the program with "
             "--pointers=wide [TMB-2116]",
             UPCR_THREADS_MAX);
  upcr_threads_inverse = ((1L << 62) + upcr_threads / 2) / upcr_threads;
  if ((upcr_threads & (upcr_threads - 1)) == 0)
    upcr_threads_shift = __builtin_ctz((unsigned)upcr_threads);
  gex_AM_Entry_t handlers[8];
  const size_t n = rt_alloc_handlers(handlers);
  if (gex_EP_RegisterHandlers(rt.ep, handlers, n) != GASNET_OK)
    rt_fatal("the message handlers cannot be registered [TMB-2115]");
  attach();
  find_peers();
  guard_null();
  rt_fault_start();
  rt_own_root()->ended_at = UINT64_MAX;
  const struct upcr_part program = {objects, object_count, inits, init_count, rt.parts};
  place_objects(&program);
  rt_alloc_start();
  const gex_OP_t ops = GEX_OP_SET | GEX_OP_GET | GEX_OP_FADD | GEX_OP_FAND | GEX_OP_FOR |
                       GEX_OP_FXOR | GEX_OP_FCAS | GEX_OP_SWAP | GEX_OP_FMIN;
  /* locks and the words of barriers are changed by this processor as well, so no network may
   * perform these domains (docs/DECISIONS/0098) */
  gex_AD_Create(&rt.ad32, rt.tm, GEX_DT_U32, ops, GEX_FLAG_AD_FAVOR_MY_NBRHD);
  gex_AD_Create(&rt.ad64, rt.tm, GEX_DT_U64, ops, GEX_FLAG_AD_FAVOR_MY_NBRHD);
  gex_Event_Wait(gex_Coll_BarrierNB(rt.tm, 0));
  initialise(&program);
  upcr_complete();
  gex_Event_Wait(gex_Coll_BarrierNB(rt.tm, 0));
  atexit(at_exit);
}
