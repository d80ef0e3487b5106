/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gasnetex.h: the GASNet-EX core and extended API of Tombolo.
 *
 * Owns the public types, constants and prototypes of clients, endpoints, segments, teams, active
 * messages, RMA, events, locks and barriers. Called by every client; gasnet.h, gasnet_vis.h,
 * gasnet_coll.h, gasnet_ratomic.h and gasnet_mk.h include it. Needs exactly one of GASNET_SEQ,
 * GASNET_PARSYNC and GASNET_PAR. Invariants: handles are opaque pointers, zero is never a valid
 * one; every function declared here exists as a symbol. Conventions in the comments: "API nn.s" is
 * section s of file nn of the API reference; "restricted context" is an active-message handler, a
 * held HSL, or the interval between a Prepare and its Commit or Cancel.
 */
#ifndef GASNETEX_H
#define GASNETEX_H
/* Guards that clients test. gasnet.h alone defines _INCLUDED_GASNET_H: a client that finds it uses
 * names of GASNet-1, which this header does not declare. */
#define _GASNETEX_H          1
#define _INCLUDED_GASNETEX_H 1

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gasnet_config.h"
#include "gasnet_fwd.h"
#include "gasnet_portable_platform.h"
#include "tombolo/abi.h"
#include "tombolo/config.h"
#include "tombolo/helpers.h"
#include "tombolo/ident.h"
#ifndef GASNET_SEQ
# include <pthread.h>
#endif

GEXX_CASTS_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- types (API 00.5) */

/* Common parameters, where a call says nothing else.
 * [in] client: a client that gex_Client_Init or gexx_Client_Join has made.
 * [in] ep: an endpoint of this process.
 * [in] segment: a segment of this process.
 * [in] tm: a team that the caller is a member of; where the call says so, also a TM-pair.
 * [in] rank: a rank in that team, below gex_TM_QuerySize(tm).
 * [in] jobrank: a rank in the job, below gex_System_QueryJobSize().
 * [in] nbytes: bytes to move; 0 is allowed.
 * [in] val: a pointer of the client; the library does not follow it.
 * [in] flags: OR of GEX_FLAG_*; 0 where the call names none.
 * [in] dest: for a put, an address in the bound segment of (tm, rank), as its owner sees it; for a
 * get, local memory of nbytes bytes.
 * [in] src: for a get, an address in the bound segment of (tm, rank), as its owner sees it; for a
 * put, local memory of nbytes bytes.
 * [in] lc_opt: what becomes of local completion: GEX_EVENT_NOW, GEX_EVENT_DEFER, GEX_EVENT_GROUP,
 * or where to store an event, as the call says.
 * [in] token: the token that the running handler was given.
 * [in] handler: index of a handler that the target has registered.
 * [in] numargs: arguments of the message, 0 to 16.
 * [in] event: an event that was not synchronised yet, or GEX_EVENT_INVALID.
 * [in] user_op: the client's operator; used with GEX_OP_USER and GEX_OP_USER_NC only.
 * [in] user_cdata: passed to user_op as it is. */

/* Page gex_types: types and invalid handles of GASNet-EX.
 * Handles are opaque pointers that the library makes. Zero is never a valid handle. A handle is
 * valid in the process that made it. Equal handles name the same object.
 * See: gex_Client_Init, gex_EP_Create, gex_Segment_Create, gex_TM_Split, gex_Event_Wait
 * Names: gex_Client_t: a client;
 * gex_EP_t: an endpoint;
 * gex_Segment_t: a segment;
 * gex_TM_t: a team member, or a TM-pair;
 * gex_Token_t: what a handler gets;
 * gex_AM_SrcDesc_t: a message that was prepared;
 * gex_MK_t: a memory kind;
 * gex_AM_Index_t: index of a handler;
 * gex_AM_Arg_t: argument of a message;
 * gex_RMA_Value_t: an integer for put and get of values;
 * gex_EC_t: OR of GEX_EC_*;
 * gex_TI_t: OR of GEX_TI_*;
 * gex_Memvec_t: address and length of a piece;
 * gex_RankInfo_t: a process of a neighbourhood or host;
 * GEX_AM_SRCDESC_NO_OP: no message was prepared;
 * GEX_MK_HOST: memory of the host;
 * GEX_*_INVALID: no such object;
 * GEX_FLAG_PEER_NEVER_SELF: a promise that the peer is not the caller;
 * GEX_FLAG_PEER_NEVER_NBRHD: a promise that the peer shares no memory with the caller;
 * _GASNETEX_H, _INCLUDED_GASNETEX_H: defined when gasnetex.h was included */

typedef struct gexx_client_s *gex_Client_t;
typedef struct gexx_ep_s *gex_EP_t;
typedef struct gexx_segment_s *gex_Segment_t;
typedef struct gexx_tm_s *gex_TM_t;
typedef struct gexx_token_s *gex_Token_t;
typedef struct gexx_srcdesc_s *gex_AM_SrcDesc_t;
typedef struct gexx_mk_s *gex_MK_t;
typedef uint8_t gex_AM_Index_t;
typedef int32_t gex_AM_Arg_t;
#ifndef __cplusplus
# pragma GCC diagnostic push
# pragma GCC diagnostic ignored "-Wstrict-prototypes"
# if defined(__clang__) && __clang_major__ >= 15
#  pragma GCC diagnostic ignored "-Wdeprecated-non-prototype"
# endif
#endif
typedef void (*gex_AM_Fn_t)(); /* any handler; unprototyped so that C accepts it without a cast */
#ifndef __cplusplus
# pragma GCC diagnostic pop
#endif
typedef uint64_t gex_RMA_Value_t;
typedef unsigned int gex_EC_t;
typedef unsigned int gex_TI_t;
typedef struct {
  void *gex_addr;
  size_t gex_len;
} gex_Memvec_t;
typedef const struct { gex_Rank_t gex_jobrank; } gex_RankInfo_t;

#define GEX_CLIENT_INVALID          GEXX_HANDLE(gex_Client_t, 0)
#define GEX_EP_INVALID              GEXX_HANDLE(gex_EP_t, 0)
#define GEX_SEGMENT_INVALID         GEXX_HANDLE(gex_Segment_t, 0)
#define GEX_TM_INVALID              GEXX_HANDLE(gex_TM_t, 0)
#define GEX_MK_INVALID              GEXX_HANDLE(gex_MK_t, 0)
#define GEX_MK_HOST                 GEXX_HANDLE(gex_MK_t, 1)
#define GEX_AM_SRCDESC_NO_OP        GEXX_HANDLE(gex_AM_SrcDesc_t, 0)

