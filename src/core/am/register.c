/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registration of active-message handlers on an endpoint.
 *
 * Owns: the handler table of the endpoint. Called by clients; serialised by them. Calls: checks.
 * Invariants: fixed indices are taken first, then zero ones get the highest free index in table
 * order; an entry is a shallow copy of the client's; on a refusal the entries before it may stay
 * registered (API 01.10 allows it).
 */
#include "core/check.h"
#include "core/op/check_context.h"

static void check_entry(const gex_AM_Entry_t *e, size_t i) {
  const char *call = "gex_EP_RegisterHandlers";
  const gex_Flags_t kind = e->gex_flags & (GEX_FLAG_AM_SHORT | GEX_FLAG_AM_MEDLONG);
  if (!kind || (kind & GEX_FLAG_AM_SHORT && kind != GEX_FLAG_AM_SHORT))
    tmb_advise(TMB_ADVICE_ENTRY,
               "%s: table[%zu].gex_flags is 0x%x; it needs one of GEX_FLAG_AM_SHORT, MEDIUM, LONG, "
               "MEDLONG",
               call, i, e->gex_flags);
  if (!(e->gex_flags & GEX_FLAG_AM_REQREP))
    tmb_advise(
        TMB_ADVICE_ENTRY,
        "%s: table[%zu].gex_flags is 0x%x; it needs one of GEX_FLAG_AM_REQUEST, REPLY, REQREP",
        call, i, e->gex_flags);
  const gex_Flags_t known = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQREP;
  if (e->gex_flags & ~known)
    tmb_advise(TMB_ADVICE_ENTRY, "%s: table[%zu].gex_flags is 0x%x; only 0x%x are known", call, i,
               e->gex_flags, known);
  if (e->gex_nargs > TMB_AM_ARGS_MAX)
    tmb_advise(TMB_ADVICE_ENTRY, "%s: table[%zu].gex_nargs is %u, at most %d are possible", call, i,
               e->gex_nargs, TMB_AM_ARGS_MAX);
  if (!e->gex_fnptr) tmb_advise(TMB_ADVICE_ENTRY, "%s: table[%zu].gex_fnptr is NULL", call, i);
}

/* In place of a function that is NULL, as some tables have where a feature is not built. */
static void no_function(gex_Token_t token) {
  gex_Token_Info_t info;
  (void)gex_Token_Info(token, &info, GEX_TI_ENTRY);
  tmb_fatal_nopos("a message runs handler %u, which was registered with gex_fnptr NULL",
                  info.gex_entry->gex_index);
}

static void install(gex_EP_t ep, const gex_AM_Entry_t *e, unsigned index) {
  ep->handler[index] = *e;
  if (!e->gex_fnptr) ep->handler[index].gex_fnptr = (gex_AM_Fn_t)no_function;
  ep->handler[index].gex_index = (gex_AM_Index_t)index;
}

int gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t *table, size_t numentries) {
  const char *call = "gex_EP_RegisterHandlers";
  TMB_CHECK_MILD(call);
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_check_ep(call, ep);
  if (numentries == 0) return GASNET_OK;
  if (!table)
    return tmb_refuse(call, GASNET_ERR_BAD_ARG, "argument table is NULL with numentries %zu",
                      numentries);
  if (numentries > 256 - TMB_HANDLER_FIRST)
    return tmb_refuse(call, GASNET_ERR_RESOURCE,
                      "argument numentries is %zu, at most %d are possible", numentries,
                      256 - TMB_HANDLER_FIRST);
  for (size_t i = 0; i < numentries; i++) {
    const unsigned index = table[i].gex_index;
    if (tmb_job.debug) check_entry(&table[i], i);
    if (!index) continue;
    if (index < TMB_HANDLER_FIRST)
      return tmb_refuse(call, GASNET_ERR_BAD_ARG,
                        "table[%zu].gex_index is %u; 0 or %d..255 are allowed", i, index,
                        TMB_HANDLER_FIRST);
    if (ep->handler[index].gex_fnptr)
      return tmb_refuse(call, GASNET_ERR_BAD_ARG, "table[%zu].gex_index is %u, which is taken", i,
                        index);
    install(ep, &table[i], index);
  }
  unsigned next = 255;
  for (size_t i = 0; i < numentries; i++) {
    if (table[i].gex_index) continue;
    while (next >= TMB_HANDLER_FIRST && ep->handler[next].gex_fnptr) next--;
    if (next < TMB_HANDLER_FIRST)
      return tmb_refuse(call, GASNET_ERR_RESOURCE, "no index is free for table[%zu]", i);
    install(ep, &table[i], next);
    table[i].gex_index = (gex_AM_Index_t)next;
  }
  return GASNET_OK;
}
