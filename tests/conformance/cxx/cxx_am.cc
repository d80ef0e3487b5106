/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/*
 * C++11 client: every category with every argument count 0..16 in the counting and the numbered
 * form, as fixed and as negotiated payload, requests and replies; arguments of many types (API
 * 00.15, 02).
 */
#include <atomic>

#include "am_args.h"
#include "job.h"

namespace {

const size_t kBytes = 24;
enum Kind { kShort, kMedium, kLong, kKinds };
enum Form { kCounting, kNumbered, kCommit, kCommitNumbered, kForms };

gex_AM_Index_t first[2][kKinds]; /* [is_reply][kind]: index of the handler with 0 arguments */
volatile unsigned seen[2][kKinds][17];
int form; /* equal on all ranks between barriers */

gex_AM_Arg_t ARG(int i) {
  return static_cast<gex_AM_Arg_t>(mix64(static_cast<uint64_t>(i) + 5));
}

gex_Rank_t source(gex_Token_t token) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  return info.gex_srcrank;
}

char *place(gex_Rank_t to, gex_Rank_t from, int is_reply, int n) {
  return job.peer[to] + ((static_cast<size_t>(from) * 2 + static_cast<size_t>(is_reply)) * 17 +
                         static_cast<size_t>(n)) *
                            kBytes;
}

void arrived(int is_reply, int kind, int n, const gex_AM_Arg_t *got) {
  for (int i = 0; i < n; i++) CHECK_EQ(got[i], ARG(i));
  seen[is_reply][kind][n] = seen[is_reply][kind][n] + 1;
}

void payload(const void *buf, size_t nbytes, int n) {
  CHECK_EQ(nbytes, kBytes);
  CHECK_BYTES(buf, nbytes, static_cast<uint64_t>(n));
}

gex_AM_Index_t index_of(int is_reply, int kind, int n) {
  return static_cast<gex_AM_Index_t>(first[is_reply][kind] + n);
}

gex_AM_SrcDesc_t filled(gex_AM_SrcDesc_t sd, int n) {
  REQUIRE(sd != GEX_AM_SRCDESC_NO_OP);
  pattern_fill(gex_AM_SrcDescAddr(sd), kBytes, static_cast<uint64_t>(n));
  return sd;
}

