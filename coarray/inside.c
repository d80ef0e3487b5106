/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks of the program and of the serving thread, see inside.h.
 *
 * Owns: the marks. Called by the functions that programs call, and by serve.c. Calls nothing of
 * this library. Invariants: a biased lock: the program holds it while it is inside, at the price of
 * a store and a load; the thread takes it seldom, and pays with membarrier(2). Where the kernel has
 * no such call, the program pays with a fence.
 */
#include "inside.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The thread holds it while it is inside, or tries to be. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void caf_go_inside_slow(void) {
  if (caf.mark.fences) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (__atomic_load_n(&caf.mark.taken, __ATOMIC_ACQUIRE) == 0) return;
  __atomic_store_n(&caf.mark.inside, 0, __ATOMIC_RELEASE);
  pthread_mutex_lock(&lock);
  __atomic_store_n(&caf.mark.inside, 1, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&lock);
}

static bool program_is_inside(void) {
  return __atomic_load_n(&caf.mark.inside, __ATOMIC_ACQUIRE) != 0;
}

bool caf_take_inside(void) {
  if (program_is_inside()) return false;
  pthread_mutex_lock(&lock);
  __atomic_store_n(&caf.mark.taken, 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (!caf.mark.fences) (void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  if (!program_is_inside()) return true;
  caf_give_inside();
  return false;
}

void caf_give_inside(void) {
  __atomic_store_n(&caf.mark.taken, 0, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
}

void caf_inside_start(void) {
  caf.mark.fences = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0;
}
