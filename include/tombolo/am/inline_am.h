/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/am/inline_am.h: active messages (API 02), argument packing and prototypes.
 *
 * Included by gasnetex.h. The unsuffixed names take 0..16 trailing arguments: macros that build an
 * array in C, macros over variadic templates in C++; am_numbered.h (generated) maps the numbered
 * names onto them and so checks the count at compile time. Invariants: each argument is cast to
 * gex_AM_Arg_t and evaluated once; element 0 of the array of a request or reply is `flags`, so that
 * the array is never empty; commits use 64-bit elements, because nbytes and dest_addr come first.
 */
#ifndef GEXX_INLINE_AM_H
#define GEXX_INLINE_AM_H

GEXX_CASTS_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/* One injection. Categories: 0 Short, 1 Medium, 2 Long. */
struct gexx_am_msg {
  const void *src;
  size_t nbytes;
  void *dest;
  gex_Event_t *lc_opt;
  const gex_AM_Arg_t *args; /* [nargs] */
  gex_Flags_t flags;
  uint8_t handler;
  uint8_t nargs;
  uint8_t category;
  uint8_t unused;
};

/* Send a request to (tm, rank), or the reply of a request handler. [in] msg: read before return.
 * Return 0; non-zero only with GEX_FLAG_IMMEDIATE when nothing was sent. API 02.3. */
GEXX_API int gexx_am_request(gex_TM_t tm, gex_Rank_t rank, const struct gexx_am_msg *msg);
GEXX_API int gexx_am_reply(gex_Token_t token, const struct gexx_am_msg *msg);

/* Finish a prepared injection. [in] msg: handler, nbytes, dest, args, category; flags of commit.
 * `is_reply`: which kind the caller named. Returns as gexx_am_request; on non-zero the descriptor
 * stays valid. API 02.5. */
GEXX_API int gexx_am_commit(gex_AM_SrcDesc_t sd, int is_reply, const struct gexx_am_msg *msg);

/* ---------------------------------------------------------------- limits and tokens (API 02.2,
 * 02.6) */

/* Page gex_AM_MaxRequestMedium: limits of messages, and what a token knows.
 * [in] other_rank: a rank in the team, or GEX_RANK_INVALID for the limit that holds for all.
 * [out] info: what the library knows of the message.
 * [in] mask: GEX_TI_ bits of the members that are asked for.
 * Names: gex_Token_Info_t: what gex_Token_Info writes;
 * GEX_TI_SRCRANK: gex_srcrank;
 * GEX_TI_EP: gex_ep;
 * GEX_TI_ENTRY: gex_entry;
 * GEX_TI_IS_REQ: gex_is_req;
 * GEX_TI_IS_LONG: gex_is_long;
 * GEX_TI_ALL: all members;
 * gex_Token_MaxReply*: limit of a reply to the message of a token;
 * gex_AM_LUB*: the limit that holds for every peer and all flags
 * Completion: the calls return at once.
 * Threads: any thread, also in restricted context. gex_Token_Info and gex_Token_MaxReply* are for
 * the handler that owns the token.
 * Errors: none. A token that is used after its handler ends the process with a message in debug
 * clients.
 * Cost: a table look-up.
 * See: gex_AM_RequestMedium, gex_AM_PrepareRequestMedium, gex_EP_RegisterHandlers */

/* Largest argument count of a message: 16. */
GEXX_INLINE unsigned int gex_AM_MaxArgs(void) {
  return 16;
}

/* Largest payload in bytes between this endpoint and (tm, other_rank), or over all peers with
 * GEX_RANK_INVALID. [in] lc_opt: as the injection would get; [in] flags: as the injection, plus
 * GEX_FLAG_AM_PREPARE_LEAST_*. Restricted context: yes. API 02.2. */
GEXX_API size_t gex_AM_MaxRequestMedium(gex_TM_t tm, gex_Rank_t other_rank,
                                        const gex_Event_t *lc_opt, gex_Flags_t flags,
                                        unsigned int numargs);
GEXX_API size_t gex_AM_MaxReplyMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt,
                                      gex_Flags_t flags, unsigned int numargs);
GEXX_API size_t gex_AM_MaxRequestLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt,
                                      gex_Flags_t flags, unsigned int numargs);
