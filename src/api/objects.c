/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries and client data of the primordial objects, job queries, polling and waiting: thin entry
 * points over core.
 *
 * Owns nothing. Called by clients, mostly in any context. Calls: core.
 * Invariants: queries never communicate or poll; all processes of a job are on one host and share
 * memory, so the neighbourhood and the host are the whole job.
 */
#include "base/config.h"
#include "core/check.h"
#include "core/client/exit.h"
#include "core/job.h"
#include "core/op/check_context.h"
#include "core/op/thread.h"
#include "core/progress/progress.h"
#include "core/progress/wait.h"

#define DBG(stmt)                        \
 do {                                    \
  if (TMB_UNLIKELY(tmb_job.debug)) stmt; \
 } while (0)

/* ---- job */

void gasnet_exit(int exitcode) {
  tmb_exit_in_order(exitcode);
}

gex_Rank_t gex_System_QueryJobRank(void) {
  DBG(tmb_check_ready_at("gex_System_QueryJobRank"));
  return tmb_job.rank;
}

gex_Rank_t gex_System_QueryJobSize(void) {
  DBG(tmb_check_ready_at("gex_System_QueryJobSize"));
  return tmb_job.size;
}

_Static_assert(sizeof(gex_RankInfo_t) == sizeof(uint32_t), "a table of jobranks is one of infos");

void gex_System_QueryNbrhdInfo(gex_RankInfo_t **info_p, gex_Rank_t *info_count_p,
                               gex_Rank_t *my_info_index_p) {
  DBG(tmb_check_ready_at("gex_System_QueryNbrhdInfo"));
  const struct tmb_nbrhds *n = &tmb_job.nbrhd;
  if (info_p) *info_p = (gex_RankInfo_t *)(const void *)n->members;
  if (info_count_p) *info_count_p = n->size;
  if (my_info_index_p) *my_info_index_p = tmb_job.boot.places.near_index % n->most;
}

void gex_System_QueryHostInfo(gex_RankInfo_t **info_p, gex_Rank_t *info_count_p,
                              gex_Rank_t *my_info_index_p) {
  DBG(tmb_check_ready_at("gex_System_QueryHostInfo"));
  const struct tmb_places *places = &tmb_job.boot.places;
  if (info_p) *info_p = (gex_RankInfo_t *)(void *)places->near_rank;
  if (info_count_p) *info_count_p = places->near_count;
  if (my_info_index_p) *my_info_index_p = places->near_index;
}

void gex_System_QueryMyPosition(gex_Rank_t *nbrhd_set_size_p, gex_Rank_t *nbrhd_set_rank_p,
                                gex_Rank_t *host_set_size_p, gex_Rank_t *host_set_rank_p) {
  DBG(tmb_check_ready_at("gex_System_QueryMyPosition"));
  if (nbrhd_set_size_p) *nbrhd_set_size_p = tmb_job.nbrhd.count;
  if (nbrhd_set_rank_p) *nbrhd_set_rank_p = tmb_nbrhd_of(tmb_job.rank);
  if (host_set_size_p) *host_set_size_p = tmb_job.boot.places.hosts;
  if (host_set_rank_p) *host_set_rank_p = tmb_job.boot.places.host;
}

uint64_t gex_System_QueryMaxThreads(void) {
  if (tmb_job_ready()) return tmb_job.threads_max;
  return (uint64_t)tmb_cfg_int(TMB_CFG_MAX_THREADS);
}

int gex_System_QueryHiddenAMConcurrencyLevel(void) {
  return GASNET_HIDDEN_AM_CONCURRENCY_LEVEL;
}

int gex_System_GetVerboseErrors(void) {
  return tmb_job.verbose_errors;
}

void gex_System_SetVerboseErrors(int enable) {
  if (enable != 0 && enable != 1)
    tmb_advise(TMB_ADVICE_FLAGS,
               "gex_System_SetVerboseErrors: argument enable is %d; 0 and 1 are allowed", enable);
  tmb_job.verbose_errors = enable != 0;
}

