/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gasnet.h: the GASNet-1 layer (API reference 08) over the EX objects.
 *
 * Includes gasnetex.h and gasnet_tools.h; may come before or after either. Its calls act on the
 * primordial team of the one client that was initialised with gasnet_init, or with gex_Client_Init
 * and GEX_FLAG_USES_GASNET1. Invariants: a handle is an EX event; put and get inlines are the EX
 * inlines on gexx_legacy_tm; every function-like name that can be a function also exists as a
 * symbol. API 08.8 (strided) and 06.5 (collectives) are in gasnet_vis.h and gasnet_coll.h.
 */
#ifndef GASNET_H
#define GASNET_H
#define _GASNET_H          1
#define _INCLUDED_GASNET_H 1

#include "gasnet_tools.h"
#include "gasnetex.h"

#define GASNET_SPEC_VERSION_MAJOR      1
#define GASNET_SPEC_VERSION_MINOR      8
#define GASNET_VERSION                 GASNET_SPEC_VERSION_MAJOR
#define SIZEOF_GASNET_REGISTER_VALUE_T 8

#ifdef __cplusplus
extern "C" {
#endif

typedef gex_Rank_t gasnet_node_t;
typedef gex_Event_t gasnet_handle_t;
typedef gex_AM_Index_t gasnet_handler_t;
typedef gex_AM_Arg_t gasnet_handlerarg_t;
typedef gex_Token_t gasnet_token_t;
typedef gex_RMA_Value_t gasnet_register_value_t;
typedef gex_HSL_t gasnet_hsl_t;
typedef struct {
  gasnet_handler_t index; /* 0: choose for me, else 128..255 */
  gex_AM_Fn_t fnptr;
} gasnet_handlerentry_t;
typedef struct {
  void *addr;
  size_t len;
} gasnet_memvec_t;
typedef struct gexx_valget_s *gasnet_valget_handle_t;

#define GASNET_INVALID_HANDLE  GEX_EVENT_INVALID
#define GASNET_HSL_INITIALIZER GEX_HSL_INITIALIZER

/* Primordial team of the client that enabled this layer; NULL before. Written once by the library.
 */
GEXX_API extern gex_TM_t gexx_legacy_tm;

/* Values of gasnet_mynode() and gasnet_nodes(), which older clients read as variables; valid after
 * gasnet_init or gex_Client_Init, 0 before. Written once by the library. */
GEXX_API extern gasnet_node_t gasneti_mynode;
GEXX_API extern gasnet_node_t gasneti_nodes;

/* ---------------------------------------------------------------- job control (API 08.2) */

/* Body of gasnet_init. [in] mode: how the caller was compiled. */
GEXX_API int gexx_legacy_init(const struct gexx_client_mode *mode, int *argc, char ***argv);

/* Starts or joins the job; first call of the process, once. [in,out] argc, argv: of main, may both
 * be NULL. Returns GASNET_OK, GASNET_ERR_RESOURCE, GASNET_ERR_NOT_INIT (second call). API 08.2. */
GEXX_INLINE int gasnet_init(int *argc, char ***argv) {
  const struct gexx_client_mode mode = GEXX_CLIENT_MODE_INIT;
  GEXX_CHECK_FILES();
  return gexx_legacy_init(&mode, argc, argv);
}

/* Registers handlers and attaches the segment; collective, once, a barrier. [in,out] table:
 * [numentries], zero indices are chosen; [in] segsize: bytes, multiple of GASNET_PAGESIZE, 0 means
 * one page; minheapoffset is ignored. Returns GASNET_OK, GASNET_ERR_NOT_INIT, GASNET_ERR_BAD_ARG,
 * GASNET_ERR_RESOURCE. API 08.2. */
GEXX_API int gasnet_attach(gasnet_handlerentry_t *table, int numentries, uintptr_t segsize,
                           uintptr_t minheapoffset);

/* EX objects behind this layer; each output may be NULL; segment may be GEX_SEGMENT_INVALID. API
 * 08.2. */
GEXX_API void gasnet_QueryGexObjects(gex_Client_t *client_p, gex_EP_t *endpoint_p, gex_TM_t *tm_p,
                                     gex_Segment_t *segment_p);

/* This process's rank, and the number of processes. Restricted context: yes. API 08.3. */
GEXX_INLINE gasnet_node_t gasnet_mynode(void) {
  return gex_System_QueryJobRank();
}
GEXX_INLINE gasnet_node_t gasnet_nodes(void) {
  return gex_System_QueryJobSize();
}

/* ---------------------------------------------------------------- active messages (API 08.4) */

/* Limits: 16 arguments; payload bytes of any Medium, Long request and Long reply. */
GEXX_INLINE size_t gasnet_AMMaxArgs(void) {
  return gex_AM_MaxArgs();
}
GEXX_INLINE size_t gasnet_AMMaxMedium(void) {
  const size_t req = gex_AM_LUBRequestMedium();
  const size_t rep = gex_AM_LUBReplyMedium();
  return req < rep ? req : rep;
}
GEXX_INLINE size_t gasnet_AMMaxLongRequest(void) {
  return gex_AM_LUBRequestLong();
}
GEXX_INLINE size_t gasnet_AMMaxLongReply(void) {
  return gex_AM_LUBReplyLong();
}

/* Sender of the message that a token belongs to. [out] srcindex. Returns GASNET_OK or
 * GASNET_ERR_BAD_ARG. API 08.4. */
GEXX_API int gasnet_AMGetMsgSource(gasnet_token_t token, gasnet_node_t *srcindex);

/* Packing target of the macros below: v[0] is the count that the client wrote, v+1 the arguments, n
 * how many there are. kind: bits 0..1 category, bit 2 request. `dest` is a rank for requests,
 * `token` is used for replies. */
struct gexx_g1_am {
  gex_Token_t token;
  const void *src;
  size_t nbytes;
  void *to;
  gex_Rank_t dest;
  gex_AM_Index_t handler;
  uint8_t kind;
};
GEXX_API int gexx_legacy_am(const struct gexx_g1_am *am, unsigned n, const gex_AM_Arg_t *v);

/* Packs and sends a request; v[0] is the count, v+1 the n arguments. API 08.4. */
GEXX_INLINE int gexx_g1_request(unsigned kind, gasnet_node_t dest, gasnet_handler_t handler,
                                const void *src, size_t nbytes, void *to, unsigned n,
                                const gex_AM_Arg_t *v) {
  struct gexx_g1_am am = {NULL, NULL, 0, NULL, 0, 0, 0};
  am.src = src;
  am.nbytes = nbytes;
  am.to = to;
  am.dest = dest;
  am.handler = handler;
  am.kind = (uint8_t)(kind | 4);
  return gexx_legacy_am(&am, n, v);
}

/* Packs and sends a reply; v as above. API 08.4. */
GEXX_INLINE int gexx_g1_reply(unsigned kind, gasnet_token_t token, gasnet_handler_t handler,
                              const void *src, size_t nbytes, void *to, unsigned n,
                              const gex_AM_Arg_t *v) {
  struct gexx_g1_am am = {NULL, NULL, 0, NULL, 0, 0, 0};
  am.token = token;
  am.src = src;
  am.nbytes = nbytes;
  am.to = to;
  am.handler = handler;
  am.kind = (uint8_t)kind;
  return gexx_legacy_am(&am, n, v);
}

#ifdef __cplusplus
}
#endif