#define GEX_FLAG_PEER_NEVER_SELF    (1u << 24)
#define GEX_FLAG_PEER_NEVER_NBRHD   (1u << 25)

/* ---------------------------------------------------------------- return codes (API 00.7) */

/* Page gasnet_ErrorName: return codes and their texts.
 * Calls that return int return GASNET_OK, which is 0, or one of these codes, which are not 0.
 * Completion: the calls return at once.
 * Threads: any thread, also before the job is started; none of them polls.
 * Errors: none; unknown codes have a text of their own. Misuse ends the process with a message in
 * debug clients (GASNET_DEBUG).
 * Cost: a table look-up.
 * See: gex_Client_Init
 * Names: GASNET_OK: success;
 * GASNET_ERR_NOT_INIT: the library was not started, or was started before;
 * GASNET_ERR_RESOURCE: there is not enough of something;
 * GASNET_ERR_BAD_ARG: an argument is wrong;
 * GASNET_ERR_NOT_READY: not complete yet;
 * GASNET_ERR_BARRIER_MISMATCH: the names of a barrier differ */

#define GASNET_OK                   0
#define GASNET_ERR_NOT_INIT         10001
#define GASNET_ERR_RESOURCE         10002
#define GASNET_ERR_BAD_ARG          10003
#define GASNET_ERR_NOT_READY        10004
#define GASNET_ERR_BARRIER_MISMATCH 10005

/* Name of a return code.
 * [in] errval: any int. Returns a constant string, "*unknown*" for other values; never NULL.
 * Restricted context: yes. API 08.3. */
GEXX_API const char *gasnet_ErrorName(int errval);

/* Description of a return code in words. Same rules as gasnet_ErrorName. API 08.3. */
GEXX_API const char *gasnet_ErrorDesc(int errval);

/* Whether calls that return certain non-fatal errors also print a line, 1 at start. Returns 0 or 1.
 * API 00.7. */
GEXX_API int gex_System_GetVerboseErrors(void);

/* Sets that. [in] enable: 0 or 1; any other value is misuse (fatal in debug clients). API 00.7. */
GEXX_API void gex_System_SetVerboseErrors(int enable);

/* ---------------------------------------------------------------- job (API 00.11, 01.1, 01.3) */

/* Page gex_Client_Init: start and end a job, and facts about its processes.
 * A job is a fixed number of processes, each with a jobrank. gex_Client_Init is the first call of
 * a program. A launcher starts the processes (tombolo-run(1)), or the first process forks the
 * others.
 * Completion: gex_Client_Init returns when every process can receive messages. The queries return
 * at once. gasnet_exit does not return.
 * Threads: gex_Client_Init is called once, by one thread. The queries may be called by any thread
 * after it, in any context.
 * Errors: gex_Client_Init prints the reason before it returns a code. A call that needs the job,
 * before there is one, ends the process with a message.
 * Cost: the start takes some milliseconds on one machine, and grows with the number of hosts. A
 * query reads a word.
 * Example: examples/hello.c gex_Client_Init(
 * See: gexx_Client_Join, gex_Segment_Attach, tombolo-run(1), tombolo-settings(7)
 * [out] nbrhd_set_size_p, host_set_size_p: number of neighbourhoods, of hosts.
 * [out] nbrhd_set_rank_p, host_set_rank_p: index of the caller's neighbourhood, host.
 * [out] info_count_p: entries of the array.
 * Names: gex_ProgressThreadInfo_t: a thread that the client must run;
 * GEX_THREAD_ROLE_RCV: it receives;
 * GEX_THREAD_ROLE_SND: it sends */

/* Arguments of gex_Client_Init, with how the caller was compiled; used by the inline below and by
 * gasnet_init. */
struct gexx_client_args {
  struct gexx_client_mode mode;
  gex_Client_t *client_p;
  gex_EP_t *ep_p;
  gex_TM_t *tm_p;
  const char *name;
  int *argc;
  char ***argv;
  gex_Flags_t flags;
};

/* Makes `init` of the parameters of a call that has these names. */
#define GEXX_CLIENT_ARGS(init)                                                                  \
 struct gexx_client_args init = {GEXX_CLIENT_MODE_INIT, NULL, NULL, NULL, NULL, NULL, NULL, 0}; \
 init.client_p = client_p;                                                                      \
 init.ep_p = ep_p;                                                                              \
 init.tm_p = tm_p;                                                                              \
 init.name = name;                                                                              \
 init.argc = argc;                                                                              \
 init.argv = argv;                                                                              \
 init.flags = flags

/* Initialises the process; the body of gex_Client_Init. [in] init: arguments, read before return.
 * API 01.1. */
GEXX_API int gexx_client_init(const struct gexx_client_args *init);

/* Ends the program if its files were compiled for different thread modes. [in] first, last: one
 * mode for each file, 1 SEQ, 2 PARSYNC, 3 PAR; both NULL where the linker gives none. */
GEXX_API void gexx_client_files(const uint32_t *first, const uint32_t *last);
#ifdef GEXX_FILE_MODES
# define GEXX_CHECK_FILES() gexx_client_files(__start_gexx_file_modes, __stop_gexx_file_modes)
#else
# define GEXX_CHECK_FILES() ((void)0)
#endif

#define GEXX_CLIENT_MODE_INIT \
 { GEXX_ABI_VERSION, GEXX_THREAD_MODE, GEXX_DEBUG, GEXX_CONDUIT, GASNET_CONFIG_STRING }

/* Starts or joins the job and creates client, primordial endpoint and primordial team; collective
 * over the job, once. [out] client_p, ep_p, tm_p: the objects. [in] name: [A-Z][A-Z0-9_]+, the same
 * on all ranks, copied. [in,out] argc, argv: of main; both may be NULL. [in] flags:
 * GEX_FLAG_USES_GASNET1 | GEX_FLAG_DEFER_THREADS, single-valued. Nobody returns before everybody
 * can receive messages. May fork peers (GASNET_PSHM_NODES). Normal context; polls. Returns
 * GASNET_OK; GASNET_ERR_NOT_INIT on a second call; GASNET_ERR_RESOURCE, with the reason printed:
 * then each call that needs the job ends the process with exit code 1. API 01.1. */
