/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The OpenSHMEM library, inside: state, addresses, contexts, teams, functions that its files call
 * of each other.
 *
 * Included by the files of shmem/runtime. Calls: the public headers of Tombolo only. Invariants: a
 * PE is a rank of the job. The symmetric memory of a PE is its bound segment: the library's own
 * words first, then from `base` on the data segments of program and libraries, then the heap, with
 * one layout on all PEs. A symmetric address is therefore an offset from `base`, equal on all PEs.
 * The tables `memory` hold where each PE's memory is mapped in this process; an entry is
 * sh.closed.end where a call must take the slow path, which also is where arguments are checked.
 */
#ifndef SHMEM_SH_H
#define SHMEM_SH_H

#include <gasnet_ratomic.h>
#include <gasnetex.h>
#include <gasnetex_ext.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tombolo/check_hook.h>

#define SHMEM_NO_GENERIC_ 1 /* the routines are defined here, by their names */
#include "shmem.h"
#define SHMEM_INLINE_TABLE_ONLY_ 1
#include "shmem/inline.h"

#define SH_HIDDEN      __attribute__((visibility("hidden")))
#define SH_EXPORT      __attribute__((visibility("default")))
#define SH_LIKELY(e)   __builtin_expect(!!(e), 1)
#define SH_UNLIKELY(e) __builtin_expect(!!(e), 0)
#define SH_HOT         __attribute__((always_inline)) static inline
#define SH_COLD        __attribute__((noinline, cold))
#define SH_LONG        __attribute__((noinline)) /* the path to PEs that are not mapped */

/* Defines the routine pshmem_NAME, and shmem_NAME as a weak alias of it (OpenSHMEM 1.6, 10). By
 * sh_at_NAME this library has its address whatever is in front. */
