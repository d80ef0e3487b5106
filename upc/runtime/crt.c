/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linked into every UPC program: main, which starts the library and then the program's main.
 * Programs with a main of C or C++ have crt_extern.c instead.
 *
 * Owns: nothing. Called by the C library. Calls: upcr_start. Invariants: as in crt.h.
 */
#include "crt.h"

#include <stdlib.h>

extern int upcr_user_main(int argc, char **argv, char **envp);
extern char **environ;
void upcr_start(int *argc, char ***argv, const struct upcr_object *const *objects,
                size_t object_count, upcr_init *const *inits, size_t init_count);

int main(int argc, char **argv) {
  upcr_start(&argc, &argv, UPCR_SECTIONS);
  exit(upcr_user_main(argc, argv, environ));
}
