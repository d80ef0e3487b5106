/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* again: TOMBOLO_TEST_RING_SLOTS=64 */
/*
 * API 02.2: every limit query: lower bounds, monotony in numargs, equality of the two directions
 * and of two names of one endpoint, the minimum over all peers, token forms; and messages of
 * exactly the largest size get through.
 */
#include "am_args.h"
#include "job.h"

enum { FLAGS = 3, NARGS = 17, KINDS = 4 };

typedef size_t query_fn(gex_TM_t, gex_Rank_t, const gex_Event_t *, gex_Flags_t, unsigned);
static size_t ask(int kind, gex_TM_t tm, gex_Rank_t r, const gex_Event_t *lc, gex_Flags_t flags,
                  unsigned n) {
  query_fn *const q[KINDS] = {gex_AM_MaxRequestMedium, gex_AM_MaxReplyMedium, gex_AM_MaxRequestLong,
                              gex_AM_MaxReplyLong};
  return q[kind](tm, r, lc, flags, n);
}
static const gex_Flags_t least[FLAGS] = {0, GEX_FLAG_AM_PREPARE_LEAST_CLIENT,
                                         GEX_FLAG_AM_PREPARE_LEAST_ALLOC};

static gex_AM_Index_t compare_index, big_index, back_index;
static volatile uint32_t compared, bigs, backs;

static void on_compare(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t kind,
                       gex_AM_Arg_t flag) {
  uint64_t theirs[NARGS];
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  CHECK_EQ(nbytes, sizeof theirs);
  memcpy(theirs, buf, sizeof theirs);
  for (unsigned n = 0; n < NARGS; n++)
    CHECK_EQ(ask(kind, job.tm, info.gex_srcrank, NULL, least[flag], n), theirs[n]);
  if (flag == 0 && kind == 1)
    for (unsigned n = 0; n < NARGS; n++) {
      CHECK_EQ(gex_Token_MaxReplyMedium(token, NULL, 0, n), theirs[n]);
      CHECK_EQ(gex_Token_MaxReplyLong(token, GEX_EVENT_NOW, 0, n),
               ask(3, job.tm, info.gex_srcrank, GEX_EVENT_NOW, 0, n));
    }
  compared++;
}

static void check_one(int kind, gex_Rank_t r, const gex_Event_t *lc, int flag) {
  const size_t lub[KINDS] = {gex_AM_LUBRequestMedium(), gex_AM_LUBReplyMedium(),
                             gex_AM_LUBRequestLong(), gex_AM_LUBReplyLong()};
  size_t before = SIZE_MAX;
  for (unsigned n = 0; n < NARGS; n++) {
    const size_t max = ask(kind, job.tm, r, lc, least[flag], n);
    CHECK_CMP(max, >=, 512);
    CHECK_CMP(max, <=, before);
    CHECK_CMP(lub[kind], >=, 512);
    if (flag == 0) CHECK_CMP(max, >=, lub[kind]);
    CHECK_EQ(ask(kind, gex_TM_Pair(job.ep, 0), r, lc, least[flag], n), max);
    CHECK_EQ(ask(kind, job.tm, r, lc, least[flag], n), max);
    before = max;
  }
}

static void check_all(void) {
  static gex_Event_t ev;
  for (int kind = 0; kind < KINDS; kind++)
    for (int flag = 0; flag < FLAGS; flag++) {
      for (gex_Rank_t r = 0; r < job.size; r++) {
        check_one(kind, r, GEX_EVENT_NOW, flag);
        check_one(kind, r, &ev, flag);
        check_one(kind, r, NULL, flag);
        CHECK_EQ(ask(kind, job.tm, r, &ev, least[flag], 3),
                 ask(kind, job.tm, r, NULL, least[flag], 3));
        if (!(kind & 1)) check_one(kind, r, GEX_EVENT_GROUP, flag);
      }
      for (unsigned n = 0; n < NARGS; n++) {
        size_t min = SIZE_MAX;
        for (gex_Rank_t r = 0; r < job.size; r++)
          if (ask(kind, job.tm, r, GEX_EVENT_NOW, least[flag], n) < min)
            min = ask(kind, job.tm, r, GEX_EVENT_NOW, least[flag], n);
        CHECK_EQ(ask(kind, job.tm, GEX_RANK_INVALID, GEX_EVENT_NOW, least[flag], n), min);
      }
    }
}

static void exchange(void) {
  for (gex_Rank_t r = 0; r < job.size; r++)
    for (int kind = 0; kind < KINDS; kind++)
      for (int flag = 0; flag < FLAGS; flag++) {
        uint64_t mine[NARGS];
        for (unsigned n = 0; n < NARGS; n++) mine[n] = ask(kind, job.tm, r, NULL, least[flag], n);
        CHECK_EQ(gex_AM_RequestMedium2(job.tm, r, compare_index, mine, sizeof mine, GEX_EVENT_NOW,
                                       0, kind, flag),
                 0);
      }
  GASNET_BLOCKUNTIL(compared == job.size * KINDS * FLAGS);
  job_barrier();
  CHECK_EQ(compared, job.size * KINDS * FLAGS);
}

/* 16 arguments: the header is at its largest. */
static void on_big(gex_Token_t token, void *buf, size_t nbytes TEST_PARAMS_16) {
  const gex_AM_Arg_t all[] = {0 TEST_NAMES_16};
  const gex_AM_Arg_t *const got = all + 1;
  for (int i = 0; i < 16; i++) CHECK_EQ(got[i], i * 3 - 5);
  CHECK_EQ(nbytes, gex_AM_MaxRequestMedium(job.tm, job.rank, GEX_EVENT_NOW, 0, 16));
  CHECK_BYTES(buf, nbytes, 99);
  bigs++;
  const size_t back = gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 0);
  char *out = (char *)check_room(1, back);
  pattern_fill(out, back, 77);
  CHECK_EQ(gex_AM_ReplyMedium0(token, back_index, out, back, GEX_EVENT_NOW, 0), 0);
  free(out);
}

static void on_back(gex_Token_t token, void *buf, size_t nbytes) {
  (void)token;
  CHECK_EQ(nbytes, gex_AM_MaxReplyMedium(job.tm, job.rank, GEX_EVENT_NOW, 0, 0));
  CHECK_BYTES(buf, nbytes, 77);
  backs++;
}

static void send_largest(void) {
  for (int round = 0; round < 20; round++)
    for (gex_Rank_t r = 0; r < job.size; r++) {
      const size_t n = gex_AM_MaxRequestMedium(job.tm, r, GEX_EVENT_NOW, 0, 16);
      char *src = (char *)check_room(1, n);
      pattern_fill(src, n, 99);
      CHECK_EQ(gex_AM_RequestMedium16(job.tm, r, big_index, src, n, GEX_EVENT_NOW, 0, -5, -2, 1, 4,
                                      7, 10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40),
               0);
      free(src);
    }
  GASNET_BLOCKUNTIL(bigs == 20 * job.size && backs == 20 * job.size);
  job_barrier();
  CHECK_EQ(bigs, 20 * job.size);
  CHECK_EQ(backs, 20 * job.size);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  compare_index = job_handler((gex_AM_Fn_t)on_compare, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 2);
  big_index = job_handler((gex_AM_Fn_t)on_big, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 16);
  back_index = job_handler((gex_AM_Fn_t)on_back, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0);
  job_barrier();
  check_all();
  exchange();
  send_largest();
  return job_finish();
}