int gex_System_QueryProgressThreads(gex_Client_t client, unsigned int *count_p,
                                    const gex_ProgressThreadInfo_t **info_p, gex_Flags_t flags) {
  static const gex_ProgressThreadInfo_t none;
  const char *call = "gex_System_QueryProgressThreads";
  TMB_CHECK_MILD(call);
  if (!client || !count_p || !info_p || flags)
    return tmb_refuse(
        call, GASNET_ERR_BAD_ARG,
        "argument client is %p, count_p is %p, info_p is %p, flags is 0x%x; no pointer "
        "may be NULL, flags must be 0",
        (void *)client, (void *)count_p, (void *)info_p, flags);
  DBG(tmb_check_client(call, client));
  if (!(client->flags & GEX_FLAG_DEFER_THREADS))
    return tmb_refuse(call, GASNET_ERR_RESOURCE,
                      "gex_Client_Init was not given GEX_FLAG_DEFER_THREADS");
  if (tmb_job.threads_queried)
    tmb_advise(TMB_ADVICE_AGAIN, "%s: second call; it is legal exactly once", call);
  tmb_job.threads_queried = true;
  *count_p = 0;
  *info_p = &none;
  return GASNET_OK;
}

/* ---- client */

gex_Flags_t gex_Client_QueryFlags(gex_Client_t client) {
  DBG(tmb_check_client("gex_Client_QueryFlags", client));
  return client->flags;
}

const char *gex_Client_QueryName(gex_Client_t client) {
  DBG(tmb_check_client("gex_Client_QueryName", client));
  return client->name;
}

/* ---- client data */

#define CDATA(T, handle_t, check)                            \
 void gex_##T##_SetCData(handle_t object, const void *val) { \
  DBG(check("gex_" #T "_SetCData", object));                 \
  object->cdata = (void *)(uintptr_t)val;                    \
 }                                                           \
 void *gex_##T##_QueryCData(handle_t object) {               \
  DBG(check("gex_" #T "_QueryCData", object));               \
  return object->cdata;                                      \
 }

static void check_team(const char *call, gex_TM_t tm) {
  tmb_check_tm(call, tm, false);
}

CDATA(Client, gex_Client_t, tmb_check_client)
CDATA(Segment, gex_Segment_t, tmb_check_segment)
CDATA(EP, gex_EP_t, tmb_check_ep)
CDATA(TM, gex_TM_t, check_team)

/* ---- segment, endpoint */

gex_Client_t gex_Segment_QueryClient(gex_Segment_t segment) {
  DBG(tmb_check_segment("gex_Segment_QueryClient", segment));
  return segment->client;
}

gex_Flags_t gex_Segment_QueryFlags(gex_Segment_t segment) {
  DBG(tmb_check_segment("gex_Segment_QueryFlags", segment));
  (void)segment;
  return 0;
}

void *gex_Segment_QueryAddr(gex_Segment_t segment) {
  DBG(tmb_check_segment("gex_Segment_QueryAddr", segment));
  return segment->base;
}

uintptr_t gex_Segment_QuerySize(gex_Segment_t segment) {
  DBG(tmb_check_segment("gex_Segment_QuerySize", segment));
  return segment->size;
}

gex_Client_t gex_EP_QueryClient(gex_EP_t ep) {
  DBG(tmb_check_ep("gex_EP_QueryClient", ep));
  return ep->client;
}

gex_Flags_t gex_EP_QueryFlags(gex_EP_t ep) {
  DBG(tmb_check_ep("gex_EP_QueryFlags", ep));
  return ep->flags;
}

gex_Segment_t gex_EP_QuerySegment(gex_EP_t ep) {
  DBG(tmb_check_ep("gex_EP_QuerySegment", ep));
  return ep->segment;
}

gex_EP_Index_t gex_EP_QueryIndex(gex_EP_t ep) {
  DBG(tmb_check_ep("gex_EP_QueryIndex", ep));
  return ep->index;
}

/* ---- team */

gex_Client_t gex_TM_QueryClient(gex_TM_t tm) {
  DBG(check_team("gex_TM_QueryClient", tm));
  return tm->client;
}

gex_EP_t gex_TM_QueryEP(gex_TM_t tm) {
  DBG(check_team("gex_TM_QueryEP", tm));
  return tm->ep;
}

gex_Flags_t gex_TM_QueryFlags(gex_TM_t tm) {
  DBG(check_team("gex_TM_QueryFlags", tm));
  return tm->flags;
}

gex_Rank_t gex_TM_QueryRank(gex_TM_t tm) {
  DBG(check_team("gex_TM_QueryRank", tm));
  return tm->rank;
}

gex_Rank_t gex_TM_QuerySize(gex_TM_t tm) {
  DBG(check_team("gex_TM_QuerySize", tm));
  return tm->size;
}

/* Debug clients: fatal unless the context is normal, tm a real team and the rank below `limit`. */
static void check_translate(const char *call, gex_TM_t tm, const char *argument, gex_Rank_t rank,
                            gex_Rank_t limit) {
  tmb_check_context_mild(call);
  tmb_check_tm(call, tm, false);
  if (rank >= limit)
    tmb_fatal_nopos("%s: argument %s is %u, but there are %u ranks (0 to %u)", call, argument, rank,
                    limit, limit - 1);
}

gex_Rank_t gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank) {
  DBG(check_translate("gex_TM_TranslateRankToJobrank", tm, "rank", rank, tm ? tm->size : 0));
  return tmb_jobrank(tm, rank);
}

gex_Rank_t gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank) {
  DBG(check_translate("gex_TM_TranslateJobrankToRank", tm, "jobrank", jobrank, tmb_job.size));
  return tmb_rank_of_jobrank(tm, jobrank);
}

