/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/*
 * API 01.1-01.3, 01.6, 01.8, 00.4-00.7: init, client, client data, system queries, primordial team,
 * TM-pairs, constants; what is legal before a segment is attached.
 */
#include "job.h"
#include "error_names.h"

static volatile int short_seen, medium_seen;

static void on_short(gex_Token_t token, gex_AM_Arg_t a) {
  (void)token;
  short_seen += a;
}

static void on_medium(gex_Token_t token, void *buf, size_t nbytes) {
  (void)token;
  CHECK_EQ(nbytes, 100);
  CHECK_BYTES(buf, nbytes, 7);
  medium_seen++;
}

static void check_client(int *argc, char ***argv) {
  CHECK(job.client != GEX_CLIENT_INVALID && job.ep != GEX_EP_INVALID && job.tm != GEX_TM_INVALID);
  CHECK_STR(gex_Client_QueryName(job.client), "CONFORM");
  CHECK_EQ(gex_Client_QueryFlags(job.client), 0);
  CHECK_PTR(gex_EP_QueryClient(job.ep), job.client);
  CHECK_EQ(gex_EP_QueryFlags(job.ep), 0);
  CHECK_EQ(gex_EP_QueryIndex(job.ep), 0);
  CHECK_PTR(gex_EP_QuerySegment(job.ep), GEX_SEGMENT_INVALID);
  CHECK_PTR(gex_TM_QueryClient(job.tm), job.client);
  CHECK_PTR(gex_TM_QueryEP(job.tm), job.ep);
  CHECK_EQ(gex_TM_QueryFlags(job.tm), 0);
  gex_Client_t client = GEX_CLIENT_INVALID;
  gex_EP_t ep = GEX_EP_INVALID;
  gex_TM_t tm = GEX_TM_INVALID;
  CHECK_EQ(gex_Client_Init(&client, &ep, &tm, "SECOND", argc, argv, 0), GASNET_ERR_NOT_INIT);
  CHECK_STR(gex_Client_QueryName(job.client), "CONFORM");
}

static void check_cdata(void) {
  static int a, b, c;
  CHECK_PTR(gex_Client_QueryCData(job.client), NULL);
  CHECK_PTR(gex_EP_QueryCData(job.ep), NULL);
  CHECK_PTR(gex_TM_QueryCData(job.tm), NULL);
  gex_Client_SetCData(job.client, &a);
  gex_EP_SetCData(job.ep, &b);
  gex_TM_SetCData(job.tm, &c);
  CHECK_PTR(gex_Client_QueryCData(job.client), &a);
  CHECK_PTR(gex_EP_QueryCData(job.ep), &b);
  CHECK_PTR(gex_TM_QueryCData(job.tm), &c);
  gex_EP_SetCData(job.ep, NULL);
  CHECK_PTR(gex_EP_QueryCData(job.ep), NULL);
  CHECK_PTR(gex_Client_QueryCData(job.client), &a);
}

static void check_team(void) {
  CHECK_EQ(gex_System_QueryJobRank(), job.rank);
  CHECK_EQ(gex_System_QueryJobSize(), job.size);
  for (gex_Rank_t r = 0; r < job.size; r++) {
    CHECK_EQ(gex_TM_TranslateRankToJobrank(job.tm, r), r);
    CHECK_EQ(gex_TM_TranslateJobrankToRank(job.tm, r), r);
    const gex_EP_Location_t at = gex_TM_TranslateRankToEP(job.tm, r, 0);
    CHECK_EQ(at.gex_rank, r);
    CHECK_EQ(at.gex_ep_index, 0);
  }
  const gex_TM_t pair = gex_TM_Pair(job.ep, 0);
  CHECK(pair != GEX_TM_INVALID);
  CHECK(pair != job.tm);
  CHECK_PTR(gex_TM_Pair(job.ep, 0), pair);
}

static void check_set(gex_RankInfo_t *info, gex_Rank_t count, gex_Rank_t mine) {
  REQUIRE(info);
  REQUIRE(count >= 1 && count <= job.size && mine < count);
  CHECK_EQ(info[mine].gex_jobrank, job.rank);
  for (gex_Rank_t i = 0; i < count; i++) {
    CHECK_CMP(info[i].gex_jobrank, <, job.size);
    if (i) CHECK_CMP(info[i - 1].gex_jobrank, <, info[i].gex_jobrank);
  }
}

