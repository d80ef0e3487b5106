/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns arguments of flang's calls into those of `use prif`.
 *
 * Owns nothing. Called by the functions of calls_*.c. Calls nothing. Invariants: the program's
 * descriptors are read only.
 */
#include "flang/calls.h"

/* flang's descriptors: the version is a date, 20240719 in flang 22. */
enum { VERSION_FIRST = 20240719, VERSION_LAST = 21000000, TYPE_STRUCT = 42 };

/* A variable of flang 23 is a descriptor itself, of a pointer, and then has another attribute. */
prif_team *prif_team_word(const void *team) {
  const struct prif_desc *d = team;
  enum { TYPE, ATTRIBUTE };
  if (d && d->version >= VERSION_FIRST && d->version < VERSION_LAST &&
      d->code[TYPE] == TYPE_STRUCT && d->code[ATTRIBUTE] == 0)
    return d->base;
  return (prif_team *)(uintptr_t)team;
}

const struct prif_desc *prif_flang_errmsg(const struct prif_desc *errmsg,
                                          const struct prif_desc *errmsg_alloc) {
  return errmsg ? errmsg : errmsg_alloc && errmsg_alloc->base ? errmsg_alloc : NULL;
}
