/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* debug: both */
/* again: TOMBOLO_TEST_RING_SLOTS=64 */
/*
 * API 02.1, 02.3: every category with every argument count 0..16, as request and as reply, in the
 * numbered and in the counting form, to self and to all peers. Each argument depends on sender,
 * category and position.
 */
#include "am_args.h"
#include "job.h"

enum { SHORT = 0, MEDIUM = 1, LONG = 2, REPLY = 4, KINDS = 8, BYTES = 40, SLOT = 64 };

static int counting_form; /* which form senders use: fixed between barriers */
static volatile int seen[KINDS][17];
static gex_Rank_t salt_rank;
static int salt_kind;
static gex_AM_Index_t base_of[KINDS]; /* index of the handler with 0 arguments */

static gex_AM_Arg_t arg_value(gex_Rank_t from, int kind, int i) {
  return (gex_AM_Arg_t)(uint32_t)mix64(from * 1000 + (unsigned)kind * 50 + (unsigned)i);
}

static gex_AM_Arg_t ARG(int i) {
  return arg_value(salt_rank, salt_kind, i);
}

/* Prepares the values that ARG gives. */
static void say(int kind) {
  salt_rank = job.rank;
  salt_kind = kind;
}

/* Where the Long with n arguments of `from` lands at `to`; replies use the second half. */
static char *slot_of(gex_Rank_t to, gex_Rank_t from, int kind, int n) {
  const size_t half = (size_t)(kind & REPLY ? job.size * 17 : 0);
  return job.peer[to] + SLOT * (half + from * 17 + (unsigned)n);
}

static uint64_t seed_of(gex_Rank_t from, int kind, int n) {
  return from * 4096 + (unsigned)kind * 64 + (unsigned)n;
}

static void arrived(gex_Token_t token, int kind, int n, const gex_AM_Arg_t *got) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_ALL);
  for (int i = 0; i < n; i++) CHECK_EQ(got[i], arg_value(info.gex_srcrank, kind, i));
  CHECK_EQ(info.gex_is_req, !(kind & REPLY));
  CHECK_EQ(info.gex_is_long, (kind & 3) == LONG);
  CHECK_EQ(info.gex_entry->gex_nargs, n);
  seen[kind][n]++;
}

static void payload(gex_Token_t token, int kind, int n, void *buf, size_t nbytes) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_ALL);
  CHECK_EQ(nbytes, BYTES);
  CHECK_BYTES(buf, nbytes, seed_of(info.gex_srcrank, kind, n));
  if ((kind & 3) == LONG) CHECK_PTR(buf, slot_of(job.rank, info.gex_srcrank, kind, n));
}

