/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Negotiated-payload active messages: Prepare, Commit, Cancel.
 *
 * Owns: the thread's source descriptor. Called by the public prepare, commit and cancel calls.
 * Calls: peer.h. A library buffer is a message buffer of the engine or conduit: the client fills it
 * and the target's handler reads it there, so a prepared Medium is not copied at all; a prepared
 * Long is copied once, to its destination, at commit. Invariants: one descriptor per thread;
 * between Prepare and Commit no handler runs on the thread; Commit may wait and run handlers once
 * the descriptor's content has been captured. An immediate Commit that is repeated without end
 * waits at last: the client may not poll in between, so that nothing else would give it resources.
 */
#include "core/am/am.h"

#include "base/ascii.h"
#include "base/config.h"
#include "base/error.h"
#include "base/fmt.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/progress/progress.h"

#include <stdlib.h>
#include <string.h>

/* Immediate commits of one descriptor that fail before one waits. Chosen, not measured: it lets a
 * program continue that repeats the commit for ever without a poll, which is forbidden there. */
enum { REFUSED_MAX = 1000 };

static const char *const prepare_name[2][2] = {
    {"gex_AM_PrepareRequestMedium", "gex_AM_PrepareRequestLong"},
    {"gex_AM_PrepareReplyMedium", "gex_AM_PrepareReplyLong"}};
static const char *const commit_name[2][2] = {
    {"gex_AM_CommitRequestMedium", "gex_AM_CommitRequestLong"},
    {"gex_AM_CommitReplyMedium", "gex_AM_CommitReplyLong"}};
static const char *const cancel_name[2][2] = {
    {"gex_AM_CancelRequestMedium", "gex_AM_CancelRequestLong"},
    {"gex_AM_CancelReplyMedium", "gex_AM_CancelReplyLong"}};

/* Arguments of the four Prepare calls. */
struct prepare {
  bool is_reply, is_long;
  gex_TM_t tm;
  gex_Rank_t rank;
  gex_Token_t token;
  const void *client_buf;
  size_t least, most;
  void *dest;
  gex_Event_t *lc_opt;
  gex_Flags_t flags;
  unsigned nargs;
};

static size_t payload_max(const struct prepare *p) {
  return p->is_long && p->client_buf ? TMB_AM_LONG_BYTES_MAX : TMB_AM_MEDIUM_BYTES_MAX;
}

static void check_prepare(const struct prepare *p) {
  const char *call = prepare_name[p->is_reply][p->is_long];
  if (p->is_reply)
    tmb_am_check_token(call, p->token);
  else
    tmb_check_tm_rank(call, p->tm, p->rank);
  if (tmb_thread()->context & TMB_PREPARED)
    tmb_fatal_nopos(
        "%s: descriptor %p of this thread is still outstanding; commit or cancel it first", call,
        (void *)&tmb_thread()->srcdesc);
  if (!p->is_reply) tmb_check_context_at(call);
  tmb_check_flags(call, p->flags,
                  TMB_AM_FLAGS | GEX_FLAG_AM_PREPARE_LEAST_CLIENT |
                      GEX_FLAG_AM_PREPARE_LEAST_ALLOC);
  if (p->flags & GEX_FLAG_SELF_SEG_OFFSET)
    tmb_fatal_nopos(
        "%s: argument flags is 0x%x: GEX_FLAG_SELF_SEG_OFFSET is not for prepared messages", call,
        p->flags);
  if (p->nargs > TMB_AM_ARGS_MAX)
    tmb_fatal_nopos("%s: argument numargs is %u, at most %d are possible", call, p->nargs,
                    TMB_AM_ARGS_MAX);
  if (p->least > p->most)
    tmb_fatal_nopos("%s: argument least_payload is %zu, more than most_payload %zu", call, p->least,
                    p->most);
  if (p->least > payload_max(p))
    tmb_fatal_nopos("%s: argument least_payload is %zu, the limit is %zu (see gex_AM_Max*)", call,
                    p->least, payload_max(p));
  if (!p->client_buf != !p->lc_opt)
    tmb_advise(TMB_ADVICE_PREPARE,
               "%s: argument lc_opt is %p and client_buf is %p; lc_opt must be NULL exactly when "
               "client_buf is",
               call, (void *)p->lc_opt, p->client_buf);
  if (p->lc_opt == GEX_EVENT_DEFER || (p->is_reply && p->lc_opt == GEX_EVENT_GROUP))
    tmb_fatal_nopos("%s: argument lc_opt is GEX_EVENT_%s, which this call does not take", call,
                    p->lc_opt == GEX_EVENT_DEFER ? "DEFER" : "GROUP");
}

