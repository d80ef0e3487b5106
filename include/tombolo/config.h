/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/config.h: configuration, version and feature macros (API reference 00, sections 3 and 4).
 *
 * Included by gasnetex.h only; the release version is in gasnet_config.h. Checks the thread mode
 * that the client chose and derives every macro that depends on it; one library serves all modes,
 * so these macros describe the client's translation unit, and gex_Client_Init passes them to the
 * library, which refuses a mixture with a readable error. Invariant: version, feature and size
 * macros are plain integer expressions.
 */
#ifndef GEXX_CONFIG_H
#define GEXX_CONFIG_H

/* Page gasnet_config: macros that choose how a program is compiled, and facts of the library.
 * A program defines exactly one of GASNET_SEQ, GASNET_PARSYNC and GASNET_PAR, on the command line
 * of the compiler or before the first header. The build fragments do it. Macros that are not
 * defined say that the library lacks something.
 * Names: GASNET_SEQ: one thread of the program calls the library, ever;
 * GASNET_PARSYNC: several threads, one at a time;
 * GASNET_PAR: several threads at a time;
 * GASNET_DEBUG: the program defines it as 1 for checks of arguments and contexts;
 * GASNET_NDEBUG: defined when GASNET_DEBUG is not;
 * GASNET_DEBUGMALLOC: the program defines it as 1 for the debugging heap;
 * GASNET_TRACE, GASNET_STATS, GASNET_SRCLINES: never defined, there is no tracing build
 * (TOMBOLO_TEST_TRACE_FILE and TOMBOLO_STATS serve every build);
 * GASNET_SEGMENT_FAST: segments of a fixed size, the only form;
 * GASNET_SEGMENT_LARGE, GASNET_SEGMENT_EVERYTHING: never defined;
 * GASNET_PSHM: processes of a machine share memory;
 * GASNET_CONDUIT_SMP, GASNET_CONDUIT_UDP, GASNET_CONDUIT_MPI, GASNET_CONDUIT_IBV,
 * GASNET_CONDUIT_OFI, GASNET_CONDUIT_UCX: the program's build fragment defines it: network that is
 * meant;
 * GASNET_*_CONDUIT: the same, older name;
 * GASNET_CONDUIT_NAME, GASNET_CORE_NAME, GASNET_EXTENDED_NAME: name of the network as a word;
 * GASNET_CONDUIT_NAME_STR, GASNET_CORE_NAME_STR, GASNET_EXTENDED_NAME_STR: name of the network as
 * a string;
 * GASNET_CORE_VERSION, GASNET_EXTENDED_VERSION: version of the network's conduit;
 * GASNET_CORE_VERSION_STR, GASNET_EXTENDED_VERSION_STR: the same as a string;
 * GASNET_CONFIG_STRING: how the program is compiled, as one string;
 * GEX_SPEC_VERSION_MAJOR, GEX_SPEC_VERSION_MINOR: version of the GASNet-EX specification;
 * GASNET_SUPPORTS_AM_CANCEL: prepared messages can be cancelled;
 * GASNET_SUPPORTS_AM_COMMIT_V2: gex_AM_Commit has the _v2 forms;
 * GASNET_SUPPORTS_TI_*: gex_Token_Info reports this;
 * GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM, GASNET_NATIVE_NP_ALLOC_REP_MEDIUM: buffers of prepared Medium
 * messages save a copy;
 * GASNET_NATIVE_NP_ALLOC_REQ_LONG, GASNET_NATIVE_NP_ALLOC_REP_LONG: never defined, those of Long
 * messages do not;
 * GASNET_HIDDEN_AM_CONCURRENCY_LEVEL: threads of the library that may run handlers;
 * GASNET_RCV_THREAD, GASNET_SND_THREAD: never defined, no thread of the library receives or sends;
 * GASNET_HAVE_MK_CLASS_HOST, GASNET_HAVE_MK_CLASS_CUDA_UVA: gex_MK_Create knows the class;
 * GASNET_HAVE_MK_CLASS_HIP, GASNET_HAVE_MK_CLASS_ZE: not defined;
 * GASNET_HAVE_MK_CLASS_MULTIPLE: there is a class beside the host;
 * SIZEOF_GEX_RMA_VALUE_T: bytes of a gex_RMA_Value_t;
 * GEX_AM_INDEX_BASE: least index of a client's handler;
 * GASNET_PAGESIZE: unit of segment sizes in bytes;
 * GASNET_ALIGNED_SEGMENTS: 0, segments may lie at different addresses;
 * GASNET_NULL_ARGV_OK: argc and argv may be NULL;
 * GASNET_MAXNODES: most processes of a job;
 * GASNET_MAXEPS: most endpoints of a process;
 * GASNETI_MAX_THREADS: most threads of a program that can be in the library at once
 * See: gex_Client_Init, gasnett_config, tombolo-settings(7) */

