/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared objects and initialisers of a UPC program, as the linker gathers them.
 *
 * Owns: nothing. Included by crt.c, crt_extern.c and crt_shared.c, which are linked into programs
 * and their shared libraries, and by start.c. Calls nothing. Invariants: the linker gathers the
 * compiler's entries in the sections upc_objects and upc_inits; these names are empty where no file
 * has such a section.
 */
#ifndef UPCR_CRT_H
#define UPCR_CRT_H

#include "upcr.h"

#include <stddef.h>

typedef void upcr_init(void);

/* The two lists of a shared library, kept by it. */
struct upcr_part {
  const struct upcr_object *const *objects;
  size_t object_count;
  upcr_init *const *inits;
  size_t init_count;
  struct upcr_part *next; /* of the library that was loaded after it */
};
/* Adds a shared library, before the start. */
void upcr_announce_part(struct upcr_part *part);

#define UPCR_SECTION extern __attribute__((weak, visibility("hidden")))
UPCR_SECTION const struct upcr_object *const __start_upc_objects[];
UPCR_SECTION const struct upcr_object *const __stop_upc_objects[];
UPCR_SECTION upcr_init *const __start_upc_inits[];
UPCR_SECTION upcr_init *const __stop_upc_inits[];

/* The arguments of upcr_start and upcr_announce: both lists, each with its length. */
#define UPCR_SECTIONS                                                                        \
 __start_upc_objects, (size_t)(__stop_upc_objects - __start_upc_objects), __start_upc_inits, \
     (size_t)(__stop_upc_inits - __start_upc_inits)

#endif
