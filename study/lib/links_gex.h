/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job of links.h for applications that also use the public API themselves.
 *
 * Owns nothing. Called by study/apps/<name>. Implemented by links.c. Invariant: valid from
 * job_start (job_team) and job_attach (the others) to the end of the job.
 */
#ifndef TMB_BENCH_LINKS_GEX_H
#define TMB_BENCH_LINKS_GEX_H

#include "lib/links.h"

#include <gasnetex.h>
#include <gasnetex_ext.h>

/* The team of all ranks, and this rank's endpoint, where handlers from JOB_HANDLERS on are free. */
#define JOB_HANDLERS (GEX_AM_INDEX_BASE + 16)
gex_TM_t job_team(void);
gex_EP_t job_endpoint(void);

/* The segment of a rank after its head: in the rank's own addresses, and as mapped here (NULL: it
 * is not). */
char *job_base(int rank);
char *job_base_mapped(int rank);

#endif
