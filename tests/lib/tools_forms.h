/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every annotation and PLATFORM_ macro in its documented form, for C and C++ programs and for any
 * GASNETT_USE_* switches (API reference 09, sections 8 and 16). Call forms_test().
 */
#ifndef TMB_TOOLS_FORMS_H
#define TMB_TOOLS_FORMS_H

#include <gasnet_tools.h>
#include <stdarg.h>

#include "check.h"

GASNETT_INLINE(forms_twice) int forms_twice(int x) {
  return 2 * x;
}
GASNETT_INLINE(forms_never_used) int forms_never_used(int x) {
  return x;
}
GASNETT_NEVER_INLINE(forms_thrice, static int forms_thrice(int x)) {
  return 3 * x;
}

GASNETT_BEGIN_EXTERNC
GASNETT_FORMAT_PRINTF(forms_print, 2, 3, extern void forms_print(char *buf, const char *fmt, ...));
GASNETT_FORMAT_PRINTF_FUNCPTR(forms_printer, 2, 3,
                              extern void (*forms_printer)(char *buf, const char *fmt, ...));
extern void forms_give_up(void) GASNETT_NORETURN;
GASNETT_NORETURNP(forms_give_up)
GASNETT_MALLOC extern void *forms_alloc(size_t n) GASNETT_WARN_UNUSED_RESULT;
GASNETT_MALLOCP(forms_alloc)
GASNETT_PURE extern int forms_length(const char *s);
GASNETT_PUREP(forms_length)
extern int forms_square(int x) GASNETT_CONST;
GASNETT_CONSTP(forms_square)
extern int forms_often(int x) GASNETT_HOT;
GASNETT_COLD extern int forms_seldom(int x);
GASNETT_DEPRECATED extern int forms_old(int x);
GASNETT_END_EXTERNC
GASNETT_EXTERNC int forms_single(int x);

void forms_print(char *buf, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  vsnprintf(buf, 32, fmt, args);
  va_end(args);
}
void (*forms_printer)(char *buf, const char *fmt, ...) = forms_print;
void forms_give_up(void) {
  abort();
}
void *forms_alloc(size_t n) {
  return malloc(n);
}
int forms_length(const char *s) {
  return (int)strlen(s);
}
int forms_square(int x) {
  return x * x;
}
int forms_often(int x) {
  return x + 1;
}
int forms_seldom(int x) {
  return x + 2;
}
int forms_single(int x) {
  return x + 3;
}

GASNETT_USED static int forms_kept = 12;
GASNETT_IDENT(forms_ident_text, "$FormsIdent: found $");

static void forms_copy(char *GASNETT_RESTRICT dst, const char *GASNETT_RESTRICT src, size_t n) {
  memcpy(dst, src, n);
}

static int forms_switch(int x) {
  int sum = 0;
  switch (x) {
  case 0: sum += 1; GASNETT_FALLTHROUGH
  case 1: sum += 10; GASNETT_FALLTHROUGH
  default: sum += 100;
  }
  return sum;
}

static int forms_branches(const void *p) {
  int hits = 0;
  if_pf(p) hits += 1;
  if_pt(p) hits += 2;
  else hits += 4;
  if_pf(!p) {
    hits += 8;
  }
  else {
    hits += 16;
  }
  return hits;
}

static int forms_calls;
static int forms_count(int value) {
  forms_calls++;
  return value;
}

static int forms_unreachable(int x) {
  switch (x) {
  case 1: return 10;
  case 2: return 20;
  default: gasnett_unreachable();
  }
  return 0;
}

static void forms_attributes(void) {
  char buf[32], copy[8];
  CHECK_EQ(forms_twice(4), 8);
  CHECK_EQ(forms_thrice(4), 12);
  forms_print(buf, "%d %s", 5, "x");
  CHECK_STR(buf, "5 x");
  forms_printer(buf, "%c", 'z');
  CHECK_STR(buf, "z");
  void *p = forms_alloc(8);
  CHECK(p != NULL);
  free(p);
  CHECK_EQ(forms_length("four"), 4);
  CHECK_EQ(forms_square(5), 25);
  CHECK_EQ(forms_often(1) + forms_seldom(1) + forms_single(1), 9);
  CHECK_EQ(forms_kept, 12);
  CHECK_STR(forms_ident_text, "$FormsIdent: found $");
  forms_copy(copy, "abc", 4);
  CHECK_STR(copy, "abc");
}

