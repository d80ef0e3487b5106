# SPDX-License-Identifier: BSD-3-Clause
#
# Loads and stores that need no call of the checker, for x86-64.
#
# The assembler reads this file before the compiler's output, which it changes: in place of a call
# that the compiler puts before a load or store stands a look at the word of its 8 bytes, or the
# words of its 16, and then the call. Most accesses find that these were accessed as a whole in this
# epoch (check/local.h), and jump over the call. The first access of an epoch to whole words sets
# them, once the checker knows the line: then a variable beside the code has the word of the line.
# Where the compiler writes a call in another form, it is left. Invariants: registers that change are
# those that a call may change; the call has the place and the line that it had; access.c compares
# the numbers.

  .ifndef .Ltombolo_check_inline
  .set .Ltombolo_check_inline, 1

# Flags of an index's part and group, seen from the words.
  .set .Ltombolo_check_part, -0x8000000
  .set .Ltombolo_check_group, -0x8040000

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

# Index of the word in rax, the kind's words in rcx. in words: their offset in struct chk_near; out:
# where to go with memory outside of the segment.
  .macro tombolo_check_find words, out
  .hidden tombolo_check_near
  movq %rdi, %rax
  subq tombolo_check_near(%rip), %rax
  cmpq tombolo_check_near+8(%rip), %rax
  jae \out
  shrq $3, %rax
  movq tombolo_check_near+\words(%rip), %rcx
  .endm

# Memory outside of the segment: it is watched while transfers use buffers there.
  .macro tombolo_check_outside call
  cmpb $0, tombolo_check_near+16(%rip)
  jne \call
  .endm

# Flag the part of the words that were set, and its group.
  .macro tombolo_check_flag
  shrq $6, %rax
  movb $1, .Ltombolo_check_part(%rcx,%rax)
  shrq $9, %rax
  movb $1, .Ltombolo_check_group(%rcx,%rax)
  .endm

# The word of this line, 0 until the checker knows it.
  .macro tombolo_check_line label
  .pushsection .data.tombolo_check, "aw", @progbits
  .balign 2
\label:
  .short 0
  .popsection
  .endm

# 4 bytes: the call settles the first access, too.
  .macro tombolo_check_half target, words
  tombolo_check_find \words, .Ltombolo_check_out\@
  cmpw $0, (%rcx,%rax,2)
  js .Ltombolo_check\@
.Ltombolo_check_call\@:
  tombolo_check_call \target
  jmp .Ltombolo_check\@
.Ltombolo_check_out\@:
  tombolo_check_outside .Ltombolo_check_call\@
.Ltombolo_check\@:
  .endm

  .macro tombolo_check_one target, words
  tombolo_check_find \words, .Ltombolo_check_out\@
  cmpw $0, (%rcx,%rax,2)
  js .Ltombolo_check\@
  je .Ltombolo_check_first\@
.Ltombolo_check_call\@:
  leaq .Ltombolo_check_line\@(%rip), %rsi
  tombolo_check_call \target
  jmp .Ltombolo_check\@
.Ltombolo_check_first\@:
  movzwl .Ltombolo_check_line\@(%rip), %edx
  testl %edx, %edx
  jz .Ltombolo_check_call\@
  movw %dx, (%rcx,%rax,2)
  tombolo_check_flag
  jmp .Ltombolo_check\@
.Ltombolo_check_out\@:
  tombolo_check_outside .Ltombolo_check_call\@
.Ltombolo_check\@:
  tombolo_check_line .Ltombolo_check_line\@
  .endm

# Two words that are of one part, else the call sets them.
  .macro tombolo_check_two target, words
  tombolo_check_find \words, .Ltombolo_check_out\@
  movl (%rcx,%rax,2), %edx
  notl %edx
  testl $0x80008000, %edx
  jz .Ltombolo_check\@
  cmpl $-1, %edx
  je .Ltombolo_check_first\@
.Ltombolo_check_call\@:
  leaq .Ltombolo_check_line\@(%rip), %rsi
  tombolo_check_call \target
  jmp .Ltombolo_check\@
.Ltombolo_check_first\@:
  leal 1(%rax), %esi
  testl $63, %esi
  jz .Ltombolo_check_call\@
  movzwl .Ltombolo_check_line\@(%rip), %edx
  imull $0x10001, %edx, %edx
  testl %edx, %edx
  jz .Ltombolo_check_call\@
  movl %edx, (%rcx,%rax,2)
  tombolo_check_flag
  jmp .Ltombolo_check\@
.Ltombolo_check_out\@:
  tombolo_check_outside .Ltombolo_check_call\@
.Ltombolo_check\@:
  tombolo_check_line .Ltombolo_check_line\@
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
  tombolo_check_half __tsan_read4, 24
  .else
  .ifc \target,__tsan_read4
  tombolo_check_half __tsan_read4, 24
  .else
  .ifc \target,__tsan_write4@PLT
  tombolo_check_half __tsan_write4, 32
  .else
  .ifc \target,__tsan_write4
  tombolo_check_half __tsan_write4, 32
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
