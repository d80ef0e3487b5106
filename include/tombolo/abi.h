/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/abi.h: linkage macros and the fixed-layout heads of library objects that inline code may
 * read.
 *
 * Included by gasnetex.h and gasnet_tools.h; clients never include it themselves. A library object
 * starts with the head declared here and continues privately. Inline bodies read heads; only the
 * library writes them. Invariant: sizeof(struct gexx_tm_s) == 64 and the offsets below never change
 * within one SONAME. GEXX_INLINE is `static inline` for clients; src/api/symbols.c sets it to an
 * exported definition, so that every inline also exists as a real symbol for languages that cannot
 * include C headers.
 */
#ifndef GEXX_ABI_H
#define GEXX_ABI_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
# define GEXX_API              __attribute__((__visibility__("default")))
# define GEXX_UNUSED           __attribute__((__unused__))
# define GEXX_WARN_UNUSED      __attribute__((__warn_unused_result__))
# define GEXX_NORETURN         __attribute__((__noreturn__))
# define GEXX_LIKELY(e)        __builtin_expect(!!(e), 1)
# define GEXX_UNLIKELY(e)      __builtin_expect(!!(e), 0)
# define GEXX_COMPILER_FENCE() __asm__ __volatile__("" ::: "memory")
#else
# error "Tombolo's headers need a compiler with GNU C extensions (gcc or clang)."
#endif

/* Between them C++ clients get no warning of casts in the style of C, which serve both languages.
 */
#if !defined(__cplusplus)
# define GEXX_CASTS_BEGIN
# define GEXX_CASTS_END
#elif defined(__clang__)
# define GEXX_CASTS_BEGIN \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wold-style-cast\"")
# define GEXX_CASTS_END _Pragma("GCC diagnostic pop")
#else
# define GEXX_CASTS_BEGIN                                                               \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wold-style-cast\"") \
      _Pragma("GCC diagnostic ignored \"-Wuseless-cast\"")
# define GEXX_CASTS_END _Pragma("GCC diagnostic pop")
#endif

/* A cast in a constant of the interface, as each language writes it. */
#ifdef __cplusplus
# define GEXX_NUMBER(type, value) (static_cast<type>(value))
# define GEXX_HANDLE(type, value) (reinterpret_cast<type>(static_cast<uintptr_t>(value)))
#else
# define GEXX_NUMBER(type, value) ((type)(value))
# define GEXX_HANDLE(type, value) ((type)(uintptr_t)(value))
#endif

#ifndef GEXX_INLINE /* `tombolo cc --check` defines it */
# define GEXX_INLINE static __inline__ GEXX_UNUSED
#endif
/* For functions that clang calls where it is used twice, although most of it falls away. */
#ifndef GEXX_INLINE_ALWAYS
# define GEXX_INLINE_ALWAYS GEXX_INLINE __attribute__((__always_inline__))
#endif

/* Marks a peer that this process cannot reach by load and store. */
#define GEXX_UNMAPPED    INTPTR_MIN

/* Version of the client-visible object layout; checked at initialisation. */
#define GEXX_ABI_VERSION 1u

#ifdef __cplusplus
extern "C" {
#endif

struct gexx_client_s;
struct gexx_ep_s;
struct gexx_segment_s;
struct gexx_token_s;
struct gexx_srcdesc_s;
struct gexx_mk_s;

/* Head of a team member or TM-pair. Written once by its creator; `delta` entries change only while
 * a segment attaches, and become GEXX_UNMAPPED when a peer is lost. */
struct gexx_tm_s {
  uint32_t rank;           /* caller's rank; for a TM-pair the jobrank */
  uint32_t size;           /* members; for a TM-pair the job size */
  const intptr_t *delta;   /* [size] add to an owner's address to get ours, or GEXX_UNMAPPED */
  const uint32_t *jobrank; /* [size] rank -> jobrank, or NULL when equal */
  struct gexx_ep_s *ep;    /* local endpoint */
  struct gexx_client_s *client;
  void *cdata; /* client data; written by gex_TM_SetCData */
  uint32_t flags;
  uint32_t magic;    /* GEXX_MAGIC_TM or GEXX_MAGIC_PAIR; anything else is a stale handle */
  uint64_t reserved; /* library's: 0 when only primordial endpoints are involved */
};

#define GEXX_MAGIC_TM    0x746d5f31u
#define GEXX_MAGIC_PAIR  0x70616972u

#define GEXX_CONDUIT_UDP 1u /* the program may be started as `./prog N` */
#define GEXX_CONDUIT_OFI 2u /* other hosts by libfabric, unless TOMBOLO_CONDUIT says otherwise */
#define GEXX_CONDUIT_MPI 3u /* other hosts by MPI, unless TOMBOLO_CONDUIT says otherwise */

/* Modes of the client's compilation; passed to the library by gex_Client_Init and gasnet_init. */
struct gexx_client_mode {
  uint32_t abi_version; /* GEXX_ABI_VERSION of the headers */
  uint32_t thread_mode; /* 1 SEQ, 2 PARSYNC, 3 PAR */
  uint32_t debug;       /* 1 when compiled with GASNET_DEBUG */
  uint32_t conduit;     /* GEXX_CONDUIT_* of the build fragment; 0: another conduit */
  const char *config;   /* GASNET_CONFIG_STRING of the client */
};

#ifdef __cplusplus
}
#endif

#endif
