/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gasnet_fwd.h: names that a client may need before it chooses a thread mode.
 *
 * Owns the plain typedefs of the gex_ namespace and the flag, event, data-type and opcode
 * constants. Declares no function and reads no configuration macro; it may be included first,
 * alone, from C or C++. Invariant: every constant except the GEX_EVENT_ and GEX_RANK_ ones is a
 * plain integer expression, usable in #if; flag bits are disjoint inside each family of calls (API
 * reference 00, section 6) and may repeat across families.
 */
#ifndef GASNET_FWD_H
#define GASNET_FWD_H

#include <stdint.h>

#include "tombolo/abi.h"

/* Page gasnet_fwd: types, flags and opcodes that need no thread mode.
 * A program may include gasnet_fwd.h before it defines GASNET_SEQ, GASNET_PARSYNC or GASNET_PAR.
 * Flags of different families of calls may share a bit.
 * Example: examples/tools_job.c struct request {
 * See: gex_types, gex_RMA_PutNB, gex_AM_RequestMedium, gex_TM_Split, gex_AD_OpNB_I32
 * Names: gex_Flags_t: OR of GEX_FLAG_*;
 * gex_DT_t: one GEX_DT_*;
 * gex_OP_t: one GEX_OP_*, or an OR of them for gex_AD_Create;
 * gex_EP_Capabilities_t: OR of GEX_EP_CAPABILITY_*;
 * gex_EP_Location_t: an endpoint by rank and index;
 * GEX_RANK_INVALID: no rank;
 * GEX_EP_INDEX_INVALID: no endpoint;
 * GEX_EVENT_INVALID: a complete event, needs no synchronisation;
 * GEX_EVENT_NO_OP: returned with GEX_FLAG_IMMEDIATE when nothing was done;
 * GEX_EVENT_NOW: local completion before the call returns;
 * GEX_EVENT_DEFER: local completion with the operation itself;
 * GEX_EVENT_GROUP: local completion joins the implicit operations, category GEX_EC_LC;
 * GEX_FLAG_IMMEDIATE: return without doing anything rather than wait for resources;
 * GEX_FLAG_LC_COPY_YES: the library may copy the payload so that local completion comes early;
 * GEX_FLAG_LC_COPY_NO: the library should not copy the payload;
 * GEX_FLAG_ENABLE_LEAF_LC: local completion of a strided, indexed or vector put is a leaf of its
 * event;
 * GEX_FLAG_AM_PREPARE_LEAST_CLIENT: limit of a prepared message whose payload the client gives;
 * GEX_FLAG_AM_PREPARE_LEAST_ALLOC: limit of a prepared message whose payload buffer the library
 * gives;
 * GEX_FLAG_SELF_SEG_UNKNOWN: nothing is said about the place of local memory;
 * GEX_FLAG_SELF_SEG_SOME: local memory lies in some segment of this process;
 * GEX_FLAG_SELF_SEG_BOUND: local memory lies in the bound segment of the endpoint;
 * GEX_FLAG_SELF_SEG_OFFSET: the local address is an offset in the bound segment;
 * GEX_FLAG_PEER_SEG_UNKNOWN: nothing is said about the place of remote memory;
 * GEX_FLAG_PEER_SEG_SOME: remote memory lies in some segment of the peer;
 * GEX_FLAG_PEER_SEG_BOUND: remote memory lies in the bound segment of the peer;
 * GEX_FLAG_PEER_SEG_OFFSET: the remote address is an offset in the bound segment of the peer;
 * GEX_FLAG_AD_MY_RANK: a promise that the target is the caller;
 * GEX_FLAG_AD_MY_NBRHD: a promise that the target shares memory with the caller;
 * GEX_FLAG_AD_ACQ: the operation is an acquire;
 * GEX_FLAG_AD_REL: the operation is a release;
 * GEX_FLAG_RANK_IS_JOBRANK: the rank is a jobrank;
 * GEX_FLAG_AD_FAVOR_MY_RANK: hint of gex_AD_Create, most targets are the caller;
 * GEX_FLAG_AD_FAVOR_MY_NBRHD: hint of gex_AD_Create, most targets share memory with the caller;
 * GEX_FLAG_AD_FAVOR_REMOTE: hint of gex_AD_Create, most targets are on other hosts;
 * GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED: make no team, return the scratch size to use;
 * GEX_FLAG_TM_SCRATCH_SIZE_MIN: deprecated, make no team, return the least scratch size;
 * GEX_FLAG_TM_GLOBAL_SCRATCH: one scratch address for each member of the team;
 * GEX_FLAG_TM_LOCAL_SCRATCH: one scratch address for each member in this process;
 * GEX_FLAG_TM_SYMMETRIC_SCRATCH: one scratch address that is the same for all members;
 * GEX_FLAG_TM_NO_SCRATCH: the team has no scratch memory;
 * GEX_FLAG_SCRATCH_SEG_OFFSET: scratch addresses are offsets in the bound segment;
 * GEX_FLAG_GLOBALLY_QUIESCED: a promise that all members have finished their calls on the team;
 * GEX_FLAG_USES_GASNET1: the program also calls the gasnet_ interface;
 * GEX_FLAG_DEFER_THREADS: the library starts no progress thread of its own;
 * GEX_FLAG_HINT_ACCEL_AD: hint, atomics through this endpoint should be fast;
 * GEX_FLAG_HINT_ACCEL_COLL: hint, collectives through this endpoint should be fast;
 * GEX_FLAG_HINT_ACCEL_ALL: all hints of this kind;
 * GEX_FLAG_AM_SHORT: handler of Short messages;
 * GEX_FLAG_AM_MEDIUM: handler of Medium messages;
 * GEX_FLAG_AM_LONG: handler of Long messages;
 * GEX_FLAG_AM_MEDLONG: handler of Medium and Long messages;
 * GEX_FLAG_AM_REQUEST: handler of requests;
 * GEX_FLAG_AM_REPLY: handler of replies;
 * GEX_FLAG_AM_REQREP: handler of requests and replies;
 * GEX_EP_CAPABILITY_RMA: put and get;
 * GEX_EP_CAPABILITY_AM: active messages;
 * GEX_EP_CAPABILITY_VIS: strided, indexed and vector transfers;
 * GEX_EP_CAPABILITY_COLL: collectives;
 * GEX_EP_CAPABILITY_AD: atomic domains;
 * GEX_EP_CAPABILITY_ALL: all of them;
 * GEX_DT_I32: int32_t;
 * GEX_DT_U32: uint32_t;
 * GEX_DT_I64: int64_t;
 * GEX_DT_U64: uint64_t;
 * GEX_DT_FLT: float;
 * GEX_DT_DBL: double;
 * GEX_DT_USER: a type of the client, for reductions with GEX_OP_USER;
 * GEX_OP_AND: target & operand1;
 * GEX_OP_OR: target | operand1;
 * GEX_OP_XOR: target ^ operand1;
 * GEX_OP_ADD: target + operand1;
 * GEX_OP_SUB: target - operand1;
 * GEX_OP_MULT: target * operand1;
 * GEX_OP_MIN: the smaller of target and operand1;
 * GEX_OP_MAX: the greater of target and operand1;
 * GEX_OP_INC: target + 1;
 * GEX_OP_DEC: target - 1;
 * GEX_OP_SET: operand1;
 * GEX_OP_CAS: operand2 where the target equals operand1;
 * GEX_OP_USER: the client's operator, of which the order of operands does not matter;
 * GEX_OP_USER_NC: the client's operator, whose operands keep the order of ranks;
 * GEX_OP_GET: fetches, changes nothing;
 * GEX_OP_SWAP: operand1, and fetches the value before;
 * GEX_OP_FCAS, GEX_OP_CSWAP: GEX_OP_CAS, and fetches the value before;
 * GEX_OP_F*: as the opcode without F, and fetches the value before;
 * GEX_OP_TO_FETCHING: the fetching form of an opcode;
 * GEX_OP_TO_NONFETCHING: the form of an opcode that does not fetch
 * [in] op: an opcode.
 * Completion: macros of constants; nothing runs.
 * Threads: any thread, any context.
 * Errors: none.
 * Cost: none; the values are constants. */

