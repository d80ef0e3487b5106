/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the collective subroutines share: how an argument is packed, reduced and unpacked.
 *
 * Owns nothing. Included by collective.c and reduce.c. Calls nothing.
 */
#ifndef CAF_COLLECTIVE_H
#define CAF_COLLECTIVE_H

#include "caf.h"

/* A reduction: the layer's name of type and operator, or a function. */
struct caf_reduction {
  const char *name; /* of the statement, for messages */
  gex_DT_t dt;
  gex_OP_t op;
  gex_Coll_ReduceFn_t fn;
  void *cdata;
};

/* Reduces the argument over the current team, in place. in result_image: 0: on all images. */
void caf_reduce_run(struct caf_desc *a, int result_image, const struct caf_reduction *how,
                    const struct caf_status *to);

#endif
