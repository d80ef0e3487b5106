/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attaching the segment of this process.
 *
 * Owns: declarations of attach.c and segment_limits.c. Called by clients, GASNet-1 calls and the
 * initialisation. Calls: boot, engine, barrier. Invariant: either every rank has attached when a
 * call returns, or none.
 */
#ifndef TMB_CORE_ATTACH_H
#define TMB_CORE_ATTACH_H

#include <stdint.h>

/* segment_limits.c: compute the limits; collective. */
void tmb_segment_limits(void);

/*
 * Whether this process may attach `size` bytes. in call: name for the message that says which limit
 * is exceeded. Returns GASNET_OK or GASNET_ERR_BAD_ARG.
 */
int tmb_segment_verdict(const char *call, uintptr_t size);

/* segment_limits.c: verdict on a size alone, for endpoints that are not primordial. */
int tmb_segment_size_verdict(const char *call, uintptr_t size);

/*
 * Attach, collective: every rank brings the verdict on its own arguments, and one refusal is a
 * refusal for all, so that nobody is left waiting. in size: non-zero page multiple if the verdict
 * is GASNET_OK. Returns the verdict if it is an error, GASNET_ERR_RESOURCE if another rank refused
 * or memory is lacking, which it says under the name `call`, else GASNET_OK. Ends with a barrier.
 */
int tmb_segment_attach(const char *call, int verdict, uintptr_t size);

#endif