/* --- types (API reference 00, section 5) --- */
typedef uint32_t gex_Rank_t;     /* rank in a team, or jobrank */
typedef uint16_t gex_EP_Index_t; /* endpoint index inside a process; 0 is the primordial one */
typedef void *gex_Addr_t;        /* address, or byte offset where a flag says so */
typedef struct gexx_event_s *gex_Event_t; /* completion handle; zero means complete */
typedef uint32_t gex_Flags_t;
typedef uint32_t gex_DT_t;
typedef uint32_t gex_OP_t;
typedef uint32_t gex_EP_Capabilities_t;
typedef struct {
  gex_Rank_t gex_rank;
  gex_EP_Index_t gex_ep_index;
} gex_EP_Location_t;

/* --- sentinels --- */
#define GEX_RANK_INVALID                     GEXX_NUMBER(gex_Rank_t, -1)
#define GEX_EP_INDEX_INVALID                 GEXX_NUMBER(gex_EP_Index_t, -1)
#define GEX_EVENT_INVALID                    GEXX_HANDLE(gex_Event_t, 0)
#define GEX_EVENT_NO_OP                      GEXX_HANDLE(gex_Event_t, 1)
#define GEX_EVENT_NOW                        GEXX_HANDLE(gex_Event_t *, 1)
#define GEX_EVENT_DEFER                      GEXX_HANDLE(gex_Event_t *, 2)
#define GEX_EVENT_GROUP                      GEXX_HANDLE(gex_Event_t *, 3)