GEXX_API size_t gex_AM_MaxReplyLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt,
                                    gex_Flags_t flags, unsigned int numargs);
GEXX_API size_t gex_Token_MaxReplyMedium(gex_Token_t token, const gex_Event_t *lc_opt,
                                         gex_Flags_t flags, unsigned int numargs);
GEXX_API size_t gex_Token_MaxReplyLong(gex_Token_t token, const gex_Event_t *lc_opt,
                                       gex_Flags_t flags, unsigned int numargs);
GEXX_API size_t gex_AM_LUBRequestMedium(void);
GEXX_API size_t gex_AM_LUBReplyMedium(void);
GEXX_API size_t gex_AM_LUBRequestLong(void);
GEXX_API size_t gex_AM_LUBReplyLong(void);

typedef struct {
  gex_Rank_t gex_srcrank;          /* sender's jobrank */
  gex_EP_t gex_ep;                 /* receiving endpoint */
  const gex_AM_Entry_t *gex_entry; /* library copy of the running handler's entry */
  int gex_is_req;                  /* 1 Request, 0 Reply */
  int gex_is_long;                 /* 1 Long, else 0 */
} gex_Token_Info_t;
#define GEX_TI_SRCRANK (1u << 0)
#define GEX_TI_EP      (1u << 1)
#define GEX_TI_ENTRY   (1u << 2)
#define GEX_TI_IS_REQ  (1u << 3)
#define GEX_TI_IS_LONG (1u << 4)
#define GEX_TI_ALL     (GEX_TI_SRCRANK | GEX_TI_EP | GEX_TI_ENTRY | GEX_TI_IS_REQ | GEX_TI_IS_LONG)

/* Facts that a handler's token knows. Legal only in the handler that owns the token. API 02.6. */
GEXX_API gex_TI_t gex_Token_Info(gex_Token_t token, gex_Token_Info_t *info, gex_TI_t mask);

/* ---------------------------------------------------------------- negotiated payload (API 02.5) */

/* Page gex_AM_PrepareRequestMedium: messages whose payload is written in place.
 * Prepare reserves a message, and says how much payload it may have and where to write it. Commit
 * sends it. Cancel gives it back.
 * [in] least_payload: bytes that the message must be able to hold.
 * [in] most_payload: bytes that it may hold, at least least_payload.
 * [in] dest_addr: where the payload of a Long message goes, in the target's bound segment; with
 * Prepare it may be NULL, and Commit has it then.
 * [in] sd: a descriptor that Prepare has returned to this thread.
 * [in] flags: of Prepare as those of the message; of Cancel 0.
 * [in] commit_flags: 0 or GEX_FLAG_IMMEDIATE.
 * Names: gex_AM_CommitRequest*, gex_AM_CommitReply*: sends the message with nbytes of payload, and
 * with 0 to 16 arguments behind the named parameters. The _v2 forms return 0, or non-zero with
 * GEX_FLAG_IMMEDIATE when nothing was sent and the descriptor is still valid
 * Completion: as that of the message without Prepare. A buffer of the library is the library's
 * again after Commit.
 * Threads: normal context for requests, the handler that owns the token for replies. The thread
 * that has prepared commits or cancels. Between, it is in restricted context.
 * Errors: GEX_AM_SRCDESC_NO_OP with GEX_FLAG_IMMEDIATE only. More bytes than gex_AM_SrcDescSize,
 * or a second Commit, end the process with a message in debug clients.
 * Cost: saves the copy of the payload where the library gives the buffer.
 * See: gex_AM_RequestMedium, gex_AM_MaxRequestMedium */

/* Reserve an injection of least_payload..most_payload bytes. [in] client_buf: payload, or NULL for
 * a library buffer that the target will read in place. [out] lc_opt: NULL exactly when client_buf
 * is. Returns a descriptor of this thread, or GEX_AM_SRCDESC_NO_OP with GEX_FLAG_IMMEDIATE. Until
 * Commit or Cancel the thread is in restricted context. */
GEXX_API gex_AM_SrcDesc_t gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank,
                                                      const void *client_buf, size_t least_payload,
                                                      size_t most_payload, gex_Event_t *lc_opt,
                                                      gex_Flags_t flags, unsigned int numargs);
