/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segment limits, computed at initialisation.
 *
 * Owns: declaration of what client.c needs from segment.c. Called once. Calls: settings, os,
 * bootstrap exchange. Invariant: afterwards tmb_job.segment_bytes_max is a non-zero page multiple,
 * and segment_bytes_max_all its minimum over ranks.
 */
#ifndef TMB_CORE_SEGMENT_H
#define TMB_CORE_SEGMENT_H

/* Compute the limits; collective. */
void tmb_segment_limits(void);

#endif