gex_EP_Location_t gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags) {
  DBG(check_translate("gex_TM_TranslateRankToEP", tm, "rank", rank, tm ? tm->size : 0));
  DBG(tmb_check_flags("gex_TM_TranslateRankToEP", flags, 0));
  (void)flags;
  return (gex_EP_Location_t){tmb_jobrank(tm, rank), tmb_ep_index(tm, rank)};
}

gex_TM_t gex_TM_Pair(gex_EP_t local_ep, gex_EP_Index_t remote_ep_index) {
  DBG(tmb_check_ep("gex_TM_Pair", local_ep));
  if (TMB_UNLIKELY(remote_ep_index >= GASNET_MAXEPS))
    tmb_fatal_nopos(
        "gex_TM_Pair: argument remote_ep_index is %u; a process has at most %d endpoints",
        remote_ep_index, GASNET_MAXEPS);
  return &local_ep->pair[remote_ep_index];
}

/* ---- polling and waiting */

int gasnet_AMPoll(void) {
  TMB_CHECK_CONTEXT("gasnet_AMPoll");
  tmb_poll();
  return GASNET_OK;
}

int gasnetc_AMPoll(void) {
  return gasnet_AMPoll();
}

int gasnet_set_waitmode(int wait_mode) {
  if (wait_mode < GASNET_WAIT_SPIN || wait_mode > GASNET_WAIT_SPINBLOCK)
    return tmb_refuse("gasnet_set_waitmode", GASNET_ERR_BAD_ARG,
                      "argument wait_mode is %d; GASNET_WAIT_SPIN, BLOCK and SPINBLOCK are allowed",
                      wait_mode);
  tmb_job.wait.mode = (uint32_t)wait_mode;
  return GASNET_OK;
}

void gexx_wait_begin(struct gexx_wait *wait) {
  TMB_CHECK_CONTEXT("GASNET_BLOCKUNTIL");
  tmb_wait_begin_client(wait);
}

void gexx_wait_step(struct gexx_wait *wait) {
  tmb_wait_step_client(wait);
}

gasnet_threadinfo_t gexx_threadinfo(void) {
  return tmb_thread();
}
