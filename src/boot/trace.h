/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trace area of a rank: the ring of its last events, and the names that they use.
 *
 * Owns: the layout. The area lies behind the status pages in the job's control block (ctl.h), or,
 * in a process without a supervisor, in memory of its own. Written by the rank (core/op/record.h),
 * read once the rank has ended (boot/trace), also when it was killed. Invariants: event number i,
 * from 0, lies in slot i modulo `capacity`; an event is whole when its `seq` is the low half of
 * i + 1, which is stored last; a name is an offset into `names`, and 0 is none; times are ticks of
 * tmb_os_ticks_now.
 */
#ifndef TMB_BOOT_TRACE_H
#define TMB_BOOT_TRACE_H

#include "base/compiler.h"

#include <stdint.h>

#define TMB_TRACE_NAMES_BYTES 65536u /* so that a name is 16 bits */

enum tmb_trace_kind {
  TMB_TRACE_NONE,
  TMB_TRACE_OPERATION, /* what: enum tmb_what; number: op that completes it, 0: none */
  TMB_TRACE_MESSAGE,   /* what: category, + 4 for a reply; number: of the pair of ranks, from 1;
                          value: handler */
  TMB_TRACE_HANDLER,   /* as MESSAGE; peer: the sender */
  TMB_TRACE_WAIT,      /* what: enum tmb_wait_kind; aux, object, value, cmp: by kind */
  TMB_TRACE_CALL,      /* what: enum tmb_what; object: uid of the team; number: of the call in it;
                          name: the algorithm; team: the team's name */
  TMB_TRACE_STATEMENT, /* name; object: name of its subject; value: name of the source */
  TMB_TRACE_REGION,    /* name */
  TMB_TRACE_MARK,      /* name; a moment */
  TMB_TRACE_PACKET,    /* name; a moment */
  TMB_TRACE_KINDS
};

/* One event. A slice that lasts still has end 0. */
struct tmb_trace_event {
  uint64_t begin, end; /* ticks */
  uint64_t object;     /* address in the memory of its owner */
  uint64_t bytes;
  uint64_t number;
  uint64_t value;
  uint32_t peer; /* jobrank, or TMB_STATUS_NOBODY */
  uint32_t name; /* lower half; upper half: the statement that ran, as "CALL\tFILE+0xADDRESS" */
  uint16_t thread;
  uint8_t kind, what;
  uint32_t seq;
} TMB_ALIGNED(64);
_Static_assert(sizeof(struct tmb_trace_event) == 64, "one cache line");

struct tmb_trace_area {
  uint64_t capacity;   /* events, a power of two; the supervisor */
  uint64_t tick0, ns0; /* one moment on the counter and on the monotonic clock; the supervisor */
  uint32_t packets;    /* 1: packets are recorded, too; the supervisor */
  uint32_t names_used; /* bytes of names; the rank */
  uint32_t processors; /* that the ranks of this host share; the supervisor */
  uint64_t next TMB_ALIGNED(TMB_CACHE_LINE); /* events begun so far; atomic; the rank */
  char names[TMB_TRACE_NAMES_BYTES] TMB_ALIGNED(TMB_CACHE_LINE); /* byte 0 stays 0 */
  struct tmb_trace_event event[];                                /* [capacity] */
};

/* Bytes of an area with room for so many events. */
static inline uint64_t tmb_trace_bytes(uint64_t capacity) {
  return sizeof(struct tmb_trace_area) + capacity * sizeof(struct tmb_trace_event);
}

/* Bytes of the area that the settings ask for; 0: nothing is recorded. */
uint64_t tmb_trace_wanted(void);

/* Fill the head of an area of so many bytes, which is zero. `first` is an area of this host, whose
 * moment this one gets, too, or NULL: with moments of their own two clocks would differ. */
void tmb_trace_open(struct tmb_trace_area *area, uint64_t bytes,
                    const struct tmb_trace_area *first);

/* Write the trace of a process without a supervisor to the file of the settings. */
void tmb_trace_write_alone(const struct tmb_trace_area *area);

#endif
