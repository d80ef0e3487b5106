/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages.
 *
 * Owns: the message that a thread has prepared. A request or reply carries the clock of its sender
 * to the rank that runs the handler. Most requests on a host do so in a queue (queue.c). For others
 * the sender leaves it under a key of sender, target, handler, arguments and length, and the
 * handler's rank takes the oldest one with that key. So it works for every conduit, and for
 * messages that overtake each other. A request of a rank to itself orders nothing, where threads
 * have no clocks. The payload of a Long is a put that is ordered for the handler. Messages of
 * GASNet-1 are sent by the library with the calls here.
 */
#include "check/runtime/chk.h"

#include <tombolo/check_hook.h>

#define MEDIUM 1 /* category of a message with a payload, and with a destination: inline_am.h */
#define LONG   2

/* The message that a thread, or a SEQ client, has prepared. */
struct prepared {
  uint32_t to, site;
  bool is;
  const void *source; /* the program's buffer, NULL: one of the library */
};
static struct prepared of_client;
static _Thread_local struct prepared of_thread;

static struct prepared *prepared(void) {
  return chk.one_thread ? &of_client : &of_thread;
}

static inline uint64_t mix(uint64_t h, uint64_t more) {
  h = (h ^ more) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ h >> 32;
}

static uint64_t message_key(uint32_t from, uint32_t to, bool reply, const struct gexx_am_msg *m) {
  const uint64_t form = (uint64_t)m->handler << 16 | (uint64_t)m->nargs << 8 |
                        (uint64_t)m->category << 4 | (uint64_t)reply << 3 | CHK_KEY_AM;
  uint64_t h = mix(mix(form, (uint64_t)from << 32 | to), m->category ? m->nbytes : 0);
  for (unsigned i = 0; i < m->nargs; i++) h = mix(h, (uint32_t)m->args[i]);
  return h | 1;
}

/* A hash of a request that is in a queue. */
static uint64_t form_of(const struct gexx_am_msg *m) {
  uint64_t form = (m->category ? (uint64_t)m->nbytes << 16 : 0) ^ m->handler << 8 ^ m->nargs;
  if (m->nargs) form ^= (uint64_t)(uint32_t)m->args[0] << 32;
  if (m->nargs > 1) form ^= (uint64_t)(uint32_t)m->args[1] << 24;
  return form;
}

/* Whether a message may be in a queue, or is not looked for if it is one to this rank. */
static inline bool is_queued(bool reply, const struct gexx_am_msg *m) {
  return !reply && m->category != LONG;
}

static inline bool orders_nothing(uint32_t peer) {
  return peer == chk.rank && !CHK_UNLIKELY(chk.each_thread);
}

/* The record of a message. */
struct sent {
  enum { NONE, QUEUED, KEYED } how;
  uint32_t to;
  uint64_t key;
  uint64_t put; /* the access of a Long's payload, 0: none */
};

/* The payload of a message. Returns the access of a Long's, or 0. */
static uint64_t touch_payload(uint32_t to, const struct gexx_am_msg *m, uint32_t site) {
  const struct chk_range payload = {to, m->category == LONG ? (uintptr_t)m->dest : 0, m->nbytes,
                                    CHK_WRITE | CHK_TRANSFER | CHK_SIGNALS};
  const uint64_t put = payload.addr ? chk_touch(&payload, site, true) : 0;
  (void)chk_local_side(&payload, m->src, 0, site, false); /* read at once */
  return put;
}

/* A message is about to be sent. */
static struct sent send(uint32_t to, bool reply, const struct gexx_am_msg *m, const char *call,
                        const void *pc) {
  struct sent s = {.to = to};
  const bool queued = is_queued(reply, m), none = queued && orders_nothing(to);
  if (none && !m->category) return s;
  chk_enter();
  const uint32_t site = chk_site(call, pc);
  if (m->category) s.put = touch_payload(to, m, site);
  if (none) {
    s.how = NONE;
  } else if (CHK_LIKELY(queued && chk_queue_give(to, form_of(m)))) {
    s.how = QUEUED;
    chk_given(site);
  } else {
    s.how = KEYED;
    s.key = message_key(chk.rank, to, reply, m);
    chk_send(s.key, site, s.put);
  }
  chk_exit();
  return s;
}

void chk_send_note(uint32_t to, uint8_t handler, size_t nbytes, uint32_t site, uint64_t put) {
  const struct gexx_am_msg m = {.handler = handler, .category = MEDIUM, .nbytes = nbytes};
  chk_send(message_key(chk.rank, to, true, &m), site, put);
}

/* Takes the record of a message back that was not sent. */
static void unsend(const struct sent *s) {
  chk_enter();
  struct chk_access *const put = chk_access_at(s->put);
  if (put) put->accept = 0;
  chk_done(s->put);
  if (s->how == QUEUED) chk_queue_unsend(s->to);
  if (s->how == KEYED) chk_unsend(s->key);
  chk_exit();
}

/* Called by the library before the handler of a client runs. */
void chk_handler(gex_Rank_t from, int reply, const struct gexx_am_msg *m) {
  const bool queued = is_queued(reply, m);
  if (!chk_on() || (queued && orders_nothing(from))) return;
  chk_enter();
  if (!queued || !chk_queue_take(from, form_of(m), chk.message_site))
    chk_receive(message_key(from, chk.rank, reply, m), chk.message_site);
  chk_exit();
}

