/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the C library that a library of ours stands before.
 *
 * Owns nothing. Included by check/runtime and replay/runtime, which are loaded before the program
 * (LD_PRELOAD), so that the program's calls come to them. Calls: dlsym. Needs _GNU_SOURCE.
 */
#ifndef TMB_CHECK_LIBC_H
#define TMB_CHECK_LIBC_H

#include <dlfcn.h>
#include <string.h>

/* Conditions have two layouts: the newer one's functions are asked for. */
static inline void *libc_find(const char *name) {
  void *const at =
      strncmp(name, "pthread_cond_", 13) == 0 ? dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2") : NULL;
  return at ? at : dlsym(RTLD_NEXT, name);
}

/* Declares `real`, the next function of a name. */
#define LIBC_REAL(NAME)                                             \
 static __typeof__(&(NAME)) real;                                   \
 if (!real) {                                                       \
  void *const found_ = libc_find(#NAME);                            \
  memcpy(&real, &found_, sizeof found_); /* no cast between them */ \
 }

#define LIBC_PUBLIC __attribute__((visibility("default")))

#endif
