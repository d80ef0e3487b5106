/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recording the actions of this process in its trace area (boot/trace.h), with TOMBOLO_TRACE.
 *
 * Owns: declarations of record.c. Called where operations, messages, handlers, waits and calls of
 * teams begin and end. Calls: the tick counter. While events are recorded tmb_job.recorded is set,
 * so that the inline forms come to the library: without a trace nothing here runs, and no inline
 * path has an instruction for it. With TOMBOLO_STATS these calls sum up times on the status page.
 * Invariants: any thread may record at any time, also inside handlers; a record takes the slot of
 * the oldest one; a slice that is ended after its slot was taken by another event is recorded anew,
 * with its beginning.
 */
#ifndef TMB_CORE_RECORD_H
#define TMB_CORE_RECORD_H

#include "boot/trace.h"
#include "core/job.h"
#include "core/op/status.h"
#include "os/processor/ticks.h"

struct tmb_am_in;
struct gexx_waitinfo;

/* Whether events are recorded. */
static inline bool tmb_recording(void) {
  return TMB_UNLIKELY(tmb_job.trace != NULL);
}

/* Now, in ticks, while events are recorded or operations counted; else 0. */
static inline uint64_t tmb_record_clock(void) {
  return TMB_UNLIKELY(tmb_job.recorded) ? tmb_os_ticks_now() : 0;
}

/* Whether waits are recorded, or their time summed up. */
static inline bool tmb_recording_waits(void) {
  return TMB_UNLIKELY(tmb_job.recorded);
}

/* Take the area, and make the inline forms come to the library. At start, after rank and size are
 * known, before layers and tables. */
int tmb_record_init(void);

/* The process ends: a process without a supervisor writes its trace. */
void tmb_record_end(void);

/* A slice that has begun and not ended. number 0: none. */
struct tmb_record {
  uint64_t number; /* of the event, from 1 */
  struct tmb_trace_event event;
};

/* Records the end of a slice. in,out record: the caller's. */
void tmb_record_close(struct tmb_record *record);

/* Record a slice that ends now, or, with begin 0, a moment. */
void tmb_record_event(const struct tmb_trace_event *event);

/* An operation on the memory of a peer that began at `begun`. in what: enum tmb_what; op: the op
 * that a wait for it will name, or NULL. Does nothing with begun 0. */
void tmb_record_operation(uint64_t begun, uint32_t what, uint32_t peer, size_t bytes,
                          const void *object, const void *op);

/* A put or get that was nothing but a copy of these bytes here. A put of a few is in the store
 * buffer before the clock has moved, so the clock is not read a second time: reading it costs as
 * much as all else of the record. */
void tmb_record_copy(uint64_t begun, uint32_t what, uint32_t peer, size_t bytes,
                     const void *object);

/* A put or get with a signal. in copied: it was nothing but a copy, and woke nobody. */
void tmb_record_signal(uint64_t begun, const struct tmb_trace_event *like, const void *op,
                       bool copied);

/* A message was sent; the attempt began at `begun`. */
void tmb_record_sent(uint64_t begun, const struct tmb_am_out *out);

/* A handler is about to run, and has run. in name: registered, or NULL. */
void tmb_record_handler(const struct tmb_am_in *in, const char *name);
void tmb_record_handled(const struct tmb_am_in *in);

/* A call that all members of a team make. */
struct tmb_record_call {
  const struct tmb_team *team;
  uint32_t what;   /* enum tmb_what */
  uint32_t root;   /* jobrank, or TMB_STATUS_NOBODY */
  uint64_t number; /* of its kind in the team, from 1; equal on all members */
  size_t bytes;
  const char *algorithm; /* NULL: none */
  const void *op;        /* the op that a wait for it will name, or NULL */
};

/* Begin the slice of such a call, which began at `begun`; with begun 0 nothing is recorded. */
void tmb_record_call(struct tmb_record *record, uint64_t begun, const struct tmb_record_call *call);

/* Offset of a text among the names of the area, for struct tmb_trace_event. NULL and texts for
 * which there is no room: 0. */
uint32_t tmb_record_name(const char *text);

/* A run-time library above describes its wait (ext_wait.h); the description holds until it ends:
 * NULL. */
void tmb_record_statement(const struct gexx_waitinfo *info);

/* Where the statement that runs is noted, see gexx_Trace_Follow. */
void tmb_record_follow(const struct gexx_waitinfo *statement);

/* Regions and moments that the client marks. */
void tmb_record_region(const char *name);
void tmb_record_region_end(void);
void tmb_record_mark(const char *name);

/* A wait begins. */
void tmb_record_wait(const struct gexx_wait *wait);

/* A step of a wait begins: the first poll has not ended the wait, so it is recorded. Waits that
 * begin before the end of the step are inside of this one. */
void tmb_record_steps(const struct gexx_wait *wait, struct tmb_why why);

/* A step of a wait is over: unless there is another, the wait ends now. */
void tmb_record_waited(const struct gexx_wait *wait);

/* A wait for a word that a peer stores is over. The store may have come after the last step, so a
 * wait that had a step ends now. */
void tmb_record_wait_over(const struct gexx_wait *wait);

#endif
