/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linked into programs whose main is C or C++ (`tombolo upcc -extern-main`): gives the library
 * which shared objects and initialisers there are, for bupc_init (<bupc_extern.h>).
 *
 * Owns: nothing. Called before main. Calls: upcr_announce. Invariants: as in crt.h.
 */
#include "crt.h"

void upcr_announce(const struct upcr_object *const *objects, size_t object_count,
                   upcr_init *const *inits, size_t init_count);

__attribute__((constructor)) static void announce(void) {
  upcr_announce(UPCR_SECTIONS);
}
