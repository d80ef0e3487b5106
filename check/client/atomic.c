/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The compiler's calls in place of atomic operations of 1 to 8 bytes, and fences.
 *
 * Owns nothing. Called by code that is compiled with -fsanitize=thread. Calls: the checker, see
 * atomic.h. Operations of 16 bytes are in wide.c, so that only a program with them needs libatomic.
 */
#include "check/client/client.h"

static inline uint64_t swap(volatile void *at, size_t bytes, uint64_t expected, uint64_t wanted);

#define LOAD(at)            __atomic_load_n(at, __ATOMIC_SEQ_CST)
#define EXCHANGE(at, value) __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST)
#define SWAP(at, expected, wanted) \
 (TYPE) swap(at, sizeof *(at), (uint64_t)(expected), (uint64_t)(wanted))
#define FETCH(what, at, value) __atomic_fetch_##what(at, value, __ATOMIC_SEQ_CST)

/* Returns the value before. */
static inline uint64_t swap(volatile void *at, size_t bytes, uint64_t expected, uint64_t wanted) {
#define OF(type)                                                                                 \
 {                                                                                               \
  type is = (type)expected;                                                                      \
  (void)__atomic_compare_exchange_n((volatile type *)at, &is, (type)wanted, 0, __ATOMIC_SEQ_CST, \
                                    __ATOMIC_SEQ_CST);                                           \
  return is;                                                                                     \
 }
  if (bytes == 1) OF(uint8_t);
  if (bytes == 2) OF(uint16_t);
  if (bytes == 4) OF(uint32_t);
  OF(uint64_t);
#undef OF
}

#define TYPE uint8_t
#define BITS 8
#include "check/client/atomic.h"
#define TYPE uint16_t
#define BITS 16
#include "check/client/atomic.h"
#define TYPE uint32_t
#define BITS 32
#include "check/client/atomic.h"
#define TYPE uint64_t
#define BITS 64
#include "check/client/atomic.h"

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order) {
  (void)order;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (chk_watched->threads) chk_watched->changes(CHK_FENCE, CHK_STORE);
}

void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order) {
  (void)order;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
