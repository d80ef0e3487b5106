/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of host memory through which device memory travels as messages.
 *
 * Owns: declarations of mk_stage.c. Called by core/mk, notify and mk.c. Calls: mk.h for types.
 * There are TOMBOLO_TEST_MK_STAGES of them, made at the first use, pinned for the first kind whose
 * plug-in can. No thread waits for one, because its holder may be the caller itself, further up the
 * stack: when all are taken, a thread gets one of its own from malloc. So host memory is bounded by
 * the pool and one buffer for each thread and level of handlers.
 */
#ifndef TMB_CORE_MK_STAGE_H
#define TMB_CORE_MK_STAGE_H

#include "core/segment/mk.h"

/* A buffer of TMB_AM_MEDIUM_BYTES_MAX bytes. in kind: of the device that it is for, or NULL. Fatal
 * when there is no memory. Any thread, also in handlers. */
void *tmb_mk_stage_take(struct gexx_mk_s *kind);
void tmb_mk_stage_put(void *stage);

/* The copy into it is over, if there was one: until then the pool stays pinned. Once for each. */
void tmb_mk_stage_filled(void);

/* A kind is about to be destroyed. */
void tmb_mk_stage_forget(struct gexx_mk_s *kind);

#endif
