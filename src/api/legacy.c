/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GASNet-1 job control, active messages and no-interrupt sections (API 08.2, 08.4, 08.5).
 *
 * Owns nothing: legacy_state.c holds the team, layers.c sets it at initialisation. Called by the
 * macros of gasnet.h. Calls: the EX entry points of core, and its checks, so that messages to the
 * user name the GASNet-1 function. Invariants: gexx_legacy_tm is non-NULL exactly while the calls
 * of this layer are legal: from gex_Client_Init with GEX_FLAG_USES_GASNET1 on, or from
 * gasnet_attach on after gasnet_init; handlers of gasnet_attach have their bit in
 * tmb_job.ep.legacy, which exempts them from checks of category and argument count.
 */
#include "boot/boot.h"
#include "core/am/am.h"
#include "core/check.h"
#include "core/client/attach.h"
#include "core/job.h"
#include "core/op/check_context.h"
#include "core/op/thread.h"
#include "core/segment/segment.h"

#include <gasnet.h>

static bool legacy_enabled(void) {
  return tmb_job_ready() && (tmb_job.client.flags & GEX_FLAG_USES_GASNET1);
}

/* Why the layer is not usable; does not return. */
static _Noreturn void not_usable(const char *call) {
  if (!tmb_job_ready())
    tmb_fatal_nopos("%s: the library is not initialised; call gasnet_init and gasnet_attach first",
                    call);
  if (!legacy_enabled())
    tmb_fatal_nopos("%s: the GASNet-1 layer is off, because the client was initialised without "
                    "GEX_FLAG_USES_GASNET1; give that flag to gex_Client_Init",
                    call);
  tmb_fatal_nopos("%s: called between gasnet_init and gasnet_attach; attach first", call);
}

gex_TM_t gexx_legacy_team(const char *call) {
  if (!gexx_legacy_tm) not_usable(call);
  tmb_check_context_at(call);
  return gexx_legacy_tm;
}

/* ---- job control */

int gexx_legacy_init(const struct gexx_client_mode *mode, int *argc, char ***argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  const struct gexx_client_args init = {.mode = *mode,
                                        .client_p = &client,
                                        .ep_p = &ep,
                                        .tm_p = &tm,
                                        .name = "LEGACY",
                                        .argc = argc,
                                        .argv = argv,
                                        .flags = GEX_FLAG_USES_GASNET1};
  const int rc = gexx_client_init(&init);
  if (rc == GASNET_OK) gexx_legacy_tm = NULL; /* until gasnet_attach */
  return rc;
}

/* Whether the table can be registered whole: indices in range, free and different, enough free ones
 * for the rest. */
static int table_verdict(const gasnet_handlerentry_t *table, int numentries) {
  const char *call = "gasnet_attach";
  const size_t count = (size_t)numentries;
  bool taken[256];
  size_t free_count = 0;
  if (numentries < 0 || (numentries && !table))
    return tmb_refuse(call, GASNET_ERR_BAD_ARG, "argument table is %p with numentries %d",
                      (const void *)table, numentries);
  for (size_t i = TMB_HANDLER_FIRST; i < 256; i++) {
    taken[i] = tmb_job.ep.handler[i].gex_fnptr != NULL;
    free_count += !taken[i];
  }
  if (count > free_count)
    return tmb_refuse(call, GASNET_ERR_RESOURCE,
                      "argument numentries is %d, but only %zu indices are free", numentries,
                      free_count);
  for (size_t i = 0; i < count; i++) {
    const gasnet_handler_t index = table[i].index;
    if (!index) continue;
    if (index < TMB_HANDLER_FIRST || taken[index])
      return tmb_refuse(call, GASNET_ERR_RESOURCE,
                        "table[%zu].index is %u; 0, or a free one of %d..255 is needed", i, index,
                        TMB_HANDLER_FIRST);
    taken[index] = true;
  }
  return GASNET_OK;
}

/* Registers a table that has passed table_verdict; entries take any category and count. */
static void register_legacy(gasnet_handlerentry_t *table, size_t count) {
  gex_AM_Entry_t entry[256];
  for (size_t i = 0; i < count; i++)
    entry[i] = (gex_AM_Entry_t){
        table[i].index, table[i].fnptr,      GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP, 0,
        NULL,           "from gasnet_attach"};
  if (gex_EP_RegisterHandlers(&tmb_job.ep, entry, count) != GASNET_OK)
    tmb_bug("a handler table of %zu entries was checked and then refused", count);
  for (size_t i = 0; i < count; i++) {
    table[i].index = entry[i].gex_index;
    tmb_job.ep.legacy[entry[i].gex_index / 64] |= UINT64_C(1) << (entry[i].gex_index % 64);
  }
}

int gasnet_attach(gasnet_handlerentry_t *table, int numentries, uintptr_t segsize,
                  uintptr_t minheapoffset) {
  (void)minheapoffset;
  const char *call = "gasnet_attach";
  if (!tmb_job_ready()) return tmb_refuse_early(call);
  if (!legacy_enabled() || tmb_job.attached)
    return tmb_refuse(call, GASNET_ERR_NOT_INIT, "%s",
                      tmb_job.attached ? "a segment is attached already"
                                       : "gex_Client_Init was not given GEX_FLAG_USES_GASNET1");
  TMB_CHECK_CONTEXT(call);
  if (!segsize) segsize = GASNET_PAGESIZE;
  int rc = tmb_segment_verdict(call, segsize);
  if (rc == GASNET_OK) rc = table_verdict(table, numentries);
  rc = tmb_segment_attach(call, rc, segsize);
  if (rc != GASNET_OK) return rc;
  register_legacy(table, (size_t)numentries);
  gexx_legacy_tm = &tmb_job.tm;
  tmb_boot_barrier(&tmb_job.boot); /* nobody sends before all have registered; a bootstrap barrier,
                                      which runs no handler */
  return GASNET_OK;
}