GEXX_INLINE int gex_Client_Init(gex_Client_t *client_p, gex_EP_t *ep_p, gex_TM_t *tm_p,
                                const char *name, int *argc, char ***argv, gex_Flags_t flags) {
  GEXX_CLIENT_ARGS(init);
  GEXX_CHECK_FILES();
  return gexx_client_init(&init);
}

/* Flags given to gex_Client_Init. Restricted context: yes. API 01.1. */
GEXX_API gex_Flags_t gex_Client_QueryFlags(gex_Client_t client);

/* Name given to gex_Client_Init; library-owned. Restricted context: yes. API 01.1. */
GEXX_API const char *gex_Client_QueryName(gex_Client_t client);

/* Ends the whole job. [in] exitcode: delivered to the launcher (low 8 bits). Any thread, any
 * context; does not return. Flushes stdio; peers that do not end by themselves are ended within
 * about a second. API 00.11. */
GEXX_API GEXX_NORETURN void gasnet_exit(int exitcode);

/* Rank of this process in the job, and the number of processes. Valid after init. Restricted
 * context: yes. API 01.3. */
GEXX_API gex_Rank_t gex_System_QueryJobRank(void);
GEXX_API gex_Rank_t gex_System_QueryJobSize(void);

/* Processes that share memory with this one, ascending by jobrank, the caller included.
 * [out] info_p: library-owned array [*info_count_p], constant; [out] my_info_index_p: index of the
 * caller. Each may be NULL. API 01.3. */
GEXX_API void gex_System_QueryNbrhdInfo(gex_RankInfo_t **info_p, gex_Rank_t *info_count_p,
                                        gex_Rank_t *my_info_index_p);

/* Processes on this host; same shape as gex_System_QueryNbrhdInfo. API 01.3. */
GEXX_API void gex_System_QueryHostInfo(gex_RankInfo_t **info_p, gex_Rank_t *info_count_p,
                                       gex_Rank_t *my_info_index_p);

/* Number of neighbourhoods and hosts in the job and the index of the caller's; each pointer may be
 * NULL. API 01.3. */
GEXX_API void gex_System_QueryMyPosition(gex_Rank_t *nbrhd_set_size_p, gex_Rank_t *nbrhd_set_rank_p,
                                         gex_Rank_t *host_set_size_p, gex_Rank_t *host_set_rank_p);

/* Limit on live client threads of this process: 1 in SEQ, otherwise GASNET_MAX_THREADS. API 00.9.
 */
GEXX_API uint64_t gex_System_QueryMaxThreads(void);

/* Number of library threads that may run handlers: 0. API 01.3. */
GEXX_API int gex_System_QueryHiddenAMConcurrencyLevel(void);

typedef struct {
  const char *gex_device_list;
  unsigned int gex_thread_roles;
  void *(*gex_progress_fn)(void *);
  void *gex_progress_arg;
} gex_ProgressThreadInfo_t;
#define GEX_THREAD_ROLE_RCV (1u << 0)
#define GEX_THREAD_ROLE_SND (1u << 1)

/* Progress threads that a client which passed GEX_FLAG_DEFER_THREADS must run; legal once.
 * [out] count_p: number (0: none), [out] info_p: library-owned array. [in] flags: 0.
 * Returns GASNET_OK, GASNET_ERR_BAD_ARG (NULL or flags), GASNET_ERR_RESOURCE (threads were not
 * deferred). API 01.11. */
GEXX_API int gex_System_QueryProgressThreads(gex_Client_t client, unsigned int *count_p,
                                             const gex_ProgressThreadInfo_t **info_p,
                                             gex_Flags_t flags);

/* ---------------------------------------------------------------- client data (API 01.2) */

/* Page gex_Client_SetCData: a pointer of the client for each object.
 * Completion: the calls return at once.
 * Threads: any thread and context, also handlers. The library does not lock: the client orders
 * writers and readers.
 * Errors: none. In debug clients an invalid handle ends the process with a message.
 * Cost: one load or store.
 * See: gex_AD_SetCData, gex_MK_SetCData */

/* One pointer per object, NULL at first, never freed by the library. The client serialises writers.
 * Restricted context: yes. */
GEXX_API void gex_Client_SetCData(gex_Client_t client, const void *val);
GEXX_API void *gex_Client_QueryCData(gex_Client_t client);
GEXX_API void gex_Segment_SetCData(gex_Segment_t segment, const void *val);
GEXX_API void *gex_Segment_QueryCData(gex_Segment_t segment);
GEXX_API void gex_TM_SetCData(gex_TM_t tm, const void *val);
GEXX_API void *gex_TM_QueryCData(gex_TM_t tm);
GEXX_API void gex_EP_SetCData(gex_EP_t ep, const void *val);
GEXX_API void *gex_EP_QueryCData(gex_EP_t ep);

/* ---------------------------------------------------------------- segments (API 01.4, 01.5) */

/* Page gex_Segment_Attach: memory that peers may access.
 * A segment is a range of memory that puts, gets and atomics of peers may reach. A segment is
 * bound to an endpoint; peers then name it by team and rank. gex_Segment_Attach serves most
 * programs. gex_Segment_Create and gex_EP_BindSegment make further segments.
 * Completion: gex_Segment_Attach returns after all processes have attached.
 * gex_EP_QueryBoundSegmentNB completes with its event. All other calls return when they are done.
 * Threads: normal context, any thread. One thread of a process calls a collective.
 * Errors: GASNET_ERR_BAD_ARG for a size that is no multiple of GASNET_PAGESIZE, a flag that is not
 * allowed or a NULL pointer. GASNET_ERR_RESOURCE when there is not enough memory; a message says
 * how much there is.
 * Cost: pages that nobody touches cost nothing. gex_Segment_Attach costs a barrier. A query of a
 * peer costs at most one message and its answer.
 * See: gex_EP_Create, gasnet_getMaxLocalSegmentSize, gex_MK_Create, gex_RMA_PutNB
 * [in] length: bytes of the segment.
 * [out] size_p: bytes of the bound segment. */

