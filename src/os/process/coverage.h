/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saving coverage counters of a process that leaves by _exit.
 *
 * Owns: nothing. Called by boot (supervisor) and core/exit, right before _exit. Calls: the run-time
 * of gcov or of llvm's profiler if the program was built with one, else nothing. Invariants:
 * without instrumentation this is two tests of a null pointer.
 */
#ifndef TMB_OS_COVERAGE_H
#define TMB_OS_COVERAGE_H

#include "base/compiler.h"

extern void __gcov_dump(void) TMB_WEAK;
extern int __llvm_profile_write_file(void) TMB_WEAK;

static inline void tmb_coverage_dump(void) {
  if (__gcov_dump) __gcov_dump();
  if (__llvm_profile_write_file) (void)__llvm_profile_write_file();
}

#endif
