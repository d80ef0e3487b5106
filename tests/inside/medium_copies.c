/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 3 */
/* timeout: 60 */
/*
 * A medium request of 4 to 64 KiB between ranks of one host is copied once, and so is its reply;
 * and both come in one of the buffers that go round (near_bulk.c). This program has a memcpy and a
 * memmove of its own, which count bytes: the library linked into it calls them.
 */
#include "job.h"

#include <string.h>

enum { ROUNDS = 50, LEAST = 2048, SEEN_MAX = 64 }; /* LEAST: headers and arguments are shorter */

static size_t copied;
static const void *seen[SEEN_MAX]; /* buffers in which messages came */
static size_t seen_count;
static volatile int requests, replies;
static gex_AM_Index_t request_index, reply_index;
static char payload[65536];

/* Byte by byte, in either order: not made a call of memcpy by the compiler. */
static void *count_copy(void *to, const void *from, size_t bytes) {
  volatile char *d = to;
  const volatile char *s = from;
  if (bytes >= LEAST) copied += bytes;
  if ((uintptr_t)to <= (uintptr_t)from)
    for (size_t i = 0; i < bytes; i++) d[i] = s[i];
  else
    for (size_t i = bytes; i-- > 0;) d[i] = s[i];
  return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  return count_copy(to, from, bytes);
}

void *memmove(void *to, const void *from, size_t bytes) {
  return count_copy(to, from, bytes);
}

static void note(const void *buffer) {
  for (size_t i = 0; i < seen_count; i++)
    if (seen[i] == buffer) return;
  CHECK_CMP(seen_count, <, SEEN_MAX);
  seen[seen_count++] = buffer;
}

static void on_request(gex_Token_t token, void *buffer, size_t bytes) {
  note(buffer);
  CHECK_EQ(((char *)buffer)[bytes - 1], 7);
  gex_AM_ReplyMedium(token, reply_index, buffer, bytes, GEX_EVENT_NOW, 0);
  requests++;
}

static void on_reply(gex_Token_t token, void *buffer, size_t bytes) {
  (void)token;
  note(buffer);
  CHECK_EQ(((char *)buffer)[bytes - 1], 7);
  replies++;
}

static void trips(size_t bytes) {
  job_barrier();
  copied = seen_count = 0;
  requests = replies = 0;
  job_barrier();
  for (int i = 0; job.rank == 0 && i < ROUNDS; i++) {
    gex_AM_RequestMedium(job.tm, 1, request_index, payload, bytes, GEX_EVENT_NOW, 0);
    GASNET_BLOCKUNTIL(replies == i + 1);
  }
  if (job.rank == 1) GASNET_BLOCKUNTIL(requests == ROUNDS);
  job_barrier();
  CHECK_EQ(copied, job.rank < 2 ? ROUNDS * bytes : 0);
  CHECK_EQ(seen_count > 0, job.rank < 2);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 4096, NULL, 0);
  request_index = job_handler((gex_AM_Fn_t)on_request, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0);
  reply_index = job_handler((gex_AM_Fn_t)on_reply, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0);
  memset(payload, 7, sizeof payload);
  const size_t most = gex_AM_MaxReplyMedium(job.tm, 1, GEX_EVENT_NOW, 0, 0);
  trips(16384);
  trips(4096);
  trips(32768);
  trips(most < sizeof payload ? most : sizeof payload);
  return job_finish();
}