GEXX_API gex_AM_SrcDesc_t gex_AM_PrepareRequestLong(gex_TM_t tm, gex_Rank_t rank,
                                                    const void *client_buf, size_t least_payload,
                                                    size_t most_payload, void *dest_addr,
                                                    gex_Event_t *lc_opt, gex_Flags_t flags,
                                                    unsigned int numargs);
GEXX_API gex_AM_SrcDesc_t gex_AM_PrepareReplyMedium(gex_Token_t token, const void *client_buf,
                                                    size_t least_payload, size_t most_payload,
                                                    gex_Event_t *lc_opt, gex_Flags_t flags,
                                                    unsigned int numargs);
GEXX_API gex_AM_SrcDesc_t gex_AM_PrepareReplyLong(gex_Token_t token, const void *client_buf,
                                                  size_t least_payload, size_t most_payload,
                                                  void *dest_addr, gex_Event_t *lc_opt,
                                                  gex_Flags_t flags, unsigned int numargs);

/* Payload address and size (bytes) of a descriptor. */
GEXX_API void *gex_AM_SrcDescAddr(gex_AM_SrcDesc_t sd);
GEXX_API size_t gex_AM_SrcDescSize(gex_AM_SrcDesc_t sd);

/* Release a descriptor without sending. [in] flags: 0. Return 0. A cancelled reply leaves the
 * handler free to reply. */
GEXX_API int gex_AM_CancelRequestMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
GEXX_API int gex_AM_CancelReplyMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
GEXX_API int gex_AM_CancelRequestLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
GEXX_API int gex_AM_CancelReplyLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags);

/* ---------------------------------------------------------------- packing targets of the macros
 * below */

/* Fill a message from named parts; a[0] is flags, a+1 the nargs arguments. */
GEXX_INLINE struct gexx_am_msg gexx_am_pack(unsigned category, gex_AM_Index_t handler,
                                            unsigned nargs, const gex_AM_Arg_t *a) {
  struct gexx_am_msg m = {NULL, 0, NULL, NULL, NULL, 0, 0, 0, 0, 0};
  m.args = a + 1;
  m.flags = (gex_Flags_t)a[0];
  m.handler = handler;
  m.nargs = (uint8_t)nargs;
  m.category = (uint8_t)category;
  return m;
}

/* Packs and sends a Short request; a[0] is flags, a+1 the nargs arguments. API 02.3. */
GEXX_INLINE int gexx_am_req_short(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                  unsigned nargs, const gex_AM_Arg_t *a) {
  const struct gexx_am_msg m = gexx_am_pack(0, handler, nargs, a);
  return gexx_am_request(tm, rank, &m);
}

/* Packs and sends a Medium request; a[0] is flags, a+1 the nargs arguments. API 02.3. */
GEXX_INLINE int gexx_am_req_medium(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                   const void *src, size_t nbytes, gex_Event_t *lc_opt,
                                   unsigned nargs, const gex_AM_Arg_t *a) {
  struct gexx_am_msg m = gexx_am_pack(1, handler, nargs, a);
  m.src = src;
  m.nbytes = nbytes;
  m.lc_opt = lc_opt;
  return gexx_am_request(tm, rank, &m);
}

/* Packs and sends a Long request; a[0] is flags, a+1 the nargs arguments. API 02.3. */
GEXX_INLINE int gexx_am_req_long(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                 const void *src, size_t nbytes, void *dest, gex_Event_t *lc_opt,
                                 unsigned nargs, const gex_AM_Arg_t *a) {
  struct gexx_am_msg m = gexx_am_pack(2, handler, nargs, a);
  m.src = src;
  m.nbytes = nbytes;
  m.dest = dest;
  m.lc_opt = lc_opt;
  return gexx_am_request(tm, rank, &m);
}

/* Packs and sends a Short reply; a[0] is flags, a+1 the nargs arguments. API 02.3. */
GEXX_INLINE int gexx_am_rep_short(gex_Token_t token, gex_AM_Index_t handler, unsigned nargs,
                                  const gex_AM_Arg_t *a) {
  const struct gexx_am_msg m = gexx_am_pack(0, handler, nargs, a);
  return gexx_am_reply(token, &m);
}