#define SH_DEF(RET, NAME, ARGS)                                                 \
 SH_EXPORT RET pshmem_##NAME ARGS;                                              \
 SH_EXPORT __attribute__((weak, alias("pshmem_" #NAME))) RET shmem_##NAME ARGS; \
 SH_HIDDEN __attribute__((alias("pshmem_" #NAME))) RET sh_at_##NAME ARGS;       \
 RET pshmem_##NAME ARGS

#define SH_NOWHERE UINT64_MAX /* offset of an address that is not symmetric */
#define SH_RANGES  64         /* data segments that can be placed */

/* Part of a data segment that lies in the symmetric memory. */
struct sh_range {
  uintptr_t begin, bytes;
  uint64_t offset;     /* in the segment */
  uintptr_t from_file; /* bytes at the beginning that the file has; zeros follow */
};

/* Operations of a context that were not complete when their call returned. */
struct sh_pending {
  pthread_mutex_t lock; /* where several threads may use the context */
  gex_Event_t *event;   /* [room], the first `count` are in use */
  uint32_t count, room;
  bool shared;
  bool implicit; /* puts and gets have the implicit handles of the one thread that calls */
  bool implied;  /* some of these may be incomplete */
};

struct shmem_team_s {
  gex_TM_t tm;
  uint32_t size, rank;
  uint32_t *pe;     /* [size] number in the world */
  char **memory;    /* [size] of the members, as in struct shmem_reach_ */
  int *number;      /* [PEs of the world] number in this team, -1: no member; NULL: the world */
  int contexts_max; /* that its configuration allows */
  struct shmem_ctx_s *contexts;      /* made from this team and not destroyed */
  struct shmem_team_s *next, **link; /* in sh.teams, under sh.lock */
};

struct shmem_ctx_s {
  struct shmem_reach_ reach; /* the first field, which programs read */
  struct shmem_team_s *team;
  long options;
  struct sh_pending pending;
  struct shmem_ctx_s *next, **link; /* in the team's list, under sh.lock */
};

#define SH_HOLDERS 64 /* locks that threads of this PE hold, as far as they are known */
/* A lock that a thread holds. */
struct sh_holder {
  const long *lock; /* NULL: free */
  pthread_t thread;
};

struct sh_state {
  struct shmem_ctx_s ctx; /* the default context */
  char *base;             /* symmetric memory of this PE */
  uint64_t bytes;
  uint64_t heap; /* offset of the heap */
  struct sh_range range[SH_RANGES];
  uint32_t ranges;
  uint32_t pe, size;
  bool debug;         /* SHMEM_DEBUG: arguments are checked */
  bool traced;        /* events are recorded or counted: memory is reached by calls alone */
  bool inlined;       /* programs reach mapped memory without a call */
  bool threads;       /* SHMEM_THREAD_MULTIPLE */
  bool far;           /* some PE is not mapped */
  int level;          /* SHMEM_THREAD_* */
  uint32_t inits;     /* calls of shmem_init without shmem_finalize */
  bool joined, ended; /* the job is joined; shmem_finalize was called, or the program ends */
  uintptr_t *owner;   /* [size] base of each PE's memory, in its own address space */
  uintptr_t alike;    /* power of two at which these bases differ by multiples */
  char **near;        /* [size] where it is mapped here, NULL: nowhere */
  struct {
    _Alignas(SHMEM_GATE_BYTES_) char gate[SHMEM_GATE_BYTES_], end;
  } closed;       /* a gate of zeros, and the address behind it */
  char **nothing; /* [size] this address */
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_AD_t ad[6]; /* by enum sh_kind */
  struct shmem_team_s world, shared, node;
  struct shmem_team_s *teams;          /* made by the program and not destroyed */
  struct sh_holder holder[SH_HOLDERS]; /* with threads: lock.c */
  pthread_mutex_t lock;                /* lists of teams and contexts, the heap, holders */
};
extern SH_HIDDEN struct sh_state sh;

/* Types of atomics, by their domain. */
enum sh_kind { SH_I32, SH_U32, SH_I64, SH_U64, SH_FLT, SH_DBL };

/* ---- messages: message.c */

/* Ends the job with a message; the format ends in its number, as [TMB-2201]. in call: routine as
 * the program writes it, without shmem_. */
SH_COLD SH_HIDDEN __attribute__((noreturn, format(printf, 2, 3))) void
sh_fatal(const char *call, const char *format, ...);
/* Says something at start or under SHMEM_DEBUG. */
SH_COLD SH_HIDDEN __attribute__((format(printf, 1, 2))) void sh_say(const char *format, ...);

/* ---- addresses */

/* Offset of an address in the data segments of program and libraries; SH_NOWHERE: in none. */
SH_HIDDEN uint64_t sh_offset_static(uintptr_t addr);

/* Offset of a symmetric address. The first data segment is that of the program. */
SH_HOT uint64_t sh_offset(const void *addr) {
  const uint64_t offset = (uintptr_t)addr - (uintptr_t)sh.base;
  if (SH_LIKELY(offset < sh.bytes)) return offset;
  const uint64_t static_offset = (uintptr_t)addr - sh.range[0].begin;
  if (SH_LIKELY(static_offset < sh.range[0].bytes)) return static_offset + sh.range[0].offset;
  return sh_offset_static((uintptr_t)addr);
}

/* Address of a PE's object in this process; NULL: not mapped, or the call takes the slow path. */
SH_HOT char *sh_here(const struct shmem_ctx_s *ctx, const void *addr, int pe) {
  const uint64_t offset = sh_offset(addr);
  if (SH_UNLIKELY((uint32_t)pe >= ctx->team->size)) return NULL;
  char *const here = ctx->team->memory[pe];
  return SH_LIKELY(offset < SHMEM_GATE_(here)->get) ? here + offset : NULL;
}

/* An object of a PE, for the slow path: checked. */
struct sh_far {
  uint32_t pe; /* in the world */
  uint64_t offset;
  void *owner; /* its address in the PE's address space */
  char *near;  /* in this one; NULL: not mapped */
};
/* Names the object, or ends the job with a message. in arg: name of the argument. */
SH_HIDDEN struct sh_far sh_find(const struct shmem_ctx_s *ctx, const char *call, const char *arg,
                                const void *addr, uint64_t bytes, int pe);

/* Whether calls take the slow path: teams have no memory. */
SH_HOT bool sh_long_way(void) {
  return sh.debug || sh.traced;
}

/* Whether an object at this offset needs no checks: all of it is in the heap, or in the data
 * segment of the program. */
SH_HOT bool sh_is_plain(const struct shmem_ctx_s *ctx, uint64_t offset, uint64_t bytes, int pe) {
  const uint64_t before = offset < sh.heap ? sh.range[0].offset : 0;
  const uint64_t room = offset < sh.heap ? sh.range[0].bytes : sh.bytes;
  const uint64_t at = offset - before;
  return !sh_long_way() && (uint32_t)pe < ctx->team->size && bytes && at < room &&
         bytes <= room - at;
}

/* As sh_find, without a call for most objects. */
SH_HOT struct sh_far sh_find_plain(const struct shmem_ctx_s *ctx, const char *call, const char *arg,
                                   const void *addr, uint64_t bytes, int pe) {
  const uint64_t offset = sh_offset(addr);
  if (SH_UNLIKELY(!sh_is_plain(ctx, offset, bytes, pe)))
    return sh_find(ctx, call, arg, addr, bytes, pe);
  const uint32_t world = ctx->team->pe[pe];
  char *const near = sh.near[world];
  return (struct sh_far){.pe = world,
                         .offset = offset,
                         .owner = (void *)(sh.owner[world] + offset),
                         .near = near ? near + offset : NULL};
}

/* Wakes a PE that may wait for memory which was just written here. pe: in the world. */
SH_HOT void sh_wake(uint32_t pe) {
  gexx_signal_wake(sh.tm, pe);
}
/* Wakes after a put or an atomic on the short path, for which few PEs wait. in pe: number in the
 * team. A PE that begins to sleep just now sees the word itself (gexx_Wait_Until). */
SH_HOT void sh_wake_waiter(const struct shmem_ctx_s *ctx, int pe) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the store comes first */
  if (SH_UNLIKELY(__atomic_load_n(&SHMEM_GATE_(ctx->team->memory[pe])->waiters, __ATOMIC_RELAXED)))
    sh_wake(ctx->team->pe[pe]);
}
/* Progress after a read on the short path: a program that reads in a loop must see changes by
 * messages of PEs on other hosts. */
SH_HOT void sh_progress(void) {
  if (SH_UNLIKELY(sh.far)) gasnet_AMPoll();
}
SH_HOT uint32_t sh_world_pe(const struct shmem_ctx_s *ctx, int pe) {
  return ctx->team->pe[pe];
}

/* ---- contexts: context.c */

SH_COLD SH_HIDDEN struct shmem_ctx_s *sh_ctx_special(shmem_ctx_t ctx);
SH_HOT struct shmem_ctx_s *sh_ctx(shmem_ctx_t ctx) {
  return SH_LIKELY((uintptr_t)ctx > (uintptr_t)SHMEM_CTX_DEFAULT) ? ctx : sh_ctx_special(ctx);
}
/* Keeps an event until the next quiet of the context; GEX_EVENT_INVALID: nothing to keep. */
SH_HIDDEN void sh_pend(struct shmem_ctx_s *ctx, gex_Event_t event);
SH_HIDDEN void sh_quiet(struct shmem_ctx_s *ctx);
/* A quiet before a barrier, which orders the stores of this PE itself. */
SH_HIDDEN void sh_drain(struct shmem_ctx_s *ctx);
/* Completes a context and frees it. */
SH_HIDDEN void sh_ctx_end(struct shmem_ctx_s *ctx);
SH_HIDDEN void sh_ctx_init(struct shmem_ctx_s *ctx, struct shmem_team_s *team, long options);

/* ---- teams: team.c */

/* Fills the predefined teams; collective. */
SH_HIDDEN void sh_teams_start(void);
/* The team of a handle; NULL: SHMEM_TEAM_INVALID. */
SH_HIDDEN struct shmem_team_s *sh_team(shmem_team_t team);

/* ---- start and end: start.c */

/* Barrier over all PEs. */
SH_HIDDEN void sh_barrier(void);
/* Waits for an event. */
SH_HOT void sh_complete(gex_Event_t event) {
  if (event != GEX_EVENT_INVALID) gex_Event_Wait(event);
}
/* Ends the program: the library is not started. */
SH_COLD SH_HIDDEN __attribute__((noreturn)) void sh_not_started(const char *call);
/* The library must have been started: ends the program with a message otherwise. */
SH_HOT void sh_need_start(const char *call) {
  if (SH_UNLIKELY(!sh.joined)) sh_not_started(call);
}

/* Lets inline code of programs reach mapped memory, see shmem/inline.h: inline.c. */
SH_HIDDEN void sh_inline_start(void);
/* Opens or closes the gate of this PE for puts, by the count of its waiters. */
SH_HIDDEN void sh_gate_settle(void *unused);

/* Whether a routine of the program, or of a library in front of this one, replaces this library's:
 * interposed/. */
SH_HIDDEN bool sh_interposed(void);

/* ---- statics.c */

/* Whether an address belongs to a loaded object. */
struct dl_phdr_info;
SH_HIDDEN bool sh_object_holds(const struct dl_phdr_info *info, const void *addr);

/* Finds the data segments; fills sh.range with offsets from 0. Before the job is joined. Returns
 * bytes, a multiple of the page. */
SH_HIDDEN uint64_t sh_statics_find(void);
/* Number that is equal on PEs whose data segments are equal. */
SH_HIDDEN uint64_t sh_statics_hash(void);
/* Puts them into the segment, at sh.base. in same: whether all PEs have equal statics. */
SH_HIDDEN void sh_statics_place(bool same);

/* ---- heap.c */

SH_HIDDEN void sh_heap_init(void *base, size_t bytes);

/* ---- environment: env.c */

/* Bytes of the heap that the environment asks for; 0: not set. */
SH_HIDDEN uint64_t sh_env_heap(void);
/* Reads the rest, and prints the output of SHMEM_VERSION and SHMEM_INFO. */
SH_HIDDEN void sh_env_read(void);

/* ---- waits: wait.c */

/* Whether *ivar compares with value. */
struct sh_cond {
  bool (*holds)(const struct sh_cond *cond, size_t i);
  const void *ivars, *values; /* [count]; values: [1] where `vector` is not set */
  const int *status;
  size_t count, size; /* of one */
  int cmp;
  bool vector;
  const char *call;
  const void *caller; /* return address in the program; NULL: not known */
};
SH_HIDDEN void sh_wait(const struct sh_cond *cond, bool (*enough)(const struct sh_cond *, void *),
                       void *arg);

/* ---- collectives: coll/ */

/* Memory that a collective of a team reads and writes on this PE. */
struct sh_arrays {
  const void *dest, *source;
  size_t dest_bytes, source_bytes;
  bool same; /* dest may be source */
};
/* With SHMEM_DEBUG: a team of which this PE is a member; arrays that are symmetric and do not
 * overlap; a context that exists. Otherwise they end the job: check.c. */
SH_HIDDEN struct shmem_team_s *sh_team_checked(const char *call, shmem_team_t team);
SH_HIDDEN void sh_arrays_check(const char *call, const struct sh_arrays *arrays);
SH_HIDDEN void sh_ctx_check(const char *call, const struct shmem_ctx_s *ctx);
SH_HIDDEN bool sh_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes);
/* The team of a collective. */
SH_HOT struct shmem_team_s *sh_member(const char *call, shmem_team_t team) {
  return SH_LIKELY(!sh.debug) ? sh_team(team) : sh_team_checked(call, team);
}
SH_HOT void sh_arrays(const char *call, const struct sh_arrays *arrays) {
  if (SH_UNLIKELY(sh.debug)) sh_arrays_check(call, arrays);
}

/* A type and an operator. fn: y[i] = x[i] op y[i]. */
struct sh_op {
  gex_DT_t dt; /* GEX_DT_USER: fn performs it */
  size_t bytes;
  gex_OP_t op;
  gex_Coll_ReduceFn_t fn;
};
SH_HIDDEN int sh_reduce(struct shmem_team_s *team, void *dest, const void *source, size_t count,
                        const struct sh_op *op);
/* Blocks of `bytes`; bytes of collect may differ. */
SH_HIDDEN int sh_fcollect(struct shmem_team_s *team, void *dest, const void *source, size_t bytes);
SH_HIDDEN int sh_collect(struct shmem_team_s *team, void *dest, const void *source, size_t bytes);
SH_HIDDEN int sh_alltoall(struct shmem_team_s *team, void *dest, const void *source, size_t bytes);
/* Elements of alltoalls. */
struct sh_strides {
  ptrdiff_t dst, sst;
  size_t count, bytes;
};
SH_HIDDEN int sh_alltoalls(struct shmem_team_s *team, void *dest, const void *source,
                           const struct sh_strides *strides);

/* An active set. */
struct sh_set {
  int start, stride, size, rank; /* rank: of the caller */
  bool world;                    /* all PEs in their order */
  long *sync;                    /* [SHMEM_SYNC_SIZE] */
};
/* Checks the arguments. */
SH_HIDDEN struct sh_set sh_set(const char *call, int start, int log_stride, int size, long *sync);
SH_HIDDEN void sh_set_reduce(const struct sh_set *set, void *dest, const void *source, size_t count,
                             const struct sh_op *op);

#endif