/* Allocates a segment of `size` bytes and binds it to the endpoint of the primordial team;
 * collective, once, a barrier. [out] segment_p: written on success. [in] size: bytes, non-zero
 * multiple of GASNET_PAGESIZE, at most gasnet_getMaxLocalSegmentSize(); may differ per rank. The
 * base is page aligned; untouched pages cost nothing. Normal context; polls. Returns GASNET_OK,
 * GASNET_ERR_BAD_ARG, GASNET_ERR_RESOURCE (the limit is printed). API 01.4. */
GEXX_API int gex_Segment_Attach(gex_Segment_t *segment_p, gex_TM_t tm, uintptr_t size);

/* Properties of a segment; address and size in bytes as its owner sees them. Restricted context:
 * yes. API 01.4. */
GEXX_API gex_Client_t gex_Segment_QueryClient(gex_Segment_t segment);
GEXX_API gex_Flags_t gex_Segment_QueryFlags(gex_Segment_t segment);
GEXX_API void *gex_Segment_QueryAddr(gex_Segment_t segment);
GEXX_API uintptr_t gex_Segment_QuerySize(gex_Segment_t segment);

/* Makes a segment of host memory that is not bound yet. [out] segment_p: untouched on error. [in]
 * address: NULL: the library allocates `length` bytes (rounded up to pages, untouched pages cost
 * nothing); else client memory [address, address + length), readable and writable until Destroy.
 * [in] kind: GEX_MK_HOST; [in] flags: 0. Peers reach it through the endpoints that it is bound
 * to; memory of the library is mapped by those that share memory with this process, when it is
 * published. Not collective; normal context. Returns GASNET_OK, GASNET_ERR_BAD_ARG,
 * GASNET_ERR_RESOURCE. API 01.4. */
GEXX_API int gex_Segment_Create(gex_Segment_t *segment_p, gex_Client_t client, gex_Addr_t address,
                                uintptr_t length, gex_MK_t kind, gex_Flags_t flags);

/* Ends a created segment, and frees memory that the library allocated. After entry nobody uses it,
 * operations in flight included. [in] flags: 0. Normal context. API 01.4. */
GEXX_API void gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags);

/* Blocking query of the bound segment of (tm, rank). [out] owneraddr_p, localaddr_p (NULL when not
 * mapped), size_p: each may be NULL, untouched on failure. Returns 0 when there is one, non-zero
 * otherwise. Normal context. API 01.5. */
GEXX_API int gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p,
                                    void **localaddr_p, uintptr_t *size_p);

/* Non-blocking form: root event (INVALID when done); *size_p is 0 when there is no bound segment.
 * [in] flags: 0 or GEX_FLAG_IMMEDIATE. Restricted context: with IMMEDIATE. API 01.5. */
GEXX_API GEXX_WARN_UNUSED gex_Event_t gex_EP_QueryBoundSegmentNB(gex_TM_t tm, gex_Rank_t rank,
                                                                 void **owneraddr_p,
                                                                 void **localaddr_p,
                                                                 uintptr_t *size_p,
                                                                 gex_Flags_t flags);

/* ---------------------------------------------------------------- endpoints and teams (API 01.5,
 * 01.6, 01.8) */

/* Page gex_EP_Create: endpoints of a process.
 * An endpoint has a handler table and at most one bound segment. gex_Client_Init makes the
 * primordial endpoint, with index 0. Others are for a segment in device memory, or for a library
 * inside the program.
 * Completion: the calls return when they are done. gex_EP_PublishBoundSegment returns when the
 * peers know the segments.
 * Threads: normal context, any thread; queries also in handlers. gex_EP_PublishBoundSegment is
 * collective over the team.
 * Errors: GASNET_ERR_BAD_ARG names a wrong argument, GASNET_ERR_RESOURCE that GASNET_MAXEPS
 * endpoints exist. Outputs are not written then.
 * Cost: gex_EP_PublishBoundSegment costs a barrier with the data of all members. The other calls
 * are local.
 * See: gex_Segment_Create, gex_TM_Create, gex_TM_Pair, gex_EP_RegisterHandlers
 * [in] num_eps: entries of eps. */

/* Makes a further endpoint of this process: unbound, in no team, with its own handler table. [out]
 * ep_p: untouched on error; its index is 1, 2, .. in creation order. [in] capabilities: OR of
 * GEX_EP_CAPABILITY_*, not 0; [in] flags: GEX_FLAG_HINT_ACCEL_*. Not collective; normal context.
 * Returns GASNET_OK, GASNET_ERR_BAD_ARG (capabilities), GASNET_ERR_RESOURCE (GASNET_MAXEPS
 * reached). API 01.5. */
GEXX_API int gex_EP_Create(gex_EP_t *ep_p, gex_Client_t client, gex_EP_Capabilities_t capabilities,
                           gex_Flags_t flags);

/* Makes `segment` the bound segment of `ep`; one segment may be bound to many endpoints. [in]
 * flags: 0. Not collective; normal context. Returns GASNET_OK, GASNET_ERR_BAD_ARG (invalid handle,
 * flags, endpoint bound before). API 01.5. */
GEXX_API int gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags);

/* Gives all members of `tm` the bound segments of the listed endpoints of this process, so that
 * they may be targeted through any team or TM-pair. [in] eps: [num_eps], distinct, idle; unbound
 * ones are skipped; num_eps may be 0 and differ. [in] flags: 0. Collective; normal context; polls.
 * Returns GASNET_OK. API 01.5. */
GEXX_API int gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t *eps, size_t num_eps,
                                        gex_Flags_t flags);

/* Properties of an endpoint. QuerySegment is GEX_SEGMENT_INVALID while unbound. Restricted context:
 * yes. API 01.5. */
GEXX_API gex_Client_t gex_EP_QueryClient(gex_EP_t ep);
GEXX_API gex_Flags_t gex_EP_QueryFlags(gex_EP_t ep);
GEXX_API gex_Segment_t gex_EP_QuerySegment(gex_EP_t ep);
GEXX_API gex_EP_Index_t gex_EP_QueryIndex(gex_EP_t ep);

