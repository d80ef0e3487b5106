/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running the handler of a message that has arrived, and the work after a change of a signal.
 *
 * Owns: the token of the running handler, tmb_job.internal, tmb_am_in_thread, and the only switch
 * over 0..16 arguments. Called by the engine's and the conduit's progress (tmb_up_am). Calls:
 * handlers of clients and layers, by address; later.c; nothing that sends or waits. Invariants: a
 * thread runs one request handler at a time, and inside it at most one reply handler; the token is
 * dead when the handler returns; the entry passed to the client is the library's copy.
 */
#include "core/am/am.h"
#include "core/am/kit.h"
#include "core/check.h"
#include "core/op/record.h"
#include "core/progress/progress.h"

#include <stdlib.h>

#define ANY_NARGS 255 /* fixed by the API: a handler of any number of arguments */

_Thread_local bool tmb_am_in_thread;

void tmb_am_set_internal(const struct tmb_layer_handler *handler) {
  tmb_assert_cmp(handler->index, <, TMB_HANDLER_FIRST);
  tmb_job.internal.handler[handler->index] = *handler;
}

void tmb_up_set_internal(uint8_t index, tmb_internal_fn fn) {
  tmb_am_set_internal(&(struct tmb_layer_handler){
      .index = index, .takes = TMB_TAKES_ALL, .nargs = ANY_NARGS, .fn = fn});
}

void tmb_am_thread_handlers(uint64_t always[2], uint64_t if_room[2]) {
  always[0] = always[1] = if_room[0] = if_room[1] = 0;
  for (unsigned i = 0; i < TMB_HANDLER_FIRST; i++) {
    const uint8_t takes = tmb_job.internal.handler[i].takes;
    const uint64_t bit = UINT64_C(1) << (i % 64);
    if (takes & TMB_BY_THREAD) always[i / 64] |= bit;
    if (takes & TMB_BY_THREAD_IF_ROOM) if_room[i / 64] |= bit;
  }
}

typedef gex_AM_Arg_t A;
#define T1  A
#define T2  T1, A
#define T3  T2, A
#define T4  T3, A
#define T5  T4, A
#define T6  T5, A
#define T7  T6, A
#define T8  T7, A
#define T9  T8, A
#define T10 T9, A
#define T11 T10, A
#define T12 T11, A
#define T13 T12, A
#define T14 T13, A
#define T15 T14, A
#define T16 T15, A
#define V1  a[0]
#define V2  V1, a[1]
#define V3  V2, a[2]
#define V4  V3, a[3]
#define V5  V4, a[4]
#define V6  V5, a[5]
#define V7  V6, a[6]
#define V8  V7, a[7]
#define V9  V8, a[8]
#define V10 V9, a[9]
#define V11 V10, a[10]
#define V12 V11, a[11]
#define V13 V12, a[12]
#define V14 V13, a[13]
#define V15 V14, a[14]
#define V16 V15, a[15]

