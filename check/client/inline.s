# SPDX-License-Identifier: BSD-3-Clause
#
# Loads and stores that need no call of the checker, for x86-64.
#
# The assembler reads this file before the compiler's output, which it changes. In place of a call
# that the compiler puts before a load or store stands a comparison: an access that follows the one
# before of its line in memory makes the run of the line longer (check/local.h). The end of a run is
# a variable of each thread. Behind shared.s it is not: with several threads each looks at the end
# in its copy of the run. Other accesses go behind the function, where a line that has no runs looks
# at the word of its 8 bytes, or the words of its 16: most find that these were accessed as a whole
# in this epoch. The first access of an epoch to whole words sets them, once the checker knows the
# line. The rest calls. Where the compiler writes a call in another form, it is left. Invariants:
# registers that change are those that a call may change; the checker hears of the place that the
# call had; access.c compares the numbers.

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

# Flag the part of the words that were set, and its group.
  .macro tombolo_check_flag
  shrq $6, %rax
  movb $1, .Ltombolo_check_part(%rcx,%rax)
  shrq $9, %rax
  movb $1, .Ltombolo_check_group(%rcx,%rax)
  .endm

# An access. in stores: 0 or 1; looks: 0: it may lie at any place, so a look does not settle it.
  .macro tombolo_check_one bytes, stores, looks
  .hidden tombolo_check_near
  .hidden tombolo_check_copy
  .ifdef .Ltombolo_check_shared
  cmpq %rdi, .Ltombolo_check_run\@(%rip)
  jne .Ltombolo_check_other\@
  addq $\bytes, .Ltombolo_check_run\@(%rip)
  .else
  cmpq %rdi, %fs:.Ltombolo_check_next\@@tpoff
  jne .Ltombolo_check_other\@
  addq $\bytes, %fs:.Ltombolo_check_next\@@tpoff
  .pushsection .tbss.tombolo_check, "awT", @nobits
  .balign 8
.Ltombolo_check_next\@:
  .zero 8
  .popsection
  .endif
.Ltombolo_check\@:
  .pushsection tombolo_check_runs, "aw", @progbits
  .balign 8
.Ltombolo_check_run\@:
  .quad 0, 0, 0
  .short 0
  .byte 16, \bytes + 128 * \stores
  .long 0
  .quad 0
  .popsection
  .subsection 1
.Ltombolo_check_other\@:
  movq %rdi, %rax
  subq tombolo_check_near(%rip), %rax
  cmpq tombolo_check_near+8(%rip), %rax
  jb .Ltombolo_check_own\@
  cmpb $0, tombolo_check_near+16(%rip) # other memory is watched while transfers use it
  jne .Ltombolo_check_call\@
  cmpb $0, .Ltombolo_check_run\@+26(%rip)
  je .Ltombolo_check\@
.Ltombolo_check_call\@:
  movq tombolo_check_copy@gottpoff(%rip), %rcx # of the thread, if there are several
  leaq .Ltombolo_check_run\@(%rip), %rsi
  addq %fs:(%rcx), %rsi
  .ifdef .Ltombolo_check_shared
  cmpq %rdi, (%rsi)
  jne .Ltombolo_check_settle\@
  addq $\bytes, (%rsi)
  jmp .Ltombolo_check\@
.Ltombolo_check_settle\@:
  movq %rsi, %r10
  .else
  movq %fs:0, %r10
  leaq .Ltombolo_check_next\@@tpoff(%r10), %r10
  .endif
  leaq .Ltombolo_check\@(%rip), %rdx
  .if \looks && \bytes == 8
  tombolo_check_call tombolo_check_settle_\stores
  .else
  tombolo_check_call tombolo_check_settle
  .endif
  jmp .Ltombolo_check\@
.Ltombolo_check_own\@:
  .if \looks
  cmpb $0, .Ltombolo_check_run\@+26(%rip)
  jne .Ltombolo_check_call\@
  shrq $3, %rax
  movq tombolo_check_near+24+8*\stores(%rip), %rcx
  .if \bytes == 16
  movl (%rcx,%rax,2), %edx
  notl %edx
  testl $0x80008000, %edx
  jz .Ltombolo_check\@
  cmpl $-1, %edx
  jne .Ltombolo_check_call\@
  leal 1(%rax), %esi
  testl $63, %esi # two words that are of two parts
  jz .Ltombolo_check_call\@
  movzwl .Ltombolo_check_run\@+24(%rip), %edx
  imull $0x10001, %edx, %edx
  testl %edx, %edx
  jz .Ltombolo_check_call\@
  movl %edx, (%rcx,%rax,2)
  tombolo_check_flag
  jmp .Ltombolo_check\@
  .else
  cmpw $0, (%rcx,%rax,2)
  js .Ltombolo_check\@
  .if \bytes == 8
  jne .Ltombolo_check_call\@
  movzwl .Ltombolo_check_run\@+24(%rip), %edx
  testl %edx, %edx
  jz .Ltombolo_check_call\@
  movw %dx, (%rcx,%rax,2)
  tombolo_check_flag
  jmp .Ltombolo_check\@
  .else
  jmp .Ltombolo_check_call\@
  .endif
  .endif
  .else
  jmp .Ltombolo_check_call\@
  .endif
  .subsection 0
  .endm

# A call of the compiler's output, by name, as each compiler writes it.
  .macro tombolo_check_access target:vararg
  .set .Ltombolo_check_done, 0
  .irp name, 1, 2, 4, 8, 16
  tombolo_check_try __tsan_read\name, \name, 0, 1, \target
  tombolo_check_try __tsan_write\name, \name, 1, 1, \target
  tombolo_check_try __tsan_unaligned_read\name, \name, 0, 0, \target
  tombolo_check_try __tsan_unaligned_write\name, \name, 1, 0, \target
  .endr
  .if !.Ltombolo_check_done
  tombolo_check_call \target
  .endif
  .endm

  .macro tombolo_check_try name, bytes, stores, looks, target:vararg
  .ifc \target,\name
  tombolo_check_one \bytes, \stores, \looks
  .set .Ltombolo_check_done, 1
  .endif
  .ifc \target,\name\()@PLT
  tombolo_check_one \bytes, \stores, \looks
  .set .Ltombolo_check_done, 1
  .endif
  .endm

  tombolo_check_define

# As clang writes it.
  .macro callq target:vararg
  call \target
  .endm

  .endif
