/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* debug: both */
/* again: TOMBOLO_TEST_RING_SLOTS=64 */
/*
 * API 02.1, 02.3: medium payloads of 0 bytes up to the limit from unaligned and read-only sources,
 * each lc_opt of requests and replies; the source is overwritten as soon as its local completion is
 * known, and the target checks every byte.
 */
#include <sys/mman.h>

#include "am_lc.h"
#include "job.h"

enum { LCS = 3, READ_ONLY_BYTES = 4096 };

struct pending {
  gex_Event_t ev;
  void *buf;
};

static gex_AM_Index_t request_index, reply_index;
static struct pending *pending; /* replies whose sources are still in use */
static size_t pending_count, pending_room;
static volatile uint32_t replies, requests;

static void keep(gex_Event_t ev, void *buf) {
  if (pending_count == pending_room) {
    pending_room = pending_room * 2 + 16;
    struct pending *more = (struct pending *)realloc(pending, pending_room * sizeof *more);
    if (!more) check_abandon();
    pending = more;
  }
  pending[pending_count].ev = ev;
  pending[pending_count++].buf = buf;
}

/* Replies with as many bytes; every second one leaves its source in use until the event is synced.
 */
static void on_request(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t id,
                       gex_AM_Arg_t want) {
  const gex_Rank_t from = job_source(token);
  CHECK_EQ(nbytes, want);
  CHECK(buf != NULL); /* clients hand it to Prepare, where NULL has another meaning */
  if (nbytes) CHECK_EQ((uintptr_t)buf % 16, 0);
  CHECK_BYTES(buf, nbytes, job_seed(from, job.rank, id, 0));
  requests++;
  size_t room = gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 2);
  CHECK_CMP(room, >=, 512);
  if (room > nbytes) room = nbytes;
  char *out = (char *)check_room(1, nbytes + 1);
  pattern_fill(out, room, job_seed(job.rank, from, id, 1));
  if (id % 2) {
    gex_Event_t ev = GEX_EVENT_NO_OP;
    CHECK_EQ(gex_AM_ReplyMedium2(token, reply_index, out, room, &ev, 0, id, room), 0);
    CHECK(ev != GEX_EVENT_NO_OP);
    keep(ev, out);
  } else {
    CHECK_EQ(gex_AM_ReplyMedium2(token, reply_index, out, room, GEX_EVENT_NOW, 0, id, room), 0);
    memset(out, 0xdd, room);
    free(out);
  }
}

static void on_reply(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t id,
                     gex_AM_Arg_t want) {
  CHECK_EQ(nbytes, want);
  CHECK(buf != NULL);
  if (nbytes) CHECK_EQ((uintptr_t)buf % 16, 0);
  CHECK_BYTES(buf, nbytes, job_seed(job_source(token), job.rank, id, 1));
  replies++;
}

static void release_replies(void) {
  while (pending_count) {
    const struct pending p = pending[--pending_count];
    gex_Event_Wait(p.ev);
    free(p.buf);
  }
}

static size_t send_one(gex_Rank_t to, size_t nbytes, int id, int lc, char *src) {
  gex_Event_t ev = GEX_EVENT_NO_OP;
  gex_Event_t *const opts[LCS] = {GEX_EVENT_NOW, &ev, GEX_EVENT_GROUP};
  const size_t limit = gex_AM_MaxRequestMedium(job.tm, to, opts[lc], 0, 2);
  if (nbytes > limit) nbytes = limit;
  pattern_fill(src, nbytes, job_seed(job.rank, to, id, 0));
  CHECK_EQ(gex_AM_RequestMedium2(job.tm, to, request_index, src, nbytes, opts[lc], 0, id, nbytes),
           0);
  reuse(src, nbytes, lc, ev);
  return nbytes;
}

static void all_sizes(char *room) {
  static const size_t sizes[] = {0,    1,    2,    3,     4,     7,     8,     15,    16,     17,
                                 31,   33,   63,   64,    65,    127,   129,   255,   257,    500,
                                 511,  512,  513,  1000,  1023,  1024,  2047,  2048,  2049,   4096,
                                 4097, 8191, 9000, 16384, 32767, 65000, 65535, 65536, 1 << 30};
  uint32_t sent = 0;
  int id = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int lc = 0; lc < LCS; lc++, id++) {
      for (gex_Rank_t k = 0; k < job.size; k++, sent++)
        send_one((job.rank + k) % job.size, sizes[i], id, lc, room + (i + (size_t)lc * 3) % 16);
      GASNET_BLOCKUNTIL(replies == sent);
      release_replies();
    }
  job_barrier();
  release_replies();
  CHECK_EQ(requests, sent);
  CHECK_EQ(replies, sent);
  job_barrier();
}

/* The source may lie in pages without write permission. */
static void from_read_only(void) {
  const int id = 100000;
  char *page = (char *)mmap(NULL, READ_ONLY_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  for (gex_Rank_t to = 0; to < job.size; to++) {
    const uint32_t before = replies;
    REQUIRE(mprotect(page, READ_ONLY_BYTES, PROT_READ | PROT_WRITE) == 0);
    pattern_fill(page, 500, job_seed(job.rank, to, id, 0));
    REQUIRE(mprotect(page, READ_ONLY_BYTES, PROT_READ) == 0);
    CHECK_EQ(gex_AM_RequestMedium2(job.tm, to, request_index, page, 500, GEX_EVENT_NOW, 0, id, 500),
             0);
    GASNET_BLOCKUNTIL(replies == before + 1);
  }
  job_barrier();
  munmap(page, READ_ONLY_BYTES);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  request_index = job_handler((gex_AM_Fn_t)on_request, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 2);
  reply_index = job_handler((gex_AM_Fn_t)on_reply, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 2);
  job_barrier();
  const size_t most = gex_AM_MaxRequestMedium(job.tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 0);
  char *room = (char *)check_room(1, most + (1 << 20));
  all_sizes(room);
  from_read_only();
  free(room);
  return job_finish();
}