static void forms_expressions(void) {
  int x = 0, value;
  const void *volatile some = &x;
  CHECK_EQ(forms_switch(0), 111);
  CHECK_EQ(forms_switch(1), 110);
  CHECK_EQ(forms_switch(2), 100);
  CHECK_EQ(forms_branches(&x), 1 + 2 + 16);
  CHECK_EQ(forms_branches(NULL), 4 + 8);
  CHECK(GASNETT_PREDICT_TRUE(some));
  CHECK(!GASNETT_PREDICT_TRUE((void *)0));
  CHECK(GASNETT_PREDICT_FALSE(17));
  CHECK(!GASNETT_PREDICT_FALSE(0));
  CHECK(gasnett_constant_p(forms_calls) == 0 || forms_calls == 0);
  value = (gasnett_assume(forms_count(1) == 1), 3);
  CHECK_EQ(value, 3);
  CHECK_EQ(forms_calls, 1);
  CHECK_EQ(forms_unreachable(2), 20);
  forms_calls = 0;
#define F forms_count
  value = (GASNETT_UNUSED_ARGS1(F(1)), GASNETT_UNUSED_ARGS2(F(1), F(2)),
           GASNETT_UNUSED_ARGS3(F(1), F(2), F(3)), GASNETT_UNUSED_ARGS4(F(1), F(2), F(3), F(4)),
           GASNETT_UNUSED_ARGS5(F(1), F(2), F(3), F(4), F(5)),
           GASNETT_UNUSED_ARGS6(F(1), F(2), F(3), F(4), F(5), F(6)),
           GASNETT_UNUSED_ARGS7(F(1), F(2), F(3), F(4), F(5), F(6), F(7)),
           GASNETT_UNUSED_ARGS8(F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8)), 9);
#undef F
  CHECK_EQ(value, 9);
  CHECK_EQ(forms_calls, 36);
  CHECK_STR(GASNETT_CURRENT_FUNCTION, "forms_expressions");
  char want[256];
  char *here = gasnett_current_loc;
  snprintf(want, sizeof want, "forms_expressions at %s:%d", __FILE__, __LINE__ - 1);
  CHECK_STR(here, want);
  free(here);
}

static void forms_helpers(void) {
  char buf[64];
  static int sized[MAX(2, 3)];
  CHECK_EQ(sizeof sized / sizeof sized[0], 3);
  CHECK_EQ(MIN(2, 3), 2);
  CHECK_STR(_STRINGIFY(GASNETT_SPEC_VERSION_MINOR), "20");
  int _CONCAT(jo, ined) = 4;
  CHECK_EQ(joined, 4);
  snprintf(buf, sizeof buf, "%" PRIuSZ " %" PRIdSZ " %" PRIxSZ " %" PRIuPTR, (size_t)7, (size_t)8,
           (size_t)255, (uintptr_t)9);
  CHECK_STR(buf, "7 8 ff 9");
  snprintf(buf, sizeof buf, "%" PRIiSZ " %" PRIoSZ " %" PRIXSZ, (size_t)7, (size_t)8, (size_t)255);
  CHECK_STR(buf, "7 10 FF");
  CHECK_EQ(SIZEOF_INT, sizeof(int));
  CHECK_EQ(SIZEOF_LONG, sizeof(long));
  CHECK_EQ(SIZEOF_VOID_P, sizeof(void *));
  CHECK_EQ(HAVE_PTHREAD_H + HAVE_MMAP + HAVE_PTHREAD_SETCONCURRENCY, 3);
}

#if PLATFORM_OS_LINUX + PLATFORM_OS_DARWIN + PLATFORM_OS_FREEBSD + PLATFORM_OS_NETBSD + \
        PLATFORM_OS_OPENBSD + PLATFORM_OS_SOLARIS + PLATFORM_OS_CYGWIN !=               \
    1
