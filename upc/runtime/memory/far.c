/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and writes of memory that is not mapped here.
 *
 * Owns: the puts that are in progress. Called by compiled programs and the other files. Calls: gets
 * and puts of the library. Invariants: a put returns when its source may change, and may be in
 * progress until a fence (UPC 1.3 section B.3.2: relaxed accesses of one thread are in order only
 * where they touch common bytes), so a later access to bytes of a put waits for that put first;
 * upcr_in_flight is the number of puts whose event was not waited for, and of `row` if it holds any
 * byte. A put that continues the one before is not sent but kept in `row`, with those that continue
 * it, until something else is to be done, so that stores to consecutive elements are few messages
 * and the first of them is not delayed.
 */
#include "rt.h"

#include <string.h>

enum { PUTS_MAX = 32 };

struct put {
  gex_Event_t event; /* GEX_EVENT_INVALID: none */
  int thread;
  uint64_t begin, end;
};

static struct {
  struct put put[PUTS_MAX];
  unsigned next; /* the oldest one's place */
} flight;

enum { ROW_MAX = 1024 }; /* bytes */

/* Puts of consecutive bytes that are not sent yet. */
static struct {
  upcr_pts_t next; /* where the last put ends, 0: nowhere */
  upcr_pts_t begin;
  uint64_t bytes;   /* kept; they begin there */
  const void *from; /* the last of them: its place in the program */
  char data[ROW_MAX];
} row;

RT_EXPORT unsigned upcr_in_flight;

static void finish(struct put *put) {
  gex_Event_Wait(put->event);
  put->event = GEX_EVENT_INVALID;
  upcr_in_flight--;
}

static void remember(gex_Event_t event, upcr_pts_t p, uint64_t bytes) {
  if (event == GEX_EVENT_INVALID) return;
  struct put *put = &flight.put[flight.next++ % PUTS_MAX];
  if (put->event != GEX_EVENT_INVALID) finish(put);
  *put = (struct put){event, upcr_threadof(p), upcr_addrfield(p), upcr_addrfield(p) + bytes};
  upcr_in_flight++;
}

static gex_Rank_t rank_of(upcr_pts_t p) {
  return (gex_Rank_t)upcr_threadof(p);
}

/* Sends the puts that are kept to travel with others; the next one begins anew. */
static void send_row(void) {
  const uint64_t bytes = row.bytes;
  row.next = 0;
  if (!bytes) return;
  row.bytes = 0;
  upcr_in_flight--;
  const gexx_WaitInfo_t now = rt.statement;
  rt.statement.call = "put";
  rt.statement.caller = row.from;
  remember(gex_RMA_PutNB(rt.tm, rank_of(row.begin), rt_owner_addr(row.begin), row.data, bytes,
                         GEX_EVENT_NOW, 0),
           row.begin, bytes);
  rt.statement = now;
}

void rt_far_complete(void) {
  send_row();
  for (struct put *p = flight.put; upcr_in_flight && p < flight.put + PUTS_MAX; p++)
    if (p->event != GEX_EVENT_INVALID) finish(p);
}

RT_EXPORT void upcr_far_complete(void) {
  RT_SITE("fence");
  rt_far_complete();
}

/* Waits for the puts that were sent and touch these bytes. */
static void wait_for(upcr_pts_t p, uint64_t bytes) {
  const int thread = upcr_threadof(p);
  const uint64_t begin = upcr_addrfield(p), end = begin + bytes;
  for (struct put *q = flight.put; q < flight.put + PUTS_MAX; q++)
    if (q->event != GEX_EVENT_INVALID && q->thread == thread && q->begin < end && begin < q->end)
      finish(q);
}

void rt_far_order(upcr_pts_t p, uint64_t bytes) {
  row.next = 0;
  if (!upcr_in_flight) return;
  send_row();
  wait_for(p, bytes);
}

RT_EXPORT unsigned long upcr_far_get(upcr_pts_t p, unsigned long bytes, const void *from) {
  unsigned long value = 0;
  RT_SITE_FROM("get", from);
  rt_check_pointer(p, "read");
  rt_far_order(p, bytes);
  gex_RMA_GetBlocking(rt.tm, &value, rank_of(p), rt_owner_addr(p), bytes, 0);
  return value;
}

RT_EXPORT void upcr_far_put(upcr_pts_t p, unsigned long value, unsigned long bytes,
                            const void *from) {
  RT_SITE_FROM("put", from);
  rt_check_pointer(p, "write");
  rt_far_order(p, bytes);
  remember(gex_RMA_PutNBVal(rt.tm, rank_of(p), rt_owner_addr(p), value, bytes, 0), p, bytes);
}

RT_EXPORT void upcr_far_put_joined(upcr_pts_t p, unsigned long value, unsigned long bytes,
                                   const void *from) {
  const upcr_pts_t at = upcr_nophase(p);
  if (rt.traced && upcr_threadof(p) < upcr_threads && rt_mapped(p)) {
    upcr_far_put(p, value, bytes, from); /* it comes here to be recorded */
    return;
  }
  if (at != row.next || !at) {
    upcr_far_put(p, value, bytes, from); /* sends the row */
    row.next = upcr_add0(at, (long)bytes);
    return;
  }
  if (row.bytes + bytes > ROW_MAX) send_row();
  rt_check_pointer(p, "write");
  if (!row.bytes) {
    wait_for(p, ROW_MAX);
    row.begin = at;
    upcr_in_flight++;
  }
  memcpy(row.data + row.bytes, &value, bytes);
  row.bytes += bytes;
  row.from = from;
  row.next = upcr_add0(at, (long)bytes);
}

void rt_far_getn(void *dest, upcr_pts_t p, unsigned long bytes) {
  if (!bytes) return;
  rt_check_pointer(p, "read");
  rt_far_order(p, bytes);
  gex_RMA_GetBlocking(rt.tm, dest, rank_of(p), rt_owner_addr(p), bytes, 0);
}

void rt_far_putn(upcr_pts_t p, const void *src, unsigned long bytes) {
  if (!bytes) return;
  rt_check_pointer(p, "write");
  rt_far_order(p, bytes);
  remember(gex_RMA_PutNB(rt.tm, rank_of(p), rt_owner_addr(p), (void *)(uintptr_t)src, bytes,
                         GEX_EVENT_NOW, 0),
           p, bytes);
}

RT_EXPORT void upcr_far_getn(void *dest, upcr_pts_t p, unsigned long bytes) {
  RT_SITE("get");
  rt_far_getn(dest, p, bytes);
}

RT_EXPORT void upcr_far_putn(upcr_pts_t p, const void *src, unsigned long bytes) {
  RT_SITE("put");
  rt_far_putn(p, src, bytes);
}