/* Page gex_TM_Split: teams, and ranks in them.
 * A team is an ordered set of endpoints. A process is named in a call by a team and a rank in it.
 * gex_Client_Init makes the primordial team of all processes. gex_TM_Pair names one process
 * without a team.
 * Completion: the calls that make or end a team return when they are done on the caller. The new
 * team may be used at once, also towards members that have not returned.
 * Threads: normal context. The calls that make or end a team are collective; one thread of a
 * process calls them, and members call collectives of one team in one order. Queries and
 * gex_TM_Pair may be called by any thread, in any context.
 * Errors: arguments that contradict each other end the process with a message that names them.
 * Where peers are lost, gex_TM_Split, gex_TM_Dup and gex_TM_Create return 0 and give
 * GEX_TM_INVALID.
 * Cost: about log2(members) messages for each process; memory grows with the members. Queries read
 * a word. gex_TM_TranslateJobrankToRank may search.
 * See: gex_EP_Create, gex_Coll_BarrierNB, gexx_TM_Shrink, gexx_TM_SetName
 * [in] parent_tm, orig_tm: the team that the new one is made from.
 * [in] num_new_tms: entries of new_tms.
 * [in] local_ep: an endpoint of this process.
 * [in] remote_ep_index: index of the endpoint at the peer. */

/* Properties of a team member. Restricted context: yes. A TM-pair is misuse. API 01.6. */
GEXX_API gex_Client_t gex_TM_QueryClient(gex_TM_t tm);
GEXX_API gex_EP_t gex_TM_QueryEP(gex_TM_t tm);
GEXX_API gex_Flags_t gex_TM_QueryFlags(gex_TM_t tm);
GEXX_API gex_Rank_t gex_TM_QueryRank(gex_TM_t tm);
GEXX_API gex_Rank_t gex_TM_QuerySize(gex_TM_t tm);

/* Rank translation. rank < team size, jobrank < job size; JobrankToRank is GEX_RANK_INVALID when
 * that process has no member. Normal context. API 01.6. */
GEXX_API gex_Rank_t gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank);
GEXX_API gex_Rank_t gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank);
GEXX_API gex_EP_Location_t gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank,
                                                    gex_Flags_t flags);

/* Splits a team: one new team per distinct colour, ranks ordered by (key, parent rank). [out]
 * new_tm_p: this member's new team, written on return; NULL: the caller joins none. [in] color: >=
 * 0; [in] key: any. [in] scratch_addr: [scratch_size] bytes of the endpoint's bound segment that
 * the library owns until the team is destroyed (an offset with GEX_FLAG_SCRATCH_SEG_OFFSET);
 * ignored with GEX_FLAG_TM_NO_SCRATCH. [in] flags: GEX_FLAG_TM_LOCAL_SCRATCH (default) or
 * GEX_FLAG_TM_NO_SCRATCH, the same in each new team; with GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED (or
 * the deprecated _MIN) nothing is made and the scratch size to use is returned, 0 for a caller that
 * joins none. Otherwise returns 1 when a team was made, 0 when not. Collective over the parent;
 * normal context; polls. Cost: ceil(log2 P) messages. API 01.7. */
GEXX_API size_t gex_TM_Split(gex_TM_t *new_tm_p, gex_TM_t parent_tm, int color, int key,
                             void *scratch_addr, size_t scratch_size, gex_Flags_t flags);

/* Makes a team of listed endpoints. [out] new_tms: [num_new_tms] one handle per listed endpoint of
 * this process, in rank order. [in] args: [numargs] members in rank order; gex_rank is a rank of
 * the parent, or a jobrank with GEX_FLAG_RANK_IS_JOBRANK; equal on all callers of one team, and
 * disjoint between teams; numargs 0: the caller makes none. [in] scratch_addrs, scratch_size: with
 * GEX_FLAG_TM_SYMMETRIC_SCRATCH one address for all, _LOCAL_SCRATCH one per local member,
 * _GLOBAL_SCRATCH [numargs], _NO_SCRATCH ignored; offsets with GEX_FLAG_SCRATCH_SEG_OFFSET. Exactly
 * one mode. Scratch queries and return value as in gex_TM_Split. Collective over the parent; normal
 * context; polls. API 01.7. */
GEXX_API size_t gex_TM_Create(gex_TM_t *new_tms, size_t num_new_tms, gex_TM_t parent_tm,
                              gex_EP_Location_t *args, size_t numargs, gex_Addr_t *scratch_addrs,
                              size_t scratch_size, gex_Flags_t flags);

/* Ends a team, which must not be the primordial one; the endpoint lives on. [out] scratch_p: where
 * the client's scratch memory was (offset with GEX_FLAG_SCRATCH_SEG_OFFSET); may be NULL. [in]
 * flags: GEX_FLAG_GLOBALLY_QUIESCED asserts that all members have finished their collectives on the
 * team, so that nothing is synchronised. Returns non-zero when *scratch_p was written. Collective;
 * normal context; polls. API 01.7. */
GEXX_API int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t *scratch_p, gex_Flags_t flags);

/* Makes a team with the members and order of another one, and a collective order of its own. [in]
 * scratch_addr, scratch_len: as in gex_TM_Split, at least the minimum. [in] flags: one of
 * GEX_FLAG_TM_SYMMETRIC_SCRATCH, _LOCAL_SCRATCH, _NO_SCRATCH, or a scratch query. Collective;
 * normal context; polls. API 01.7. */
GEXX_API size_t gex_TM_Dup(gex_TM_t *new_tm_p, gex_TM_t orig_tm, gex_Addr_t scratch_addr,
                           size_t scratch_len, gex_Flags_t flags);

/* Names the route from a local endpoint to endpoint `remote_ep_index` of the process whose jobrank
 * is then passed as rank. A pure value: nothing to free; equal arguments give equal values.
 * Restricted context: yes. API 01.8. */
GEXX_API gex_TM_t gex_TM_Pair(gex_EP_t local_ep, gex_EP_Index_t remote_ep_index);

/* ---------------------------------------------------------------- handler registration (API 01.10)
 */

/* Page gex_EP_RegisterHandlers: handlers of active messages.
 * Each endpoint has a table of handlers. A message names its handler by the index in the table of
 * the endpoint that receives it.
 * Completion: the handlers can be called from the moment of the call. A barrier before the first
 * message makes sure that every peer has its handlers.
 * Threads: normal context, any thread; calls for one endpoint do not overlap.
 * Errors: GASNET_ERR_BAD_ARG for an index that is out of range or in use. GASNET_ERR_RESOURCE when
 * no index is left. No entry of the table is registered then.
 * Cost: local.
 * See: gex_AM_RequestMedium, gex_Token_Info, gex_Client_Init
 * [in] numentries: entries of the table.
 * Names: gex_AM_Entry_t: one handler */

