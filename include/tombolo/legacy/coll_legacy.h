/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/legacy/coll_legacy.h: the collectives of GASNet-1, which older clients still use.
 *
 * Owns their types, flags and prototypes (API 06.5). Included by gasnet_coll.h after gasnetex.h.
 * Calls nothing. Built on the engine of the EX collectives: handles are EX events, teams are EX
 * teams, an image is a rank. nbytes is the length of one rank's block. Rules of order, threads and
 * contexts are those of gasnet_coll.h. Calls of the former autotuner are accepted and do nothing.
 */
#ifndef GEXX_COLL_LEGACY_H
#define GEXX_COLL_LEGACY_H

#include "gasnetex.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Page gasnet_coll_broadcast: GASNet-1: collectives.
 * Names: gasnet_image_t: rank in a team;
 * gasnet_team_handle_t: a team, as gex_TM_t;
 * gasnet_coll_handle_t: a collective that was started, as gex_Event_t;
 * GASNET_COLL_INVALID_HANDLE: a complete collective;
 * gasnet_coll_optype_t, GASNET_COLL_*_OP, GASNET_COLL_NUM_COLL_OPTYPES: which collective a call of
 * the former autotuner means;
 * gasnet_coll_tuning_param_type_t, GASNET_COLL_PIPE_SEG_SIZE, GASNET_COLL_DISSEM_RADIX,
 * GASNET_COLL_TREE_TYPE, GASNET_COLL_NUM_PARAM_TYPES: names of the former autotuner;
 * gasnet_coll_overlap_sample_work_t: a function of the former autotuner;
 * gasnet_coll_set_*: accepted; nothing changes
 * [in] team: a team, as GASNET_TEAM_ALL.
 * [out] dst: where the result goes.
 * [in] src: the caller's data.
 * [in] srcimage, dstimage: rank of the root.
 * [in] nbytes: bytes of the block of one rank.
 * [in] flags: one GASNET_COLL_IN_*, one GASNET_COLL_OUT_*, and hints.
 * [in,out] phandle: [numhandles] handles; those that are complete become
 * GASNET_COLL_INVALID_HANDLE.
 * [in] numhandles: entries of the array.
 * [in] handle: a collective that was started.
 * [in] id: name of the barrier.
 * [in] filename, optype, algorithm, tree_type, fanout, dissemlimit: ignored.
 * Completion: blocking forms return when the caller's part is done, as the OUT flag says. nb forms
 * return a handle.
 * Threads: normal context; members call in one order on each team.
 * Errors: GASNET_ERR_NOT_READY of the try forms, GASNET_ERR_BARRIER_MISMATCH of barriers whose
 * names differ.
 * Cost: as the collectives of GASNet-EX.
 * See: gex_Coll_BroadcastNB, gexx_Coll_ScatterNB, gasnet_barrier */

typedef uint32_t gasnet_image_t;
typedef struct gexx_tm_s *gasnet_team_handle_t;
typedef gex_Event_t gasnet_coll_handle_t;

#define GASNET_COLL_INVALID_HANDLE GEX_EVENT_INVALID

/* The primordial team. [returns] its handle; valid after initialisation. */
GEXX_API gasnet_team_handle_t gexx_coll_team_all(void);
#define GASNET_TEAM_ALL                    (gexx_coll_team_all())

/* Flags: exactly one IN_, exactly one OUT_. IN_NOSYNC: data may move once any rank has entered;
 * IN_MYSYNC: once its source and destination have; IN_ALLSYNC: once all have. OUT_NOSYNC,
 * OUT_MYSYNC: complete once the caller's buffers are done with; OUT_ALLSYNC: once everybody's are.
 */
#define GASNET_COLL_IN_NOSYNC              (1 << 0)
#define GASNET_COLL_IN_MYSYNC              (1 << 1)
#define GASNET_COLL_IN_ALLSYNC             (1 << 2)
#define GASNET_COLL_OUT_NOSYNC             (1 << 3)
#define GASNET_COLL_OUT_MYSYNC             (1 << 4)
#define GASNET_COLL_OUT_ALLSYNC            (1 << 5)
#define GASNET_COLL_SYNC_FLAG_MASK         0x3f
/* Addresses are those of the calling rank; the only way, and so may be left out. */
#define GASNET_COLL_LOCAL                  (1 << 7)
/* Hints without effect. */
#define GASNET_COLL_AMSAFE                 (1 << 8)
#define GASNET_COLL_NONCOMM                (1 << 9)
#define GASNET_COLL_DST_IN_SEGMENT         (1 << 10)
#define GASNET_COLL_SRC_IN_SEGMENT         (1 << 11)
#define GASNET_COLL_DISABLE_AUTOTUNE       (1 << 12)
#define GASNET_COLL_NO_IMAGES              (1 << 13)
#define GASNET_COLL_FIXED_THREADS_PER_NODE (1 << 14)
/* Symmetric addressing was removed from the interface: using the name is an error at compile time.
 */
#define GASNET_COLL_SINGLE                 gasnet_error_GASNET_COLL_SINGLE_is_not_supported

/* src of srcimage, nbytes, goes to everybody's dst. */
GEXX_API void gasnet_coll_broadcast(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage,
                                    void *src, size_t nbytes, int flags);
/* Block r of srcimage's src goes to dst of rank r. */
GEXX_API void gasnet_coll_scatter(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage,
                                  void *src, size_t nbytes, int flags);
/* src of rank r goes to block r of dstimage's dst. */
GEXX_API void gasnet_coll_gather(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                                 void *src, size_t nbytes, int flags);
/* src of rank r goes to block r of everybody's dst. */
GEXX_API void gasnet_coll_gather_all(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes,
                                     int flags);
