/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GASNet-1 memset and non-blocking value get (API 08.6).
 *
 * Owns: nothing; value gets live in the pool of operations. Called by the inlines of gasnet.h.
 * Calls: the EX puts and gets, core's op pool and checks.
 * Invariants: a memset to a mapped peer is complete on return; to others, and while operations are
 * counted or checked, it is puts of a filled block whose local completion is immediate; a value-get
 * handle is an op with the value in `value`, the event of the get in `next` and the byte count in
 * `leaves`, freed by its one synchronisation.
 */
#include "core/check.h"
#include "core/job.h"
#include "core/op/check_context.h"
#include "core/op/op.h"
#include "core/op/thread.h"
#include "core/segment/check_range.h"
#include "core/segment/segment_table.h"

#include <gasnet.h>
#include <gasnetex_ext.h>

#include <string.h>

#define FILL_BYTES 8192

/* Debug clients: fatal unless node and range are valid. in argument: name of the address argument.
 * Returns the team of the GASNet-1 calls. */
static gex_TM_t checked_team(const char *call, const char *argument, gasnet_node_t node,
                             const void *addr, size_t nbytes) {
  if (!gexx_legacy_tm || tmb_job.debug) {
    (void)gexx_legacy_team(call);
    tmb_check_tm_rank(call, gexx_legacy_tm, node);
    tmb_check_remote(call, argument, gexx_legacy_tm, node, addr, nbytes);
  }
  return gexx_legacy_tm;
}

/* Memset as implicit puts of the calling thread; true if it is complete already. */
static bool fill(gex_TM_t tm, gasnet_node_t node, void *dest, int val, size_t nbytes) {
  const intptr_t delta = tmb_load_rlx(&tm->delta[node]);
  if (TMB_LIKELY(delta != GEXX_UNMAPPED)) {
    tmb_fence_compiler();
    if (nbytes) memset(gexx_rma_local(delta, dest), val, nbytes);
    tmb_fence_compiler();
    return true;
  }
  char block[FILL_BYTES];
  memset(block, val, TMB_MIN(nbytes, sizeof block));
  for (size_t done = 0; done < nbytes; done += FILL_BYTES)
    (void)gex_RMA_PutNBI(tm, node, (char *)dest + done, block, TMB_MIN(nbytes - done, sizeof block),
                         GEX_EVENT_NOW, 0);
  return false;
}

/* Memset with an event of its own: an access region inside whatever the thread has open. */
static gex_Event_t fill_nb(gex_TM_t tm, gasnet_node_t node, void *dest, int val, size_t nbytes) {
  if (tmb_load_rlx(&tm->delta[node]) != GEXX_UNMAPPED && fill(tm, node, dest, val, nbytes))
    return GEX_EVENT_INVALID;
  struct tmb_thread *t = tmb_thread();
  struct tmb_op *const outer = t->region;
  t->region = NULL;
  gex_NBI_BeginAccessRegion(0);
  (void)fill(tm, node, dest, val, nbytes);
  const gex_Event_t event = gex_NBI_EndAccessRegion(0);
  t->region = outer;
  return event;
}

void gasnet_memset(gasnet_node_t node, void *dest, int val, size_t nbytes) {
  const gex_TM_t tm = checked_team("gasnet_memset", "dest", node, dest, nbytes);
  gex_Event_Wait(fill_nb(tm, node, dest, val, nbytes));
}

gasnet_handle_t gasnet_memset_nb(gasnet_node_t node, void *dest, int val, size_t nbytes) {
  const gex_TM_t tm = checked_team("gasnet_memset_nb", "dest", node, dest, nbytes);
  return fill_nb(tm, node, dest, val, nbytes);
}

void gasnet_memset_nbi(gasnet_node_t node, void *dest, int val, size_t nbytes) {
  const gex_TM_t tm = checked_team("gasnet_memset_nbi", "dest", node, dest, nbytes);
  (void)fill(tm, node, dest, val, nbytes);
}

gasnet_valget_handle_t gasnet_get_nb_val(gasnet_node_t node, void *src, size_t nbytes) {
  const char *const call = "gasnet_get_nb_val";
  const gex_TM_t tm = checked_team(call, "src", node, src, nbytes);
  TMB_CHECK(nbytes >= 1 && nbytes <= SIZEOF_GASNET_REGISTER_VALUE_T,
            "%s: argument nbytes is %zu; a value has 1..%d bytes", call, nbytes,
            SIZEOF_GASNET_REGISTER_VALUE_T);
  struct tmb_op *const op = tmb_op_new(TMB_OP_SINGLE, (uint32_t)nbytes);
  op->value = 0;
  op->next = (struct tmb_op *)(void *)gex_RMA_GetNB(tm, &op->value, node, src, nbytes, 0);
  return (gasnet_valget_handle_t)(void *)op;
}

gasnet_register_value_t gasnet_wait_syncnb_valget(gasnet_valget_handle_t handle) {
  struct tmb_op *const op = (struct tmb_op *)(void *)handle;
  TMB_CHECK_CONTEXT("gasnet_wait_syncnb_valget");
  TMB_CHECK(op && op->kind == TMB_OP_SINGLE,
            "gasnet_wait_syncnb_valget: argument handle (%p) is no outstanding value get; each is "
            "synchronised exactly once",
            (void *)op);
  gex_Event_Wait((gex_Event_t)(void *)op->next);
  const gasnet_register_value_t value = gexx_rma_load_val(&op->value, op->leaves);
  tmb_op_free(op);
  return value;
}
