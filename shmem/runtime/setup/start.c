/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start and end of an OpenSHMEM program (OpenSHMEM 1.6, 9.1).
 *
 * Owns nothing; state.c has the state. Called by programs. Calls: the public interface of Tombolo.
 * Invariants: all PEs lay out their symmetric memory alike, see sh.h; a PE that leaves main, or
 * calls exit(0), waits for the others as shmem_finalize does; one that ends with another code ends
 * the job.
 */
#include "../sh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Joins the job with a thread mode of GASNET, 2 (PARSYNC) or 3 (PAR). */
static int join(uint32_t mode) {
  struct gexx_client_args init = {
      GEXX_CLIENT_MODE_INIT, &sh.client, &sh.ep, &sh.tm, "SHMEM", NULL, NULL, 0};
  init.mode.thread_mode = mode;
  return gexx_client_join(&init);
}

static void join_job(int requested) {
  sh.level = requested;
  int rc = join(requested == SHMEM_THREAD_MULTIPLE ? 3 : 2);
  if (rc == GASNET_ERR_NOT_INIT && requested == SHMEM_THREAD_MULTIPLE) {
    sh.level = SHMEM_THREAD_SERIALIZED; /* another library has started the job for one thread */
    rc = join(2);
  }
  if (rc != GASNET_OK) sh_fatal("init", "the communication layer does not start [TMB-2320]");
  /* Coarrays in this process go on without an image that failed; a wait for its word would not
   * end. */
  if (gexx_Job_QueryFailurePolicy() != GEXX_FAILURE_ABORT)
    gexx_Job_SetFailurePolicy(GEXX_FAILURE_ABORT);
  sh.joined = true;
  sh.threads = sh.level == SHMEM_THREAD_MULTIPLE;
  sh.pe = gex_TM_QueryRank(sh.tm);
  sh.size = gex_TM_QuerySize(sh.tm);
  gexx_WaitInfo_SetMembers("PE", 0);
}

/* Memory of `count` entries that are zero. */
static void *table(size_t entry) {
  void *p = calloc(sh.size, entry);
  if (!p) sh_fatal("init", "out of memory for a table of %u PEs [TMB-0001]", sh.size);
  return p;
}

/* Values on which PEs must agree; each entry becomes the least of all PEs. */
struct agreement {
  uint64_t statics, not_statics; /* the hash of the data segments, and its complement */
  uint64_t most, heap;           /* bytes that a PE may have, and wants; UINT64_MAX: all it may */
};

static struct agreement agree(uint64_t heap) {
  const uint64_t hash = sh_statics_hash();
  const struct agreement mine = {hash, ~hash, gasnet_getMaxLocalSegmentSize(),
                                 heap ? heap : UINT64_MAX};
  struct agreement least = mine;
  sh_complete(gex_Coll_ReduceToAllNB(sh.tm, &least, &mine, GEX_DT_U64, sizeof(uint64_t),
                                     sizeof mine / sizeof(uint64_t), GEX_OP_MIN, NULL, NULL, 0));
  return least;
}

