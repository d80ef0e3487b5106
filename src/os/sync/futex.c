/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * futex(2) and membarrier(2), see futex.h.
 *
 * Owns nothing. Called by boot and near. Calls the kernel.
 * Invariants: shared (not private) futex operations, because the words live in memory of several
 * processes; time-outs are relative and on the monotonic clock.
 */
#include "os/sync/futex.h"

#include "base/error.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int tmb_futex_wait(const uint32_t *word, uint32_t expected, uint64_t timeout_ns) {
  struct timespec limit;
  struct timespec *limit_p = NULL;
  if (timeout_ns != UINT64_MAX) {
    limit.tv_sec = (time_t)(timeout_ns / 1000000000u);
    limit.tv_nsec = (long)(timeout_ns % 1000000000u);
    limit_p = &limit;
  }
  const long rc = syscall(SYS_futex, word, FUTEX_WAIT, expected, limit_p, NULL, 0);
  if (rc == 0 || errno == EAGAIN) return 0;
  return errno == ETIMEDOUT ? TMB_E_TIMEOUT : TMB_E_SYS;
}

int tmb_futex_wake(const uint32_t *word, int count) {
  const long rc = syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
  return rc < 0 ? 0 : (int)rc;
}

bool tmb_membarrier_register(void) {
  const long have = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  if (have < 0 || !(have & MEMBARRIER_CMD_GLOBAL_EXPEDITED)) return false;
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void tmb_membarrier(void) {
  (void)syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}
