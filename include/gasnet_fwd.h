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
#define GEX_RANK_INVALID                     ((gex_Rank_t)-1)
#define GEX_EP_INDEX_INVALID                 ((gex_EP_Index_t)-1)
#define GEX_EVENT_INVALID                    ((gex_Event_t)(uintptr_t)0)
#define GEX_EVENT_NO_OP                      ((gex_Event_t)(uintptr_t)1)
#define GEX_EVENT_NOW                        ((gex_Event_t *)(uintptr_t)1)
#define GEX_EVENT_DEFER                      ((gex_Event_t *)(uintptr_t)2)
#define GEX_EVENT_GROUP                      ((gex_Event_t *)(uintptr_t)3)

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
