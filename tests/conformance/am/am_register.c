/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/*
 * API 01.10: handler registration: fixed and chosen indices, repeated calls, refusals, a full
 * table, copies of entries, and that each index runs its own handler.
 */
#include "job.h"

enum { TOTAL = 256 - GEX_AM_INDEX_BASE };

static int hits[256];
static char cdata[TOTAL];
static char names[TOTAL][16];

static void on_any(gex_Token_t token, gex_AM_Arg_t index) {
  gex_Token_Info_t info;
  const gex_TI_t got = gex_Token_Info(token, &info, GEX_TI_ENTRY | GEX_TI_SRCRANK);
  REQUIRE((got & (GEX_TI_ENTRY | GEX_TI_SRCRANK)) == (GEX_TI_ENTRY | GEX_TI_SRCRANK));
  CHECK_EQ(info.gex_entry->gex_index, index);
  CHECK_EQ(info.gex_entry->gex_nargs, 1);
  CHECK_EQ(info.gex_entry->gex_flags, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP);
  CHECK(info.gex_entry->gex_fnptr == (gex_AM_Fn_t)on_any);
  hits[index]++;
}

/* Handlers of the first entries are distinguished by address, not only by index. */
static void on_first(gex_Token_t token, gex_AM_Arg_t index) {
  (void)token;
  CHECK_EQ(index, 255);
  hits[index] += 1000;
}

static gex_AM_Entry_t entry(unsigned index, gex_AM_Fn_t fn, int slot) {
  gex_AM_Entry_t e = {(gex_AM_Index_t)index, fn,         GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP, 1,
                      &cdata[slot],          names[slot]};
  snprintf(names[slot], sizeof names[slot], "h%d", slot);
  return e;
}

static void check_refusals(void) {
  gex_AM_Entry_t bad[2];
  CHECK_EQ(gex_EP_RegisterHandlers(job.ep, NULL, 0), GASNET_OK);
  bad[0] = entry(GEX_AM_INDEX_BASE - 1, (gex_AM_Fn_t)on_any, 0);
  CHECK_EQ(gex_EP_RegisterHandlers(job.ep, bad, 1), GASNET_ERR_BAD_ARG);
  CHECK_EQ(bad[0].gex_index, GEX_AM_INDEX_BASE - 1);
  int rc = gex_EP_RegisterHandlers(job.ep, NULL, 1);
  CHECK(rc == GASNET_ERR_BAD_ARG || rc == GASNET_ERR_RESOURCE);
}

/* 255 goes to the first zero entry because fixed entries come first and take 254. */
static void register_some(void) {
  gex_AM_Entry_t t[4];
  t[0] = entry(0, (gex_AM_Fn_t)on_first, 0);
  t[1] = entry(0, (gex_AM_Fn_t)on_any, 1);
  t[2] = entry(254, (gex_AM_Fn_t)on_any, 2);
  t[3] = entry(GEX_AM_INDEX_BASE, (gex_AM_Fn_t)on_any, 3);
  REQUIRE(gex_EP_RegisterHandlers(job.ep, t, 4) == GASNET_OK);
  CHECK_EQ(t[0].gex_index, 255);
  CHECK_EQ(t[1].gex_index, 253);
  CHECK_EQ(t[2].gex_index, 254);
  CHECK_EQ(t[3].gex_index, GEX_AM_INDEX_BASE);
  gex_AM_Entry_t twice = entry(254, (gex_AM_Fn_t)on_any, 4);
  const int rc = gex_EP_RegisterHandlers(job.ep, &twice, 1);
  CHECK(rc == GASNET_ERR_BAD_ARG || rc == GASNET_ERR_RESOURCE);
  memset(t, 0xff, sizeof t); /* the library has copies */
}

static void register_rest(void) {
  gex_AM_Entry_t t[TOTAL];
  for (int i = 0; i < TOTAL - 4; i++) t[i] = entry(0, (gex_AM_Fn_t)on_any, 4 + i);
  REQUIRE(gex_EP_RegisterHandlers(job.ep, t, TOTAL - 4) == GASNET_OK);
  for (int i = 0; i < TOTAL - 4; i++) CHECK_EQ(t[i].gex_index, 252 - i);
  gex_AM_Entry_t more = entry(0, (gex_AM_Fn_t)on_any, 0);
  const int rc = gex_EP_RegisterHandlers(job.ep, &more, 1);
  CHECK(rc == GASNET_ERR_BAD_ARG || rc == GASNET_ERR_RESOURCE);
}

static void run_all(void) {
  job_barrier();
  for (gex_Rank_t r = 0; r < job.size; r++)
    for (int index = GEX_AM_INDEX_BASE; index < 256; index++)
      CHECK_EQ(gex_AM_RequestShort1(job.tm, r, (gex_AM_Index_t)index, 0, index), 0);
  for (int index = GEX_AM_INDEX_BASE; index < 256; index++)
    GASNET_BLOCKUNTIL(((volatile int *)hits)[index] >= (index == 255 ? 1000 : 1) * (int)job.size);
  job_barrier();
  for (int index = GEX_AM_INDEX_BASE; index < 256; index++)
    CHECK_EQ(hits[index], (index == 255 ? 1000 : 1) * (int)job.size);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  check_refusals();
  register_some();
  register_rest();
  run_all();
  return job_finish();
}
