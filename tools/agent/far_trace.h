/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trace of a job on several hosts: how the areas of ranks come to the launcher, and how its
 * clock and theirs are compared.
 *
 * Owns: struct far_clock of an agent. Called by agent.c and run_hosts.c. Calls: tree, boot/trace.
 * An agent asks the launcher for its time, one question after the other, CLOCK up and down: some
 * questions when its ranks have started, some when they have ended. The answer to the fastest
 * question of each time bounds the difference of the clocks by half the time that it took (D. L.
 * Mills, RFC 5905); the two differences give the drift. Pretended hosts and containers of one
 * kernel have one clock, which no comparison betters. Then the agent sends the areas, TRACE.
 * Invariants: bounded in time: a launcher that does not answer gets the areas without a comparison;
 * data are checked before they are used.
 */
#ifndef TMB_TOOL_FAR_TRACE_H
#define TMB_TOOL_FAR_TRACE_H

#include "agent/tree.h"

#include "boot/trace/set.h"

/* The difference of the clocks at one time. */
struct far_sample {
  uint64_t at_ns; /* of this host's clock */
  double offset_ns, error_ns;
  bool known;
};

struct far_clock {
  uint64_t asked_ns;           /* 0: no question is in flight */
  unsigned answers;            /* to the questions of this time */
  struct far_sample sample[2]; /* at the start, at the end */
  bool at_end, sent;
  bool same;       /* the launcher runs on this kernel, and in this time namespace */
  uint64_t end_ns; /* since then the ranks have ended */
};

/* Agent: ask, as long as there is something to ask, if the job is traced. in ended: the ranks of
 * this host have ended. Returns true once all is asked and the areas are sent. */
bool far_trace_step(struct far_clock *clock, struct tree *tree, bool ended);

/* Agent: the launcher has answered. */
void far_trace_answered(struct far_clock *clock, struct tree *tree, const struct frame *frame);

/* Launcher: answer a question; keep an area. */
void far_trace_answer(struct tree *tree, const struct frame *frame);
void far_trace_keep(struct tmb_trace_set *set, const struct frame *frame);

#endif
