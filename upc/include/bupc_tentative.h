/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <bupc_tentative.h>: the UPC library from C and C++ that may be linked without UPC.
 *
 * Included by C and C++ sources of a library. The variables are null, and the version 0, unless the
 * program is linked by `tombolo upcc`: then they point to the functions of <bupc_extern.h>.
 */
#ifndef BUPC_TENTATIVE_H
#define BUPC_TENTATIVE_H

#include <stddef.h>

#define BUPC_TENTATIVE_VERSION_MAJOR 1
#define BUPC_TENTATIVE_VERSION_MINOR 0

#ifdef __cplusplus
extern "C" {
#endif

/* A definition that gives way to that of the UPC program. */
#ifndef BUPC_TENTATIVE_SPECIFIER
# define BUPC_TENTATIVE_SPECIFIER __attribute__((weak))
#endif

/* 0 without UPC, else BUPC_TENTATIVE_VERSION_MAJOR and _MINOR. */
BUPC_TENTATIVE_SPECIFIER int bupc_tentative_version_major, bupc_tentative_version_minor;
/* bupc_init, bupc_init_reentrant and bupc_exit, or null. */
BUPC_TENTATIVE_SPECIFIER void (*bupc_tentative_init)(int *argc, char ***argv);
BUPC_TENTATIVE_SPECIFIER void (*bupc_tentative_init_reentrant)(int *argc, char ***argv,
                                                               int (*main_function)(int, char **));
BUPC_TENTATIVE_SPECIFIER void (*bupc_tentative_exit)(int code);
/* The function of this name with bupc_extern_, or null. */
BUPC_TENTATIVE_SPECIFIER int (*bupc_tentative_mythread)(void);
BUPC_TENTATIVE_SPECIFIER int (*bupc_tentative_threads)(void);
BUPC_TENTATIVE_SPECIFIER char *(*bupc_tentative_getenv)(const char *name);
BUPC_TENTATIVE_SPECIFIER void (*bupc_tentative_notify)(int value);
BUPC_TENTATIVE_SPECIFIER void (*bupc_tentative_wait)(int value);
BUPC_TENTATIVE_SPECIFIER void (*bupc_tentative_barrier)(int value);
BUPC_TENTATIVE_SPECIFIER void *(*bupc_tentative_alloc)(size_t bytes);
BUPC_TENTATIVE_SPECIFIER void *(*bupc_tentative_all_alloc)(size_t blocks, size_t bytes);
BUPC_TENTATIVE_SPECIFIER void (*bupc_tentative_free)(void *ptr, int thread);
BUPC_TENTATIVE_SPECIFIER void (*bupc_tentative_all_free)(void *ptr, int thread);

#ifdef __cplusplus
}
#endif

#endif
