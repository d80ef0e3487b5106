/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/tools/tools_threadkey.h: thread-specific pointers (API reference 09, section 7).
 *
 * Owns GASNETT_THREADKEY_DEFINE and _DECLARE, gasnett_threadkey_*. A key is a thread-local variable
 * in threaded builds, a global one otherwise; so it needs no initialisation and init is a no-op.
 * Included by gasnet_tools.h. Invariant: a key starts as NULL on every thread. A key is a bare
 * identifier, visible to other files.
 */
#ifndef GEXX_TOOLS_THREADKEY_H
#define GEXX_TOOLS_THREADKEY_H

#include "tools_config.h"

#ifdef GASNETT_THREAD_SAFE
# define GEXX_TOOLS_TLS __thread
#else
# define GEXX_TOOLS_TLS
#endif

/* Page gasnett_threadkey_get: GASNet-Tools: a pointer for each thread.
 * A key is NULL on every thread at first. It needs no initialisation.
 * [in] key: name of the key, an identifier.
 * [in] val: the pointer.
 * Names: GASNETT_THREADKEY_DEFINE: defines a key, in one file;
 * GASNETT_THREADKEY_DECLARE: declares a key of another file;
 * gasnett_threadkey_get, gasnett_threadkey_get_noinit: the pointer of the calling thread;
 * gasnett_threadkey_set, gasnett_threadkey_set_noinit: sets the pointer of the calling thread;
 * gasnett_threadkey_init: does nothing
 * Completion: the macros are done at once.
 * Threads: any thread, any context.
 * Errors: none.
 * Cost: one load or store.
 * See: gasnett_mutex_lock */

/* File scope, in exactly one file; and in headers or other files. Followed by a semicolon. */
#define GASNETT_THREADKEY_DEFINE(key) \
 GASNETT_THREADKEY_DECLARE(key);      \
 GEXX_TOOLS_TLS void *gexx_threadkey_##key = NULL
#ifdef __cplusplus
# define GASNETT_THREADKEY_DECLARE(key) extern "C" GEXX_TOOLS_TLS void *gexx_threadkey_##key
#else
# define GASNETT_THREADKEY_DECLARE(key) extern GEXX_TOOLS_TLS void *gexx_threadkey_##key
#endif

/* Part of initialising a key elsewhere; here, where keys need none, only a name that clients refer
 * to. [in] key: ignored. */
static __inline__ void _gasneti_threadkey_init(void *key) __attribute__((__unused__));
static __inline__ void _gasneti_threadkey_init(void *key) {
  (void)key;
}

#define gasnett_threadkey_get(key)             (gexx_threadkey_##key)
#define gasnett_threadkey_set(key, val)        ((void)(gexx_threadkey_##key = GEXX_POINTER(val)))
#define gasnett_threadkey_init(key)            ((void)gexx_threadkey_##key)
#define gasnett_threadkey_get_noinit(key)      gasnett_threadkey_get(key)
#define gasnett_threadkey_set_noinit(key, val) gasnett_threadkey_set(key, val)

#endif
