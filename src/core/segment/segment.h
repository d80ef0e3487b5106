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

/* Whether a range lies inside one segment of this process, attached or created. */
bool tmb_segment_holds(const void *addr, size_t nbytes);

/* Other memory that ranks of other hosts may write from now on, until its owner closes all that it
 * has opened; one caller at a time. Returns false, with nothing done, if there is no room for it.
 */
bool tmb_target_open(const void *owner, void *base, size_t nbytes);
void tmb_target_close(const void *owner);

struct tmb_net_memory;

/* The segment that holds `addr`. out memory: the memory around it, as network interfaces see it;
 * NULL: only segments in host memory count. Returns false, with nothing set, if there is none. */
bool tmb_segment_around(const void *addr, void **base, size_t *nbytes,
                        struct tmb_net_memory *memory);

/* A segment of this process in device memory that holds a range, or NULL. */
const struct gexx_segment_s *tmb_segment_device_at(const void *addr, size_t nbytes);

#endif
