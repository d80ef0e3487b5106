/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Common code of the collective subroutines: how an argument is packed, reduced and unpacked.
 *
 * Owns nothing. Included by collective.c, reduce.c, survivors.c and prif/collective. Calls nothing.
 * Invariants: an argument is an array of any shape; its elements are taken in array element order.
 */
#ifndef CAF_COLLECTIVE_H
#define CAF_COLLECTIVE_H

#include "section.h"

/* A reduction: the layer's name of type and operator, or a function. */
struct caf_reduction {
  const char *name; /* of the statement, for messages */
  gex_DT_t dt;
  gex_OP_t op;
  gex_Coll_ReduceFn_t fn;
  void *cdata;
};

/* STAT= and ERRMSG= of a collective subroutine, whose call gfortran 11 and 12 compile as if ERRMSG=
 * were passed by value when it is a variable of fixed length: the message cannot reach it, and the
 * arguments behind it are shifted. in,out a_len: length of a character argument, put right; NULL:
 * the statement has none. */
struct caf_status caf_collective_status(int *stat, char *errmsg, size_t errmsg_len, size_t after,
                                        int *a_len);

/* Reduces the elements of an argument over the current team, in place. in result_image: 0: on all
 * images. */
void caf_reduce_run(const struct caf_section *s, int result_image, const struct caf_reduction *how,
                    const struct caf_status *to);

enum caf_fold { CAF_FOLD_SUM, CAF_FOLD_MIN, CAF_FOLD_MAX };

/* CO_SUM, CO_MIN, CO_MAX of elements of a type and kind: caf_reduce_run. */
void caf_fold_run(const struct caf_section *s, const struct caf_elem *e, int result_image,
                  enum caf_fold kind, const struct caf_status *to);

/* CO_BROADCAST of the bytes of an argument, from image `source` of the current team. */
void caf_broadcast_run(const struct caf_section *s, int source, const struct caf_status *to);

/* Collectives of a team without a gex_TM_t (survivors.c): each image reads the data of the others.
 * in fold: combines two arrays, inout = in op inout. Return 0 or a STAT code. */
int caf_survivors_broadcast(struct caf_team *team, uint32_t source, void *data, size_t bytes);
int caf_survivors_reduce(struct caf_team *team, void *data, size_t bytes,
                         void (*fold)(void *arg, const void *in, void *inout), void *arg);

#endif
