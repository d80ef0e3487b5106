/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The module prif for a compiler that the installation has none for.
 *
 * Owns nothing. Included by fc.c. Calls the compiler, through module.c. Invariants: a folder that
 * is given is complete.
 */
#ifndef FC_MODULE_H
#define FC_MODULE_H

#include "fc/compiler.h"

/* Compiles the module into a folder of the user's cache, unless it is there. in command: the
 * compiler; root: folder of the installation or build tree. Returns the folder, which has prif.mod,
 * tombolo_prif.o and prif.o; NULL after a message. */
char *fc_module_make(const struct fc_compiler *compiler, const char *command, const char *root);

#endif
