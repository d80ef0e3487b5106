/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tokens of coarrays, and their place in the list of their team.
 *
 * Owns: the names of three functions. Included by token.c and register.c. Calls nothing.
 * Invariants: a token is in at most one list.
 */
#ifndef CAF_TOKEN_H
#define CAF_TOKEN_H

#include "caf.h"

/* A token in no list, with addresses of `ranks` ranks, all 0. NULL: no memory. */
struct caf_token *caf_token_new(uint32_t ranks, int type);

/* Puts a token into the list of the current team; takes one out of its list, if it is in any. */
void caf_token_join(struct caf_token *t);
void caf_token_leave(struct caf_token *t);

#endif