#define SHORT_CASE(n)                             \
 case n:                                          \
  ((void (*)(gex_Token_t, T##n))fn)(token, V##n); \
  break;
#define PAYLOAD_CASE(n)                                                        \
 case n:                                                                       \
  ((void (*)(gex_Token_t, void *, size_t, T##n))fn)(token, buf, nbytes, V##n); \
  break;
#define ALL_CASES(C) \
 C(1) C(2) C(3) C(4) C(5) C(6) C(7) C(8) C(9) C(10) C(11) C(12) C(13) C(14) C(15) C(16)

static TMB_ALWAYS_INLINE void call_short(gex_AM_Fn_t fn, gex_Token_t token, unsigned n,
                                         const A *a) {
  switch (n) {
  case 0:
    ((void (*)(gex_Token_t))fn)(token);
    break;
    ALL_CASES(SHORT_CASE)
  default: tmb_bug("message with %u arguments", n);
  }
}

static TMB_ALWAYS_INLINE void call_payload(gex_AM_Fn_t fn, gex_Token_t token,
                                           const struct tmb_am_in *in) {
  void *buf = in->payload;
  const size_t nbytes = in->nbytes;
  const A *a = in->args;
  switch (in->nargs) {
  case 0:
    ((void (*)(gex_Token_t, void *, size_t))fn)(token, buf, nbytes);
    break;
    ALL_CASES(PAYLOAD_CASE)
  default: tmb_bug("message with %u arguments", in->nargs);
  }
}

/* Debug clients: the handler was registered for messages of this kind. Fatal where its function
 * cannot take the message; otherwise a note, as released programs declare what they do not use. */
static void check_entry(const struct tmb_am_in *in, const gex_AM_Entry_t *e) {
  const gex_Flags_t kinds = e->gex_flags & (GEX_FLAG_AM_SHORT | GEX_FLAG_AM_MEDLONG);
  static const char *const category[] = {"Short", "Medium", "Long"};
  if (!in->route && tmb_job.ep.legacy[in->handler / 64] >> (in->handler % 64) & 1) return;
  const char *kind = in->is_reply ? "reply" : "request";
  const char *name = e->gex_name ? e->gex_name : "unnamed";
  const gex_Flags_t same =
      in->category == TMB_AM_SHORT ? GEX_FLAG_AM_SHORT : GEX_FLAG_AM_MEDLONG; /* prototype */
  if (kinds && !(kinds & same))
    tmb_fatal_nopos(
        "a %s %s from rank %u runs handler %u (%s), whose registered gex_flags 0x%x do not "
        "allow that category",
        category[in->category], kind, in->src, in->handler, name, e->gex_flags);
  if (!(e->gex_flags >> in->category & 1))
    tmb_advise(TMB_ADVICE_DELIVERY,
               "a %s %s from rank %u runs handler %u (%s), whose registered gex_flags 0x%x do not "
               "allow that category",
               category[in->category], kind, in->src, in->handler, name, e->gex_flags);
  if (!(e->gex_flags & (in->is_reply ? GEX_FLAG_AM_REPLY : GEX_FLAG_AM_REQUEST)))
    tmb_advise(TMB_ADVICE_DELIVERY,
               "a %s %s from rank %u runs handler %u (%s), whose registered gex_flags 0x%x do not "
               "allow a %s",
               category[in->category], kind, in->src, in->handler, name, e->gex_flags, kind);
  if (e->gex_nargs != in->nargs)
    tmb_advise(TMB_ADVICE_NARGS,
               "a %s %s from rank %u brings %u arguments to handler %u (%s), which was registered "
               "with gex_nargs %u",
               category[in->category], kind, in->src, in->nargs, in->handler, name, e->gex_nargs);
}

/* Debug clients: fatal if a handler has returned with a lock held or a message prepared. */
static void check_left(const struct tmb_thread *t, const struct tmb_am_in *in,
                       const gex_HSL_t *hsl) {
  if (t->hsl != hsl)
    tmb_fatal_nopos("handler %u returned while holding the handler-safe lock %p", in->handler,
                    (const void *)t->hsl);
  if ((t->context & TMB_PREPARED) && !in->is_reply)
    tmb_fatal_nopos("handler %u returned with a prepared reply outstanding; commit or cancel it",
                    in->handler);
}

/* Checks of debug clients and events of traces before a handler. Returns whether it runs now. */
TMB_COLD static bool before(const struct tmb_am_in *in, const gex_AM_Entry_t *e) {
  if (tmb_job.gate && tmb_gate_keeps(in)) return false;
  if (tmb_job.debug) check_entry(in, e);
  if (tmb_recording()) tmb_record_handler(in, e->gex_name);
  if (!tmb_job.check) return true;
  const struct gexx_am_msg m = tmb_gate_message(in);
  tmb_job.check(in->src, in->is_reply, &m);
  return true;
}

void gexx_check_handlers(gexx_check_handler_fn fn) {
  tmb_job.check = fn;
  tmb_job.handlers_watched |= fn != NULL;
}

TMB_COLD static void after(const struct tmb_thread *t, const struct tmb_am_in *in,
                           const gex_HSL_t *hsl) {
  if (tmb_recording()) tmb_record_handled(in);
  if (tmb_job.debug) check_left(t, in, hsl);
}

/* Entry of a message that leaves the primordial endpoints. */
static const gex_AM_Entry_t *routed_entry(const struct tmb_am_in *in) {
  const unsigned index = TMB_ROUTE_TARGET(in->route);
  const gex_EP_t ep = index < GASNET_MAXEPS ? tmb_job.eps[index] : NULL;
  if (!ep)
    tmb_fatal_nopos("a message from rank %u names endpoint %u, which this rank has not created; "
                    "create it with gex_EP_Create and pass a barrier before peers send",
                    in->src, index);
  return &ep->handler[in->handler];
}

void tmb_kit_malformed(const struct tmb_am_in *in, const char *what) {
  tmb_fatal_nopos("a message of rank %u to internal handler %u is malformed (%s; %u arguments, %zu "
                  "bytes): the ranks run different versions of the library, or memory is damaged",
                  in->src, in->handler, what, in->nargs, in->nbytes);
}

static void run_internal(const struct tmb_am_in *in) {
  const struct tmb_layer_handler *h = &tmb_job.internal.handler[in->handler];
  if (TMB_UNLIKELY(!h->takes))
    tmb_fatal_nopos("a message from rank %u names handler %u, but registered indices are %d..255; "
                    "check the handler argument at the sender",
                    in->src, in->handler, TMB_HANDLER_FIRST);
  if (TMB_UNLIKELY(!(h->takes >> in->category & 1) ||
                   (in->nargs != h->nargs && h->nargs != ANY_NARGS) || in->nbytes < h->bytes_min))
    tmb_kit_malformed(in, "form");
  h->fn(in);
}

void tmb_am_by_thread(const struct tmb_am_in *in) {
  tmb_am_in_thread = true;
  run_internal(in);
  tmb_am_in_thread = false;
}

/* Thread t begins to handle a message. Returns its token. */
static inline struct gexx_token_s *begin(struct tmb_thread *t, const gex_AM_Entry_t *e,
                                         const struct tmb_am_in *in) {
  struct gexx_token_s *token = &t->token[in->is_reply];
  token->magic = TMB_MAGIC_TOKEN;
  token->src = in->src;
  token->entry = e;
  token->route = in->route;
  token->is_long = in->category == TMB_AM_LONG;
  token->replied = false;
  t->src_last = in->src;
  t->context |= in->is_reply ? TMB_IN_REPLY : TMB_IN_REQUEST;
  return token;
}

/* The handler has returned. in context: before it began. */
static inline void finish(struct tmb_thread *t, struct gexx_token_s *token, uint32_t context) {
  t->context = context;
  t->unanswered = token->is_req && !token->replied;
  token->magic = 0;
}

/* tmb_up_short, inlined for requests and for replies. */
static TMB_ALWAYS_INLINE void run_short(struct tmb_thread *t, const gex_AM_Entry_t *e, uint32_t src,
                                        bool is_reply, uint32_t nargs, const int32_t *args) {
  const struct tmb_am_in in = {.src = src, .category = TMB_AM_SHORT, .is_reply = is_reply};
  const uint32_t context = t->context;
  struct gexx_token_s *token = begin(t, e, &in);
  call_short(e->gex_fnptr, token, nargs, args);
  finish(t, token, context);
}

bool tmb_up_short(uint32_t src, uint8_t handler, uint8_t nargs, bool is_reply,
                  const int32_t *args) {
  const gex_AM_Entry_t *e = &tmb_job.ep.handler[handler];
  if (TMB_UNLIKELY(handler < TMB_HANDLER_FIRST || !e->gex_fnptr || tmb_job.handlers_watched))
    return false;
  struct tmb_thread *t = tmb_thread();
  if (is_reply)
    run_short(t, e, src, true, nargs, args);
  else
    run_short(t, e, src, false, nargs, args);
  return true;
}

bool tmb_up_medium(uint32_t src, uint32_t head, const int32_t *args, void *payload, size_t nbytes) {
  const uint8_t handler = (uint8_t)head;
  const gex_AM_Entry_t *e = &tmb_job.ep.handler[handler];
  if (TMB_UNLIKELY(handler < TMB_HANDLER_FIRST || !e->gex_fnptr || tmb_job.handlers_watched))
    return false;
  struct tmb_thread *t = tmb_thread();
  const struct tmb_am_in in = {.src = src,
                               .category = TMB_AM_MEDIUM,
                               .nargs = (uint8_t)(head >> 8),
                               .is_reply = (uint8_t)(head >> 16),
                               .args = args,
                               .payload = payload,
                               .nbytes = nbytes};
  const uint32_t context = t->context;
  struct gexx_token_s *token = begin(t, e, &in);
  call_payload(e->gex_fnptr, token, &in);
  finish(t, token, context);
  return true;
}

void tmb_up_am(const struct tmb_am_in *in) {
  if (in->handler < TMB_HANDLER_FIRST) {
    run_internal(in);
    return;
  }
  const gex_AM_Entry_t *e = &tmb_job.ep.handler[in->handler];
  if (TMB_UNLIKELY(in->route)) e = routed_entry(in);
  if (TMB_UNLIKELY(!e->gex_fnptr))
    tmb_fatal_nopos("a message from rank %u names handler %u, which this rank has not registered; "
                    "register it with gex_EP_RegisterHandlers and pass a barrier before peers send",
                    in->src, in->handler);
  struct tmb_thread *t = tmb_thread();
  if (TMB_UNLIKELY(tmb_job.handlers_watched) && !before(in, e)) return;
  const uint32_t context = t->context;
  const gex_HSL_t *hsl = t->hsl;
  struct gexx_token_s *token = begin(t, e, in);
  if (in->category == TMB_AM_SHORT)
    call_short(e->gex_fnptr, token, in->nargs, in->args);
  else
    call_payload(e->gex_fnptr, token, in);
  if (TMB_UNLIKELY(tmb_job.handlers_watched)) {
    after(t, in, hsl);
    finish(t, token, context);
    tmb_gate_handled();
    return;
  }
  finish(t, token, context);
}

void tmb_up_am_later(const struct tmb_am_in *in) {
  if (!tmb_am_in_thread)
    tmb_up_am(in);
  else if (in->handler < TMB_HANDLER_FIRST &&
           (tmb_job.internal.handler[in->handler].takes & TMB_BY_THREAD))
    run_internal(in);
  else
    tmb_later_add(in);
}

void tmb_up_signal(const void *addr) {
  if (tmb_lock_threads)
    tmb_fence_seq(); /* the store of the signal comes before the test whether there is an index */
  if (TMB_UNLIKELY(tmb_load_acq(&tmb_job.signals_indexed))) tmb_layers_signal(addr);
}

void gexx_gate_set(gexx_gate_fn fn) {
  tmb_job.gate = fn;
  tmb_job.handlers_watched |= fn != NULL;
  if (fn) tmb_fetch_or_acq_rel(&tmb_job.special, TMB_SPECIAL_GATE);
}

void gexx_gate_run(void *message) {
  tmb_up_am(message);
  free(message);
}