static void check_placement(void) {
  gex_RankInfo_t *info = NULL, *host = NULL, *again = NULL;
  gex_Rank_t count = 0, mine = GEX_RANK_INVALID, hosts = 0, host_mine = GEX_RANK_INVALID;
  gex_System_QueryNbrhdInfo(&info, &count, &mine);
  check_set(info, count, mine);
  gex_System_QueryHostInfo(&host, &hosts, &host_mine);
  check_set(host, hosts, host_mine);
  CHECK_CMP(count, <=, hosts);
  gex_System_QueryNbrhdInfo(&again, NULL, NULL);
  CHECK_PTR(again, info);
  gex_System_QueryNbrhdInfo(NULL, NULL, NULL);
  gex_System_QueryHostInfo(NULL, NULL, NULL);
  gex_Rank_t ns = 0, nr = 9999, hs = 0, hr = 9999;
  gex_System_QueryMyPosition(&ns, &nr, &hs, &hr);
  CHECK(ns >= 1 && ns <= job.size && nr < ns);
  CHECK(hs >= 1 && hs <= ns && hr < hs);
  gex_System_QueryMyPosition(NULL, NULL, NULL, NULL);
}

static void check_system(void) {
  CHECK_EQ(gex_System_QueryMaxThreads(), 1); /* SEQ */
  CHECK_EQ(!gex_System_QueryHiddenAMConcurrencyLevel(), !GASNET_HIDDEN_AM_CONCURRENCY_LEVEL);
  CHECK_EQ(gex_System_GetVerboseErrors(), 1);
  gex_System_SetVerboseErrors(1);
  CHECK_EQ(gex_System_GetVerboseErrors(), 1);
  gex_System_SetVerboseErrors(0);
  CHECK_EQ(gex_System_GetVerboseErrors(), 0);
  unsigned count = 77;
  const gex_ProgressThreadInfo_t *info = NULL;
  CHECK_EQ(gex_System_QueryProgressThreads(job.client, &count, &info, 0), GASNET_ERR_RESOURCE);
  CHECK_EQ(gex_System_QueryProgressThreads(GEX_CLIENT_INVALID, &count, &info, 0),
           GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_System_QueryProgressThreads(job.client, NULL, &info, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_System_QueryProgressThreads(job.client, &count, NULL, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_System_QueryProgressThreads(job.client, &count, &info, 1), GASNET_ERR_BAD_ARG);
}

static void check_errors(void) {
  check_error_names();
  CHECK_STR(gasnet_ErrorName(-5), "*unknown*");
  CHECK(gasnet_ErrorDesc(GASNET_ERR_BAD_ARG) && *gasnet_ErrorDesc(GASNET_ERR_BAD_ARG));
  CHECK(gasnet_ErrorDesc(123456) != NULL);
  CHECK_STR(GASNET_CONFIG_STRING, GASNET_CONFIG_STRING);
  CHECK_EQ(GEX_SPEC_VERSION_MAJOR * 100 + GEX_SPEC_VERSION_MINOR, 19);
  CHECK_EQ(GASNET_RELEASE_VERSION_MAJOR, 2025);
  CHECK(GEX_RANK_INVALID > (gex_Rank_t)GASNET_MAXNODES);
}

/* Short and medium messages and barriers need no segment. */
static void check_before_attach(gex_AM_Index_t shorts, gex_AM_Index_t mediums) {
  char buf[100];
  pattern_fill(buf, sizeof buf, 7);
  for (gex_Rank_t r = 0; r < job.size; r++) {
    CHECK_EQ(gex_AM_RequestShort1(job.tm, r, shorts, 0, 3), 0);
    CHECK_EQ(gex_AM_RequestMedium0(job.tm, r, mediums, buf, sizeof buf, GEX_EVENT_NOW, 0), 0);
  }
  GASNET_BLOCKUNTIL(short_seen == 3 * (int)job.size && medium_seen == (int)job.size);
  job_barrier();
  CHECK_EQ(short_seen, 3 * job.size);
  CHECK_EQ(medium_seen, job.size);
  void *owner = &owner;
  uintptr_t bytes = 5;
  for (gex_Rank_t r = 0; r < job.size; r++) {
    CHECK(gex_Segment_QueryBound(job.tm, r, &owner, NULL, &bytes) != 0);
    CHECK_PTR(owner, &owner);
    CHECK_EQ(bytes, 5);
    uintptr_t none = 5;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(job.tm, r, NULL, NULL, &none, 0));
    CHECK_EQ(none, 0);
  }
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {
      {0, (gex_AM_Fn_t)on_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "s"},
      {0, (gex_AM_Fn_t)on_medium, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "m"}};
  job_start(&argc, &argv, 0, table, 2);
  CHECK(argc >= 1 && argv[0] != NULL && argv[argc] == NULL);
  check_client(&argc, &argv);
  check_cdata();
  check_team();
  check_placement();
  check_system();
  check_errors();
  check_before_attach(table[0].gex_index, table[1].gex_index);
  return job_finish();
}
