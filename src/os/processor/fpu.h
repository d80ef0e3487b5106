/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floating-point state of a thread: flags that computing raises, and traps for them.
 *
 * Owns nothing. Called where the library computes with real numbers on a thread of the client, at
 * the start: a client may read the flags afterwards (STOP of Fortran prints them), or have traps
 * on (-ffpe-trap=inexact). Calls nothing: fenv.h needs libm, which the library does not link.
 * Invariants: the rounding mode is the client's all the time. Another processor than those below
 * keeps its flags.
 */
#ifndef TMB_OS_FPU_H
#define TMB_OS_FPU_H

#include <stdint.h>

#if defined(__x86_64__)

struct tmb_fpu {
  uint32_t x87[7]; /* as fnstenv stores it */
  uint32_t mxcsr;
};

/* Saves the state, then turns traps off. */
static inline void tmb_fpu_hold(struct tmb_fpu *was) {
  const uint32_t masks = 0x1f80;
  __asm__ volatile("fnstenv %0" : "=m"(was->x87)); /* which masks the x87's exceptions */
  __asm__ volatile("stmxcsr %0" : "=m"(was->mxcsr));
  const uint32_t quiet = was->mxcsr | masks;
  __asm__ volatile("ldmxcsr %0" : : "m"(quiet));
}

static inline void tmb_fpu_restore(const struct tmb_fpu *was) {
  __asm__ volatile("fldenv %0" : : "m"(was->x87) : "memory");
  __asm__ volatile("ldmxcsr %0" : : "m"(was->mxcsr) : "memory");
}

#elif defined(__aarch64__)

struct tmb_fpu {
  uint64_t fpcr, fpsr;
};

/* Saves the state, then turns traps off. */
static inline void tmb_fpu_hold(struct tmb_fpu *was) {
  const uint64_t traps = 0x9f00;
  __asm__ volatile("mrs %0, fpcr" : "=r"(was->fpcr));
  __asm__ volatile("mrs %0, fpsr" : "=r"(was->fpsr));
  if (was->fpcr & traps) __asm__ volatile("msr fpcr, %0" : : "r"(was->fpcr & ~traps));
}

static inline void tmb_fpu_restore(const struct tmb_fpu *was) {
  __asm__ volatile("msr fpcr, %0" : : "r"(was->fpcr) : "memory");
  __asm__ volatile("msr fpsr, %0" : : "r"(was->fpsr) : "memory");
}

#elif defined(__riscv) && defined(__riscv_flen)

struct tmb_fpu {
  unsigned long flags; /* there are no traps */
};

static inline void tmb_fpu_hold(struct tmb_fpu *was) {
  __asm__ volatile("frflags %0" : "=r"(was->flags));
}

static inline void tmb_fpu_restore(const struct tmb_fpu *was) {
  __asm__ volatile("fsflags %0" : : "r"(was->flags) : "memory");
}

#else

struct tmb_fpu {
  char none;
};

static inline void tmb_fpu_hold(struct tmb_fpu *was) {
  was->none = 0;
}

static inline void tmb_fpu_restore(const struct tmb_fpu *was) {
  (void)was;
}

#endif
#endif
