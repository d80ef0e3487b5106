/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a process whose threads end one by one.
 *
 * Owns: declarations of last_thread.c. By POSIX a process ends, as by exit(0), when its last thread
 * does: a main thread may call pthread_exit and leave the rest to others. A network has threads of
 * its own, which never end; they are not counted.
 */
#ifndef TMB_CORE_LAST_THREAD_H
#define TMB_CORE_LAST_THREAD_H

#include <stdbool.h>

/* The name of threads that the library and its networks make: they get it from the thread that
 * makes them. At most 15 characters. */
#define TMB_OWN_THREAD "tombolo network"

/* Before and after a network is opened: the threads that it makes meanwhile are its own, also those
 * that then take another name. Call on the thread that initialises. */
void tmb_last_thread_network(bool opened);

/* From now on the process ends with its last thread. Call once, on the thread that initialises. */
void tmb_last_thread_begin(void);

#endif
