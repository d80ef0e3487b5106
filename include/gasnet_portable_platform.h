/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gasnet_portable_platform.h: PLATFORM_*, facts of the preprocessor about system, processor and
 * compiler.
 *
 * Owns the PLATFORM_ names of API reference 09, section 16. Included by gasnetex.h and
 * gasnet_tools.h; may also be included alone, in any language that has this preprocessor. Includes
 * nothing. Convention: a detection macro is 1 or undefined; ..._FAMILYNAME macros are bare tokens;
 * ids are integers that never change meaning; PLATFORM_COMPILER_VERSION grows with the compiler's
 * version and is usable in #if. Other packages (mpi.h of Open MPI is one) carry a header that
 * defines some of the same names with other spellings of the same values, so those that have a
 * value are defined anew here.
 */
#ifndef GEXX_PLATFORM_H
#define GEXX_PLATFORM_H
/* Such a header compares this name with the version it needs (mpi.h of Open MPI 5). */
#undef _PORTABLE_PLATFORM_H
#define _PORTABLE_PLATFORM_H PLATFORM_HEADER_VERSION

#undef PLATFORM_HEADER_VERSION
#undef PLATFORM_STRINGIFY
#undef PLATFORM_OS_FAMILYNAME
#undef PLATFORM_OS_SUBFAMILYNAME
#undef PLATFORM_ARCH_FAMILYNAME
#undef PLATFORM_COMPILER_FAMILYNAME
#undef PLATFORM_COMPILER_FAMILYID
#undef PLATFORM_COMPILER_ID
#undef PLATFORM_COMPILER_IDSTR
#undef PLATFORM_COMPILER_VERSION
#undef PLATFORM_COMPILER_VERSION_STR
#undef PLATFORM_COMPILER_VERSION_INT
#undef PLATFORM_COMPILER_VERSION_GT
#undef PLATFORM_COMPILER_VERSION_GE
#undef PLATFORM_COMPILER_VERSION_EQ
#undef PLATFORM_COMPILER_VERSION_LE
#undef PLATFORM_COMPILER_VERSION_LT
#undef PLATFORM_COMPILER_C_LANGLVL
#undef PLATFORM_COMPILER_CXX_LANGLVL

/* Page platform: system, processor and compiler, as macros.
 * A macro of detection is 1 or not defined. FAMILYNAME macros are words, ids are integers that
 * keep their meaning.
 * [in] x: text.
 * [in] maj, min, pat: major version, minor version and patch.
 * Names: PLATFORM_HEADER_VERSION: version of this header;
 * PLATFORM_STRINGIFY: the argument, expanded, as a string literal;
 * PLATFORM_OS_FAMILYNAME: the system as a word;
 * PLATFORM_OS_SUBFAMILYNAME: WSL, CNL or NONE;
 * PLATFORM_OS_SUBFAMILY_WSL, PLATFORM_OS_SUBFAMILY_CNL: the build may define it, no compiler does;
 * PLATFORM_OS_*: the program is compiled for this system;
 * PLATFORM_ARCH_FAMILYNAME: the processor as a word;
 * PLATFORM_ARCH_64: pointers have 64 bits;
 * PLATFORM_ARCH_32: pointers have 32 bits;
 * PLATFORM_ARCH_BIG_ENDIAN: the most significant byte comes first;
 * PLATFORM_ARCH_LITTLE_ENDIAN: the least significant byte comes first;
 * PLATFORM_ARCH_*: the program is compiled for this processor;
 * PLATFORM_COMPILER_FAMILYNAME: the compiler as a word;
 * PLATFORM_COMPILER_FAMILYID: the compiler as a number;
 * PLATFORM_COMPILER_ID: compiler and language as a number;
 * PLATFORM_COMPILER_IDSTR: compiler, version and language as a string;
 * PLATFORM_COMPILER_VERSION_INT: a version as a number that PLATFORM_COMPILER_VERSION can be
 * compared with;
 * PLATFORM_COMPILER_VERSION: version of the compiler as a number;
 * PLATFORM_COMPILER_VERSION_STR: version of the compiler as a string;
 * PLATFORM_COMPILER_VERSION_*: whether the version of the compiler is greater, at least, equal, at
 * most or less;
 * PLATFORM_COMPILER_*_LANGLVL: standard of the language, as __STDC_VERSION__ or __cplusplus;
 * PLATFORM_COMPILER_*: the program is compiled by this compiler, _C in C, _CXX in C++
 * Completion: macros; nothing runs.
 * Threads: any thread.
 * Errors: none.
 * Cost: none; the values are constants.
 * Example: examples/tools.c PLATFORM_ARCH_LITTLE_ENDIAN
 * See: gasnett_config */

