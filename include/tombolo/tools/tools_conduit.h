/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/tools/tools_conduit.h: parts of the tools that need GASNet-EX types (API reference 09,
 * section 14).
 *
 * Owns gasnett_format_*, gasnett_mmap, the self-test, and small copy macros. Included by
 * gasnet_tools.h once gasnetex.h was seen, in either order. Calls src/api/tools_format.c and
 * tools_diag.c. Invariant of the formatters: a buffer of the size that ..._bufsz returns is never
 * overrun; the text ends with NUL.
 */
#ifndef GEXX_TOOLS_CONDUIT_H
#define GEXX_TOOLS_CONDUIT_H

#include "tools_config.h"

/* Page gasnett_run_diagnostics: GASNet-Tools: self-test, and memory for tests.
 * [in] size: bytes.
 * [in] iters: repetitions, at least 1.
 * [in] threadcnt: threads for the local tests, at least 1; they do not call the library.
 * [in] testsections: letters of the tests to run; NULL or "": all. A atomics, L locks, T timer and
 * fences, N numbers, M messages, R put and get.
 * [in] team: the team; GEX_TM_INVALID: local tests only.
 * [in] myseg, peerseg: GEXX_DIAG_BYTES each, in the caller's and the peer's segment; NULL: no R.
 * [in] peer: a rank in the team; the peers of all members form a permutation.
 * [in] seed: of the random numbers.
 * [out] htable, htable_cnt: handlers for gex_EP_RegisterHandlers, and how many there are.
 * Names: GASNETT_VALUE_ASSIGN: stores the low bytes of an integer;
 * GASNETT_VALUE_RETURN: returns from the enclosing function with an integer of some bytes;
 * GASNETT_FAST_*MEMCPY: copies areas that do not overlap
 * [in] d, dest: where to.
 * [in] s, src: where from.
 * [in] n, bytes: how many bytes.
 * [in] value: the integer.
 * Completion: the self-test returns when it is done.
 * Threads: normal context. With a team the self-test is collective over it.
 * Errors: each error is explained on standard error and counted in the result. gasnett_mmap ends
 * the process with a message when there is no memory.
 * Cost: the self-test grows with iters.
 * See: gasnett_format_dt */

/* Most threads of this client that can be in GASNet at once. */
#define GASNETT_MAX_THREADS GASNETI_MAX_THREADS

