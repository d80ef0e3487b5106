/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints: making further ones, binding segments (API 01.5).
 *
 * Owns: tmb_job.eps. Called by clients and client.c. Calls: segment_table.h. An endpoint carries
 * its handler table and one TM-pair object per remote endpoint index; all pairs of one remote index
 * share a delta table. Invariants: indices count up in creation order and are never reused; an
 * endpoint lives as long as the process; a bound segment stays bound.
 */
#include "core/team/endpoint.h"

#include "core/check.h"
#include "core/op/check_context.h"
#include "core/segment/mk.h"
#include "core/segment/segment_table.h"

#include <stdlib.h>

#define HINTS GEX_FLAG_HINT_ACCEL_ALL

void tmb_ep_init(struct gexx_ep_s *ep, gex_EP_Index_t index, gex_Client_t client) {
  ep->magic = TMB_MAGIC_EP;
  ep->index = index;
  ep->client = client;
  for (gex_EP_Index_t i = 0; i < GASNET_MAXEPS; i++)
    ep->pair[i] = (struct gexx_tm_s){.rank = tmb_job.rank,
                                     .size = tmb_job.size,
                                     .delta = tmb_segtab_shown(tmb_segtab_delta(i)),
                                     .ep = ep,
                                     .client = client,
                                     .magic = GEXX_MAGIC_PAIR,
                                     .reserved = index || i};
  tmb_job.eps[index] = ep;
}

static void check_create(const gex_EP_t *ep_p, gex_Client_t client, gex_Flags_t flags) {
  const char *call = "gex_EP_Create";
  tmb_check_context_mild(call);
  if (!ep_p) tmb_fatal_nopos("%s: argument ep_p is NULL", call);
  tmb_check_client(call, client);
  tmb_check_flags(call, flags, HINTS);
}

int gex_EP_Create(gex_EP_t *ep_p, gex_Client_t client, gex_EP_Capabilities_t capabilities,
                  gex_Flags_t flags) {
  const char *call = "gex_EP_Create";
  if (TMB_UNLIKELY(tmb_job.debug)) check_create(ep_p, client, flags);
  if (!ep_p || !client || (flags & ~HINTS))
    return tmb_refuse(call, GASNET_ERR_BAD_ARG,
                      "argument ep_p is %p, client is %p, flags is 0x%x of which 0x%x are known",
                      (void *)ep_p, (void *)client, flags, HINTS);
  if (!capabilities || (capabilities & ~GEX_EP_CAPABILITY_ALL))
    return tmb_refuse(call, GASNET_ERR_BAD_ARG,
                      "argument capabilities is 0x%x; it takes some of 0x%x", capabilities,
                      GEX_EP_CAPABILITY_ALL);
  const uint32_t index = tmb_fetch_add_rlx(&tmb_job.eps_made, 1) + 1;
  if (index >= GASNET_MAXEPS) {
    tmb_store_rlx(&tmb_job.eps_made, GASNET_MAXEPS - 1);
    return tmb_refuse(call, GASNET_ERR_RESOURCE, "all %d endpoints of this process are in use",
                      GASNET_MAXEPS);
  }
  struct gexx_ep_s *ep = calloc(1, sizeof *ep);
  if (!ep) return tmb_refuse(call, GASNET_ERR_RESOURCE, "out of memory for endpoint %u", index);
  ep->capabilities = capabilities;
  ep->flags = flags;
  tmb_ep_init(ep, (gex_EP_Index_t)index, client);
  *ep_p = ep;
  return GASNET_OK;
}

int gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags) {
  const char *call = "gex_EP_BindSegment";
  TMB_CHECK_MILD(call);
  if (!ep || !segment || flags)
    return tmb_refuse(
        call, GASNET_ERR_BAD_ARG,
        "argument ep is %p, segment is %p, flags is 0x%x; neither may be invalid, flags must be 0",
        (void *)ep, (void *)segment, flags);
  if (TMB_UNLIKELY(tmb_job.debug)) {
    tmb_check_ep(call, ep);
    tmb_check_segment(call, segment);
  }
  if (ep->segment)
    return tmb_refuse(call, GASNET_ERR_BAD_ARG, "a segment is already bound to endpoint %u",
                      ep->index);
  const bool device = tmb_mk_device(segment) != NULL;
  if (device && ep->index == 0)
    return tmb_refuse(call, GASNET_ERR_BAD_ARG, "device memory cannot be bound to endpoint 0");
  ep->segment = segment;
  for (gex_EP_Index_t i = 0; device && i < GASNET_MAXEPS; i++) ep->pair[i].delta = tmb_job.unmapped;
  const struct tmb_peer_segment s = tmb_mk_segtab_entry(segment);
  tmb_segtab_set(tmb_job.rank, ep->index, &s);
  tmb_segtab_refresh();
  tmb_team_refresh();
  return GASNET_OK;
}
