/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UPC from C and C++ (<bupc_extern.h>, <tombolo_upc.h>).
 *
 * Owns: the announcements of crt_extern.c. Called by programs of C and C++, and parts of UPC
 * programs.
 * Calls: the rest of the library. Invariants: memory is named by local addresses of this thread.
 */
#include "rt.h"

#include <gasnet_tools.h>
#include <stdlib.h>

typedef void upcr_init(void);

static struct {
  const struct upcr_object *const *objects;
  upcr_init *const *inits;
  size_t object_count, init_count;
} announced;

extern void upcr_start(int *argc, char ***argv, const struct upcr_object *const *objects,
                       size_t object_count, upcr_init *const *inits, size_t init_count);
extern upcr_pts_t upc_alloc(size_t nbytes);
extern upcr_pts_t upc_all_alloc(size_t nblocks, size_t nbytes);
extern void upc_free(upcr_pts_t p);
extern void upc_all_free(upcr_pts_t p);

RT_EXPORT void upcr_announce(const struct upcr_object *const *objects, size_t object_count,
                             upcr_init *const *inits, size_t init_count);
RT_EXPORT void bupc_init(int *argc, char ***argv);
RT_EXPORT void bupc_init_reentrant(int *argc, char ***argv, int (*main_function)(int, char **));
RT_EXPORT void bupc_exit(int code);
RT_EXPORT int bupc_extern_mythread(void);
RT_EXPORT int bupc_extern_threads(void);
RT_EXPORT void bupc_extern_notify(int value);
RT_EXPORT void bupc_extern_wait(int value);
RT_EXPORT void bupc_extern_barrier(int value);
RT_EXPORT char *bupc_extern_getenv(const char *name);
RT_EXPORT void *bupc_extern_alloc(size_t bytes);
RT_EXPORT void *bupc_extern_all_alloc(size_t blocks, size_t bytes);
RT_EXPORT void bupc_extern_free(void *p, int thread);
RT_EXPORT void bupc_extern_all_free(void *p, int thread);

void upcr_announce(const struct upcr_object *const *objects, size_t object_count,
                   upcr_init *const *inits, size_t init_count) {
  announced.objects = objects;
  announced.object_count = object_count;
  announced.inits = inits;
  announced.init_count = init_count;
}

void bupc_init(int *argc, char ***argv) {
  upcr_start(argc, argv, announced.objects, announced.object_count, announced.inits,
             announced.init_count);
}

void bupc_init_reentrant(int *argc, char ***argv, int (*main_function)(int, char **)) {
  bupc_init(argc, argv);
  exit(main_function(*argc, *argv));
}

void bupc_exit(int code) {
  exit(code);
}

int bupc_extern_mythread(void) {
  return upcr_mythread;
}

int bupc_extern_threads(void) {
  return upcr_threads;
}

void bupc_extern_notify(int value) {
  upcr_notify(1, value);
}

void bupc_extern_wait(int value) {
  upcr_wait(1, value);
}

void bupc_extern_barrier(int value) {
  upcr_barrier(1, value);
}

char *bupc_extern_getenv(const char *name) {
  return gasnett_getenv(name);
}

void *bupc_extern_alloc(size_t bytes) {
  const upcr_pts_t p = upc_alloc(bytes);
  return p ? upcr_local(p) : NULL;
}

/* The caller's part of the blocks. */
void *bupc_extern_all_alloc(size_t blocks, size_t bytes) {
  const upcr_pts_t p = upc_all_alloc(blocks, bytes);
  return p ? rt.memory + upcr_addrfield(p) : NULL;
}

/* Names memory of a thread by the address that this thread, or that one, has for it. */
static upcr_pts_t named(void *p, int thread) {
  if (!p) return 0;
  const char *base = rt.mapped[thread] ? rt.mapped[thread] : (char *)rt.owner_base[thread];
  uint64_t offset = (uint64_t)((char *)p - base);
  if (offset >= rt.bytes) offset = (uint64_t)((char *)p - rt.memory);
  return upcr_make(offset, 0, (unsigned long)thread);
}

void bupc_extern_free(void *p, int thread) {
  upc_free(named(p, thread));
}

void bupc_extern_all_free(void *p, int thread) {
  upc_all_free(named(p, thread));
}

RT_EXPORT void tombolo_upc_query(gex_Client_t *client, gex_EP_t *ep, gex_TM_t *tm);
RT_EXPORT void *tombolo_upc_peer_address(const void *p, int thread, void **owner);

void tombolo_upc_query(gex_Client_t *client, gex_EP_t *ep, gex_TM_t *tm) {
  if (client) *client = rt.client;
  if (ep) *ep = rt.ep;
  if (tm) *tm = rt.tm;
}

void *tombolo_upc_peer_address(const void *p, int thread, void **owner) {
  const uint64_t offset = (uint64_t)((const char *)p - rt.memory);
  if (thread < 0 || thread >= upcr_threads || offset >= rt.bytes)
    rt_fatal("tombolo_upc_peer_address: %p, thread %d: no shared memory of this thread, or no "
             "thread [TMB-2110]",
             p, thread);
  if (owner) *owner = (void *)(rt.owner_base[thread] + offset);
  return rt.mapped[thread] ? rt.mapped[thread] + offset : NULL;
}