#ifdef __cplusplus
extern "C" {
#endif

/* Page-aligned, zeroed, private memory of at least `size` bytes; fatal if there is none. Never
 * NULL. */
GEXX_API void *gasnett_mmap(uintptr_t size);

/*
 * Self-test of this process's tools and, with a team, of its communication with one peer.
 * Collective over the team.
 * in iters: repetitions, >= 1.
 * in threadcnt: threads for the local tests, >= 1; they never enter GASNet.
 * in testsections: letters of the tests to run, in any case; NULL or "": all. A atomics, L locks,
 *   T timer and fences, N numbers, M messages (needs the handlers below in the team's endpoint,
 *   skipped if nobody asked for them), R put and get.
 * in team: GEX_TM_INVALID: local tests only.
 * in myseg, peerseg: GEXX_DIAG_BYTES each, in own and peer's segment; NULL: skip R.
 * in peer: in team; the peers of all members form a permutation.
 * Returns the number of errors, each explained on stderr. Polls if it communicates.
 */
#define GEXX_DIAG_BYTES 65536
GEXX_API int gasnett_run_diagnostics(int iters, int threadcnt, const char *testsections,
                                     gex_TM_t team, void *myseg, gex_Rank_t peer, void *peerseg,
                                     unsigned int seed);
/* Handlers that section M needs, for gex_EP_RegisterHandlers before the self-test; indices are
 * fixed. */
GEXX_API void gasnett_diagnostic_gethandlers(gex_AM_Entry_t **htable, int *htable_cnt);

/* Page gasnett_format_dt: GASNet-Tools: types, opcodes and lists as texts.
 * [out] buf: where the text goes; of gasnett_format_dt, _op and _ti NULL to ask for the size;
 * otherwise of the size that the call named _bufsz returns.
 * [in] dt: OR of GEX_DT_*.
 * [in] op: OR of GEX_OP_*.
 * [in] ti: OR of GEX_TI_*.
 * [in] count: entries of the list.
 * [in] list: the list.
 * [in] len: bytes of each entry.
 * [in] pstats: ignored.
 * [in] dstcount, srccount: entries of the lists.
 * [in] dstlist, srclist: the lists.
 * [in] dstlen, srclen: bytes of each entry.
 * [in] dstaddr, srcaddr: where the array begins.
 * [in] dststrides, srcstrides: [stridelevels] strides in bytes.
 * [in] elemsz: bytes of an element.
 * [in] stridelevels: dimensions.
 * Completion: the calls return at once.
 * Threads: any thread, any context.
 * Errors: none; unknown bits give "(invalid)".
 * Cost: grows with the list.
 * See: gex_VIS_StridedPutNB, gasnett_run_diagnostics */

/*
 * Names of the bits, joined by '|'; "(empty)" for 0, "(invalid)" if a bit is unknown.
 * out buf: may be NULL to ask for the size. Returns bytes needed, NUL included.
 */
GEXX_API size_t gasnett_format_dt(char *buf, gex_DT_t dt);
GEXX_API size_t gasnett_format_op(char *buf, gex_OP_t op);
GEXX_API size_t gasnett_format_ti(char *buf, gex_TI_t ti);

/* Facts about a list that was formatted; bytes, except count. */
typedef struct {
  size_t count, min_bytes, max_bytes;
  uint64_t total_bytes;
} gexx_list_stats_t;

/* Texts of the lists that VIS calls take; ..._bufsz: sufficient size of buf. */
GEXX_API size_t gasnett_format_memveclist_bufsz(size_t count);
GEXX_API gexx_list_stats_t gasnett_format_memveclist(char *buf, size_t count,
                                                     gex_Memvec_t const *list);
GEXX_API size_t gasnett_format_addrlist_bufsz(size_t count);
GEXX_API gexx_list_stats_t gasnett_format_addrlist(char *buf, size_t count, void *const *list,
                                                   size_t len);
GEXX_API size_t gasnett_format_strides_bufsz(size_t count);
GEXX_API void gasnett_format_strides(char *buf, size_t count, const ptrdiff_t *list);

/* Texts of whole VIS calls; they return the bytes that the call moves. */
GEXX_API size_t gasnett_format_putvgetv_bufsz(size_t dstcount, size_t srccount);
GEXX_API size_t gasnett_format_putvgetv(char *buf, gex_TM_t tm, gex_Rank_t rank, size_t dstcount,
                                        gex_Memvec_t const dstlist[], size_t srccount,
                                        gex_Memvec_t const srclist[]);
GEXX_API size_t gasnett_format_putigeti_bufsz(size_t dstcount, size_t srccount);
GEXX_API size_t gasnett_format_putigeti(char *buf, gex_TM_t tm, gex_Rank_t rank, size_t dstcount,
                                        void *const dstlist[], size_t dstlen, size_t srccount,
                                        void *const srclist[], size_t srclen);
GEXX_API size_t gasnett_format_putsgets_bufsz(size_t stridelevels);
/* in pstats: ignored. in strides, count: [stridelevels]; bytes moved: elemsz times the product of
 * count. */
GEXX_API size_t gasnett_format_putsgets(char *buf, void *pstats, gex_TM_t tm, gex_Rank_t rank,
                                        void *dstaddr, const ptrdiff_t dststrides[], void *srcaddr,
                                        const ptrdiff_t srcstrides[], size_t elemsz,
                                        const size_t count[], size_t stridelevels);

/* Store the low nbytes (<= 8) of value; load nbytes, zero-extended. */
GEXX_API void gexx_tools_value_store(void *dest, uint64_t value, size_t nbytes);
GEXX_API uint64_t gexx_tools_value_load(const void *src, size_t nbytes);

#ifdef __cplusplus
}
#endif

/* Page gasnett_run_diagnostics continued. */

/* Copies of areas that do not overlap. */
#define GASNETT_FAST_ALIGNED_MEMCPY(d, s, n)     ((void)memcpy((d), (s), (n)))
#define GASNETT_FAST_UNALIGNED_MEMCPY(d, s, n)   ((void)memcpy((d), (s), (n)))
#define GASNETT_VALUE_ASSIGN(dest, value, bytes) gexx_tools_value_store((dest), (value), (bytes))
/* Returns from the enclosing function.
 * tidy-allow: macro-flow because the API reference prescribes it. */
#define GASNETT_VALUE_RETURN(src, bytes)         return gexx_tools_value_load((src), (bytes))

#endif