/* --- flags: every injection call --- */
#define GEX_FLAG_IMMEDIATE                   (1u << 0)

/* --- flags: AM, RMA, VIS payload disposition --- */
#define GEX_FLAG_LC_COPY_YES                 (1u << 1)
#define GEX_FLAG_LC_COPY_NO                  (1u << 2)
#define GEX_FLAG_ENABLE_LEAF_LC              (1u << 3)
#define GEX_FLAG_AM_PREPARE_LEAST_CLIENT     (1u << 11)
#define GEX_FLAG_AM_PREPARE_LEAST_ALLOC      (1u << 12)
#define GEX_FLAG_SELF_SEG_UNKNOWN            (1u << 16)
#define GEX_FLAG_SELF_SEG_SOME               (1u << 17)
#define GEX_FLAG_SELF_SEG_BOUND              (1u << 18)
#define GEX_FLAG_SELF_SEG_OFFSET             (1u << 19)
#define GEX_FLAG_PEER_SEG_UNKNOWN            (1u << 20)
#define GEX_FLAG_PEER_SEG_SOME               (1u << 21)
#define GEX_FLAG_PEER_SEG_BOUND              (1u << 22)
#define GEX_FLAG_PEER_SEG_OFFSET             (1u << 23)

/* --- flags: atomic domains --- */
#define GEX_FLAG_AD_MY_RANK                  (1u << 4)
#define GEX_FLAG_AD_MY_NBRHD                 (1u << 5)
#define GEX_FLAG_AD_ACQ                      (1u << 6)
#define GEX_FLAG_AD_REL                      (1u << 7)
#define GEX_FLAG_RANK_IS_JOBRANK             (1u << 8)
#define GEX_FLAG_AD_FAVOR_MY_RANK            (1u << 9)
#define GEX_FLAG_AD_FAVOR_MY_NBRHD           (1u << 10)
#define GEX_FLAG_AD_FAVOR_REMOTE             (1u << 13)

/* --- flags: team creation and destruction --- */
#define GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED (1u << 1)
#define GEX_FLAG_TM_SCRATCH_SIZE_MIN         (1u << 2)
#define GEX_FLAG_TM_GLOBAL_SCRATCH           (1u << 3)
#define GEX_FLAG_TM_LOCAL_SCRATCH            (1u << 4)
#define GEX_FLAG_TM_SYMMETRIC_SCRATCH        (1u << 5)
#define GEX_FLAG_TM_NO_SCRATCH               (1u << 6)
#define GEX_FLAG_SCRATCH_SEG_OFFSET          (1u << 7)
#define GEX_FLAG_GLOBALLY_QUIESCED           (1u << 9)