typedef struct {
  gex_AM_Index_t gex_index; /* 0: choose the highest free one; else GEX_AM_INDEX_BASE..255 */
  gex_AM_Fn_t gex_fnptr;
  gex_Flags_t gex_flags;  /* one category and one of REQUEST, REPLY, REQREP */
  unsigned int gex_nargs; /* exact argument count, 0..gex_AM_MaxArgs() */
  const void *gex_cdata;  /* shallow copy; may be NULL */
  const char *gex_name;   /* shallow copy; may be NULL */
} gex_AM_Entry_t;

/* Registers handlers on an endpoint. [in,out] table: [numentries]; zero indices are replaced by the
 * chosen ones. May be repeated; fixed indices first, then zero ones in order from 255 down. No
 * barrier. Normal context. Returns GASNET_OK, GASNET_ERR_BAD_ARG (NULL table, index out of range or
 * taken), GASNET_ERR_RESOURCE (full). API 01.10. */
GEXX_API int gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t *table, size_t numentries);

/* ---------------------------------------------------------------- polling and waiting (API 02.8,
 * 08.3) */

/* Page gasnet_AMPoll: progress of messages, and waiting for a condition.
 * Handlers run in calls that poll. A process that computes for a long time calls gasnet_AMPoll now
 * and then, so that its peers do not wait.
 * Completion: gasnet_AMPoll returns after a bounded number of handlers. GASNET_BLOCKUNTIL returns
 * when its condition holds.
 * Threads: normal context, any thread; several threads may poll at once.
 * Errors: none but GASNET_ERR_BAD_ARG of gasnet_set_waitmode.
 * Cost: a poll that finds nothing takes some nanoseconds on one machine, more where a network is
 * read. A wait spins, then yields, then sleeps.
 * See: gexx_Poll, gex_Event_Wait, gex_AM_RequestShort
 * [in] wait_mode: GASNET_WAIT_SPIN, GASNET_WAIT_BLOCK or GASNET_WAIT_SPINBLOCK.
 * [in] cond: an expression; evaluated again and again.
 * Names: GASNET_WAIT_SPIN: waits spin;
 * GASNET_WAIT_BLOCK: waits yield the processor at once;
 * GASNET_WAIT_SPINBLOCK: waits spin, then yield, then sleep; this is the mode at the start */

/* Runs progress: handlers of messages that have arrived, a bounded number of them. Returns
 * GASNET_OK. Normal context. */
GEXX_API int gasnet_AMPoll(void);
/* gasnet_AMPoll under the name that scripts look for in an executable or a library. */
GEXX_API int gasnetc_AMPoll(void);

#define GASNET_WAIT_SPIN      0
#define GASNET_WAIT_BLOCK     1
#define GASNET_WAIT_SPINBLOCK 2

/* How this process waits: spin, yield at once, or spin then yield and sleep (default).
 * Returns GASNET_OK or GASNET_ERR_BAD_ARG. API 08.3. */
GEXX_API int gasnet_set_waitmode(int wait_mode);

/* State of one wait: gexx_wait_begin, then gexx_wait_step until the condition, evaluated after
 * each, holds. */
struct gexx_wait {
  uint64_t seen;  /* progress count sampled before the condition was evaluated */
  uint64_t since; /* tick at which the wait began */
  uint32_t steps;
  uint32_t phase;
};

/* Begins a wait. [out] wait: filled. Normal context. */
GEXX_API void gexx_wait_begin(struct gexx_wait *wait);

/* One step of a wait: runs progress; spins, yields or sleeps when nothing happened. Returns after
 * at most one sleep; a condition that a handler or another thread's progress made true since the
 * last step is never slept over. */
GEXX_API void gexx_wait_step(struct gexx_wait *wait);

/* Waits until `cond`, which active-message handlers of this process make true, or a peer's put or
 * any other store, which is seen within 2 ms; polls or sleeps in
 * between. API 02.8. */
#define GASNET_BLOCKUNTIL(cond)                       \
 do {                                                 \
  if (!(cond)) {                                      \
   struct gexx_wait gexx_wait_state_;                 \
   gexx_wait_begin(&gexx_wait_state_);                \
   while (!(cond)) gexx_wait_step(&gexx_wait_state_); \
  }                                                   \
  __atomic_thread_fence(__ATOMIC_ACQUIRE);            \
 } while (0)

/* ---------------------------------------------------------------- handler-safe locks (API 01.9) */

/* Page gex_HSL_Lock: locks that handlers may take.
 * A thread that holds such a lock is in restricted context: it must not wait, poll or communicate.
 * Handlers and threads may share data under the lock.
 * Completion: gex_HSL_Lock returns with the lock. gex_HSL_Trylock returns at once.
 * Threads: any thread, normal context or a handler. The holder releases the lock, the last one
 * taken first. A handler releases its locks before it returns.
 * Errors: debug clients end the process with a message for a lock that is taken twice, released by
 * another thread or held over a wait.
 * Cost: one atomic instruction when nobody else holds the lock. In SEQ clients without debugging
 * nothing.
 * See: gex_EP_RegisterHandlers, gasnett_mutex_lock
 * [in] hsl: a lock of this process.
 * Names: gex_HSL_t: a handler-safe lock;
 * GEX_HSL_INITIALIZER: a free lock */

typedef struct {
  uint32_t gexx_state; /* 0 free; else of the library */
  uint32_t gexx_owner; /* thread of the holder; debug clients */
  uint64_t gexx_debug; /* link in the holder's list of held locks; debug clients */
} gex_HSL_t;

#define GEX_HSL_INITIALIZER \
 { 0, 0, 0 }

/* Checked and blocking forms behind the inlines below; [in,out] hsl: a lock of this process. */
GEXX_API void gexx_hsl_init(gex_HSL_t *hsl);
GEXX_API void gexx_hsl_destroy(gex_HSL_t *hsl);
GEXX_API void gexx_hsl_lock(gex_HSL_t *hsl);
GEXX_API void gexx_hsl_unlock(gex_HSL_t *hsl);
GEXX_API int gexx_hsl_trylock(gex_HSL_t *hsl);

/* Makes *hsl a free lock; not needed after GEX_HSL_INITIALIZER. Restricted context: yes. API 01.9.
 */