static uint32_t asker(gex_Token_t token) {
  gex_Token_Info_t info;
  (void)gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  return info.gex_srcrank;
}

int gexx_am_request(gex_TM_t tm, gex_Rank_t rank, const struct gexx_am_msg *msg) {
  if (!chk_on()) return chk_real.gexx_am_request(tm, rank, msg);
  const struct sent s =
      send(chk_jobrank(tm, rank), false, msg, "gex_AM_Request", __builtin_return_address(0));
  const int rc = chk_real.gexx_am_request(tm, rank, msg);
  if (rc) unsend(&s);
  return rc;
}

int gexx_am_reply(gex_Token_t token, const struct gexx_am_msg *msg) {
  if (!chk_on()) return chk_real.gexx_am_reply(token, msg);
  const struct sent s = send(asker(token), true, msg, "gex_AM_Reply", __builtin_return_address(0));
  const int rc = chk_real.gexx_am_reply(token, msg);
  if (rc) unsend(&s);
  return rc;
}

static gex_AM_SrcDesc_t prepare(gex_AM_SrcDesc_t sd, uint32_t to, const void *source,
                                const char *call, const void *pc) {
  if (!chk.area || sd == GEX_AM_SRCDESC_NO_OP) return sd;
  chk_enter();
  *prepared() = (struct prepared){to, chk_site(call, pc), true, source};
  chk_exit();
  return sd;
}

void chk_prepared_leaks(void) {
  const struct prepared *const p = prepared();
  if (p->is) chk_leak("message that was prepared and never committed", p->site);
}

gex_AM_SrcDesc_t gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank, const void *client_buf,
                                             size_t least_payload, size_t most_payload,
                                             gex_Event_t *lc_opt, gex_Flags_t flags,
                                             unsigned int numargs) {
  return prepare(chk_real.gex_AM_PrepareRequestMedium(tm, rank, client_buf, least_payload,
                                                      most_payload, lc_opt, flags, numargs),
                 chk_jobrank(tm, rank), client_buf, "gex_AM_PrepareRequestMedium",
                 __builtin_return_address(0));
}

gex_AM_SrcDesc_t gex_AM_PrepareRequestLong(gex_TM_t tm, gex_Rank_t rank, const void *client_buf,
                                           size_t least_payload, size_t most_payload,
                                           void *dest_addr, gex_Event_t *lc_opt, gex_Flags_t flags,
                                           unsigned int numargs) {
  return prepare(
      chk_real.gex_AM_PrepareRequestLong(tm, rank, client_buf, least_payload, most_payload,
                                         dest_addr, lc_opt, flags, numargs),
      chk_jobrank(tm, rank), client_buf, "gex_AM_PrepareRequestLong", __builtin_return_address(0));
}

gex_AM_SrcDesc_t gex_AM_PrepareReplyMedium(gex_Token_t token, const void *client_buf,
                                           size_t least_payload, size_t most_payload,
                                           gex_Event_t *lc_opt, gex_Flags_t flags,
                                           unsigned int numargs) {
  return prepare(chk_real.gex_AM_PrepareReplyMedium(token, client_buf, least_payload, most_payload,
                                                    lc_opt, flags, numargs),
                 asker(token), client_buf, "gex_AM_PrepareReplyMedium",
                 __builtin_return_address(0));
}

gex_AM_SrcDesc_t gex_AM_PrepareReplyLong(gex_Token_t token, const void *client_buf,
                                         size_t least_payload, size_t most_payload, void *dest_addr,
                                         gex_Event_t *lc_opt, gex_Flags_t flags,
                                         unsigned int numargs) {
  return prepare(chk_real.gex_AM_PrepareReplyLong(token, client_buf, least_payload, most_payload,
                                                  dest_addr, lc_opt, flags, numargs),
                 asker(token), client_buf, "gex_AM_PrepareReplyLong", __builtin_return_address(0));
}

int gexx_am_commit(gex_AM_SrcDesc_t sd, int is_reply, const struct gexx_am_msg *msg) {
  if (!chk_on()) return chk_real.gexx_am_commit(sd, is_reply, msg);
  struct gexx_am_msg m = *msg;
  m.src = prepared()->source;
  const struct sent s =
      send(prepared()->to, is_reply != 0, &m, "gex_AM_Commit", __builtin_return_address(0));
  const int rc = chk_real.gexx_am_commit(sd, is_reply, msg);
  if (!rc) prepared()->is = false;
  if (rc) unsend(&s);
  return rc;
}

/* A cancelled message is none. */
#define CANCEL(name)                                \
 int name(gex_AM_SrcDesc_t sd, gex_Flags_t flags) { \
  const int rc = chk_real.name(sd, flags);          \
  if (rc == GASNET_OK) prepared()->is = false;      \
  return rc;                                        \
 }
CANCEL(gex_AM_CancelRequestMedium)
CANCEL(gex_AM_CancelRequestLong)
CANCEL(gex_AM_CancelReplyMedium)
CANCEL(gex_AM_CancelReplyLong)
