/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream of frames between two agents, over a pair of descriptors (the pipes of an ssh).
 *
 * Owns: both descriptors and the bytes in flight. Called by the tree of agents. Calls: libc, pack.
 * Invariants: neither sending nor receiving blocks; frames arrive whole and in order; a frame whose
 * head is impossible ends the link. A peer says something at least every LINK_PING_NS, so that one
 * that is silent for long is lost.
 */
#ifndef TMB_TOOL_LINK_H
#define TMB_TOOL_LINK_H

#include "agent/link/pack.h"

#include <poll.h>

#define LINK_PING_NS         UINT64_C(1000000000)
#define LINK_FRAME_BYTES_MAX (64u << 20)

enum frame_type {
  FRAME_JOB,   /* down: what to do, tree_job.h */
  FRAME_READY, /* up: a host, b exit code or 0; payload: see tree.h */
  FRAME_START, /* down */
  FRAME_EVENT, /* both: a origin host; payload: struct tmb_sup_event */
  FRAME_PARTS, /* up: a part_bytes, b part_slot; payload: parts of a subtree in order of hosts */
  FRAME_ALL_PARTS,  /* down: a part_bytes, b part_slot; payload: parts of all ranks in that order */
  FRAME_OUTPUT,     /* up: a rank, b stream 1 or 2; payload: text */
  FRAME_TAKEN,      /* down: a host, b stream; payload: u32 bytes of output that were delivered */
  FRAME_CLOSED,     /* down: a unused, b stream whose reader has closed it */
  FRAME_INPUT,      /* down: a rank; payload: its standard input, empty at the end */
  FRAME_INPUT_DONE, /* up: b bytes taken, UINT32_MAX: no more is wanted */
  FRAME_DONE,       /* up: a host, b exit code: its ranks have ended and all is said */
  FRAME_LOST,       /* up: a host; payload: why */
  FRAME_ASK,        /* up: a host on which somebody asks, b flags; this and the next: look.h */
  FRAME_LOOK,       /* down: a number, b flags */
  FRAME_SEEN,       /* up: a host, b number; payload: the ranks seen there */
  FRAME_VIEW,       /* down: a host; payload: the job as seen */
  FRAME_CLOCK,      /* up: a host that asks; down: a host, payload: time and clock, far_trace.h */
  FRAME_TRACE,      /* up: a rank, b part; payload: of its trace area */
  FRAME_STATS,      /* up: a rank; payload: struct far_stats */
  FRAME_CRASH,      /* up: payload: ranks that have crashed at one place, far_crashes.h */
  FRAME_PING,       /* both */
  FRAME_TYPES
};

struct frame {
  uint32_t type, a, b, bytes;
  const char *data; /* [bytes], until the next call for this link */
};

struct link {
  int in_fd, out_fd; /* -1: closed */
  struct pack out;   /* `at`: written so far */
  struct pack in;    /* `at`: consumed so far */
  uint64_t heard_ns, said_ns;
  bool closed; /* the peer does not read any more */
  bool broken; /* nothing more can come: the peer is lost, or has sent nonsense */
};

/* Take over two descriptors, which become non-blocking. */
void link_open(struct link *l, int in_fd, int out_fd);
void link_close(struct link *l);

/* Send a frame; it leaves with link_push. */
void link_send(struct link *l, struct frame frame);

/* Write as much as the peer takes now, and a ping if nothing was sent for long. */
void link_push(struct link *l);

/* Read the bytes that are there. in limit: at most about so many bytes. */
void link_pull(struct link *l, size_t limit);

/* The next frame that has arrived. Returns false if there is none. */
bool link_next(struct link *l, struct frame *frame);

/* Bytes that wait to be written. */
size_t link_queued(const struct link *l);

/* Descriptors to wait for. out fds: [2]. Returns how many were filled. */
nfds_t link_wait(const struct link *l, struct pollfd *fds);

#endif
