/* SPDX-License-Identifier: BSD-3-Clause */
/* The second file of idioms.c: the headers in another order, the same names, a key defined there.
 */
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_tools.h>
#include <gasnet_vis.h>
#include <gasnetex.h>

#include "idioms.h"

GASNETT_THREADKEY_DECLARE(client_key);

void *key_of_other_file(void) {
  return gasnett_threadkey_get(client_key);
}

static void sum(const void *left, void *right_and_out, size_t count, const void *cdata) {
  const uint32_t *l = (const uint32_t *)left;
  uint32_t *r = (uint32_t *)right_and_out;
  size_t i;
  (void)cdata;
  for (i = 0; i < count; i++) r[i] += l[i];
}

int other_file(gex_TM_t tm) {
  uint32_t one = 1, all = 0, mine = 0;
  gasnet_coll_handle_t handle;
  gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, &all, &one, GEX_DT_USER, sizeof one, 1, GEX_OP_USER,
                                        (gex_Coll_ReduceFn_t)sum, NULL, 0));
  handle =
      gasnet_coll_broadcast_nb(GASNET_TEAM_ALL, &mine, 0, &all, sizeof all,
                               GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL);
  gasnet_coll_wait_sync(handle);
  return all == gex_TM_QuerySize(tm) && mine == all ? 0 : 1;
}