/* Block j of rank i's src goes to block i of rank j's dst. */
GEXX_API void gasnet_coll_exchange(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes,
                                   int flags);

/* Starts a broadcast; the handle is synced with the calls below or as an EX event. */
GEXX_API GEXX_WARN_UNUSED gasnet_coll_handle_t gasnet_coll_broadcast_nb(gasnet_team_handle_t team,
                                                                        void *dst,
                                                                        gasnet_image_t srcimage,
                                                                        void *src, size_t nbytes,
                                                                        int flags);
GEXX_API GEXX_WARN_UNUSED gasnet_coll_handle_t gasnet_coll_scatter_nb(gasnet_team_handle_t team,
                                                                      void *dst,
                                                                      gasnet_image_t srcimage,
                                                                      void *src, size_t nbytes,
                                                                      int flags);
GEXX_API GEXX_WARN_UNUSED gasnet_coll_handle_t gasnet_coll_gather_nb(gasnet_team_handle_t team,
                                                                     gasnet_image_t dstimage,
                                                                     void *dst, void *src,
                                                                     size_t nbytes, int flags);
GEXX_API GEXX_WARN_UNUSED gasnet_coll_handle_t gasnet_coll_gather_all_nb(gasnet_team_handle_t team,
                                                                         void *dst, void *src,
                                                                         size_t nbytes, int flags);
GEXX_API GEXX_WARN_UNUSED gasnet_coll_handle_t gasnet_coll_exchange_nb(gasnet_team_handle_t team,
                                                                       void *dst, void *src,
                                                                       size_t nbytes, int flags);

/* Polls once, then tests: GASNET_OK or GASNET_ERR_NOT_READY. [in,out] phandle: [n]; completed
 * entries become GASNET_COLL_INVALID_HANDLE. */
GEXX_API int gasnet_coll_try_sync(gasnet_coll_handle_t handle);
GEXX_API int gasnet_coll_try_sync_some(gasnet_coll_handle_t *phandle, size_t numhandles);
GEXX_API int gasnet_coll_try_sync_all(gasnet_coll_handle_t *phandle, size_t numhandles);
/* Wait for one, at least one, all. */
GEXX_API void gasnet_coll_wait_sync(gasnet_coll_handle_t handle);
GEXX_API void gasnet_coll_wait_sync_some(gasnet_coll_handle_t *phandle, size_t numhandles);
GEXX_API void gasnet_coll_wait_sync_all(gasnet_coll_handle_t *phandle, size_t numhandles);

/* The split-phase named barrier of GASNet-1 (API 08.7) over a team; one at a time on a team. */
GEXX_API void gasnet_coll_barrier_notify(gasnet_team_handle_t team, int id, int flags);
GEXX_API int gasnet_coll_barrier_wait(gasnet_team_handle_t team, int id, int flags);
GEXX_API int gasnet_coll_barrier_try(gasnet_team_handle_t team, int id, int flags);
GEXX_API int gasnet_coll_barrier(gasnet_team_handle_t team, int id, int flags);
GEXX_API int gasnet_coll_barrier_result(gasnet_team_handle_t team, int *id);

/* ---- the rest of the autotuner */

typedef enum {
  GASNET_COLL_BROADCAST_OP = 0,
  GASNET_COLL_SCATTER_OP,
  GASNET_COLL_GATHER_OP,
  GASNET_COLL_GATHER_ALL_OP,
  GASNET_COLL_EXCHANGE_OP,
  GASNET_COLL_NUM_COLL_OPTYPES
} gasnet_coll_optype_t;

typedef enum {
  GASNET_COLL_PIPE_SEG_SIZE = 0,
  GASNET_COLL_DISSEM_RADIX,
  GASNET_COLL_TREE_TYPE,
  GASNET_COLL_NUM_PARAM_TYPES
} gasnet_coll_tuning_param_type_t;

typedef void (*gasnet_coll_overlap_sample_work_t)(void *arg);

/* Accepted; nothing is read or written. */
GEXX_API void gasnet_coll_loadTuningState(char *filename, gasnet_team_handle_t team);
GEXX_API void gasnet_coll_dumpTuningState(char *filename, gasnet_team_handle_t team);
GEXX_API void gasnet_coll_dumpProfile(char *filename, gasnet_team_handle_t team);
/* Parameters of an algorithm that may be tuned: there are none, so any index is out of range. */
typedef struct {
  gasnet_coll_tuning_param_type_t tuning_param;
  uint32_t start, end, stride, flags;
} gasnet_coll_tuning_parameter_t;
/* [in] algorithm: ignored. Returns 0. */
GEXX_API size_t gasnet_coll_get_num_params(gasnet_team_handle_t team, gasnet_coll_optype_t optype,
                                           uint32_t algorithm);
/* [in] index: of a parameter. Returns an empty range of no parameter. */
GEXX_API gasnet_coll_tuning_parameter_t gasnet_coll_get_param(gasnet_team_handle_t team,
                                                              gasnet_coll_optype_t optype,
                                                              uint32_t algorithm, size_t index);
/* Returns 0: trees are chosen by the library. */
GEXX_API int gasnet_coll_get_num_tree_classes(gasnet_team_handle_t team,
                                              gasnet_coll_optype_t optype);
GEXX_API void gasnet_coll_set_tree_kind(gasnet_team_handle_t team, int tree_type, int fanout,
                                        gasnet_coll_optype_t optype);
GEXX_API void gasnet_coll_set_dissem_limit(gasnet_team_handle_t team, size_t dissemlimit,
                                           gasnet_coll_optype_t optype);

#ifdef __cplusplus
}
#endif

#endif
