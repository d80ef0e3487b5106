/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linked into every UPC program: the pointers of <bupc_tentative.h>, by which a library finds
 * whether UPC is linked with it, point to the functions of <bupc_extern.h>.
 *
 * Owns: these pointers. Read by libraries of C and C++. Calls nothing. Invariants: they are in an
 * object of the program, since a library's definitions without values would hide those of
 * libtombolo-upc.
 */
#define BUPC_TENTATIVE_SPECIFIER extern
#include "bupc_tentative.h"

#include "bupc_extern.h"

int bupc_tentative_version_major = BUPC_TENTATIVE_VERSION_MAJOR;
int bupc_tentative_version_minor = BUPC_TENTATIVE_VERSION_MINOR;
void (*bupc_tentative_init)(int *, char ***) = bupc_init;
void (*bupc_tentative_init_reentrant)(int *, char ***, int (*)(int, char **)) = bupc_init_reentrant;
void (*bupc_tentative_exit)(int) = bupc_exit;
int (*bupc_tentative_mythread)(void) = bupc_extern_mythread;
int (*bupc_tentative_threads)(void) = bupc_extern_threads;
char *(*bupc_tentative_getenv)(const char *) = bupc_extern_getenv;
void (*bupc_tentative_notify)(int) = bupc_extern_notify;
void (*bupc_tentative_wait)(int) = bupc_extern_wait;
void (*bupc_tentative_barrier)(int) = bupc_extern_barrier;
void *(*bupc_tentative_alloc)(size_t) = bupc_extern_alloc;
void *(*bupc_tentative_all_alloc)(size_t, size_t) = bupc_extern_all_alloc;
void (*bupc_tentative_free)(void *, int) = bupc_extern_free;
void (*bupc_tentative_all_free)(void *, int) = bupc_extern_all_free;