#define PLATFORM_HEADER_VERSION 24

/* The argument, expanded, as a string literal. */
#define GEXX_PLATFORM_STR_(x)   #x
#define GEXX_PLATFORM_STR(x)    GEXX_PLATFORM_STR_(x)
#define PLATFORM_STRINGIFY(x)   GEXX_PLATFORM_STR_(x)

/* --- operating system --- */
#if defined(__CYGWIN__)
# define PLATFORM_OS_CYGWIN     1
# define PLATFORM_OS_FAMILYNAME CYGWIN
#elif defined(__linux__) || defined(__linux) || defined(__gnu_linux__)
# define PLATFORM_OS_LINUX      1
# define PLATFORM_OS_FAMILYNAME LINUX
#elif defined(__APPLE__) && defined(__MACH__)
# define PLATFORM_OS_DARWIN     1
# define PLATFORM_OS_FAMILYNAME DARWIN
#elif defined(__FreeBSD__)
# define PLATFORM_OS_FREEBSD    1
# define PLATFORM_OS_FAMILYNAME FREEBSD
#elif defined(__NetBSD__)
# define PLATFORM_OS_NETBSD     1
# define PLATFORM_OS_FAMILYNAME NETBSD
#elif defined(__OpenBSD__)
# define PLATFORM_OS_OPENBSD    1
# define PLATFORM_OS_FAMILYNAME OPENBSD
#elif defined(__sun) && (defined(__SVR4) || defined(__svr4__))
# define PLATFORM_OS_SOLARIS    1
# define PLATFORM_OS_FAMILYNAME SOLARIS
#else
# define PLATFORM_OS_UNKNOWN    1
# define PLATFORM_OS_FAMILYNAME UNKNOWN
#endif

/* No compiler announces a subfamily; a build may pass -DPLATFORM_OS_SUBFAMILY_WSL=1 or ..._CNL=1.
 */
#if defined(PLATFORM_OS_SUBFAMILY_WSL)
# define PLATFORM_OS_SUBFAMILYNAME WSL
#elif defined(PLATFORM_OS_SUBFAMILY_CNL) || defined(__CRAYXT_COMPUTE_LINUX_TARGET)
# ifndef PLATFORM_OS_SUBFAMILY_CNL
#  define PLATFORM_OS_SUBFAMILY_CNL 1
# endif
# define PLATFORM_OS_SUBFAMILYNAME CNL
#else
# define PLATFORM_OS_SUBFAMILYNAME NONE
#endif

