/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The modules prif and tombolo_caf for a compiler that the installation has none for.
 *
 * Owns nothing. Included by fc.c. Calls the compiler, through module.c. Invariants: a folder that
 * is given is complete.
 */
#ifndef FC_MODULE_H
#define FC_MODULE_H

#include "fc/compiler.h"

/* Compiles a module into a folder of the user's cache, unless it is there. in command: the
 * compiler; libraries: the folder of ours; prif: the module prif, else tombolo_caf. Returns the
 * folder, which has prif.mod, tombolo_prif.o and prif.o, or tombolo_caf.mod; NULL: it cannot be
 * made, after a message where it is prif. */
char *fc_module_make(const struct fc_compiler *compiler, const char *command, const char *libraries,
                     bool prif);

#endif
