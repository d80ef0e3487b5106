/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <bupc_extern.h>: the UPC library from C and C++.
 *
 * Included by C and C++ sources of a program that also has UPC in it. Functions: libtombolo-upc.
 * bupc_init comes first, unless main is UPC; memory is given as the caller's local address.
 */
#ifndef BUPC_EXTERN_H
#define BUPC_EXTERN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void bupc_init(int *argc, char ***argv);
void bupc_init_reentrant(int *argc, char ***argv, int (*main_function)(int, char **));
void bupc_exit(int code);
int bupc_extern_mythread(void);
int bupc_extern_threads(void);
void bupc_extern_notify(int value);
void bupc_extern_wait(int value);
void bupc_extern_barrier(int value);
char *bupc_extern_getenv(const char *name);
void *bupc_extern_alloc(size_t bytes);
void *bupc_extern_all_alloc(size_t blocks, size_t bytes);
void bupc_extern_free(void *ptr, int thread);
void bupc_extern_all_free(void *ptr, int thread);

#ifdef __cplusplus
}
#endif

#endif