# error "exactly one operating system"
#endif
#if PLATFORM_ARCH_X86_64 + PLATFORM_ARCH_X86 + PLATFORM_ARCH_AARCH64 + PLATFORM_ARCH_ARM +       \
        PLATFORM_ARCH_POWERPC + PLATFORM_ARCH_RISCV + PLATFORM_ARCH_MIPS + PLATFORM_ARCH_SPARC + \
        PLATFORM_ARCH_S390 !=                                                                    \
    1
# error "exactly one processor"
#endif
#if PLATFORM_COMPILER_GNU + PLATFORM_COMPILER_CLANG + PLATFORM_COMPILER_INTEL +    \
        PLATFORM_COMPILER_NVHPC + PLATFORM_COMPILER_PGI + PLATFORM_COMPILER_CRAY + \
        PLATFORM_COMPILER_XLC !=                                                   \
    1
# error "exactly one compiler"
#endif
#if PLATFORM_COMPILER_GNU_C + PLATFORM_COMPILER_CLANG_C + PLATFORM_COMPILER_GNU_CXX + \
        PLATFORM_COMPILER_CLANG_CXX !=                                                \
    1
# error "exactly one language of the compiler"
#endif
#if PLATFORM_ARCH_32 + PLATFORM_ARCH_64 != 1 || \
    PLATFORM_ARCH_BIG_ENDIAN + PLATFORM_ARCH_LITTLE_ENDIAN != 1
# error "one word size, one byte order"
#endif
#if !PLATFORM_COMPILER_VERSION_GE(4, 0, 0) || !PLATFORM_COMPILER_VERSION_GT(3, 255, 255) || \
    PLATFORM_COMPILER_VERSION_LT(4, 0, 0) || PLATFORM_COMPILER_VERSION_LE(4, 0, 0) ||       \
    PLATFORM_COMPILER_VERSION_EQ(1, 2, 3) ||                                                \
    PLATFORM_COMPILER_VERSION < PLATFORM_COMPILER_VERSION_INT(4, 0, 0)
# error "the compiler's version is usable in #if"
#endif
#if PLATFORM_HEADER_VERSION < 24 || !PLATFORM_COMPILER_ID || !PLATFORM_COMPILER_FAMILYID
# error "identities are positive"
#endif
#if defined(PLATFORM_ARCH_ALPHA) || defined(PLATFORM_ARCH_CRAYX1) ||            \
    defined(PLATFORM_ARCH_CRAYT3E) || defined(PLATFORM_COMPILER_OPEN64) ||      \
    defined(PLATFORM_COMPILER_PATHSCALE) || defined(PLATFORM_COMPILER_SUN_C) || \
    defined(PLATFORM_COMPILER_TINY) || defined(PLATFORM_COMPILER_PGI_CXX)
# error "not our platform"
#endif

static void forms_platform(void) {
  static const char os[] = _STRINGIFY(PLATFORM_OS_FAMILYNAME);
  static const char arch[] = _STRINGIFY(PLATFORM_ARCH_FAMILYNAME);
  static const char sub[] = _STRINGIFY(PLATFORM_OS_SUBFAMILYNAME);
  static const char compiler[] = _STRINGIFY(PLATFORM_COMPILER_FAMILYNAME);
  CHECK(!strstr(os, "PLATFORM") && !strstr(arch, "PLATFORM") && !strstr(sub, "PLATFORM"));
#ifdef __linux__
  CHECK_STR(os, "LINUX");
#endif
#ifdef __x86_64__
  CHECK_STR(arch, "X86_64");
#endif
#ifdef __clang__
  CHECK_STR(compiler, "CLANG");
#else
  CHECK_STR(compiler, "GNU");
#endif
  CHECK(strstr(PLATFORM_COMPILER_IDSTR, compiler) != NULL);
  CHECK(strstr(PLATFORM_COMPILER_IDSTR, PLATFORM_COMPILER_VERSION_STR) != NULL);
  CHECK(strchr(PLATFORM_COMPILER_VERSION_STR, '.') != NULL);
#ifdef __cplusplus
  CHECK_EQ(PLATFORM_COMPILER_CXX_LANGLVL, __cplusplus);
#else
  CHECK_EQ(PLATFORM_COMPILER_C_LANGLVL, __STDC_VERSION__);
#endif
}

static void forms_test(void) {
  forms_attributes();
  forms_expressions();
  forms_helpers();
  forms_platform();
}

#endif