/* --- processor --- */
#if defined(__x86_64__) || defined(__x86_64) || defined(__amd64__)
# define PLATFORM_ARCH_X86_64     1
# define PLATFORM_ARCH_FAMILYNAME X86_64
#elif defined(__i386__) || defined(__i386)
# define PLATFORM_ARCH_X86        1
# define PLATFORM_ARCH_FAMILYNAME X86
#elif defined(__aarch64__)
# define PLATFORM_ARCH_AARCH64    1
# define PLATFORM_ARCH_FAMILYNAME AARCH64
#elif defined(__arm__)
# define PLATFORM_ARCH_ARM        1
# define PLATFORM_ARCH_FAMILYNAME ARM
#elif defined(__powerpc__) || defined(__powerpc64__) || defined(__ppc__) || defined(_ARCH_PPC)
# define PLATFORM_ARCH_POWERPC    1
# define PLATFORM_ARCH_FAMILYNAME POWERPC
#elif defined(__riscv)
# define PLATFORM_ARCH_RISCV      1
# define PLATFORM_ARCH_FAMILYNAME RISCV
#elif defined(__mips__) || defined(__mips)
# define PLATFORM_ARCH_MIPS       1
# define PLATFORM_ARCH_FAMILYNAME MIPS
#elif defined(__sparc__) || defined(__sparc)
# define PLATFORM_ARCH_SPARC      1
# define PLATFORM_ARCH_FAMILYNAME SPARC
#elif defined(__s390__) || defined(__s390x__)
# define PLATFORM_ARCH_S390       1
# define PLATFORM_ARCH_FAMILYNAME S390
#else
# define PLATFORM_ARCH_UNKNOWN    1
# define PLATFORM_ARCH_FAMILYNAME UNKNOWN
#endif

#if defined(__SIZEOF_POINTER__) ? (__SIZEOF_POINTER__ == 8) : (defined(__LP64__) || defined(_LP64))
# define PLATFORM_ARCH_64 1
#else
# define PLATFORM_ARCH_32 1
#endif

#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__) && \
    __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
# define PLATFORM_ARCH_BIG_ENDIAN 1
#else
# define PLATFORM_ARCH_LITTLE_ENDIAN 1
#endif

/* --- compiler: the ones that imitate others come first --- */
#define PLATFORM_COMPILER_VERSION_INT(maj, min, pat) (((maj) << 16) | ((min) << 8) | (pat))

#define GEXX_PLATFORM_DOTTED(maj, min, pat) \
 GEXX_PLATFORM_STR(maj) "." GEXX_PLATFORM_STR(min) "." GEXX_PLATFORM_STR(pat)

#if defined(__NVCOMPILER)
# define PLATFORM_COMPILER_NVHPC      1
# define PLATFORM_COMPILER_FAMILYNAME NVHPC
# define PLATFORM_COMPILER_FAMILYID   20
# define PLATFORM_COMPILER_VERSION                                          \
  PLATFORM_COMPILER_VERSION_INT(__NVCOMPILER_MAJOR__, __NVCOMPILER_MINOR__, \
                                __NVCOMPILER_PATCHLEVEL__)
# define PLATFORM_COMPILER_VERSION_STR \
  GEXX_PLATFORM_DOTTED(__NVCOMPILER_MAJOR__, __NVCOMPILER_MINOR__, __NVCOMPILER_PATCHLEVEL__)
#elif defined(__PGI)
# define PLATFORM_COMPILER_PGI        1
# define PLATFORM_COMPILER_FAMILYNAME PGI
# define PLATFORM_COMPILER_FAMILYID   4
# define PLATFORM_COMPILER_VERSION \
  PLATFORM_COMPILER_VERSION_INT(__PGIC__, __PGIC_MINOR__, __PGIC_PATCHLEVEL__)
# define PLATFORM_COMPILER_VERSION_STR \
  GEXX_PLATFORM_DOTTED(__PGIC__, __PGIC_MINOR__, __PGIC_PATCHLEVEL__)
