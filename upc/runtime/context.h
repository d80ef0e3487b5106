/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The faulting instruction's address and direction from the context of a signal.
 *
 * Owns: nothing. Called by fault.c. Calls: nothing. Invariants: only the context, and the
 * instruction at its program counter, are read; an unknown value is 0 or RT_ACCESS_UNKNOWN. The
 * rt_access_... functions are pure and exist on each processor, so that one test has all.
 */
#ifndef UPC_RUNTIME_CONTEXT_H
#define UPC_RUNTIME_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

enum rt_access { RT_ACCESS_UNKNOWN, RT_ACCESS_READ, RT_ACCESS_WRITE };

/* Address of the instruction that faulted. in context: ucontext_t, as a handler gets it. */
uintptr_t rt_context_pc(const void *context);

/* The stack pointer of the code that faulted. in context: of the signal handler. */
uintptr_t rt_context_stack(const void *context);

/* Whether the instruction that faulted reads or writes memory. An atomic update writes. in context:
 * of the signal handler. */
enum rt_access rt_context_access(const void *context);

/* Direction of the access by ARM's exception syndrome register, which Linux puts among the records
 * behind the registers (struct esr_context of asm/sigcontext.h); unknown if it is not there, as
 * under QEMU before 10. in records: [bytes], each begins with a kind and a size of 32 bits. */
enum rt_access rt_access_by_esr(const void *records, size_t bytes);

/* Direction of the access by the instruction alone. in word: an instruction of ARM's A64. Arm ARM
 * (DDI 0487), C4.1, "Loads and Stores". */
enum rt_access rt_access_by_a64(uint32_t word);

/* Direction of the access by an instruction of RISC-V. in word: an instruction of RISC-V; of a
 * compressed one the low 16 bits count. The RISC-V Instruction Set Manual, volume I, "RV32/64G
 * Instruction Set Listings" and "RVC". */
enum rt_access rt_access_by_riscv(uint32_t word);

#endif