/* `tombolo cc` assumes a mode where its arguments have none; the program's own counts. */
#if defined(TOMBOLO_MODE_ASSUMED) && (defined(GASNET_SEQ) || defined(GASNET_PARSYNC))
# undef GASNET_PAR
#endif
#if (defined(GASNET_SEQ) + defined(GASNET_PARSYNC) + defined(GASNET_PAR)) != 1
# error \
     "Define exactly one of GASNET_SEQ, GASNET_PARSYNC and GASNET_PAR before including gasnetex.h"
#endif
#if defined(GASNET_SEQ)
# undef GASNET_SEQ
# define GASNET_SEQ           1
# define GEXX_THREAD_MODE     1u
# define GEXX_THREAD_MODE_STR "SEQ"
#elif defined(GASNET_PARSYNC)
# undef GASNET_PARSYNC
# define GASNET_PARSYNC       1
# define GEXX_THREAD_MODE     2u
# define GEXX_THREAD_MODE_STR "PARSYNC"
#else
# undef GASNET_PAR
# define GASNET_PAR           1
# define GEXX_THREAD_MODE     3u
# define GEXX_THREAD_MODE_STR "PAR"
#endif

/* Debug checks are chosen by the client: -DGASNET_DEBUG=1. */
#if defined(GASNET_DEBUG) && !(GASNET_DEBUG + 0)
# undef GASNET_DEBUG
#endif
#ifdef GASNET_DEBUG
# undef GASNET_DEBUG
# define GASNET_DEBUG 1
# undef GASNET_NDEBUG
# define GEXX_DEBUG     1
# define GEXX_DEBUG_STR "debug"
#else
# undef GASNET_NDEBUG
# define GASNET_NDEBUG  1
# define GEXX_DEBUG     0
# define GEXX_DEBUG_STR "nodebug"
#endif

/* The debugging heap, too: -DGASNET_DEBUGMALLOC=1 (tombolo/tools/tools_heap.h). */
#if defined(GASNET_DEBUGMALLOC) && !(GASNET_DEBUGMALLOC + 0)
# undef GASNET_DEBUGMALLOC
#endif
#ifdef GASNET_DEBUGMALLOC
# define GEXX_DEBUGMALLOC_STR "debugmalloc"
#else
# define GEXX_DEBUGMALLOC_STR "nodebugmalloc"
#endif

#define GASNET_SEGMENT_FAST                1
#define GASNET_PSHM                        1

#define GEX_SPEC_VERSION_MAJOR             GASNETI_EX_SPEC_VERSION_MAJOR
#define GEX_SPEC_VERSION_MINOR             GASNETI_EX_SPEC_VERSION_MINOR

#define GASNET_SUPPORTS_AM_CANCEL          20240418L
#define GASNET_SUPPORTS_AM_COMMIT_V2       20240906L
#define GASNET_SUPPORTS_TI_SRCRANK         1
#define GASNET_SUPPORTS_TI_EP              1
#define GASNET_SUPPORTS_TI_ENTRY           1
#define GASNET_SUPPORTS_TI_IS_REQ          1
#define GASNET_SUPPORTS_TI_IS_LONG         1
#define GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM  1
#define GASNET_NATIVE_NP_ALLOC_REP_MEDIUM  1
#define GASNET_HIDDEN_AM_CONCURRENCY_LEVEL 0
#define GASNET_HAVE_MK_CLASS_HOST          1
#define GASNET_HAVE_MK_CLASS_CUDA_UVA      1
#define GASNET_HAVE_MK_CLASS_MULTIPLE      1
#define SIZEOF_GEX_RMA_VALUE_T             8
#define GEX_AM_INDEX_BASE                  128

#define GASNET_PAGESIZE                    4096
#define GASNET_ALIGNED_SEGMENTS            0
#define GASNET_NULL_ARGV_OK                1
#define GASNET_MAXNODES                    0x7FFFFFFF
#define GASNET_MAXEPS                      33
/* Most threads of a client that can be in GASNet at once. */
#ifdef GASNET_SEQ
# define GASNETI_MAX_THREADS 1
#else
# define GASNETI_MAX_THREADS 256
#endif

/* The build fragment of a conduit defines GASNET_CONDUIT_<NET>; without one the on-node conduit is
 * meant. */
