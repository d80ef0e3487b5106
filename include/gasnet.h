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

/* Page gasnet_init: GASNet-1: start, attach, types and facts.
 * The calls of GASNet-1 act on the primordial team of the one client that gasnet_init has started,
 * or gex_Client_Init with GEX_FLAG_USES_GASNET1.
 * Names: GASNET_SPEC_VERSION_MAJOR, GASNET_SPEC_VERSION_MINOR, GASNET_VERSION: version of the
 * GASNet-1 specification;
 * SIZEOF_GASNET_REGISTER_VALUE_T: bytes of a gasnet_register_value_t;
 * gasnet_node_t: rank of a process;
 * gasnet_handle_t: an operation that was started, as gex_Event_t;
 * gasnet_handler_t: index of a handler;
 * gasnet_handlerarg_t: argument of a message, 32 bits;
 * gasnet_token_t: what a handler gets;
 * gasnet_register_value_t: an integer for put and get of values;
 * gasnet_hsl_t: a handler-safe lock;
 * gasnet_handlerentry_t: index and function of a handler;
 * gasnet_memvec_t: address and length of a piece;
 * gasnet_valget_handle_t: a get of a value that was started;
 * GASNET_INVALID_HANDLE: a complete operation;
 * GASNET_HSL_INITIALIZER: a free lock;
 * _GASNET_H, _INCLUDED_GASNET_H: defined when gasnet.h was included
 * [in] table: [numentries] handlers; entries of index 0 get one.
 * [in] numentries: entries of the table.
 * [in] minheapoffset: ignored.
 * [out] client_p, endpoint_p, tm_p, segment_p: where the objects go; each may be NULL.
 * [in,out] argc, argv: of main; both may be NULL.
 * Completion: gasnet_attach returns after all processes have attached. gasnet_init may return
 * earlier than that of peers.
 * Threads: normal context; one thread calls gasnet_init and gasnet_attach, once.
 * Errors: GASNET_ERR_NOT_INIT for a second call or the wrong order, GASNET_ERR_BAD_ARG for a wrong
 * argument, GASNET_ERR_RESOURCE when there is not enough memory; the reason is printed.
 * Cost: the start takes some milliseconds on one machine; gasnet_attach a barrier.
 * See: gex_Client_Init, gasnet_AMRequestMedium, gasnet_put, gasnet_getMaxLocalSegmentSize */

#define GASNET_SPEC_VERSION_MAJOR      1
#define GASNET_SPEC_VERSION_MINOR      8
#define GASNET_VERSION                 GASNET_SPEC_VERSION_MAJOR
#define SIZEOF_GASNET_REGISTER_VALUE_T 8

GEXX_CASTS_BEGIN
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

/* Rank of this process, and the number of processes. Restricted context: yes. API 08.3. */
GEXX_INLINE gasnet_node_t gasnet_mynode(void) {
  return gex_System_QueryJobRank();
}
GEXX_INLINE gasnet_node_t gasnet_nodes(void) {
  return gex_System_QueryJobSize();
}

/* ---------------------------------------------------------------- active messages (API 08.4) */

/* Page gasnet_AMRequestMedium: GASNet-1: active messages.
 * The arguments of the message stand behind their number. The numbered forms need no number.
 * [in] dest: rank of the target.
 * [in] count: arguments that follow, 0 to 16; not in the numbered forms.
 * [in] to: address in the segment of the target for the payload of a Long message.
 * [in] src: [nbytes] payload.
 * [in] nbytes: bytes of payload.
 * [out] srcindex: the rank of the sender.
 * Names: gasnet_AMRequestShort: sends a request without payload;
 * gasnet_AMRequestMedium: sends a request with payload for a buffer;
 * gasnet_AMRequestLong: sends a request with payload for an address, src may be changed on return;
 * gasnet_AMRequestLongAsync: the same, src may be changed when the handler of the reply runs;
 * gasnet_AMReplyShort: replies without payload;
 * gasnet_AMReplyMedium: replies with payload for a buffer;
 * gasnet_AMReplyLong: replies with payload for an address
 * Completion: the calls return when src may be changed, but for gasnet_AMRequestLongAsync. They
 * return GASNET_OK.
 * Threads: requests from normal context, any thread; they poll. Replies in a request handler, at
 * most one.
 * Errors: a payload that is too long, or a reply outside a handler, ends the process with a
 * message. GASNET_ERR_BAD_ARG of gasnet_AMGetMsgSource.
 * Cost: one message.
 * See: gex_AM_RequestMedium, gasnet_init, gasnet_AMPoll */

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
GEXX_CASTS_END

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
