/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address randomisation of programs that are executed next: see os.h.
 *
 * Owns: nothing; the state is the kernel's, per process. Called by boot (launch) and tools. Calls:
 * personality(2), sysfile. Invariants: a running program keeps its addresses; only the next exec of
 * this process, or of its children, sees a change.
 */
#define _GNU_SOURCE
#include "os/os.h"

#include "base/error.h"
#include "os/sysfile.h"

#include <sys/personality.h>

#define QUERY 0xffffffffUL

bool tmb_os_randomised(void) {
  uint64_t level;
  if (tmb_sysfile_read_u64("/proc/sys/kernel/randomize_va_space", &level) == TMB_OK && level == 0)
    return false;
  const int now = personality(QUERY);
  return now < 0 || !(now & ADDR_NO_RANDOMIZE);
}

int tmb_os_randomise(bool on) {
  const int now = personality(QUERY);
  if (now < 0) return TMB_E_SYS;
  const int wanted = on ? now & ~ADDR_NO_RANDOMIZE : now | ADDR_NO_RANDOMIZE;
  if (wanted == now) return TMB_OK;
  return personality((unsigned long)(unsigned)wanted) < 0 ? TMB_E_SYS : TMB_OK;
}