GEXX_INLINE void gex_HSL_Init(gex_HSL_t *hsl) {
  gexx_hsl_init(hsl);
}

/* Ends the use of a free lock. Restricted context: yes. API 01.9. */
GEXX_INLINE void gex_HSL_Destroy(gex_HSL_t *hsl) {
  gexx_hsl_destroy(hsl);
}

/* Acquires; not recursive; while held the thread is in restricted context. Does not poll. API 01.9.
 */
GEXX_INLINE void gex_HSL_Lock(gex_HSL_t *hsl) {
#if GEXX_THREAD_MODE == 1 && !GEXX_DEBUG
  (void)hsl;
#else
  gexx_hsl_lock(hsl);
#endif
}

/* Releases a lock held by this thread; last acquired first. API 01.9. */
GEXX_INLINE void gex_HSL_Unlock(gex_HSL_t *hsl) {
#if GEXX_THREAD_MODE == 1 && !GEXX_DEBUG
  (void)hsl;
#else
  gexx_hsl_unlock(hsl);
#endif
}

/* Acquires if free: GASNET_OK, else GASNET_ERR_NOT_READY. API 01.9. */
GEXX_INLINE int gex_HSL_Trylock(gex_HSL_t *hsl) {
#if GEXX_THREAD_MODE == 1 && !GEXX_DEBUG
  (void)hsl;
  return GASNET_OK;
#else
  return gexx_hsl_trylock(hsl);
#endif
}

/* ---------------------------------------------------------------- events (API 03.5, 03.6) */

/* Page gex_Event_Wait: completion of operations.
 * A non-blocking operation returns an event (NB), or joins the implicit set of the thread (NBI). A
 * root event stands for the whole operation, a leaf for a part of it, as local completion. A root
 * event must be synchronised once: by a test that succeeds or by a wait. The handle is dead after
 * that.
 * [in,out] pevent: [numevents] events; those that are complete become GEX_EVENT_INVALID.
 * [in] numevents: entries of the array.
 * [in] event_mask: OR of GEX_EC_*: which implicit operations are meant.
 * [in] event_category: one GEX_EC_*.
 * [in] root: a root event that was not synchronised yet.
 * Completion: a wait returns when the operations are complete. What a peer wrote before it
 * signalled is then visible (acquire).
 * Threads: normal context. Any thread may synchronise an event. Implicit operations belong to the
 * thread that started them. Test forms never poll: a loop of tests must call gasnet_AMPoll.
 * Errors: test forms return GASNET_ERR_NOT_READY. An event that was synchronised before ends the
 * process with a message, in debug clients in any case.
 * Cost: a compare when the event is GEX_EVENT_INVALID, which it is for transfers to mapped peers;
 * else a poll for each turn.
 * Example: examples/threads.c gex_NBI_Wait(
 * See: gex_RMA_PutNB, gasnet_AMPoll, gexx_Event_Status
 * Names: GEX_EC_GET: gets;
 * GEX_EC_PUT: puts;
 * GEX_EC_AM: local completion of messages;
 * GEX_EC_LC: local completion of puts;
 * GEX_EC_RMW: atomics that are neither put nor get;
 * GEX_EC_ALL: all of them */

#define GEX_EC_GET (1u << 0)
#define GEX_EC_PUT (1u << 1)
#define GEX_EC_AM  (1u << 2)
#define GEX_EC_LC  (1u << 3)
#define GEX_EC_RMW (1u << 4)
#define GEX_EC_ALL (GEX_EC_GET | GEX_EC_PUT | GEX_EC_AM | GEX_EC_LC | GEX_EC_RMW)

/* The parts of the inlines below that test an event; debug clients also bring GEX_EVENT_INVALID
 * here, so that the context is checked. */
GEXX_API int gexx_event_test(gex_Event_t event);
GEXX_API void gexx_event_wait(gex_Event_t event);

/* Tests one event: 0 when complete (the handle is then dead), else GASNET_ERR_NOT_READY. Never
 * polls. API 03.5. */
GEXX_INLINE int gex_Event_Test(gex_Event_t event) {
  return !GEXX_DEBUG && event == GEX_EVENT_INVALID ? GASNET_OK : gexx_event_test(event);
}

/* Waits for one event, running progress; returns at once for GEX_EVENT_INVALID. API 03.5. */
GEXX_INLINE void gex_Event_Wait(gex_Event_t event) {
  if (GEXX_DEBUG || event != GEX_EVENT_INVALID) gexx_event_wait(event);
}

/* Forms for arrays of events.
 * [in,out] pevent: [numevents], completed entries become GEX_EVENT_INVALID; [in] flags: 0. Some: at
 * least one completed now, or none was live; All: every one is complete. Test forms never poll and
 * return 0 or GASNET_ERR_NOT_READY. API 03.5. */
GEXX_API int gex_Event_TestSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
GEXX_API void gex_Event_WaitSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
GEXX_API int gex_Event_TestAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
GEXX_API void gex_Event_WaitAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);

/* Leaf of a root event for one category: GEX_EC_LC of a put, or any single category of an access
 * region. Returns GEX_EVENT_INVALID for a complete root. A query: no obligation to sync it. API
 * 03.5. */
GEXX_API gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category);

/* Implicit events of the calling thread. [in] event_mask: OR of GEX_EC_*; [in] flags: 0. Test: 0
 * when all are complete, else GASNET_ERR_NOT_READY, never polls; Wait polls. Misuse inside an
 * access region. API 03.6. */
GEXX_API int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags);
GEXX_API void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags);

/* Between Begin and End the thread's implicit operations join one root event, which End returns.
 * Not nestable. API 03.6. */
GEXX_API void gex_NBI_BeginAccessRegion(gex_Flags_t flags);
GEXX_API GEXX_WARN_UNUSED gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t flags);

/* ---------------------------------------------------------------- barriers (API 06.2, 08.7) */