/* Fixed payload in the form asked for; the result must be 0. */
#define FIXED(name, n, ...) \
 CHECK_EQ(form == kNumbered ? TEST_CALL(name##n, __VA_ARGS__) : name(__VA_ARGS__), 0)

/* Negotiated payload: version 1 counting, or version 2 numbered; where: empty or ", dest". */
#define COMMIT(name, n, sd, h, where)                                          \
 do {                                                                          \
  if (form == kCommit)                                                         \
   name(sd, h, kBytes where TEST_ARGS_##n);                                    \
  else                                                                         \
   CHECK_EQ(TEST_CALL(name##n##_v2, sd, h, kBytes where, 0 TEST_ARGS_##n), 0); \
 } while (0)
#define NOWHERE
#define AT_DEST , dest

#define HANDLERS(n)                                                                                \
 void short_rep##n(gex_Token_t TEST_PARAMS_##n) {                                                  \
  const gex_AM_Arg_t got[] = {0 TEST_NAMES_##n};                                                   \
  arrived(1, kShort, n, got + 1);                                                                  \
 }                                                                                                 \
 void medium_rep##n(gex_Token_t, void *buf, size_t nbytes TEST_PARAMS_##n) {                       \
  const gex_AM_Arg_t got[] = {0 TEST_NAMES_##n};                                                   \
  payload(buf, nbytes, n);                                                                         \
  arrived(1, kMedium, n, got + 1);                                                                 \
 }                                                                                                 \
 void long_rep##n(gex_Token_t token, void *buf, size_t nbytes TEST_PARAMS_##n) {                   \
  const gex_AM_Arg_t got[] = {0 TEST_NAMES_##n};                                                   \
  CHECK_PTR(buf, place(job.rank, source(token), 1, n));                                            \
  payload(buf, nbytes, n);                                                                         \
  arrived(1, kLong, n, got + 1);                                                                   \
 }                                                                                                 \
 void short_req##n(gex_Token_t token TEST_PARAMS_##n) {                                            \
  const gex_AM_Arg_t got[] = {0 TEST_NAMES_##n};                                                   \
  arrived(0, kShort, n, got + 1);                                                                  \
  FIXED(gex_AM_ReplyShort, n, token, index_of(1, kShort, n), 0 TEST_ARGS_##n);                     \
 }                                                                                                 \
 void medium_req##n(gex_Token_t token, void *buf, size_t nbytes TEST_PARAMS_##n) {                 \
  const gex_AM_Arg_t got[] = {0 TEST_NAMES_##n};                                                   \
  const gex_AM_Index_t h = index_of(1, kMedium, n);                                                \
  payload(buf, nbytes, n);                                                                         \
  arrived(0, kMedium, n, got + 1);                                                                 \
  if (form < kCommit) {                                                                            \
   FIXED(gex_AM_ReplyMedium, n, token, h, buf, nbytes, GEX_EVENT_NOW, 0 TEST_ARGS_##n);            \
   return;                                                                                         \
  }                                                                                                \
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, NULL, kBytes, kBytes, NULL, 0, n);        \
  COMMIT(gex_AM_CommitReplyMedium, n, filled(sd, n), h, NOWHERE);                                  \
 }                                                                                                 \
 void long_req##n(gex_Token_t token, void *buf, size_t nbytes TEST_PARAMS_##n) {                   \
  const gex_AM_Arg_t got[] = {0 TEST_NAMES_##n};                                                   \
  const gex_AM_Index_t h = index_of(1, kLong, n);                                                  \
  CHECK_PTR(buf, place(job.rank, source(token), 0, n));                                            \
  payload(buf, nbytes, n);                                                                         \
  arrived(0, kLong, n, got + 1);                                                                   \
  char *dest = place(source(token), job.rank, 1, n);                                               \
  if (form < kCommit) {                                                                            \
   FIXED(gex_AM_ReplyLong, n, token, h, buf, nbytes, dest, GEX_EVENT_NOW, 0 TEST_ARGS_##n);        \
   return;                                                                                         \
  }                                                                                                \
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyLong(token, NULL, kBytes, kBytes, dest, NULL, 0, n);    \
  COMMIT(gex_AM_CommitReplyLong, n, filled(sd, n), h, AT_DEST);                                    \
 }                                                                                                 \
 void send##n(gex_Rank_t to) {                                                                     \
  char out[kBytes];                                                                                \
  pattern_fill(out, kBytes, n);                                                                    \
  const gex_AM_Index_t hm = index_of(0, kMedium, n), hl = index_of(0, kLong, n);                   \
  char *dest = place(to, job.rank, 0, n);                                                          \
  FIXED(gex_AM_RequestShort, n, job.tm, to, index_of(0, kShort, n), 0 TEST_ARGS_##n);              \
  if (form < kCommit) {                                                                            \
   FIXED(gex_AM_RequestMedium, n, job.tm, to, hm, out, kBytes, GEX_EVENT_NOW, 0 TEST_ARGS_##n);    \
   FIXED(gex_AM_RequestLong, n, job.tm, to, hl, out, kBytes, dest, GEX_EVENT_NOW,                  \
         0 TEST_ARGS_##n);                                                                         \
   return;                                                                                         \
  }                                                                                                \
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(job.tm, to, NULL, kBytes, kBytes, NULL, 0, n); \
  COMMIT(gex_AM_CommitRequestMedium, n, filled(sd, n), hm, NOWHERE);                               \
  sd = gex_AM_PrepareRequestLong(job.tm, to, NULL, kBytes, kBytes, dest, NULL, 0, n);              \
  COMMIT(gex_AM_CommitRequestLong, n, filled(sd, n), hl, AT_DEST);                                 \
 }
TEST_EACH_NARGS(HANDLERS)

#define FN(name)  reinterpret_cast<gex_AM_Fn_t>(name)
#define Q0(n)     FN(short_req##n),
#define Q1(n)     FN(medium_req##n),
#define Q2(n)     FN(long_req##n),
#define P0(n)     FN(short_rep##n),
#define P1(n)     FN(medium_rep##n),
#define P2(n)     FN(long_rep##n),
#define SENDER(n) send##n,
const gex_AM_Fn_t fns[2][kKinds][17] = {
    {{TEST_EACH_NARGS(Q0)}, {TEST_EACH_NARGS(Q1)}, {TEST_EACH_NARGS(Q2)}},
    {{TEST_EACH_NARGS(P0)}, {TEST_EACH_NARGS(P1)}, {TEST_EACH_NARGS(P2)}}};
void (*const senders[17])(gex_Rank_t) = {TEST_EACH_NARGS(SENDER)};

void register_all() {
  unsigned next = GEX_AM_INDEX_BASE;
  for (int is_reply = 0; is_reply < 2; is_reply++)
    for (int kind = 0; kind < kKinds; kind++) {
      first[is_reply][kind] = static_cast<gex_AM_Index_t>(next);
      for (unsigned n = 0; n <= 16; n++) {
        const gex_Flags_t flags =
            (GEX_FLAG_AM_SHORT << kind) | (is_reply ? GEX_FLAG_AM_REPLY : GEX_FLAG_AM_REQUEST);
        gex_AM_Entry_t e = {
            static_cast<gex_AM_Index_t>(next++), fns[is_reply][kind][n], flags, n, NULL, "cxx"};
        REQUIRE(gex_EP_RegisterHandlers(job.ep, &e, 1) == GASNET_OK);
      }
    }
}

bool all_seen(unsigned want) {
  for (int i = 0; i < 2 * kKinds * 17; i++)
    if (seen[i / 17 / kKinds][i / 17 % kKinds][i % 17] != want) return false;
  return true;
}

void run_form(int which) {
  form = which;
  job_barrier();
  for (gex_Rank_t to = 0; to < job.size; to++)
    for (int n = 0; n <= 16; n++) senders[n](to);
  const unsigned want = job.size * static_cast<unsigned>(which + 1);
  GASNET_BLOCKUNTIL(all_seen(want));
  job_barrier();
  CHECK(all_seen(want));
  job_barrier();
}

/* Arguments that can be converted to gex_AM_Arg_t, not all of which can be copied. */
struct Convertible {
  Convertible() {}
  Convertible(const Convertible &) = delete;
  operator int() const { return ARG(1); }
};
struct Fields {
  static const int kInClass = 7; /* has no definition: its address must not be needed */
};

volatile int typed; /* messages of check_types that came */
gex_AM_Index_t on_types_index;

void on_types(gex_Token_t, void *, size_t nbytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
              gex_AM_Arg_t a2) {
  CHECK_EQ(nbytes, kBytes);
  CHECK_EQ(a0, ARG(0));
  CHECK_EQ(a1, ARG(1));
  CHECK_EQ(a2, Fields::kInClass + 0);
  typed = typed + 1;
}

void check_types() {
  const std::atomic<int> counter(ARG(0));
  const Convertible value;
  char buf[kBytes] = {0};
  const auto prepared = [&buf] {
    return gex_AM_PrepareRequestMedium(job.tm, job.rank, buf, kBytes, kBytes, GEX_EVENT_NOW, 0, 3);
  };
  CHECK_EQ(gex_AM_RequestMedium3(job.tm, job.rank, on_types_index, buf, kBytes, GEX_EVENT_NOW, 0,
                                 counter, value, Fields::kInClass),
           0);
  gex_AM_CommitRequestMedium3(prepared(), on_types_index, kBytes, counter, value, Fields::kInClass);
  CHECK_EQ(gex_AM_RequestMedium(job.tm, job.rank, on_types_index, buf, kBytes, GEX_EVENT_NOW, 0,
                                counter, value, Fields::kInClass),
           0);
  gex_AM_CommitRequestMedium(prepared(), on_types_index, kBytes, counter, value, Fields::kInClass);
  GASNET_BLOCKUNTIL(typed == 4);
}

} /* namespace */

int main(int argc, char **argv) {
  job_start(&argc, &argv, 16384, NULL, 0);
  register_all();
  for (int f = 0; f < kForms; f++) run_form(f);
  gex_AM_Entry_t entry[] = {{0, reinterpret_cast<gex_AM_Fn_t>(on_types),
                             GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 3, NULL, "on_types"}};
  REQUIRE(gex_EP_RegisterHandlers(job.ep, entry, 1) == GASNET_OK);
  on_types_index = entry[0].gex_index;
  check_types();
  return job_finish();
}