/* Byte i of the pattern with which library buffers of debug clients are filled
 * (GASNET_SD_INITVAL): the bytes of a double NaN, or one byte again and again. */
static unsigned char canary_byte(size_t i) {
  static const unsigned char nan_bytes[8] = {0, 0, 0, 0, 0, 0, 0xf8, 0x7f};
  const char *text = tmb_cfg_str(TMB_CFG_SD_INITVAL);
  int64_t value;
  if (tmb_ascii_same(text, "NAN")) return nan_bytes[i % sizeof nan_bytes];
  if (tmb_fmt_parse_int(text, 0, &value) || value < 0 || value > 255)
    tmb_cfg_bad_value(TMB_CFG_SD_INITVAL, "NAN, or a byte from 0 to 255");
  return (unsigned char)value;
}

/* Debug clients: fill the start of a library buffer so that Commit can find out whether the client
 * wrote it. */
static void canary_fill(struct gexx_srcdesc_s *sd) {
  const size_t length = (size_t)tmb_cfg_int(TMB_CFG_SD_INITLEN);
  sd->canary_bytes = 0;
  if (!tmb_job.debug || !tmb_cfg_bool(TMB_CFG_SD_INIT) || sd->size < length) return;
  for (size_t i = 0; i < length; i++) ((unsigned char *)sd->addr)[i] = canary_byte(i);
  sd->canary_bytes = length;
}

static void canary_check(const struct gexx_srcdesc_s *sd, size_t nbytes) {
  if (!sd->canary_bytes || nbytes < sd->canary_bytes) return;
  const unsigned char *p = sd->addr;
  for (size_t i = 0; i < sd->canary_bytes; i++)
    if (p[i] != canary_byte(i)) return;
  tmb_advise(TMB_ADVICE_CANARY,
             "%s: the buffer %p was never written (its first %zu bytes are as Prepare left them); "
             "fill gex_AM_SrcDescAddr before commit, or set GASNET_SD_INIT=0",
             commit_name[sd->is_reply][sd->is_long], sd->addr, sd->canary_bytes);
}

/*
 * Library buffer of a prepared Long: memory of the thread, not a conduit buffer that peers read in
 * place. Such a buffer would gain nothing, because the data have to be copied to the destination
 * anyway, and for destinations that are not mapped Commit itself needs conduit buffers, so holding
 * one could block for ever. Reply and request have one each, because a handler may run while a
 * request is being committed.
 */
static void *long_buffer(struct tmb_thread *t, bool is_reply) {
  void **buf = &t->long_buf[is_reply];
  if (!*buf) *buf = aligned_alloc(64, TMB_AM_MEDIUM_BYTES_MAX);
  if (!*buf) tmb_fatal("out of memory for a prepared message (%u bytes)", TMB_AM_MEDIUM_BYTES_MAX);
  return *buf;
}

static gex_AM_SrcDesc_t prepare(const struct prepare *p) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_prepare(p);
  struct tmb_thread *t = tmb_thread();
  struct gexx_srcdesc_s *sd = &t->srcdesc;
  struct tmb_am_out out = {.peer = p->is_reply ? p->token->src : tmb_jobrank(p->tm, p->rank),
                           .is_reply = p->is_reply,
                           .route = p->is_reply ? tmb_am_route_back(p->token)
                                                : tmb_am_route(p->tm, p->rank),
                           .staged = -1};
  void *addr = (void *)(uintptr_t)p->client_buf;
  if (!addr && p->is_long) addr = long_buffer(t, p->is_reply);
  if (!addr) {
    out.immediate = (p->flags & GEX_FLAG_IMMEDIATE) != 0;
    addr = tmb_up_am_stage(&out);
    out.immediate = 0;
    if (!addr) {
      (void)tmb_poll_refused(1);
      return GEX_AM_SRCDESC_NO_OP;
    }
  }
  *sd = (struct gexx_srcdesc_s){.live = true,
                                .is_reply = p->is_reply,
                                .is_long = p->is_long,
                                .nargs = p->nargs,
                                .addr = addr,
                                .size = TMB_MIN(p->most, payload_max(p)),
                                .dest = p->dest,
                                .lc_opt = p->lc_opt,
                                .token = p->token,
                                .tm = p->tm,
                                .rank = p->rank,
                                .out = out};
  sd->resolve = p->flags & TMB_AM_RESOLVE_FLAGS;
  if (!p->client_buf) canary_fill(sd);
  t->context |= TMB_PREPARED;
  return sd;
}