#define INDEX(kind, n) (gex_AM_Index_t)(base_of[kind] + (n))
#define HANDLERS(n)                                                                                \
 static void short_rep##n(gex_Token_t token TEST_PARAMS_##n) {                                     \
  const gex_AM_Arg_t got[] = {0 TEST_NAMES_##n};                                                   \
  arrived(token, SHORT | REPLY, n, got + 1);                                                       \
 }                                                                                                 \
 static void medium_rep##n(gex_Token_t token, void *buf, size_t nbytes TEST_PARAMS_##n) {          \
  const gex_AM_Arg_t got[] = {0 TEST_NAMES_##n};                                                   \
  payload(token, MEDIUM | REPLY, n, buf, nbytes);                                                  \
  arrived(token, MEDIUM | REPLY, n, got + 1);                                                      \
 }                                                                                                 \
 static void long_rep##n(gex_Token_t token, void *buf, size_t nbytes TEST_PARAMS_##n) {            \
  const gex_AM_Arg_t got[] = {0 TEST_NAMES_##n};                                                   \
  payload(token, LONG | REPLY, n, buf, nbytes);                                                    \
  arrived(token, LONG | REPLY, n, got + 1);                                                        \
 }                                                                                                 \
 static void short_req##n(gex_Token_t token TEST_PARAMS_##n) {                                     \
  const gex_AM_Arg_t got[] = {0 TEST_NAMES_##n};                                                   \
  arrived(token, SHORT, n, got + 1);                                                               \
  say(SHORT | REPLY);                                                                              \
  const gex_AM_Index_t h = INDEX(SHORT | REPLY, n);                                                \
  CHECK_EQ(counting_form ? gex_AM_ReplyShort(token, h, 0 TEST_ARGS_##n)                            \
                         : TEST_CALL(gex_AM_ReplyShort##n, token, h, 0 TEST_ARGS_##n),             \
           0);                                                                                     \
 }                                                                                                 \
 static void medium_req##n(gex_Token_t token, void *buf, size_t nbytes TEST_PARAMS_##n) {          \
  const gex_AM_Arg_t got[] = {0 TEST_NAMES_##n};                                                   \
  char out[BYTES];                                                                                 \
  payload(token, MEDIUM, n, buf, nbytes);                                                          \
  arrived(token, MEDIUM, n, got + 1);                                                              \
  say(MEDIUM | REPLY);                                                                             \
  pattern_fill(out, BYTES, seed_of(job.rank, MEDIUM | REPLY, n));                                  \
  const gex_AM_Index_t h = INDEX(MEDIUM | REPLY, n);                                               \
  gex_Event_t *const now = GEX_EVENT_NOW;                                                          \
  CHECK_EQ(counting_form                                                                           \
               ? gex_AM_ReplyMedium(token, h, out, BYTES, now, 0 TEST_ARGS_##n)                    \
               : TEST_CALL(gex_AM_ReplyMedium##n, token, h, out, BYTES, now, 0 TEST_ARGS_##n),     \
           0);                                                                                     \
 }                                                                                                 \
 static void long_req##n(gex_Token_t token, void *buf, size_t nbytes TEST_PARAMS_##n) {            \
  const gex_AM_Arg_t got[] = {0 TEST_NAMES_##n};                                                   \
  char out[BYTES];                                                                                 \
  payload(token, LONG, n, buf, nbytes);                                                            \
  arrived(token, LONG, n, got + 1);                                                                \
  say(LONG | REPLY);                                                                               \
  pattern_fill(out, BYTES, seed_of(job.rank, LONG | REPLY, n));                                    \
  const gex_AM_Index_t h = INDEX(LONG | REPLY, n);                                                 \
  char *to = slot_of(job_source(token), job.rank, LONG | REPLY, n);                                \
  gex_Event_t *const now = GEX_EVENT_NOW;                                                          \
  CHECK_EQ(counting_form                                                                           \
               ? gex_AM_ReplyLong(token, h, out, BYTES, to, now, 0 TEST_ARGS_##n)                  \
               : TEST_CALL(gex_AM_ReplyLong##n, token, h, out, BYTES, to, now, 0 TEST_ARGS_##n),   \
           0);                                                                                     \
 }                                                                                                 \
 static void send##n(gex_Rank_t to) {                                                              \
  char out[BYTES];                                                                                 \
  gex_Event_t *const now = GEX_EVENT_NOW;                                                          \
  gex_AM_Index_t h = INDEX(SHORT, n);                                                              \
  say(SHORT);                                                                                      \
  CHECK_EQ(counting_form ? gex_AM_RequestShort(job.tm, to, h, 0 TEST_ARGS_##n)                     \
                         : TEST_CALL(gex_AM_RequestShort##n, job.tm, to, h, 0 TEST_ARGS_##n),      \
           0);                                                                                     \
  h = INDEX(MEDIUM, n);                                                                            \
  say(MEDIUM);                                                                                     \
  pattern_fill(out, BYTES, seed_of(job.rank, MEDIUM, n));                                          \
  CHECK_EQ(counting_form ? gex_AM_RequestMedium(job.tm, to, h, out, BYTES, now, 0 TEST_ARGS_##n)   \
                         : TEST_CALL(gex_AM_RequestMedium##n, job.tm, to, h, out, BYTES, now,      \
                                     0 TEST_ARGS_##n),                                             \
           0);                                                                                     \
  h = INDEX(LONG, n);                                                                              \
  say(LONG);                                                                                       \
  char *at = slot_of(to, job.rank, LONG, n);                                                       \
  pattern_fill(out, BYTES, seed_of(job.rank, LONG, n));                                            \
  CHECK_EQ(counting_form ? gex_AM_RequestLong(job.tm, to, h, out, BYTES, at, now, 0 TEST_ARGS_##n) \
                         : TEST_CALL(gex_AM_RequestLong##n, job.tm, to, h, out, BYTES, at, now,    \
                                     0 TEST_ARGS_##n),                                             \
           0);                                                                                     \
 }
TEST_EACH_NARGS(HANDLERS)

#define FN(name)         (gex_AM_Fn_t) name
#define SHORT_REQ_FN(n)  FN(short_req##n),
#define MEDIUM_REQ_FN(n) FN(medium_req##n),
#define LONG_REQ_FN(n)   FN(long_req##n),
#define SHORT_REP_FN(n)  FN(short_rep##n),
#define MEDIUM_REP_FN(n) FN(medium_rep##n),
#define LONG_REP_FN(n)   FN(long_rep##n),
#define SEND_FN(n)       send##n,
static const gex_AM_Fn_t fns[KINDS][17] = {[SHORT] = {TEST_EACH_NARGS(SHORT_REQ_FN)},
                                           [MEDIUM] = {TEST_EACH_NARGS(MEDIUM_REQ_FN)},
                                           [LONG] = {TEST_EACH_NARGS(LONG_REQ_FN)},
                                           [SHORT | REPLY] = {TEST_EACH_NARGS(SHORT_REP_FN)},
                                           [MEDIUM | REPLY] = {TEST_EACH_NARGS(MEDIUM_REP_FN)},
                                           [LONG | REPLY] = {TEST_EACH_NARGS(LONG_REP_FN)}};
static void (*const senders[17])(gex_Rank_t) = {TEST_EACH_NARGS(SEND_FN)};

static void register_all(void) {
  unsigned next = GEX_AM_INDEX_BASE;
  for (int kind = 0; kind < KINDS; kind++) {
    if ((kind & 3) == 3) continue;
    base_of[kind] = (gex_AM_Index_t)next;
    for (unsigned n = 0; n <= 16; n++) {
      const gex_Flags_t flags = (GEX_FLAG_AM_SHORT << (kind & 3)) |
                                (kind & REPLY ? GEX_FLAG_AM_REPLY : GEX_FLAG_AM_REQUEST);
      gex_AM_Entry_t e = {(gex_AM_Index_t)next++, fns[kind][n], flags, n, NULL, "args"};
      REQUIRE(gex_EP_RegisterHandlers(job.ep, &e, 1) == GASNET_OK);
    }
  }
}

static void round_of(int form) {
  counting_form = form;
  memset(job.base, 0, job.bytes);
  job_barrier();
  for (gex_Rank_t to = 0; to < job.size; to++)
    for (int n = 0; n <= 16; n++) senders[n]((to + job.rank) % job.size);
  const int want = (int)job.size * (form + 1);
  for (int kind = 0; kind < KINDS; kind++)
    for (int n = 0; n <= 16 && (kind & 3) != 3; n++) GASNET_BLOCKUNTIL(seen[kind][n] >= want);
  job_barrier();
  for (int kind = 0; kind < KINDS; kind++)
    for (int n = 0; n <= 16 && (kind & 3) != 3; n++) CHECK_EQ(seen[kind][n], want);
  job_barrier();
}

int main(int argc, char **argv) {
  CHECK_EQ(gex_AM_MaxArgs(), 16);
  job_start(&argc, &argv, 256 * 1024, NULL, 0);
  REQUIRE((uintptr_t)SLOT * 2 * 17 * job.size <= job.bytes);
  register_all();
  round_of(0);
  round_of(1);
  return job_finish();
}
