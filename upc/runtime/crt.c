/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linked into every UPC program: main, which starts the library and then the program's main.
 * Programs with a main of C or C++ have crt_extern.c instead.
 *
 * Owns: nothing. Called by the C library. Calls: upcr_start. Invariants: the linker gathers what
 * the compiler put into the sections upc_objects and upc_inits; these names are empty where no file
 * has such a section.
 */
#include "upcr.h"

#include <stddef.h>
#include <stdlib.h>

typedef void upcr_init(void);

#define WEAK __attribute__((weak, visibility("hidden")))
extern const struct upcr_object *const __start_upc_objects[] WEAK;
extern const struct upcr_object *const __stop_upc_objects[] WEAK;
extern upcr_init *const __start_upc_inits[] WEAK;
extern upcr_init *const __stop_upc_inits[] WEAK;
extern int upcr_user_main(int argc, char **argv, char **envp);
extern char **environ;
void upcr_start(int *argc, char ***argv, const struct upcr_object *const *objects,
                size_t object_count, upcr_init *const *inits, size_t init_count);

int main(int argc, char **argv) {
  upcr_start(&argc, &argv, __start_upc_objects, (size_t)(__stop_upc_objects - __start_upc_objects),
             __start_upc_inits, (size_t)(__stop_upc_inits - __start_upc_inits));
  exit(upcr_user_main(argc, argv, environ));
}