/* Arguments that all Prepare calls have, and those by which a peer is named. */
#define PAYLOAD                                                                            \
 .client_buf = client_buf, .least = least_payload, .most = most_payload, .lc_opt = lc_opt, \
 .flags = flags, .nargs = numargs
#define TO_RANK  .tm = tm, .rank = rank
#define TO_TOKEN .is_reply = true, .token = token
#define TO_DEST  .is_long = true, .dest = dest_addr

gex_AM_SrcDesc_t gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank, const void *client_buf,
                                             size_t least_payload, size_t most_payload,
                                             gex_Event_t *lc_opt, gex_Flags_t flags,
                                             unsigned int numargs) {
  return prepare(&(struct prepare){TO_RANK, PAYLOAD});
}

gex_AM_SrcDesc_t gex_AM_PrepareRequestLong(gex_TM_t tm, gex_Rank_t rank, const void *client_buf,
                                           size_t least_payload, size_t most_payload,
                                           void *dest_addr, gex_Event_t *lc_opt, gex_Flags_t flags,
                                           unsigned int numargs) {
  return prepare(&(struct prepare){TO_RANK, TO_DEST, PAYLOAD});
}

gex_AM_SrcDesc_t gex_AM_PrepareReplyMedium(gex_Token_t token, const void *client_buf,
                                           size_t least_payload, size_t most_payload,
                                           gex_Event_t *lc_opt, gex_Flags_t flags,
                                           unsigned int numargs) {
  return prepare(&(struct prepare){TO_TOKEN, PAYLOAD});
}

gex_AM_SrcDesc_t gex_AM_PrepareReplyLong(gex_Token_t token, const void *client_buf,
                                         size_t least_payload, size_t most_payload, void *dest_addr,
                                         gex_Event_t *lc_opt, gex_Flags_t flags,
                                         unsigned int numargs) {
  return prepare(&(struct prepare){TO_TOKEN, TO_DEST, PAYLOAD});
}

/* Debug clients: fatal unless the descriptor is this thread's and was made by the matching
 * Prepare call. */
static void check_sd(const char *call, gex_AM_SrcDesc_t sd, int is_reply, bool is_long) {
  if (sd == GEX_AM_SRCDESC_NO_OP)
    tmb_fatal_nopos("%s: argument sd is GEX_AM_SRCDESC_NO_OP: the immediate Prepare found no "
                    "resources, there is nothing to commit or cancel",
                    call);
  if (sd != &tmb_thread()->srcdesc)
    tmb_fatal_nopos("%s: argument sd (%p) was not prepared by this thread", call, (void *)sd);
  if (!sd->live)
    tmb_fatal_nopos("%s: argument sd (%p) was committed or cancelled before", call, (void *)sd);
  if (sd->is_reply != (is_reply != 0) || sd->is_long != is_long)
    tmb_fatal_nopos("%s: argument sd (%p) was made by %s", call, (void *)sd,
                    prepare_name[sd->is_reply][sd->is_long]);
}

void *gex_AM_SrcDescAddr(gex_AM_SrcDesc_t sd) {
  TMB_CHECK(sd && sd->live, "gex_AM_SrcDescAddr: argument sd (%p) is not a live descriptor",
            (void *)sd);
  return sd->addr;
}

size_t gex_AM_SrcDescSize(gex_AM_SrcDesc_t sd) {
  TMB_CHECK(sd && sd->live, "gex_AM_SrcDescSize: argument sd (%p) is not a live descriptor",
            (void *)sd);
  return sd->size;
}

