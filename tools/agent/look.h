/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looking at a job on several hosts: each agent looks at its ranks, the launcher puts together
 * their observations, and every asking process on any of these hosts gets them.
 *
 * Owns: struct look, one in each node of the tree of agents (tree.h), with a socket on which
 * `tombolo ps` and `tombolo why` ask; its name is in the abstract space of the system, so nothing
 * is left behind. Called by tree.c, run_hosts.c; look_ask by ps.c and why.c. Calls: link, boot's
 * snapshot. Path of a question: socket -> ASK up to the root -> LOOK down to all -> SEEN up ->
 * VIEW down to the host of the question -> socket. Invariants: only processes of this user get an
 * answer; nothing is looked at unless somebody asks; a host that does not answer in time is left
 * out; an answer holds observations made after its question.
 */
#ifndef TMB_TOOL_LOOK_H
#define TMB_TOOL_LOOK_H

#include "agent/tree.h"

#include "boot/explain/snapshot.h"

#define LOOK_MEMORY 1u /* flag: the memory of the ranks is wanted, too */

struct look;

/* Make the socket and the tables of a node, once the job is known. Returns NULL without memory: the
 * node then answers nobody. */
struct look *look_open(const struct tree_job *job, uint32_t host);
void look_close(struct look *look);

/* Descriptors to wait for. Returns how many were filled. */
nfds_t look_wait(const struct look *look, struct pollfd *fds, nfds_t max);

/* Serve questions, and end a look that has taken too long. */
void look_step(struct tree *tree);

/* A frame of type LOOK, SEEN, ASK or VIEW has come to the node that it is for. */
void look_frame(struct tree *tree, const struct frame *frame);

/* Root: observations for the watchdog. out s: the caller's, if true is returned; else it is being
 * gathered, and to be asked for again. */
bool look_now(struct tree *tree, struct tmb_snapshot *s);

/* ---- look_pack.c */

/* Write the observations of the ranks that were looked at. */
void look_pack(const struct tmb_snapshot *s, struct pack *p);

/* Add it to a snapshot. Returns false if it makes no sense; the part before that is added. */
bool look_unpack(struct pack *p, struct tmb_snapshot *s);

/* ---- look_ask.c */

/*
 * Look at a whole job. in ctl: found on this machine. in flags: LOOK_MEMORY. out s: as of
 * tmb_snapshot_take. Returns 0, TMB_E_NOMEM, or TMB_E_PEER: only ranks of this machine were seen,
 * because the job's supervisor here does not answer.
 */
int look_ask(const struct tmb_ctl *ctl, uint32_t flags, struct tmb_snapshot *s);

/* Name of the socket of a supervisor. out address: filled. Returns its length. */
struct sockaddr_un;
unsigned look_address(uint64_t job_id, int pid, struct sockaddr_un *address);

#endif
