/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linked into programs whose main is C or C++ (`tombolo upcc -extern-main`): gives the library
 * which shared objects and initialisers there are, for bupc_init (<bupc_extern.h>).
 *
 * Owns: nothing. Called before main. Calls: upcr_announce. Invariants: as in crt.c.
 */
#include "upcr.h"

#include <stddef.h>

typedef void upcr_init(void);

#define WEAK __attribute__((weak, visibility("hidden")))
extern const struct upcr_object *const __start_upc_objects[] WEAK;
extern const struct upcr_object *const __stop_upc_objects[] WEAK;
extern upcr_init *const __start_upc_inits[] WEAK;
extern upcr_init *const __stop_upc_inits[] WEAK;
void upcr_announce(const struct upcr_object *const *objects, size_t object_count,
                   upcr_init *const *inits, size_t init_count);

__attribute__((constructor)) static void announce(void) {
  upcr_announce(__start_upc_objects, (size_t)(__stop_upc_objects - __start_upc_objects),
                __start_upc_inits, (size_t)(__stop_upc_inits - __start_upc_inits));
}
