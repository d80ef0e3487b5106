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

/* Page bupc_init: UPC from C and C++.
 * [in,out] argc: of main; may be changed. [in,out] argv: of main; may be changed. [in] value: of
 * the barrier, the same on all threads. [in] name: of an environment variable. [in] ptr: an
 * address that this thread has for memory of thread, or that thread itself has for it.
 * [in] thread: the thread that the memory has affinity to.
 * Completion: at return.
 * Threads: bupc_init and the calls with all or barrier in their name are collective; a notify
 * and a wait are halves of a barrier.
 * Errors: as those of the UPC calls of these names; no room gives NULL.
 * Cost: that of the UPC calls.
 * Example: examples/upc/from_c/main.c bupc_init(
 * See: upc_alloc, tombolo_upc_query, tombolo-upcc(1) */
/* Starts UPC in a program whose main is C or C++. Comes before all other calls. */
void bupc_init(int *argc, char ***argv);
/* Starts UPC, calls main_function and ends with its result. Does not return. [in] main_function:
 * the program. */
void bupc_init_reentrant(int *argc, char ***argv, int (*main_function)(int, char **));
/* Ends this process as exit does. [in] code: exit code. */
void bupc_exit(int code);
/* Returns MYTHREAD. */
int bupc_extern_mythread(void);
/* Returns THREADS. */
int bupc_extern_threads(void);
/* Begins a barrier, as upc_notify. */
void bupc_extern_notify(int value);
/* Ends a barrier, as upc_wait. */
void bupc_extern_wait(int value);
/* Waits for all threads, as upc_barrier. */
void bupc_extern_barrier(int value);
/* Returns the variable's value in the environment of the job, or NULL. */
char *bupc_extern_getenv(const char *name);
/* Returns the address of new shared memory of this thread, as upc_alloc. [in] bytes: size. */
void *bupc_extern_alloc(size_t bytes);
/* Returns the address of this thread's part of a new object, as upc_all_alloc. [in] blocks: number
 * of blocks. [in] bytes: of a block. */
void *bupc_extern_all_alloc(size_t blocks, size_t bytes);
/* Frees an object, as upc_free. */
void bupc_extern_free(void *ptr, int thread);
/* Frees an object by all threads together, as upc_all_free. */
void bupc_extern_all_free(void *ptr, int thread);

#ifdef __cplusplus
}
#endif

#endif