/* Packs and sends a Medium reply; a[0] is flags, a+1 the nargs arguments. API 02.3. */
GEXX_INLINE int gexx_am_rep_medium(gex_Token_t token, gex_AM_Index_t handler, const void *src,
                                   size_t nbytes, gex_Event_t *lc_opt, unsigned nargs,
                                   const gex_AM_Arg_t *a) {
  struct gexx_am_msg m = gexx_am_pack(1, handler, nargs, a);
  m.src = src;
  m.nbytes = nbytes;
  m.lc_opt = lc_opt;
  return gexx_am_reply(token, &m);
}

/* Packs and sends a Long reply; a[0] is flags, a+1 the nargs arguments. API 02.3. */
GEXX_INLINE int gexx_am_rep_long(gex_Token_t token, gex_AM_Index_t handler, const void *src,
                                 size_t nbytes, void *dest, gex_Event_t *lc_opt, unsigned nargs,
                                 const gex_AM_Arg_t *a) {
  struct gexx_am_msg m = gexx_am_pack(2, handler, nargs, a);
  m.src = src;
  m.nbytes = nbytes;
  m.dest = dest;
  m.lc_opt = lc_opt;
  return gexx_am_reply(token, &m);
}

/* Commit from 64-bit elements: v[0] nbytes, then v[1] dest_addr of a Long, then flags of a _v2
 * form, then arguments. kind: bit 0 reply, bit 1 Long, bit 2 has flags; n: elements. */
GEXX_INLINE int gexx_am_com(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, unsigned kind, unsigned n,
                            const uint64_t *v) {
  gex_AM_Arg_t a[18] = {0};
  const unsigned skip = 1u + (kind >> 1 & 1u) + (kind >> 2 & 1u);
  struct gexx_am_msg m;
  unsigned i;
  for (i = skip; i < n && i - skip < 16; i++) a[1 + i - skip] = (gex_AM_Arg_t)v[i];
  a[0] = (kind & 4) ? (gex_AM_Arg_t)v[skip - 1] : 0;
  m = gexx_am_pack((kind & 2) ? 2 : 1, handler, n - skip, a);
  m.nbytes = (size_t)v[0];
  m.dest = (kind & 2) ? (void *)(uintptr_t)v[1] : NULL;
  return gexx_am_commit(sd, (int)(kind & 1), &m);
}

#ifdef __cplusplus
}
#endif
GEXX_CASTS_END

/* An argument of a message, in the numbered forms. */

/* ---------------------------------------------------------------- unsuffixed forms */

#include "am_each.h"

#ifdef __cplusplus
# include "am_cxx.h"
#else

/* flags, a0, ... -> count, array */
# define GEXX_AM_ARGS(...)                              \
  GEXX_NARGS(__VA_ARGS__) - 1, (const gex_AM_Arg_t[]) { \
   GEXX_EACH(gex_AM_Arg_t, __VA_ARGS__)                 \
  }
# define GEXX_AM_COM(...)                       \
  GEXX_NARGS(__VA_ARGS__), (const uint64_t[]) { \
   GEXX_EACH(uint64_t, __VA_ARGS__)             \
  }

/* Page gex_AM_RequestMedium: active messages.
 * A message runs a handler at the target, with up to 16 arguments of 32 bits. A Short message has
 * no payload. A Medium message brings a payload that the handler reads in a buffer of the library.
 * A Long message brings one that is written to dest_addr in the target's bound segment before the
 * handler runs. A handler of a request may send one reply to the sender.
 * Further parameters behind flags are the arguments of the message, each a gex_AM_Arg_t. A pointer
 * or a value of 64 bits takes two of them. A handler is called as (token, arguments) for a Short
 * message, else as (token, address, nbytes, arguments), with the arguments in the order in which
 * they were sent.
 * [in] flags: GEX_FLAG_IMMEDIATE: nothing is sent where the call would wait. Others are hints.
 * [in] src: [nbytes] the payload.
 * [in] nbytes: bytes of payload, at most what gex_AM_MaxRequestMedium and its relatives return.
 * [in] dest_addr: where the payload of a Long message goes, in the target's bound segment.
 * [in] lc_opt: GEX_EVENT_NOW, GEX_EVENT_GROUP (requests only), or where to store the event of
 * local completion.
 * Names: gex_AM_RequestShort: sends a request without payload;
 * gex_AM_RequestMedium: sends a request with payload for a buffer;
 * gex_AM_RequestLong: sends a request with payload for dest_addr;
 * gex_AM_ReplyShort: replies without payload;
 * gex_AM_ReplyMedium: replies with payload for a buffer;
 * gex_AM_ReplyLong: replies with payload for dest_addr
 * Completion: a request completes locally when src may be changed, as lc_opt says. Nothing reports
 * the sender that the handler has run; the handler may reply. All calls return 0, or non-zero with
 * GEX_FLAG_IMMEDIATE when nothing was sent.
 * Threads: requests from normal context, any thread; they may poll. Replies in a request handler
 * only, at most one. Handlers run on the thread that polls.
 * Errors: a handler that the target has not registered, a payload that is too long or a reply
 * outside a handler ends the process with a message.
 * Cost: one message. Between processes of one machine it passes through shared memory. A sender
 * waits, polling, while the target has no room.
 * Example: examples/ring.c gex_AM_RequestShort
 * See: gex_EP_RegisterHandlers, gex_AM_MaxRequestMedium, gex_Token_Info,
 * gex_AM_PrepareRequestMedium, gasnet_AMPoll */

