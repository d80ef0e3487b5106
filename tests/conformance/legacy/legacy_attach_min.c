/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * API 08.2: the smallest start: NULL argc and argv, no handlers, segment size 0.
 */
/* ranks: 1 2 4 */
#include "legacy.h"

int main(void) {
  g1_start(NULL, NULL, NULL, 0, 0);
  CHECK_EQ(g1.seg[g1.rank].size, GASNET_PAGESIZE);
  const gasnet_node_t next = (g1.rank + 1) % g1.size;
  gasnet_put_val(next, g1.seg[next].addr, 0xfeed, 2);
  g1_barrier();
  CHECK_EQ(gasnet_get_val(g1.rank, g1.base, 2), 0xfeed);
  CHECK_EQ(GASNET_VERSION, 1);
  CHECK_EQ(GASNET_SPEC_VERSION_MAJOR * 100 + GASNET_SPEC_VERSION_MINOR, 108);
  CHECK_EQ(SIZEOF_GASNET_REGISTER_VALUE_T, sizeof(gasnet_register_value_t));
  return g1_finish();
}
