/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/ext/ext_client.h: several clients in one process.
 *
 * Included by gasnetex_ext.h. Implemented in src/core/client. Invariants: a rank has one number in
 * the teams of all clients of its process.
 */
#ifndef GEXX_EXT_CLIENT_H
#define GEXX_EXT_CLIENT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Page gexx_Client_Join: several clients in one process.
 * Completion: returns when every process of the job has joined.
 * Threads: normal context; one thread of a process. All processes join in one order.
 * Errors: GASNET_ERR_NOT_INIT where the job was started for fewer threads or without GASNet-1.
 * GASNET_ERR_RESOURCE when GASNET_MAXEPS endpoints exist. The outputs are not written then.
 * Cost: a barrier, an endpoint and a team.
 * See: gex_Client_Init, gex_Segment_Attach, gex_EP_Create */

/* The body of gexx_Client_Join. [in] init: arguments, read before return. */
GEXX_API int gexx_client_join(const struct gexx_client_args *init);

/* Makes this process a client of its job beside other ones, for run-time libraries that may meet in
 * one process. The first call in a process starts the job as gex_Client_Init does. Each further one
 * makes a client with an endpoint and a team of its own: handlers, segment and collectives of
 * several clients do not meet, ranks have the same numbers in all. gex_Segment_Attach on that team
 * attaches the client's own segment. A process may call gex_Client_Init once beside, before or
 * after; before all is best for a client of GASNet-1, or one with GASNET_PAR beside others without.
 * Collective over the job: all ranks join in one order.
 * [out] client_p, ep_p, tm_p: written on success. [in] name: copied; equal on all ranks.
 * [in,out] argc, argv: of main, may be NULL; used when the job starts. [in] flags: as
 * gex_Client_Init, but GEX_FLAG_USES_GASNET1 only where this starts the job. Normal context; polls.
 * Returns GASNET_OK; GASNET_ERR_NOT_INIT where the job was started for fewer threads or without
 * GASNet-1; GASNET_ERR_RESOURCE, also when all GASNET_MAXEPS endpoints of a rank are in use. */
GEXX_INLINE int gexx_Client_Join(gex_Client_t *client_p, gex_EP_t *ep_p, gex_TM_t *tm_p,
                                 const char *name, int *argc, char ***argv, gex_Flags_t flags) {
  GEXX_CLIENT_ARGS(init);
  GEXX_CHECK_FILES();
  return gexx_client_join(&init);
}

/* Clients that this process has, counted when their start begins, those that could not start
 * included; 0 before the job has started. For run-time libraries with a thread of their own, which
 * must not be in the library while another client may be. Restricted context: yes; any thread. */
GEXX_API unsigned gexx_Client_Count(void);

#ifdef __cplusplus
}
#endif

#endif