#if !defined(GASNET_CONDUIT_SMP) && !defined(GASNET_CONDUIT_UDP) && \
    !defined(GASNET_CONDUIT_MPI) && !defined(GASNET_CONDUIT_IBV) && \
    !defined(GASNET_CONDUIT_OFI) && !defined(GASNET_CONDUIT_UCX) && !defined(GASNET_CONDUIT_ARIES)
# define GASNET_CONDUIT_SMP 1
#endif
#if defined(GASNET_CONDUIT_UDP) && !defined(GASNET_CONDUIT_SMP)
# define GEXX_CONDUIT GEXX_CONDUIT_UDP
#elif (defined(GASNET_CONDUIT_OFI) || defined(GASNET_CONDUIT_IBV) ||    \
       defined(GASNET_CONDUIT_UCX) || defined(GASNET_CONDUIT_ARIES)) && \
    !defined(GASNET_CONDUIT_SMP)
# define GEXX_CONDUIT GEXX_CONDUIT_OFI
#elif defined(GASNET_CONDUIT_MPI) && !defined(GASNET_CONDUIT_SMP)
# define GEXX_CONDUIT GEXX_CONDUIT_MPI
#else
# define GEXX_CONDUIT 0
#endif
#if defined(GASNET_CONDUIT_SMP)
# ifndef GASNET_SMP_CONDUIT
#  define GASNET_SMP_CONDUIT 1
# endif
# define GASNET_CONDUIT_NAME     SMP
# define GASNET_CONDUIT_NAME_STR "SMP"
#elif defined(GASNET_CONDUIT_UDP)
# ifndef GASNET_UDP_CONDUIT
#  define GASNET_UDP_CONDUIT 1
# endif
# define GASNET_CONDUIT_NAME     UDP
# define GASNET_CONDUIT_NAME_STR "UDP"
#elif defined(GASNET_CONDUIT_MPI)
# ifndef GASNET_MPI_CONDUIT
#  define GASNET_MPI_CONDUIT 1
# endif
# define GASNET_CONDUIT_NAME     MPI
# define GASNET_CONDUIT_NAME_STR "MPI"
#elif defined(GASNET_CONDUIT_IBV)
# ifndef GASNET_IBV_CONDUIT
#  define GASNET_IBV_CONDUIT 1
# endif
# define GASNET_CONDUIT_NAME     IBV
# define GASNET_CONDUIT_NAME_STR "IBV"
#elif defined(GASNET_CONDUIT_OFI)
# ifndef GASNET_OFI_CONDUIT
#  define GASNET_OFI_CONDUIT 1
# endif
# define GASNET_CONDUIT_NAME     OFI
# define GASNET_CONDUIT_NAME_STR "OFI"
#elif defined(GASNET_CONDUIT_ARIES)
# ifndef GASNET_ARIES_CONDUIT
#  define GASNET_ARIES_CONDUIT 1
# endif
# define GASNET_CONDUIT_NAME     ARIES
# define GASNET_CONDUIT_NAME_STR "ARIES"
#else
# ifndef GASNET_UCX_CONDUIT
#  define GASNET_UCX_CONDUIT 1
# endif
# define GASNET_CONDUIT_NAME     UCX
# define GASNET_CONDUIT_NAME_STR "UCX"
#endif

#define GASNET_CORE_NAME            GASNET_CONDUIT_NAME
#define GASNET_CORE_NAME_STR        GASNET_CONDUIT_NAME_STR
#define GASNET_CORE_VERSION         0.1
#define GASNET_CORE_VERSION_STR     "0.1"
#define GASNET_EXTENDED_NAME        GASNET_CONDUIT_NAME
#define GASNET_EXTENDED_NAME_STR    GASNET_CONDUIT_NAME_STR
#define GASNET_EXTENDED_VERSION     0.1
#define GASNET_EXTENDED_VERSION_STR "0.1"

#define GEXX_CONFIG_TAIL                                                    \
 ",SEGMENT=FAST,PTR=64bit,CACHE_LINE_BYTES=64,noalign,pshm," GEXX_DEBUG_STR \
 ",notrace,nostats," GEXX_DEBUGMALLOC_STR                                   \
 ",nosrclines,timers_native,membars_native,atomics_native,"                 \
 "atomic32_native,atomic64_native"
#define GASNET_CONFIG_STRING                                                               \
 "RELEASE=2025.8.0,SPEC=0.19,CONDUIT=" GASNET_CONDUIT_NAME_STR "(" GASNET_CONDUIT_NAME_STR \
 "-" GASNET_CORE_VERSION_STR "/" GASNET_CONDUIT_NAME_STR "-" GASNET_EXTENDED_VERSION_STR   \
 "),THREADMODEL=" GEXX_THREAD_MODE_STR GEXX_CONFIG_TAIL

#endif
