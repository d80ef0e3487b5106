/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tree of agents: one supervises the ranks of each host, the launcher is the root.
 *
 * Owns: struct tree, one in each process of the tree. run_hosts.c is the root, agent.c every other
 * node; tree.c passes frames on and completes rounds of the bootstrap; tree_start.c starts the
 * agents below and brings the tree up. Calls: link, boot/supervise. A node has a contiguous part of
 * the hosts; its own host is the first, the root has none; children share the rest. Frames up are
 * passed on to the root, frames down to the children they concern. Invariants: a node that loses
 * the one above it ends its ranks at once; a host is `done` when its agent has said so, `lost` when
 * the link to it broke before.
 *
 * Start: a child greets with one line (protocol, version); it gets the job; it sends READY for its
 * host (payload: u64 hash of the program, text of an error) and passes on those of its part; when
 * all hosts are ready the root sends START.
 */
#ifndef TMB_TOOL_TREE_H
#define TMB_TOOL_TREE_H

#include "agent/link/link.h"
#include "agent/tree_job.h"

#include "boot/supervise/supervise.h"

#include <sys/types.h>

#define TREE_ROOT      (UINT32_MAX - 1) /* number of the launcher among hosts */
#define TREE_WHY_BYTES 512

enum tree_host { TREE_STARTING, TREE_READY, TREE_DONE, TREE_LOST };

struct tree_child {
  uint32_t first, last; /* hosts of its part */
  pid_t pid;            /* of its ssh; 0 once reaped */
  struct link link;
  bool greeted;
  int err_fd;                /* stderr of ssh and the agents below; -1: closed */
  char said[TREE_WHY_BYTES]; /* of that, the end of the text before the greeting */
  uint64_t started_ns;
  struct pack parts; /* of this round, if they have come */
  bool has_parts, refuses;
};

struct tree;

/* Function of a node for frames: the root's for those that come up, an agent's for those for its
 * host. */
typedef void tree_frame_fn(struct tree *tree, const struct frame *frame);

struct tree {
  struct tree_job job;
  uint32_t host;        /* TREE_ROOT: this is the root */
  uint32_t first, last; /* hosts of this node's part */
  struct link up;       /* agents */
  struct tree_child *child;
  uint32_t children;
  uint8_t *host_state; /* [hosts] enum tree_host, of this node's part */
  uint32_t *order;     /* [size] ranks by host, then by number */
  tree_frame_fn *frame;
  void *arg; /* of `frame` */
  struct tmb_launch *launch;
  struct tmb_sup *sup; /* while frames are served */
  struct look *look;   /* look.h; NULL: nobody is answered */
  uint32_t rounds;     /* of the bootstrap that this node has passed on */
  bool own_refuses, refuses_sent;
  uint64_t step_ns;   /* when this process was last seen to run */
  double absent_s;    /* for how long it did not run, if that was too long; else 0 */
  uint64_t back_ns;   /* since then it runs again; silence of others counts from there */
  uint64_t failed_ns; /* since then a job that has failed ends; 0: none does */
  bool paused;        /* the ranks are stopped, and perhaps the launcher */
  bool abandoned;     /* agents: the node above is lost */
  bool started;       /* root and agents: START has passed */
  void (*lost)(struct tree *tree, uint32_t host, const char *why); /* root: a host is lost */
};

/* ---- tree_start.c */

/* Make the tables of a node; the job, `host`, `first` and `last` are set. */
void tree_open(struct tree *tree);

/* Start the agents below. Returns 0, or -1 after a message. */
int tree_start_children(struct tree *tree);

/* Handle greetings and children's stderr, and notice those that fail. */
void tree_start_watch(struct tree *tree);

/* Wait for the processes of the children and pass on their last words; those that do not end within
 * `limit_s` are killed. Releases everything. */
void tree_close(struct tree *tree, double limit_s);

/* The line with which an agent greets. Returns buf. */
char *tree_greeting(char *buf, size_t bytes);

/* ---- tree_send.c */

/* Send to the root, to all children, or to the child that leads to a host. */
void tree_send_up(struct tree *tree, struct frame frame);
void tree_send_down(struct tree *tree, struct frame frame);
void tree_send_to(struct tree *tree, uint32_t host, struct frame frame);

/* A host of this node's part has come to its end. in why: NULL: in order. */
void tree_host_ended(struct tree *tree, uint32_t host, const char *why);

/* Whether all hosts below are done or lost. */
bool tree_below_ended(const struct tree *tree);

/* A child's link is of no use any more: its hosts are lost. in why: of the first of them. */
void tree_child_lost(struct tree *tree, struct tree_child *child, const char *why);

/* ---- tree.c */

/* One step: read frames, process them, pass them on, write as much as possible. */
void tree_step(struct tree *tree);

/* Descriptors to wait for. Returns how many descriptors. */
nfds_t tree_wait(struct tree *tree, struct pollfd *fds, nfds_t max, int *timeout_ms);

/* Report an event of this node's supervisor to all other nodes. */
void tree_notify(struct tree *tree, const struct tmb_sup_event *event);

#endif
