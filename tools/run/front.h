/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The launcher's end of the streams of a job on several hosts: output of all ranks, input of one.
 *
 * Owns: struct front: output that waits to be written, and by --label a pipe for each rank and
 * stream into run_label.c. Called by run_hosts.c. Calls: tree, run_label.c, libc. Invariants:
 * nothing here blocks, however slow the reader; of each host and stream at most AGENT_OUTPUT_BYTES
 * wait here.
 */
#ifndef TMB_TOOL_FRONT_H
#define TMB_TOOL_FRONT_H

#include "agent/tree.h"
#include "ranks/run.h"

struct front_sink {
  int fd;             /* -1: nobody reads it any more */
  struct pack text;   /* `at`: written */
  struct pack owners; /* u32 host, u32 bytes: whose text it is, in order; `at`: printed */
};

struct front {
  struct tree *tree;
  struct run_label *label; /* NULL: streams are passed on as they come */
  struct front_sink *sink; /* [2] streams, or with labels [2 * size] by rank and stream */
  uint32_t sinks;
  uint32_t input_room; /* standard input that the rank's agent still takes */
  bool input_open;
};

/* Returns 0, or -1 after a message. */
int front_open(struct front *front, struct tree *tree, struct run_label *label);

/* Descriptors to wait for. Returns how many descriptors. */
nfds_t front_wait(const struct front *front, struct pollfd *fds, nfds_t max);

/* Write as much as is taken now, read the bytes that are there. */
void front_serve(struct front *front);

/* Output of a rank. in stream: 1 or 2. */
void front_output(struct front *front, uint32_t rank, uint32_t stream, const char *data,
                  uint32_t bytes);

/* A rank has taken input. in bytes: UINT32_MAX: it wants no more. */
void front_input_taken(struct front *front, uint32_t bytes);

/* Whether something waits to be written. */
bool front_pending(const struct front *front);

/* Forget waiting output, and say so to the agents. */
void front_drop(struct front *front);

/* Close the pipes into the labels, so that their threads can come to an end. */
void front_end_labels(struct front *front);

void front_close(struct front *front);

#endif
