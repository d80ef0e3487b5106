/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The faulting instruction's address and direction from the context of a signal: see context.h.
 *
 * Owns: nothing. Called by fault.c, in handlers of signals. Calls: nothing. Invariants: x86-64 has
 * the direction of the access in its error code, ARM in its syndrome register; where the register
 * is not shown, and on RISC-V, which has none, the instruction says it.
 */
#include "context.h"

#include <string.h>
#include <ucontext.h>

/* ---- ARM: the syndrome register */

enum {
  ESR_KIND = 0x45535201, /* ESR_MAGIC of asm/sigcontext.h */
  ABORT_LOWER = 0x24,    /* exception class: data abort */
  ABORT_SAME = 0x25
};
#define ESR_WRITES (UINT64_C(1) << 6)

enum rt_access rt_access_by_esr(const void *records, size_t bytes) {
  const char *at = records;
  uint32_t head[2]; /* kind, size */
  uint64_t esr;
  while (bytes >= sizeof head + sizeof esr) {
    memcpy(head, at, sizeof head);
    memcpy(&esr, at + sizeof head, sizeof esr);
    const uint32_t size = head[1];
    if (head[0] == ESR_KIND) {
      const unsigned class = esr >> 26 & 0x3f;
      if (class != ABORT_LOWER && class != ABORT_SAME) return RT_ACCESS_UNKNOWN;
      return esr & ESR_WRITES ? RT_ACCESS_WRITE : RT_ACCESS_READ;
    }
    if (!head[0] || size < sizeof head || size > bytes) break;
    at += size;
    bytes -= size;
  }
  return RT_ACCESS_UNKNOWN;
}

/* ---- ARM: the instruction */

static enum rt_access read_if(uint32_t reads) {
  return reads ? RT_ACCESS_READ : RT_ACCESS_WRITE;
}

/* Loads and stores of one register, but for atomic updates: opc is bits 23 and 22. Of a vector
 * register its low bit says load; opc 2 is the store of 128 bits there and a signed load here. */
static enum rt_access a64_one(uint32_t word) {
  const uint32_t opc = word >> 22 & 3, is_vector = word >> 26 & 1;
  return read_if(is_vector ? opc & 1 : opc);
}

/* With a register of offset, or with one of atomic updates; or loads with authentication. */
static enum rt_access a64_one_by_register(uint32_t word) {
  const uint32_t kind = word >> 10 & 3;
  if (kind == 2) return a64_one(word);
  if (kind != 0) return RT_ACCESS_READ;      /* LDRAA, LDRAB */
  return read_if((word & 0xe000) == 0xc000); /* LDAPR, LD64B; else an update */
}

/* Bits 29 to 27 are 001: exclusive ones, compare-and-swap, and vectors of several structures. */
static enum rt_access a64_exclusive(uint32_t word) {
  const uint32_t is_vector = word >> 26 & 1, loads = word >> 22 & 1;
  const uint32_t is_single = !(word >> 31 & 1), is_ordered = word >> 23 & 1;
  if (!is_vector && word >> 21 & 1 && (is_single || is_ordered)) return RT_ACCESS_WRITE;
  return read_if(loads);
}

/* Bits 29 to 27 are 011: of a place near the instruction, and ordered ones with an offset. */
static enum rt_access a64_literal(uint32_t word) {
  if (!(word >> 24 & 1)) return RT_ACCESS_READ;
  return word & 0x200c00 ? RT_ACCESS_UNKNOWN : a64_one(word); /* tags, copies of memory */
}

enum rt_access rt_access_by_a64(uint32_t word) {
  enum { ZERO_BLOCK = 0xd50b7420 >> 5 }; /* DC ZVA: memset uses it */
  const uint32_t group = word >> 25;
  if (word >> 5 == ZERO_BLOCK || group == 0x72) return RT_ACCESS_WRITE; /* SVE: stores */
  if (group == 0x42 || group == 0x52 || group == 0x62) return RT_ACCESS_READ;
  if ((word & 0x0a000000) != 0x08000000) return RT_ACCESS_UNKNOWN;
  switch (word >> 28 & 3) {
  case 0: return a64_exclusive(word);
  case 1: return a64_literal(word);
  case 2: return read_if(word >> 22 & 1); /* a pair */
  default: break;
  }
  return word >> 24 & 1 || !(word >> 21 & 1) ? a64_one(word) : a64_one_by_register(word);
}

/* ---- RISC-V: the instruction */

static enum rt_access riscv_compressed(uint32_t word) {
  const uint32_t quadrant = word & 3, kind = word >> 13 & 7;
  if (quadrant == 1 || kind == 0) return RT_ACCESS_UNKNOWN;
  if (kind != 4) return read_if(kind < 4);
  if (quadrant == 2) return RT_ACCESS_UNKNOWN; /* moves and jumps */
  return read_if((word >> 10 & 7) < 2);        /* Zcb: loads and stores of 8 and 16 bits */
}

enum rt_access rt_access_by_riscv(uint32_t word) {
  enum { LOAD = 0x03, LOAD_FP = 0x07, STORE = 0x23, STORE_FP = 0x27, ATOMIC = 0x2f, RESERVE = 2 };
  if ((word & 3) != 3) return riscv_compressed(word);
  switch (word & 0x7f) {
  case LOAD:
  case LOAD_FP: return RT_ACCESS_READ;
  case STORE:
  case STORE_FP: return RT_ACCESS_WRITE;
  case ATOMIC: return read_if(word >> 27 == RESERVE);
  default: return RT_ACCESS_UNKNOWN;
  }
}

/* ---- the processor at hand */

#if defined(__x86_64__)

uintptr_t rt_context_pc(const void *context) {
  return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

uintptr_t rt_context_stack(const void *context) {
  return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
}

enum rt_access rt_context_access(const void *context) {
  return read_if(!(((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2));
}

#elif defined(__aarch64__)

uintptr_t rt_context_pc(const void *context) {
  return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc;
}

uintptr_t rt_context_stack(const void *context) {
  return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.sp;
}

/* The register first: code may be executable and not readable. */
enum rt_access rt_context_access(const void *context) {
  const ucontext_t *c = context;
  uint32_t word;
  const enum rt_access access =
      rt_access_by_esr(c->uc_mcontext.__reserved, sizeof c->uc_mcontext.__reserved);
  if (access != RT_ACCESS_UNKNOWN) return access;
  memcpy(&word, (const void *)rt_context_pc(context), sizeof word);
  return rt_access_by_a64(word);
}

#elif defined(__riscv)

uintptr_t rt_context_pc(const void *context) {
  return ((const ucontext_t *)context)->uc_mcontext.__gregs[REG_PC];
}

uintptr_t rt_context_stack(const void *context) {
  return ((const ucontext_t *)context)->uc_mcontext.__gregs[REG_SP];
}

enum rt_access rt_context_access(const void *context) {
  const char *at = (const char *)rt_context_pc(context);
  uint16_t low, high = 0;
  memcpy(&low, at, sizeof low);
  if ((low & 3) == 3) memcpy(&high, at + sizeof low, sizeof high); /* it has two halves */
  return rt_access_by_riscv((uint32_t)high << 16 | low);
}

#else

uintptr_t rt_context_pc(const void *context) {
  return context ? 0 : 0;
}

uintptr_t rt_context_stack(const void *context) {
  return context ? 0 : 0;
}

enum rt_access rt_context_access(const void *context) {
  return context ? RT_ACCESS_UNKNOWN : RT_ACCESS_UNKNOWN;
}

#endif
