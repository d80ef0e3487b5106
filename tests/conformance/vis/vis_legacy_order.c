/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/*
 * API 08.8: gasnet_vis.h before gasnet.h declares the same GASNet-1 calls, and each is a function
 * whose address can be taken.
 */
#include <gasnet_vis.h>

#include <gasnet.h>

#include "check.h"

typedef void (*any_fn)(void);

int main(int argc, char **argv) {
  const any_fn fns[] = {
      (any_fn)gasnet_putv_bulk, (any_fn)gasnet_putv_nb_bulk, (any_fn)gasnet_putv_nbi_bulk,
      (any_fn)gasnet_getv_bulk, (any_fn)gasnet_getv_nb_bulk, (any_fn)gasnet_getv_nbi_bulk,
      (any_fn)gasnet_puti_bulk, (any_fn)gasnet_puti_nb_bulk, (any_fn)gasnet_puti_nbi_bulk,
      (any_fn)gasnet_geti_bulk, (any_fn)gasnet_geti_nb_bulk, (any_fn)gasnet_geti_nbi_bulk,
      (any_fn)gasnet_puts_bulk, (any_fn)gasnet_puts_nb_bulk, (any_fn)gasnet_puts_nbi_bulk,
      (any_fn)gasnet_gets_bulk, (any_fn)gasnet_gets_nb_bulk, (any_fn)gasnet_gets_nbi_bulk,
  };
  for (size_t i = 0; i < sizeof fns / sizeof *fns; i++)
    for (size_t k = 0; k < i; k++) CHECK(fns[i] != fns[k]);
  gasnet_init(&argc, &argv);
  REQUIRE(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0) == GASNET_OK);
  const int rc = check_done();
  gasnet_exit(rc);
  return rc;
}