static uint64_t round_up(uint64_t bytes, uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/* Symmetric memory begins at a multiple of this, so that shmem_align finds one offset for all. */
static uint64_t alignment(uint64_t most) {
  const uint64_t huge = UINT64_C(2) << 20;
  return most >= 16 * huge ? huge : GASNET_PAGESIZE;
}

/* Address of the symmetric memory in a segment, behind a page of the library's own. */
static uintptr_t base_in(uintptr_t segment, uint64_t most) {
  return round_up(segment + GASNET_PAGESIZE, alignment(most));
}

/* Attaches the symmetric memory: own words, statics, heap. */
static void attach(uint64_t statics, const struct agreement *all) {
  const uint64_t page = GASNET_PAGESIZE, unit = alignment(all->most);
  const uint64_t most = (all->most - unit) / page * page;
  sh.heap = round_up(statics, page);
  const bool all_of_it = all->heap == UINT64_MAX;
  sh.bytes = all_of_it ? most : sh.heap + round_up(all->heap, page);
  if (sh.bytes > most || most <= sh.heap + page)
    sh_fatal("init",
             "the symmetric memory needs %llu bytes (%llu of them for global variables), and each "
             "PE may have %llu; lower SHMEM_SYMMETRIC_SIZE or raise GASNET_MAX_SEGSIZE [TMB-2319]",
             (unsigned long long)(all_of_it ? sh.heap + page : sh.bytes),
             (unsigned long long)statics, (unsigned long long)most);
  gex_Segment_t segment;
  if (gex_Segment_Attach(&segment, sh.tm, sh.bytes + unit) != GASNET_OK)
    sh_fatal("init", "no symmetric memory of %llu bytes; lower SHMEM_SYMMETRIC_SIZE [TMB-2318]",
             (unsigned long long)sh.bytes);
  sh.base = (char *)base_in((uintptr_t)gex_Segment_QueryAddr(segment), all->most);
}

/* in most: bytes that a PE may have. */
static void find_peers(uint64_t most) {
  sh.owner = table(sizeof *sh.owner);
  sh.near = table(sizeof *sh.near);
  sh.nothing = table(sizeof *sh.nothing);
  for (uint32_t pe = 0; pe < sh.size; pe++) sh.nothing[pe] = &sh.closed.end;
  uintptr_t differ = 0;
  for (uint32_t pe = 0; pe < sh.size; pe++) {
    void *owner = NULL, *here = NULL;
    uintptr_t bytes = 0;
    sh_complete(gex_EP_QueryBoundSegmentNB(sh.tm, pe, &owner, &here, &bytes, 0));
    sh.owner[pe] = base_in((uintptr_t)owner, most);
    if (here) here = (char *)here + (sh.owner[pe] - (uintptr_t)owner);
    sh.near[pe] = pe == sh.pe ? sh.base : here;
    sh.far = sh.far || !sh.near[pe];
    differ |= sh.owner[pe] ^ sh.owner[0];
  }
  sh.alike = differ ? differ & -differ : (uintptr_t)1 << 62;
}

static void make_domains(void) {
  static const gex_DT_t dt[] = {GEX_DT_I32, GEX_DT_U32, GEX_DT_I64,
                                GEX_DT_U64, GEX_DT_FLT, GEX_DT_DBL};
  const gex_OP_t any = GEX_OP_SET | GEX_OP_GET | GEX_OP_SWAP;
  const gex_OP_t number = any | GEX_OP_ADD | GEX_OP_FADD | GEX_OP_FCAS | GEX_OP_AND | GEX_OP_FAND |
                          GEX_OP_OR | GEX_OP_FOR | GEX_OP_XOR | GEX_OP_FXOR;
  /* words are changed by instructions of this processor as well, so no network may perform these
   * domains (docs/DECISIONS/0098) */
  for (size_t i = 0; i < sizeof dt / sizeof *dt; i++)
    gex_AD_Create(&sh.ad[i], sh.tm, dt[i], i < SH_FLT ? number : any, GEX_FLAG_AD_FAVOR_MY_NBRHD);
}

static void end_program(int code) {
  if (sh.ended) return;
  sh.ended = true;
  if (code) return; /* the job ends with this PE */
  fflush(NULL);
  sh_drain(&sh.ctx);
  sh_barrier();
}

#ifdef __GLIBC__
static void on_end(int code, void *unused) {
  (void)unused;
  end_program(code);
}
#endif

static void start(void) {
  const uint64_t heap = sh_env_heap();
  const uint64_t statics = sh_statics_find();
  const struct agreement all = agree(heap);
  const bool same = all.statics == ~all.not_statics;
  attach(same ? statics : 0, &all);
  sh.traced = gexx_Trace_Follow(NULL) != 0;
  if (sh.traced) gexx_check_words();
  sh_statics_place(same);
  find_peers(all.most);
  sh_heap_init(sh.base + sh.heap, sh.bytes - sh.heap);
  sh_env_read();
  sh.inlined = !sh_long_way() && !sh_interposed();
  sh_teams_start();
  sh_ctx_init(&sh.ctx, &sh.world, 0);
  sh.ctx.pending.implicit = sh.level <= SHMEM_THREAD_FUNNELED;
  make_domains();
  sh_inline_start();
#ifdef __GLIBC__
  on_exit(on_end, NULL); /* atexit does not give the code */
#endif
  sh_barrier();
}

SH_DEF(int, init_thread, (int requested, int *provided)) {
  if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE)
    sh_fatal("init_thread",
             "argument requested is %d; SHMEM_THREAD_SINGLE, FUNNELED, SERIALIZED and MULTIPLE are "
             "allowed [TMB-2317]",
             requested);
  if (!sh.joined) {
    join_job(requested);
    start();
  }
  sh.inits++;
  if (provided) *provided = sh.level;
  return 0;
}

SH_DEF(void, init, (void)) {
  (void)pshmem_init_thread(SHMEM_THREAD_SINGLE, NULL);
}

SH_DEF(void, finalize, (void)) {
  sh_need_start("finalize");
  if (sh.inits > 1) {
    sh.inits--;
    return;
  }
  end_program(0);
  sh.inits = 0;
}

SH_DEF(void, global_exit, (int status)) {
  sh.ended = true;
  fflush(NULL);
  gasnet_exit(status);
  abort();
}

SH_DEF(void, query_thread, (int *provided)) {
  *provided = sh.level;
}

SH_DEF(void, query_initialized, (int *initialized)) {
  *initialized = sh.inits > 0;
}

SH_DEF(void, query_finalized, (int *finalized)) {
  *finalized = sh.joined && sh.inits == 0;
}

SH_DEF(int, my_pe, (void)) {
  return (int)sh.pe;
}

SH_DEF(int, n_pes, (void)) {
  return (int)sh.size;
}

SH_DEF(void, info_get_version, (int *major, int *minor)) {
  *major = SHMEM_MAJOR_VERSION;
  *minor = SHMEM_MINOR_VERSION;
}

SH_DEF(void, info_get_name, (char *name)) {
  snprintf(name, SHMEM_MAX_NAME_LEN, "%s", SHMEM_VENDOR_STRING);
}

SH_DEF(void, pcontrol, (const int level, ...)) {
  (void)level;
}
