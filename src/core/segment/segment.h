/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segment limits, and attach as shared by gex_Segment_Attach and gasnet_attach.
 *
 * Owns: declarations of segment.c. Called by client.c at initialisation and by the two attach
 * calls. Calls: settings, os, bootstrap exchange. Invariant: after tmb_segment_limits
 * tmb_job.segment_bytes_max is a non-zero page multiple, and segment_bytes_max_all its minimum over
 * ranks.
 */
#ifndef TMB_CORE_SEGMENT_H
#define TMB_CORE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>

#include <stdint.h>

/* Compute the limits; collective. */
void tmb_segment_limits(void);

/*
 * Whether this process may attach `size` bytes. in call: name for the message that says which limit
 * is exceeded. Returns GASNET_OK or GASNET_ERR_BAD_ARG.
 */
int tmb_segment_verdict(const char *call, uintptr_t size);

/*
 * Attach, collective: every rank brings the verdict on its own arguments, and one refusal is a
 * refusal for all, so that nobody is left waiting. in size: non-zero page multiple if the verdict
 * is GASNET_OK. Returns the verdict if it is an error, GASNET_ERR_RESOURCE if another rank refused
 * or memory is lacking, which it says under the name `call`, else GASNET_OK. Ends with a barrier.
 */
int tmb_segment_attach(const char *call, int verdict, uintptr_t size);

/* Whether a range lies inside one segment of this process, attached or created. */
bool tmb_segment_holds(const void *addr, size_t nbytes);

/* A segment of this process in device memory that holds a range, or NULL. */
const struct gexx_segment_s *tmb_segment_device_at(const void *addr, size_t nbytes);

#endif