void gasnet_QueryGexObjects(gex_Client_t *client_p, gex_EP_t *endpoint_p, gex_TM_t *tm_p,
                            gex_Segment_t *segment_p) {
  if (!gexx_legacy_tm) not_usable("gasnet_QueryGexObjects");
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_check_ready_at("gasnet_QueryGexObjects");
  if (client_p) *client_p = &tmb_job.client;
  if (endpoint_p) *endpoint_p = &tmb_job.ep;
  if (tm_p) *tm_p = gexx_legacy_tm;
  if (segment_p) *segment_p = tmb_job.ep.segment;
}

/* ---- active messages */

int gasnet_AMGetMsgSource(gasnet_token_t token, gasnet_node_t *srcindex) {
  TMB_CHECK(token && token->magic == TMB_MAGIC_TOKEN,
            "gasnet_AMGetMsgSource: argument token (%p) belongs to no running handler; a token is "
            "invalid once its handler has returned",
            (void *)token);
  if (!srcindex)
    return tmb_refuse("gasnet_AMGetMsgSource", GASNET_ERR_BAD_ARG, "argument srcindex is NULL");
  *srcindex = token->src;
  return GASNET_OK;
}

static const char *call_name(bool is_reply, unsigned category) {
  static const char *const name[2][3] = {
      {"gasnet_AMRequestShort", "gasnet_AMRequestMedium", "gasnet_AMRequestLong"},
      {"gasnet_AMReplyShort", "gasnet_AMReplyMedium", "gasnet_AMReplyLong"}};
  return name[is_reply][category];
}

/* Debug clients: check the arguments here, so that messages name the GASNet-1 function; core's
 * checks of these arguments then pass. */
static void check_am(const struct gexx_g1_am *am, const struct gexx_am_msg *m, bool is_reply) {
  const char *call = call_name(is_reply, m->category);
  if (is_reply) {
    tmb_am_check_token(call, am->token);
  } else {
    tmb_check_context_at(call);
    if (am->dest >= tmb_job.size)
      tmb_fatal_nopos("%s: argument dest is %u, but the job has %u ranks (0 to %u)", call, am->dest,
                      tmb_job.size, tmb_job.size - 1);
  }
  tmb_am_check_msg(&(struct tmb_am_check){call, &tmb_job.tm, is_reply ? am->token->src : am->dest,
                                          is_reply, true},
                   m);
}

int gexx_legacy_am(const struct gexx_g1_am *am, unsigned n, const gex_AM_Arg_t *v) {
  const bool is_reply = !(am->kind & 4);
  const unsigned category = am->kind & 3;
  if (TMB_UNLIKELY(!gexx_legacy_tm)) not_usable(call_name(is_reply, category));
  if (TMB_UNLIKELY((unsigned)v[0] != n || n > TMB_AM_ARGS_MAX))
    tmb_fatal_nopos("%s: argument numargs is %d, but %u arguments follow it (at most %d)",
                    call_name(is_reply, category), v[0], n, TMB_AM_ARGS_MAX);
  const struct gexx_am_msg m = {.src = am->src,
                                .nbytes = am->nbytes,
                                .dest = am->to,
                                .lc_opt = category == TMB_AM_SHORT ? NULL : GEX_EVENT_NOW,
                                .args = v + 1,
                                .handler = am->handler,
                                .nargs = (uint8_t)n,
                                .category = (uint8_t)category};
  if (TMB_UNLIKELY(tmb_job.debug)) check_am(am, &m, is_reply);
  if (is_reply)
    (void)gexx_am_reply(am->token, &m);
  else
    (void)gexx_am_request(gexx_legacy_tm, am->dest, &m);
  return GASNET_OK;
}

/* ---- no-interrupt sections; debug clients only, the others' calls are empty */

/* Whether hold and resume mean nothing here. */
static bool ignored(const struct tmb_thread *t) {
  return (t->context & (TMB_IN_REQUEST | TMB_IN_REPLY)) || t->hsl;
}

void gexx_hold_interrupts(void) {
  tmb_check_ready_at("gasnet_hold_interrupts");
  struct tmb_thread *t = tmb_thread();
  if (ignored(t)) return;
  if (t->context & TMB_NO_INTERRUPT)
    tmb_advise(TMB_ADVICE_INTERRUPTS,
               "gasnet_hold_interrupts: called twice without gasnet_resume_interrupts; "
               "no-interrupt sections do not nest");
  t->context |= TMB_NO_INTERRUPT;
}

void gexx_resume_interrupts(void) {
  tmb_check_ready_at("gasnet_resume_interrupts");
  struct tmb_thread *t = tmb_thread();
  if (ignored(t)) return;
  if (!(t->context & TMB_NO_INTERRUPT))
    tmb_advise(TMB_ADVICE_INTERRUPTS,
               "gasnet_resume_interrupts: called without gasnet_hold_interrupts before it on "
               "this thread");
  t->context &= ~(uint32_t)TMB_NO_INTERRUPT;
}
