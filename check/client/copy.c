/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of memory by a program that is compiled with `--check`.
 *
 * Owns nothing. Called in place of memcpy, memmove and memset: by newer compilers with the names of
 * ThreadSanitizer, and by the linker's --wrap, which gives the C library's the names with __real_.
 * Calls: the checker, if it is loaded.
 */
#include "check/client/client.h"

void *__real_memcpy(void *to, const void *from, size_t bytes);
void *__real_memmove(void *to, const void *from, size_t bytes);
void *__real_memset(void *to, int value, size_t bytes);

#define TELL_COPY()                                            \
 chk_tell(from, bytes, CHK_LOAD, __builtin_return_address(0)); \
 chk_tell(to, bytes, CHK_STORE, __builtin_return_address(0))

#define COPIES(prefix)                                             \
 void *prefix##memcpy(void *to, const void *from, size_t bytes);   \
 void *prefix##memcpy(void *to, const void *from, size_t bytes) {  \
  TELL_COPY();                                                     \
  return __real_memcpy(to, from, bytes);                           \
 }                                                                 \
 void *prefix##memmove(void *to, const void *from, size_t bytes);  \
 void *prefix##memmove(void *to, const void *from, size_t bytes) { \
  TELL_COPY();                                                     \
  return __real_memmove(to, from, bytes);                          \
 }                                                                 \
 void *prefix##memset(void *to, int value, size_t bytes);          \
 void *prefix##memset(void *to, int value, size_t bytes) {         \
  chk_tell(to, bytes, CHK_STORE, __builtin_return_address(0));     \
  return __real_memset(to, value, bytes);                          \
 }

COPIES(__tsan_)
COPIES(__wrap_)