/* Page gex_Coll_BarrierNB: barriers.
 * A barrier ends for a member after every member has entered it. gex_Coll_BarrierNB is for any
 * team; the gasnet_barrier calls are for the whole job and compare names.
 * [in] id: a name that all processes must agree on; ignored with GASNET_BARRIERFLAG_ANONYMOUS.
 * Completion: the event, or the blocking call, is complete after every member has called. Puts
 * that were synchronised before it are visible to all members after it.
 * Threads: normal context; polls. One thread of a process at a time for one team or for the
 * gasnet_barrier calls.
 * Errors: GASNET_ERR_BARRIER_MISMATCH when the names differ; GASNET_ERR_NOT_READY of
 * gasnet_barrier_try. GEXX_ERR_LOST when a member is lost.
 * Cost: one step in shared memory; about log2(hosts) messages between hosts. Where each rank has a
 * processor, gex_Coll_BarrierNB looks for the others for about as long as a store takes to them.
 * See: gex_Event_Wait, gex_Coll_BroadcastNB
 * Names: GASNET_BARRIERFLAG_ANONYMOUS: the barrier has no name;
 * GASNET_BARRIERFLAG_MISMATCH: the barrier ends with GASNET_ERR_BARRIER_MISMATCH;
 * GASNET_BARRIERFLAG_UNNAMED: a promise that all members use no name */

/* Non-blocking barrier over a team: the event completes after every member has called. Initiation
 * releases, sync acquires. [in] flags: 0. Collective; any number may be outstanding. Normal
 * context. API 06.2. */
GEXX_API GEXX_WARN_UNUSED gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags);

/* gex_Coll_BarrierNB and a wait. API 06.2. */
GEXX_API void gex_Coll_BarrierBlocking(gex_TM_t tm, gex_Flags_t flags);

#define GASNET_BARRIERFLAG_ANONYMOUS 1
#define GASNET_BARRIERFLAG_MISMATCH  2
#define GASNET_BARRIERFLAG_UNNAMED   (GASNET_BARRIERFLAG_ANONYMOUS | 4)

/* Split-phase barrier over the job, one thread of each process at a time. [in] id: name, ignored
 * with ANONYMOUS; [in] flags: 0 or GASNET_BARRIERFLAG_*. notify does not block; wait, try and
 * barrier return GASNET_OK or GASNET_ERR_BARRIER_MISMATCH, try also GASNET_ERR_NOT_READY. API 08.7.
 */
GEXX_API void gasnet_barrier_notify(int id, int flags);
GEXX_API int gasnet_barrier_wait(int id, int flags);
GEXX_API int gasnet_barrier_try(int id, int flags);
GEXX_API int gasnet_barrier(int id, int flags);

/* Outcome of the last phase: non-zero when it was anonymous, else 0 and its name in *id. API 08.7.
 */
GEXX_API int gasnet_barrier_result(int *id);

/* ---------------------------------------------------------------- GASNet-1 items of this header
 * (API 08) */

/* Page gasnet_getMaxLocalSegmentSize: limits of segments, and facts for GASNet-1 clients.
 * [out] table: [numentries] entries, one for each rank.
 * [in] numentries: entries of the table.
 * [in] name: name of a variable.
 * [in] info: a gasnet_threadinfo_t of this thread.
 * Completion: the calls return at once.
 * Threads: any thread after the job is started. The variables are set by the client before
 * gex_Client_Init.
 * Errors: GASNET_ERR_BAD_ARG for a NULL table or a negative count.
 * Cost: local.
 * See: gex_Segment_Attach, gasnet_init, gasnet_attach
 * Names: gasnet_seginfo_t: segment of a process;
 * gasnet_nodeinfo_t: place of a process;
 * gasnet_threadinfo_t: what GASNET_GET_THREADINFO gives */

typedef struct {
  void *addr;
  uintptr_t size;
} gasnet_seginfo_t;
typedef struct {
  gex_Rank_t host;      /* equal exactly for processes of one host */
  gex_Rank_t supernode; /* equal exactly for processes that share memory */
  uintptr_t offset;     /* add to an address of that process's segment to get ours */
} gasnet_nodeinfo_t;
typedef void *gasnet_threadinfo_t;

/* Largest segment that this process, and that every process, may attach: bytes, a multiple of
 * GASNET_PAGESIZE. API 08.2. */
GEXX_API uintptr_t gasnet_getMaxLocalSegmentSize(void);
GEXX_API uintptr_t gasnet_getMaxGlobalSegmentSize(void);

/* Segments, or placement, of ranks 0..numentries-1. [out] table: [numentries], entries past the job
 * size are left alone. Return GASNET_OK, GASNET_ERR_BAD_ARG (negative count, NULL table),
 * GASNET_ERR_NOT_INIT. API 08.3. */
GEXX_API int gasnet_getSegmentInfo(gasnet_seginfo_t *table, int numentries);
GEXX_API int gasnet_getNodeInfo(gasnet_nodeinfo_t *table, int numentries);

/* Value of an environment variable of the job, NULL when unset; do not modify. API 08.3. */
GEXX_API char *gasnet_getenv(const char *name);

/* Client-definable: default of GASNET_MAX_SEGSIZE ("1GB/P"), its older form in bytes, a call-back
 * between creation of the segment memory and its use, and the flag a debugger clears to release a
 * frozen process. API 08.2. */
GEXX_API extern const char *gasnet_max_segsize_str;
GEXX_API extern uint64_t gasnet_max_segsize;
GEXX_API extern void (*gasnet_client_attach_hook)(void *segbase, uintptr_t size);
GEXX_API extern volatile int gasnet_frozen;

/* Thread information: valid on the calling thread. The POST form is a declaration and has no
 * run-time meaning; it names its line, so that one in an inner scope hides none. API 08.9. */
GEXX_API gasnet_threadinfo_t gexx_threadinfo(void);
#define GEXX_THREADINFO_AT(line)   gexx_threadinfo_at_##line
#define GEXX_THREADINFO_NAME(line) GEXX_THREADINFO_AT(line)
#define GASNET_GET_THREADINFO()    (gexx_threadinfo())
#define GASNET_POST_THREADINFO(info) \
 GEXX_UNUSED gasnet_threadinfo_t GEXX_THREADINFO_NAME(__LINE__) = (info)
#define GASNET_BEGIN_FUNCTION() GASNET_POST_THREADINFO(GASNET_GET_THREADINFO())

#ifdef __cplusplus
}
#endif
GEXX_CASTS_END

#include "tombolo/am/inline_am.h"
#include "tombolo/inline_rma.h"
#if defined(GASNET_TOOLS_H) && !defined(GASNETT_LITE_MODE)
# include "tombolo/tools/tools_conduit.h"
#endif

#endif
