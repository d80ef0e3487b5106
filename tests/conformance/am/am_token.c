/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/*
 * API 02.6: gex_Token_Info for requests and replies of every category, by team and by TM-pair, with
 * every mask.
 */
#include "job.h"

enum { SHORT, MEDIUM, LONG, KINDS };

static gex_AM_Entry_t table[2 * KINDS];
static int cdata[2 * KINDS];
static volatile uint32_t seen[2 * KINDS];

static void inspect(gex_Token_t token, int which, gex_Rank_t from) {
  const int is_req = which < KINDS;
  for (gex_TI_t mask = 0; mask <= GEX_TI_ALL; mask++) {
    if (mask & ~GEX_TI_ALL) continue;
    gex_Token_Info_t info;
    memset(&info, 0x66, sizeof info);
    const gex_TI_t got = gex_Token_Info(token, &info, mask);
    CHECK_EQ(got & mask, mask);
    if (mask & GEX_TI_SRCRANK) CHECK_EQ(info.gex_srcrank, from);
    if (mask & GEX_TI_EP) CHECK_PTR(info.gex_ep, job.ep);
    if (mask & GEX_TI_IS_REQ) CHECK_EQ(info.gex_is_req, is_req);
    if (mask & GEX_TI_IS_LONG) CHECK_EQ(info.gex_is_long, which % KINDS == LONG);
    if (mask & GEX_TI_ENTRY) {
      const gex_AM_Entry_t *e = info.gex_entry;
      CHECK(e != &table[which]);
      CHECK_EQ(e->gex_index, table[which].gex_index);
      CHECK(e->gex_fnptr == table[which].gex_fnptr);
      CHECK_EQ(e->gex_flags, table[which].gex_flags);
      CHECK_EQ(e->gex_nargs, 1);
      CHECK_PTR(e->gex_cdata, &cdata[which]);
      CHECK_STR(e->gex_name, table[which].gex_name);
    }
  }
  seen[which]++;
}

static void req_short(gex_Token_t token, gex_AM_Arg_t from) {
  inspect(token, SHORT, (gex_Rank_t)from);
  CHECK_EQ(gex_AM_ReplyShort(token, table[KINDS + SHORT].gex_index, 0, job.rank), 0);
}
static void req_medium(gex_Token_t token, void *buf, size_t n, gex_AM_Arg_t from) {
  inspect(token, MEDIUM, (gex_Rank_t)from);
  CHECK_EQ(gex_AM_ReplyMedium(token, table[KINDS + MEDIUM].gex_index, buf, n, GEX_EVENT_NOW, 0,
                              job.rank),
           0);
}
static void req_long(gex_Token_t token, void *buf, size_t n, gex_AM_Arg_t from) {
  inspect(token, LONG, (gex_Rank_t)from);
  CHECK_EQ(gex_AM_ReplyLong(token, table[KINDS + LONG].gex_index, buf, n,
                            job.peer[from] + job.bytes / 2 + 8 * job.rank, GEX_EVENT_NOW, 0,
                            job.rank),
           0);
}
static void rep_short(gex_Token_t token, gex_AM_Arg_t from) {
  inspect(token, KINDS + SHORT, (gex_Rank_t)from);
}
static void rep_medium(gex_Token_t token, void *buf, size_t n, gex_AM_Arg_t from) {
  CHECK_EQ(n, 8);
  CHECK_BYTES(buf, n, 3);
  inspect(token, KINDS + MEDIUM, (gex_Rank_t)from);
}
static void rep_long(gex_Token_t token, void *buf, size_t n, gex_AM_Arg_t from) {
  CHECK_EQ(n, 8);
  CHECK_BYTES(buf, n, 3);
  inspect(token, KINDS + LONG, (gex_Rank_t)from);
}

static void fill_table(void) {
  const gex_AM_Fn_t fns[2 * KINDS] = {(gex_AM_Fn_t)req_short,  (gex_AM_Fn_t)req_medium,
                                      (gex_AM_Fn_t)req_long,   (gex_AM_Fn_t)rep_short,
                                      (gex_AM_Fn_t)rep_medium, (gex_AM_Fn_t)rep_long};
  static const char *const names[2 * KINDS] = {"qs", "qm", "ql", "ps", "pm", "pl"};
  for (int i = 0; i < 2 * KINDS; i++) {
    const gex_Flags_t flags =
        (GEX_FLAG_AM_SHORT << i % KINDS) | (i < KINDS ? GEX_FLAG_AM_REQUEST : GEX_FLAG_AM_REPLY);
    const gex_AM_Entry_t e = {0, fns[i], flags, 1, &cdata[i], names[i]};
    table[i] = e;
  }
}

int main(int argc, char **argv) {
  fill_table();
  job_start(&argc, &argv, GASNET_PAGESIZE, table, 2 * KINDS);
  char buf[8];
  pattern_fill(buf, 8, 3);
  for (uint32_t pair = 0; pair < 2; pair++) {
    for (gex_Rank_t r = 0; r < job.size; r++) {
      const gex_TM_t tm = pair ? gex_TM_Pair(job.ep, 0) : job.tm;
      char *dest = job.peer[r] + 8 * job.rank;
      CHECK_EQ(gex_AM_RequestShort(tm, r, table[SHORT].gex_index, 0, job.rank), 0);
      CHECK_EQ(
          gex_AM_RequestMedium(tm, r, table[MEDIUM].gex_index, buf, 8, GEX_EVENT_NOW, 0, job.rank),
          0);
      CHECK_EQ(gex_AM_RequestLong(tm, r, table[LONG].gex_index, buf, 8, dest, GEX_EVENT_NOW, 0,
                                  job.rank),
               0);
    }
    for (int i = 0; i < 2 * KINDS; i++) GASNET_BLOCKUNTIL(seen[i] >= (pair + 1) * job.size);
  }
  job_barrier();
  for (int i = 0; i < 2 * KINDS; i++) CHECK_EQ(seen[i], 2 * job.size);
  return job_finish();
}