#elif defined(__INTEL_COMPILER) || defined(__INTEL_LLVM_COMPILER)
# define PLATFORM_COMPILER_INTEL      1
# define PLATFORM_COMPILER_FAMILYNAME INTEL
# define PLATFORM_COMPILER_FAMILYID   2
# if defined(__INTEL_LLVM_COMPILER)
#  define PLATFORM_COMPILER_VERSION     __INTEL_LLVM_COMPILER
#  define PLATFORM_COMPILER_VERSION_STR GEXX_PLATFORM_STR(__INTEL_LLVM_COMPILER)
# else
#  define PLATFORM_COMPILER_VERSION     __INTEL_COMPILER
#  define PLATFORM_COMPILER_VERSION_STR GEXX_PLATFORM_STR(__INTEL_COMPILER)
# endif
#elif defined(_CRAYC) || defined(__cray__)
# define PLATFORM_COMPILER_CRAY       1
# define PLATFORM_COMPILER_FAMILYNAME CRAY
# define PLATFORM_COMPILER_FAMILYID   7
# if defined(__cray_major__)
#  define PLATFORM_COMPILER_VERSION \
   PLATFORM_COMPILER_VERSION_INT(__cray_major__, __cray_minor__, __cray_patchlevel__)
#  define PLATFORM_COMPILER_VERSION_STR \
   GEXX_PLATFORM_DOTTED(__cray_major__, __cray_minor__, __cray_patchlevel__)
# else
#  define PLATFORM_COMPILER_VERSION     ((_RELEASE_MAJOR << 16) | (_RELEASE_MINOR << 8))
#  define PLATFORM_COMPILER_VERSION_STR GEXX_PLATFORM_DOTTED(_RELEASE_MAJOR, _RELEASE_MINOR, 0)
# endif
#elif defined(__ibmxl__) || defined(__xlC__)
# define PLATFORM_COMPILER_XLC        1
# define PLATFORM_COMPILER_FAMILYNAME XLC
# define PLATFORM_COMPILER_FAMILYID   5
# if defined(__ibmxl_version__)
#  define PLATFORM_COMPILER_VERSION \
   PLATFORM_COMPILER_VERSION_INT(__ibmxl_version__, __ibmxl_release__, __ibmxl_modification__)
#  define PLATFORM_COMPILER_VERSION_STR \
   GEXX_PLATFORM_DOTTED(__ibmxl_version__, __ibmxl_release__, __ibmxl_modification__)
# else
#  define PLATFORM_COMPILER_VERSION     __xlC__
#  define PLATFORM_COMPILER_VERSION_STR GEXX_PLATFORM_STR(__xlC__)
# endif
#elif defined(__clang__)
# define PLATFORM_COMPILER_CLANG      1
# define PLATFORM_COMPILER_FAMILYNAME CLANG
# define PLATFORM_COMPILER_FAMILYID   19
# define PLATFORM_COMPILER_VERSION \
  PLATFORM_COMPILER_VERSION_INT(__clang_major__, __clang_minor__, __clang_patchlevel__)
# define PLATFORM_COMPILER_VERSION_STR \
  GEXX_PLATFORM_DOTTED(__clang_major__, __clang_minor__, __clang_patchlevel__)
#elif defined(__GNUC__)
# define PLATFORM_COMPILER_GNU        1
# define PLATFORM_COMPILER_FAMILYNAME GNU
# define PLATFORM_COMPILER_FAMILYID   1
# define PLATFORM_COMPILER_VERSION \
  PLATFORM_COMPILER_VERSION_INT(__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__)
# define PLATFORM_COMPILER_VERSION_STR \
  GEXX_PLATFORM_DOTTED(__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__)
#else
# define PLATFORM_COMPILER_UNKNOWN     1
# define PLATFORM_COMPILER_FAMILYNAME  UNKNOWN
# define PLATFORM_COMPILER_FAMILYID    10000
# define PLATFORM_COMPILER_VERSION     0
# define PLATFORM_COMPILER_VERSION_STR "unknown"
#endif

