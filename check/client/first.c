/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first access of an epoch to one or two whole words, for x86-64.
 *
 * Owns nothing. Called by inline.s, which has looked at the words: rax has the index of the first
 * one, rcx the kind's words, rdi the address. It does what chk_sees and chk_sees_two of client.h do
 * for 8 and 16 bytes. Calls: the compiler's call (access.c), where the line is not known, a word is
 * not empty, or two words are of two pages. Invariants: offsets are those of struct chk_seen, seen
 * from its words; rdi is unchanged for that call.
 */
#include "check/local.h"

#ifdef __x86_64__

# define TO_PAGE  -0x1000000
# define TO_GROUP -0x1010000
# define TO_LINE  -0x1022000
# define IS(field, offset)                                                                         \
  _Static_assert((long)offsetof(struct chk_seen, field) - (long)offsetof(struct chk_seen, word) == \
                     (offset),                                                                     \
                 #field)
IS(page, TO_PAGE);
IS(group, TO_GROUP);
IS(line, TO_LINE);
_Static_assert(CHK_LINES == 0x2000 && CHK_WHOLE == 0x8000, "these are below");
_Static_assert(CHK_WORDS_OF_PAGE == 0x200 && CHK_PAGES_OF_GROUP == 0x100, "as shifts, below");

# define TEXT_OF(x) # x
# define TEXT(x)    TEXT_OF(x)
# define FUNCTION(name, body)                                                                      \
  __asm__(".text\n.p2align 4\n.globl " name "\n.hidden " name "\n.type " name ", @function\n" name \
          ":\n.cfi_startproc\n" body "\n.cfi_endproc\n.size " name ", .-" name)

/* Go on with the compiler's call, unless this line has its place: its index in edx. */
# define LINE(call)                             \
  "movq (%rsp), %rsi\n"                         \
  "movl %esi, %edx\n"                           \
  "shrl $2, %edx\n"                             \
  "andl $0x1fff, %edx\n"                        \
  "cmpq %rsi, " TEXT(TO_LINE) "(%rcx,%rdx,8)\n" \
                              "jne " call "\n"

/* Flag the page and its group, and return. */
# define FLAG                                                          \
  "movq %rax, %rdx\n"                                                  \
  "shrq $9, %rax\n"                                                    \
  "movb $1, " TEXT(TO_PAGE) "(%rcx,%rax)\n"                            \
                            "shrq $17, %rdx\n"                         \
                            "movb $1, " TEXT(TO_GROUP) "(%rcx,%rdx)\n" \
                                                       "ret"

# define ONE(name, call)                                           \
  FUNCTION(name, "cmpw $0, (%rcx,%rax,2)\n"                        \
                 "jne " call "\n" LINE(call) "orl $0x8000, %edx\n" \
                                             "movw %dx, (%rcx,%rax,2)\n" FLAG)

# define TWO(name, call)                                            \
  FUNCTION(name, "cmpl $0, (%rcx,%rax,2)\n"                         \
                 "jne " call "\n" LINE(call) "leal 1(%rax), %esi\n" \
                                             "testl $0x1ff, %esi\n" \
                                             "jz " call "\n"        \
                                             "orl $0x8000, %edx\n"  \
                                             "movl %edx, %esi\n"    \
                                             "shll $16, %esi\n"     \
                                             "orl %esi, %edx\n"     \
                                             "movl %edx, (%rcx,%rax,2)\n" FLAG)

ONE("tombolo_check_load8", "__tsan_read8");
ONE("tombolo_check_store8", "__tsan_write8");
TWO("tombolo_check_load16", "__tsan_read16");
TWO("tombolo_check_store16", "__tsan_write16");

#endif