/* --- flags: client and endpoint creation --- */
#define GEX_FLAG_USES_GASNET1                (1u << 1)
#define GEX_FLAG_DEFER_THREADS               (1u << 2)
#define GEX_FLAG_HINT_ACCEL_AD               (1u << 0)
#define GEX_FLAG_HINT_ACCEL_COLL             (1u << 1)
#define GEX_FLAG_HINT_ACCEL_ALL              (GEX_FLAG_HINT_ACCEL_AD | GEX_FLAG_HINT_ACCEL_COLL)

/* --- flags: handler table entries --- */
#define GEX_FLAG_AM_SHORT                    (1u << 0)
#define GEX_FLAG_AM_MEDIUM                   (1u << 1)
#define GEX_FLAG_AM_LONG                     (1u << 2)
#define GEX_FLAG_AM_MEDLONG                  (GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_LONG)
#define GEX_FLAG_AM_REQUEST                  (1u << 3)
#define GEX_FLAG_AM_REPLY                    (1u << 4)
#define GEX_FLAG_AM_REQREP                   (GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_REPLY)

/* --- endpoint capabilities (API reference 01, section 5) --- */
#define GEX_EP_CAPABILITY_RMA                (1u << 0)
#define GEX_EP_CAPABILITY_AM                 (1u << 1)
#define GEX_EP_CAPABILITY_VIS                (1u << 2)
#define GEX_EP_CAPABILITY_COLL               (1u << 3)
#define GEX_EP_CAPABILITY_AD                 (1u << 4)
#define GEX_EP_CAPABILITY_ALL                                                                     \
 (GEX_EP_CAPABILITY_RMA | GEX_EP_CAPABILITY_AM | GEX_EP_CAPABILITY_VIS | GEX_EP_CAPABILITY_COLL | \
  GEX_EP_CAPABILITY_AD)

/* --- data types (API reference 05, section 1) --- */
#define GEX_DT_I32                (1u << 0)
#define GEX_DT_U32                (1u << 1)
#define GEX_DT_I64                (1u << 2)
#define GEX_DT_U64                (1u << 3)
#define GEX_DT_FLT                (1u << 4)
#define GEX_DT_DBL                (1u << 5)
#define GEX_DT_USER               (1u << 6)

/* --- opcodes (API reference 05, section 2): the fetching form is the plain one shifted left by 16
 * --- */
#define GEX_OP_AND                (1u << 0)
#define GEX_OP_OR                 (1u << 1)
#define GEX_OP_XOR                (1u << 2)
#define GEX_OP_ADD                (1u << 3)
#define GEX_OP_SUB                (1u << 4)
#define GEX_OP_MULT               (1u << 5)
#define GEX_OP_MIN                (1u << 6)
#define GEX_OP_MAX                (1u << 7)
#define GEX_OP_INC                (1u << 8)
#define GEX_OP_DEC                (1u << 9)
#define GEX_OP_SET                (1u << 10)
#define GEX_OP_CAS                (1u << 11)
#define GEX_OP_USER               (1u << 12)
#define GEX_OP_USER_NC            (1u << 13)
#define GEX_OP_FAND               (1u << 16)
#define GEX_OP_FOR                (1u << 17)
#define GEX_OP_FXOR               (1u << 18)
#define GEX_OP_FADD               (1u << 19)
#define GEX_OP_FSUB               (1u << 20)
#define GEX_OP_FMULT              (1u << 21)
#define GEX_OP_FMIN               (1u << 22)
#define GEX_OP_FMAX               (1u << 23)
#define GEX_OP_FINC               (1u << 24)
#define GEX_OP_FDEC               (1u << 25)
#define GEX_OP_SWAP               (1u << 26)
#define GEX_OP_FCAS               (1u << 27)
#define GEX_OP_GET                (1u << 28)
#define GEX_OP_CSWAP              GEX_OP_FCAS
#define GEX_OP_TO_FETCHING(op)    ((op) << 16)
#define GEX_OP_TO_NONFETCHING(op) ((op) >> 16)

#endif
