/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Further clients of a process: gexx_Client_Join (docs/ARCHITECTURE.md).
 *
 * Owns: the clients that were added; they live as long as the process. Called by client.c and
 * attach.c. Calls: endpoints, teams, created segments, each by its public call. Run-time libraries
 * of several languages meet in one process; each thinks that job, team and handler numbers are its
 * own. So each gets a client with an endpoint of its own, which has handlers, one segment and a
 * team of all ranks in the order of the job. Invariants: a rank has one number in the teams of all
 * clients; either all ranks add a client or none does.
 */
#include "core/client/join.h"

#include "core/check.h"
#include "core/client/attach.h"
#include "core/op/check_context.h"

#include <gasnetex_ext.h>

#include <stdlib.h>
#include <string.h>

/* A rank's vote on going on together. */
struct vote {
  int32_t verdict; /* GASNET_OK, or why this rank cannot */
  uint32_t ep_index;
};

/* Collective. out index: [job size] endpoint indices. Returns GASNET_OK, or the code of the first
 * rank that cannot go on. */
static int agree(const char *call, struct tmb_team *team, struct vote mine, gex_EP_Index_t *index) {
  struct vote all[TMB_BOOT_RANKS_MAX];
  if (team->head.size > tmb_job.size)
    return tmb_refuse(call, GASNET_ERR_BAD_ARG, "argument tm has %u members in a job of %u ranks",
                      team->head.size, tmb_job.size);
  int rc = tmb_team_allgather(team, &mine, sizeof mine, all) ? GASNET_OK : GEXX_ERR_LOST;
  for (uint32_t r = 0; r < team->head.size && rc == GASNET_OK; r++) {
    if (index) index[r] = (gex_EP_Index_t)all[r].ep_index;
    if (all[r].verdict == GASNET_OK) continue;
    rc = mine.verdict != GASNET_OK
             ? mine.verdict
             : tmb_refuse(call, all[r].verdict, "rank %u of the job cannot go on", r);
  }
  return rc;
}

static int check_join(const char *call, const struct gexx_client_args *init) {
  if (init->mode.abi_version != GEXX_ABI_VERSION)
    tmb_fatal_nopos("%s: the caller was compiled with headers of object layout %u, but this "
                    "libtombolo has layout %u; recompile it with the headers of this library",
                    call, init->mode.abi_version, GEXX_ABI_VERSION);
  if (!init->name || !init->client_p || !init->ep_p || !init->tm_p)
    tmb_fatal_nopos("%s: argument %s is NULL", call,
                    !init->name       ? "clientName"
                    : !init->client_p ? "client_p"
                    : !init->ep_p     ? "ep_p"
                                      : "tm_p");
  if (init->flags & GEX_FLAG_USES_GASNET1)
    return tmb_refuse(
        call, GASNET_ERR_NOT_INIT,
        "argument flags has GEX_FLAG_USES_GASNET1, but another client has started the "
        "job, and the calls of GASNet-1 know no client; start the client that uses "
        "them first");
  if (init->mode.thread_mode == 3 && !tmb_job.threads)
    return tmb_refuse(call, GASNET_ERR_NOT_INIT,
                      "client \"%s\" was compiled with GASNET_PAR, but the client \"%s\" that has "
                      "started the job was not; start the one with GASNET_PAR first",
                      init->name, tmb_job.client.name);
  return GASNET_OK;
}

static int make_endpoint(const struct gexx_client_args *init, struct gexx_client_s **client_p,
                         gex_EP_t *ep) {
  struct gexx_client_s *client = malloc(sizeof *client);
  char *name = strdup(init->name);
  const int rc = client && name ? GASNET_OK : GASNET_ERR_RESOURCE;
  if (rc == GASNET_OK) {
    *client = (struct gexx_client_s){TMB_MAGIC_CLIENT, init->flags, NULL, name};
    *client_p = client;
    if (gex_EP_Create(ep, client, GEX_EP_CAPABILITY_ALL, 0) == GASNET_OK) return GASNET_OK;
  }
  free(client);
  free(name);
  return GASNET_ERR_RESOURCE;
}

static gex_TM_t make_team(const gex_EP_Index_t *index) {
  gex_EP_Location_t members[TMB_BOOT_RANKS_MAX];
  gex_TM_t tm = GEX_TM_INVALID;
  for (uint32_t r = 0; r < tmb_job.size; r++) members[r] = (gex_EP_Location_t){r, index[r]};
  (void)gex_TM_Create(&tm, 1, &tmb_job.tm, members, tmb_job.size, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  return tm;
}

int tmb_client_add(const char *call, const struct gexx_client_args *init) {
  struct gexx_client_s *client = NULL;
  gex_EP_t ep = GEX_EP_INVALID;
  TMB_CHECK_CONTEXT(call);
  tmb_store_rel(&tmb_job.clients_added, tmb_load_rlx(&tmb_job.clients_added) + 1);
  gex_EP_Index_t index[TMB_BOOT_RANKS_MAX];
  struct vote mine = {check_join(call, init), 0};
  if (mine.verdict == GASNET_OK) mine.verdict = make_endpoint(init, &client, &ep);
  if (ep) mine.ep_index = ep->index;
  const int rc = agree(call, &tmb_job.team, mine, index);
  const gex_TM_t tm = rc == GASNET_OK ? make_team(index) : GEX_TM_INVALID;
  if (rc != GASNET_OK) return rc;
  if (!tm) return GEXX_ERR_LOST;
  gex_Coll_BarrierBlocking(tm, 0); /* no rank returns before all can receive messages */
  *init->client_p = client;
  *init->ep_p = ep;
  *init->tm_p = tm;
  return GASNET_OK;
}

unsigned gexx_Client_Count(void) {
  if (tmb_job.state != TMB_JOB_READY) return 0;
  return 1 + tmb_load_acq(&tmb_job.clients_added);
}

bool tmb_client_is_added(gex_TM_t tm) {
  return tm->magic == GEXX_MAGIC_TM && tm->client != &tmb_job.client;
}

int tmb_client_attach(gex_Segment_t *segment_p, gex_TM_t tm, uintptr_t size) {
  const char *call = "gex_Segment_Attach";
  gex_EP_t ep = tm->ep;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  struct vote mine = {GASNET_OK, 0};
  if (ep->segment)
    mine.verdict = tmb_refuse(call, GASNET_ERR_BAD_ARG, "client \"%s\" has attached a segment",
                              tm->client->name);
  else
    mine.verdict = tmb_segment_size_verdict(call, size);
  if (mine.verdict == GASNET_OK)
    mine.verdict = gex_Segment_Create(&segment, tm->client, NULL, size, GEX_MK_HOST, 0);
  int rc = agree(call, tmb_team_of(tm), mine, NULL);
  if (rc == GASNET_OK) rc = gex_EP_BindSegment(ep, segment, 0);
  if (rc == GASNET_OK) rc = gex_EP_PublishBoundSegment(tm, &ep, 1, 0);
  if (rc == GASNET_OK) *segment_p = segment;
  return rc;
}