static void check_commit(const char *call, gex_AM_SrcDesc_t sd, const struct gexx_am_msg *m) {
  if (m->nargs != sd->nargs)
    tmb_fatal_nopos("%s: %u arguments given, but Prepare announced numargs %u", call, m->nargs,
                    sd->nargs);
  if (m->nbytes > sd->size)
    tmb_fatal_nopos("%s: argument nbytes is %zu, more than gex_AM_SrcDescSize %zu", call, m->nbytes,
                    sd->size);
  if (sd->is_long && sd->dest && sd->dest != m->dest)
    tmb_advise(TMB_ADVICE_PREPARE, "%s: argument dest_addr is %p, but Prepare got %p", call,
               m->dest, sd->dest);
  tmb_check_flags(call, m->flags, GEX_FLAG_IMMEDIATE);
  struct gexx_am_msg copy = *m;
  copy.src = sd->addr;
  copy.flags |= sd->resolve;
  const struct tmb_am_check c = {call, sd->is_reply ? tmb_am_pair_back(sd->token) : sd->tm,
                                 sd->is_reply ? sd->token->src : sd->rank, sd->is_reply, false};
  tmb_am_check_msg(&c, &copy);
  canary_check(sd, m->nbytes);
}

/* Try once to send. When there are no resources the library buffer stays with its descriptor, so
 * that Commit can be called again. */
static int send_now(struct tmb_am_out *out) {
  out->immediate = out->category == TMB_AM_LONG;
  if (tmb_am_unmapped(out)) return tmb_am_send_unmapped(out);
  return tmb_peer_try(out, "sending a message to") ? 0 : TMB_AGAIN;
}

/* The thread's descriptor is free for the next Prepare. */
static void retire(gex_AM_SrcDesc_t sd) {
  sd->live = false;
  tmb_thread()->context &= ~(uint32_t)TMB_PREPARED;
}

/* The thread's descriptor stays prepared: nothing was sent, and no handler has run meanwhile. */
static void restore(gex_AM_SrcDesc_t sd) {
  sd->live = true;
  sd->refused++;
  tmb_thread()->context |= TMB_PREPARED;
}

int gexx_am_commit(gex_AM_SrcDesc_t sd, int is_reply, const struct gexx_am_msg *m) {
  const bool is_long = m->category == TMB_AM_LONG;
  if (TMB_UNLIKELY(tmb_job.debug)) {
    const char *call = commit_name[is_reply != 0][is_long];
    check_sd(call, sd, is_reply, is_long);
    check_commit(call, sd, m);
  }
  struct gexx_srcdesc_s copy = *sd; /* handlers that run while we wait may prepare on this thread */
  struct tmb_am_out out = copy.out;
  out.category = m->category;
  out.handler = m->handler;
  out.nargs = m->nargs;
  out.args = m->args;
  out.src = copy.addr;
  out.nbytes = m->nbytes;
  out.dest = m->dest;
  out.filled = out.staged >= 0;
  out.immediate = (m->flags & GEX_FLAG_IMMEDIATE) != 0;
  if (TMB_UNLIKELY(out.route || copy.resolve)) tmb_am_resolve(&out, copy.resolve);
  out.immediate = 0;
  const int32_t staged = out.staged;
  const bool try_once = (m->flags & GEX_FLAG_IMMEDIATE) && sd->refused < REFUSED_MAX;
  if (try_once && out.peer != tmb_job.rank) {
    retire(sd); /* a Long whose beginning was sent waits for room for the rest: handlers prepare */
    if (send_now(&out)) {
      if (staged < 0) tmb_peer_release(&out);
      restore(sd);
      return 1;
    }
  } else {
    retire(sd);
    (void)tmb_am_inject(&out);
  }
  if (copy.is_reply) copy.token->replied = true;
  tmb_am_complete_lc(copy.lc_opt);
  return 0;
}

static int cancel(gex_AM_SrcDesc_t sd, gex_Flags_t flags, int is_reply, bool is_long) {
  if (TMB_UNLIKELY(tmb_job.debug)) {
    const char *call = cancel_name[is_reply][is_long];
    check_sd(call, sd, is_reply, is_long);
    tmb_check_flags(call, flags, 0);
  }
  tmb_peer_release(&sd->out);
  retire(sd);
  return 0;
}

#define CANCEL(NAME, IS_REPLY, IS_LONG)                            \
 int gex_AM_Cancel##NAME(gex_AM_SrcDesc_t sd, gex_Flags_t flags) { \
  return cancel(sd, flags, IS_REPLY, IS_LONG);                     \
 }
CANCEL(RequestMedium, 0, false)
CANCEL(ReplyMedium, 1, false)
CANCEL(RequestLong, 0, true)
CANCEL(ReplyLong, 1, true)