/* ..._C and ..._CXX twins, the id (family id, plus 10000 for C++) and the printable identity. */
#if defined(__cplusplus)
# define PLATFORM_COMPILER_ID (PLATFORM_COMPILER_FAMILYID + 10000)
# define GEXX_PLATFORM_LANG   "C++"
# if defined(PLATFORM_COMPILER_GNU)
#  define PLATFORM_COMPILER_GNU_CXX 1
# elif defined(PLATFORM_COMPILER_CLANG)
#  define PLATFORM_COMPILER_CLANG_CXX 1
# elif defined(PLATFORM_COMPILER_INTEL)
#  define PLATFORM_COMPILER_INTEL_CXX 1
# elif defined(PLATFORM_COMPILER_NVHPC)
#  define PLATFORM_COMPILER_NVHPC_CXX 1
# elif defined(PLATFORM_COMPILER_PGI)
#  define PLATFORM_COMPILER_PGI_CXX 1
# elif defined(PLATFORM_COMPILER_CRAY)
#  define PLATFORM_COMPILER_CRAY_CXX 1
# elif defined(PLATFORM_COMPILER_XLC)
#  define PLATFORM_COMPILER_XLC_CXX 1
# endif
#else
# define PLATFORM_COMPILER_ID PLATFORM_COMPILER_FAMILYID
# define GEXX_PLATFORM_LANG   "C"
# if defined(PLATFORM_COMPILER_GNU)
#  define PLATFORM_COMPILER_GNU_C 1
# elif defined(PLATFORM_COMPILER_CLANG)
#  define PLATFORM_COMPILER_CLANG_C 1
# elif defined(PLATFORM_COMPILER_INTEL)
#  define PLATFORM_COMPILER_INTEL_C 1
# elif defined(PLATFORM_COMPILER_NVHPC)
#  define PLATFORM_COMPILER_NVHPC_C 1
# elif defined(PLATFORM_COMPILER_PGI)
#  define PLATFORM_COMPILER_PGI_C 1
# elif defined(PLATFORM_COMPILER_CRAY)
#  define PLATFORM_COMPILER_CRAY_C 1
# elif defined(PLATFORM_COMPILER_XLC)
#  define PLATFORM_COMPILER_XLC_C 1
# endif
#endif

#define PLATFORM_COMPILER_IDSTR                                                                    \
 "|COMPILER_FAMILY:" GEXX_PLATFORM_STR(                                                            \
     PLATFORM_COMPILER_FAMILYNAME) "|COMPILER_VERSION:" PLATFORM_COMPILER_VERSION_STR              \
                                   "|COMPILER_FAMILYID:" GEXX_PLATFORM_STR(                        \
                                       PLATFORM_COMPILER_FAMILYID) "|LANGUAGE:" GEXX_PLATFORM_LANG \
                                                                   "|"

#define PLATFORM_COMPILER_VERSION_GT(maj, min, pat) \
 (PLATFORM_COMPILER_VERSION > PLATFORM_COMPILER_VERSION_INT(maj, min, pat))
#define PLATFORM_COMPILER_VERSION_GE(maj, min, pat) \
 (PLATFORM_COMPILER_VERSION >= PLATFORM_COMPILER_VERSION_INT(maj, min, pat))
#define PLATFORM_COMPILER_VERSION_EQ(maj, min, pat) \
 (PLATFORM_COMPILER_VERSION == PLATFORM_COMPILER_VERSION_INT(maj, min, pat))
#define PLATFORM_COMPILER_VERSION_LE(maj, min, pat) \
 (PLATFORM_COMPILER_VERSION <= PLATFORM_COMPILER_VERSION_INT(maj, min, pat))
#define PLATFORM_COMPILER_VERSION_LT(maj, min, pat) \
 (PLATFORM_COMPILER_VERSION < PLATFORM_COMPILER_VERSION_INT(maj, min, pat))

/* --- language level: the date in the standard's version macro; 199000L for C90 --- */
#if defined(__cplusplus)
# define PLATFORM_COMPILER_CXX_LANGLVL __cplusplus
#elif defined(__STDC_VERSION__)
# define PLATFORM_COMPILER_C_LANGLVL __STDC_VERSION__
#else
# define PLATFORM_COMPILER_C_LANGLVL 199000L
#endif

#endif
