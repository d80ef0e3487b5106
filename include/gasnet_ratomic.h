/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gasnet_ratomic.h: remote atomics of Tombolo (API 05).
 *
 * Owns the public type and prototypes of atomic domains. Called by every client that wants them;
 * data types and opcodes (GEX_DT_, GEX_OP_) are in gasnet_fwd.h. Calls gasnetex.h; the operations
 * are in tombolo/inline_ratomic.h. Invariants: a domain uses one mechanism for its whole life,
 * chosen at creation: instructions of the processor when every member can load and store in the
 * segments of all the others, otherwise messages whose handlers use the same instructions.
 */
#ifndef GASNET_RATOMIC_H
#define GASNET_RATOMIC_H

#include "gasnetex.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Page gex_AD_Create: atomic domains.
 * A domain holds what remote atomics of one data type need. All accesses to a word through one
 * domain are atomic among each other. Accesses by other domains, puts or plain stores are not.
 * Names: gex_AD_t: a domain;
 * GEX_AD_INVALID: no domain
 * [in] ad: a domain of the caller.
 * Completion: gex_AD_Create returns when the domain may be used, also towards members that have
 * not returned.
 * Threads: creation and destruction are collective: one thread of a process, normal context.
 * Queries may be called by any thread and in any context.
 * Errors: a type or an opcode that is not supported ends the process with a message.
 * GEX_AD_INVALID where a member is lost.
 * Cost: creation takes about log2(members) messages.
 * See: gex_AD_OpNB_I32, gex_TM_Split */

typedef struct gexx_ad_s *gex_AD_t;
#define GEX_AD_INVALID GEXX_HANDLE(gex_AD_t, 0)

/* Makes an atomic domain over the members of a team. [out] ad_p: written on return; it may be used
 * at once, also towards members that have not returned yet. [in] tm: a team, not a TM-pair; it must
 * outlive the domain. [in] dt: one GEX_DT_ of a built-in type. [in] ops: OR of the GEX_OP_ that
 * will be used, legal for dt. [in] flags: 0 or one GEX_FLAG_AD_FAVOR_ hint. dt, ops and flags are
 * equal on all members. Collective over the team; normal context; polls. Cost: ceil(log2 P)
 * messages. API 05.3. */
GEXX_API void gex_AD_Create(gex_AD_t *ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops,
                            gex_Flags_t flags);

/* Ends a domain whose operations are complete on all members (after a barrier). Collective;
 * not a barrier; normal context. API 05.3. */
GEXX_API void gex_AD_Destroy(gex_AD_t ad);

/* Arguments that were given to gex_AD_Create. Restricted context: yes. API 05.3. */
GEXX_API gex_Flags_t gex_AD_QueryFlags(gex_AD_t ad);
GEXX_API gex_TM_t gex_AD_QueryTM(gex_AD_t ad);
GEXX_API gex_DT_t gex_AD_QueryDT(gex_AD_t ad);
GEXX_API gex_OP_t gex_AD_QueryOps(gex_AD_t ad);

/* One pointer per domain, NULL at first, for the client. Restricted context: yes. API 05.3. */
GEXX_API void gex_AD_SetCData(gex_AD_t ad, const void *val);
GEXX_API void *gex_AD_QueryCData(gex_AD_t ad);

#ifdef __cplusplus
}
#endif

#include "tombolo/inline_ratomic.h"

#endif
