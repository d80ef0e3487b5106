# SPDX-License-Identifier: BSD-3-Clause
#
# Loads and stores that need no call of the checker, for x86-64.
#
# The assembler reads this file before the compiler's output, which it changes: in place of a call
# that the compiler puts before a load or store stands a look at the word of its 8 bytes, or the
# words of its 16, and then the call. Most accesses find that these were accessed as a whole in this
# epoch (check/local.h), and jump over the call. All memory outside of the segment shares two words.
# Where the compiler writes a call in another form, it is left. Invariants: registers that change are
# those that a call may change; the call has the place and the line that it had.

  .ifndef .Ltombolo_check_inline
  .set .Ltombolo_check_inline, 1

# A call as the processor has it: for this line there is no macro of this name.
  .macro tombolo_check_call target:vararg
  .purgem call
  call \target
  tombolo_check_define
  .endm

  .macro tombolo_check_define
  .macro call target:vararg
  tombolo_check_access \target
  .endm
  .endm

# Index of the word in rax, the kind's words in rcx. in words: their offset in struct chk_near.
  .macro tombolo_check_find words
  .hidden tombolo_check_near
  movq %rdi, %rax
  subq tombolo_check_near(%rip), %rax
  cmpq tombolo_check_near+8(%rip), %rax
  cmovaeq tombolo_check_near+16(%rip), %rax
  shrq $3, %rax
  movq tombolo_check_near+\words(%rip), %rcx
  .endm

  .macro tombolo_check_one target, words
  tombolo_check_find \words
  cmpw $0, (%rcx,%rax,2)
  js .Ltombolo_check\@
  tombolo_check_call \target
.Ltombolo_check\@:
  .endm

  .macro tombolo_check_two target, words
  tombolo_check_find \words
  movl (%rcx,%rax,2), %edx
  notl %edx
  testl $0x80008000, %edx
  jz .Ltombolo_check\@
  tombolo_check_call \target
.Ltombolo_check\@:
  .endm

# A call of the compiler's output.
  .macro tombolo_check_access target:vararg
  .ifc \target,__tsan_read8@PLT
  tombolo_check_one tombolo_check_load8, 24
  .else
  .ifc \target,__tsan_read8
  tombolo_check_one tombolo_check_load8, 24
  .else
  .ifc \target,__tsan_write8@PLT
  tombolo_check_one tombolo_check_store8, 32
  .else
  .ifc \target,__tsan_write8
  tombolo_check_one tombolo_check_store8, 32
  .else
  .ifc \target,__tsan_read4@PLT
  tombolo_check_one __tsan_read4, 24
  .else
  .ifc \target,__tsan_read4
  tombolo_check_one __tsan_read4, 24
  .else
  .ifc \target,__tsan_write4@PLT
  tombolo_check_one __tsan_write4, 32
  .else
  .ifc \target,__tsan_write4
  tombolo_check_one __tsan_write4, 32
  .else
  .ifc \target,__tsan_read16@PLT
  tombolo_check_two tombolo_check_load16, 24
  .else
  .ifc \target,__tsan_read16
  tombolo_check_two tombolo_check_load16, 24
  .else
  .ifc \target,__tsan_write16@PLT
  tombolo_check_two tombolo_check_store16, 32
  .else
  .ifc \target,__tsan_write16
  tombolo_check_two tombolo_check_store16, 32
  .else
  tombolo_check_call \target
  .endif
  .endif
  .endif
  .endif
  .endif
  .endif
  .endif
  .endif
  .endif
  .endif
  .endif
  .endif
  .endm

  tombolo_check_define

# As clang writes it.
  .macro callq target:vararg
  call \target
  .endm

  .endif