/* Variadic forms: (dest, handler, payload..., count, args...); always GASNET_OK. */
#ifdef __cplusplus
# include "tombolo/legacy/am_cxx_g1.h"
#else
# define gasnet_AMRequestShort(dest, handler, ...) \
  gexx_g1_request(0, (dest), (handler), NULL, 0, NULL, GEXX_AM_ARGS(__VA_ARGS__))
# define gasnet_AMRequestMedium(dest, handler, src, nbytes, ...) \
  gexx_g1_request(1, (dest), (handler), (src), (nbytes), NULL, GEXX_AM_ARGS(__VA_ARGS__))
# define gasnet_AMRequestLong(dest, handler, src, nbytes, to, ...) \
  gexx_g1_request(2, (dest), (handler), (src), (nbytes), (to), GEXX_AM_ARGS(__VA_ARGS__))
# define gasnet_AMRequestLongAsync(dest, handler, src, nbytes, to, ...) \
  gexx_g1_request(2, (dest), (handler), (src), (nbytes), (to), GEXX_AM_ARGS(__VA_ARGS__))
# define gasnet_AMReplyShort(token, handler, ...) \
  gexx_g1_reply(0, (token), (handler), NULL, 0, NULL, GEXX_AM_ARGS(__VA_ARGS__))
# define gasnet_AMReplyMedium(token, handler, src, nbytes, ...) \
  gexx_g1_reply(1, (token), (handler), (src), (nbytes), NULL, GEXX_AM_ARGS(__VA_ARGS__))
# define gasnet_AMReplyLong(token, handler, src, nbytes, to, ...) \
  gexx_g1_reply(2, (token), (handler), (src), (nbytes), (to), GEXX_AM_ARGS(__VA_ARGS__))
#endif
#ifndef GEXX_NO_NUMBERED
# include "tombolo/legacy/am_numbered_g1.h"
#endif

#include "tombolo/legacy/inline_g1.h"

/* With the indexed and strided calls of GASNet-1, which belong to this header too. */
#include "gasnet_vis.h"

#endif