# define gex_AM_RequestShort(tm, rank, handler, ...) \
  gexx_am_req_short((tm), (rank), (handler), GEXX_AM_ARGS(__VA_ARGS__))
# define gex_AM_RequestMedium(tm, rank, handler, src, nbytes, lc_opt, ...) \
  gexx_am_req_medium((tm), (rank), (handler), (src), (nbytes), (lc_opt), GEXX_AM_ARGS(__VA_ARGS__))
# define gex_AM_RequestLong(tm, rank, handler, src, nbytes, dest_addr, lc_opt, ...) \
  gexx_am_req_long((tm), (rank), (handler), (src), (nbytes), (dest_addr), (lc_opt), \
                   GEXX_AM_ARGS(__VA_ARGS__))
# define gex_AM_ReplyShort(token, handler, ...) \
  gexx_am_rep_short((token), (handler), GEXX_AM_ARGS(__VA_ARGS__))
# define gex_AM_ReplyMedium(token, handler, src, nbytes, lc_opt, ...) \
  gexx_am_rep_medium((token), (handler), (src), (nbytes), (lc_opt), GEXX_AM_ARGS(__VA_ARGS__))
# define gex_AM_ReplyLong(token, handler, src, nbytes, dest_addr, lc_opt, ...) \
  gexx_am_rep_long((token), (handler), (src), (nbytes), (dest_addr), (lc_opt), \
                   GEXX_AM_ARGS(__VA_ARGS__))

/* Page gex_AM_PrepareRequestMedium continued. */

# define gex_AM_CommitRequestMedium(sd, handler, ...) \
  ((void)gexx_am_com((sd), (handler), 0, GEXX_AM_COM(__VA_ARGS__)))
# define gex_AM_CommitReplyMedium(sd, handler, ...) \
  ((void)gexx_am_com((sd), (handler), 1, GEXX_AM_COM(__VA_ARGS__)))
# define gex_AM_CommitRequestLong(sd, handler, ...) \
  ((void)gexx_am_com((sd), (handler), 2, GEXX_AM_COM(__VA_ARGS__)))
# define gex_AM_CommitReplyLong(sd, handler, ...) \
  ((void)gexx_am_com((sd), (handler), 3, GEXX_AM_COM(__VA_ARGS__)))
# define gex_AM_CommitRequestMedium_v2(sd, handler, ...) \
  gexx_am_com((sd), (handler), 4, GEXX_AM_COM(__VA_ARGS__))
# define gex_AM_CommitReplyMedium_v2(sd, handler, ...) \
  gexx_am_com((sd), (handler), 5, GEXX_AM_COM(__VA_ARGS__))
# define gex_AM_CommitRequestLong_v2(sd, handler, ...) \
  gexx_am_com((sd), (handler), 6, GEXX_AM_COM(__VA_ARGS__))
# define gex_AM_CommitReplyLong_v2(sd, handler, ...) \
  gexx_am_com((sd), (handler), 7, GEXX_AM_COM(__VA_ARGS__))
#endif

#ifndef GEXX_NO_NUMBERED
# include "am_numbered.h"
#endif

#endif
