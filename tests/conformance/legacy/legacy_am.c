/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * API 08.4: every numbered GASNet-1 active message, 0..16 arguments in each category, request and
 * reply, the variadic forms with an explicit count, payload sizes up to the limits, empty payloads.
 *
 * Requests go to the next rank and are answered in kind; handler and argument values depend on
 * sender, count and position, so that a swapped or shifted argument is seen.
 */
/* again: TOMBOLO_TEST_RING_SLOTS=64 */
/* ranks: 1 2 3 4 7 */
#include "am_args.h"
#include "legacy.h"

enum { REQ_SHORT = 128, REQ_MEDIUM = 145, REQ_LONG = 162, REP_SHORT = 179 };
enum { REP_MEDIUM = 196, REP_LONG = 213, H_SIZE = 230, H_SIZE_LONG, H_SIZE_BACK };
enum { AREA_BYTES = 512, REPLY_AREA = 256 * 1024, LONG_MAX_TESTED = 1 << 20, PLACES = 8 };

/* Payload of a message with n arguments. */
static size_t payload_bytes(int n) {
  return (size_t)n * 13 % 250;
}

static gex_AM_Arg_t arg_value(gasnet_node_t from, int n, int i) {
  return (gex_AM_Arg_t)mix64(from * 1000u + (unsigned)(n * 20 + i));
}

static volatile int requests_seen, replies_seen;

static gasnet_node_t source_of(gasnet_token_t token) {
  gasnet_node_t from = GEX_RANK_INVALID;
  CHECK_EQ(gasnet_AMGetMsgSource(token, &from), GASNET_OK);
  CHECK_CMP(from, <, g1.size);
  return from;
}

static void check_args(gasnet_node_t from, int n, const gex_AM_Arg_t *args) {
  for (int i = 0; i < n; i++) CHECK_EQ(args[i], arg_value(from, n, i));
}

/* A Long lands in the target's segment: requests at n * AREA_BYTES, replies above REPLY_AREA. */
static void *long_place(gasnet_node_t at, int n, int reply) {
  return (char *)g1.seg[at].addr + (reply ? REPLY_AREA : 0) + (size_t)n * AREA_BYTES;
}

/* Expands the argument list before the numbered macro counts it. */
#define CALL(call, ...) call(__VA_ARGS__)
#define ARG(i)          arg_value(g1.rank, n, i)

#define HANDLERS(N)                                                                           \
 static void req_short_##N(gasnet_token_t token TEST_PARAMS_##N) {                            \
  const gex_AM_Arg_t args[] = {0 TEST_NAMES_##N};                                             \
  const int n = N;                                                                            \
  (void)n;                                                                                    \
  check_args(source_of(token), N, args + 1);                                                  \
  requests_seen++;                                                                            \
  CHECK_EQ(CALL(gasnet_AMReplyShort##N, token, REP_SHORT + N TEST_ARGS_##N), GASNET_OK);      \
 }                                                                                            \
 static void req_medium_##N(gasnet_token_t token, void *buf, size_t nbytes TEST_PARAMS_##N) { \
  const gex_AM_Arg_t args[] = {0 TEST_NAMES_##N};                                             \
  const int n = N;                                                                            \
  check_args(source_of(token), N, args + 1);                                                  \
  CHECK_EQ(nbytes, payload_bytes(N));                                                         \
  CHECK_BYTES(buf, nbytes, (uint64_t)source_of(token) * 100 + N);                             \
  CHECK((uintptr_t)buf % 8 == 0 || nbytes == 0);                                              \
  requests_seen++;                                                                            \
  static char back[AREA_BYTES];                                                               \
  pattern_fill(back, nbytes, (uint64_t)g1.rank * 100 + N + 50);                               \
  CHECK_EQ(CALL(gasnet_AMReplyMedium##N, token, REP_MEDIUM + n, back, nbytes TEST_ARGS_##N),  \
           GASNET_OK);                                                                        \
  memset(back, 0xdd, sizeof back);                                                            \
 }                                                                                            \
 static void req_long_##N(gasnet_token_t token, void *buf, size_t nbytes TEST_PARAMS_##N) {   \
  const gex_AM_Arg_t args[] = {0 TEST_NAMES_##N};                                             \
  const int n = N;                                                                            \
  check_args(source_of(token), N, args + 1);                                                  \
  CHECK_EQ(nbytes, payload_bytes(N));                                                         \
  CHECK_PTR(buf, long_place(g1.rank, N, 0));                                                  \
  CHECK_BYTES(buf, nbytes, (uint64_t)source_of(token) * 100 + N);                             \
  requests_seen++;                                                                            \
  static char back[AREA_BYTES];                                                               \
  pattern_fill(back, nbytes, (uint64_t)g1.rank * 100 + N + 50);                               \
  CHECK_EQ(CALL(gasnet_AMReplyLong##N, token, REP_LONG + n, back, nbytes,                     \
                long_place(source_of(token), N, 1) TEST_ARGS_##N),                            \
           GASNET_OK);                                                                        \
  memset(back, 0xdd, sizeof back);                                                            \
 }                                                                                            \
 static void rep_short_##N(gasnet_token_t token TEST_PARAMS_##N) {                            \
  const gex_AM_Arg_t args[] = {0 TEST_NAMES_##N};                                             \
  check_args(source_of(token), N, args + 1);                                                  \
  replies_seen++;                                                                             \
 }                                                                                            \
 static void rep_medium_##N(gasnet_token_t token, void *buf, size_t nbytes TEST_PARAMS_##N) { \
  const gex_AM_Arg_t args[] = {0 TEST_NAMES_##N};                                             \
  check_args(source_of(token), N, args + 1);                                                  \
  CHECK_EQ(nbytes, payload_bytes(N));                                                         \
  CHECK_BYTES(buf, nbytes, (uint64_t)source_of(token) * 100 + N + 50);                        \
  replies_seen++;                                                                             \
 }                                                                                            \
 static void rep_long_##N(gasnet_token_t token, void *buf, size_t nbytes TEST_PARAMS_##N) {   \
  const gex_AM_Arg_t args[] = {0 TEST_NAMES_##N};                                             \
  check_args(source_of(token), N, args + 1);                                                  \
  CHECK_EQ(nbytes, payload_bytes(N));                                                         \
  CHECK_PTR(buf, long_place(g1.rank, N, 1));                                                  \
  CHECK_BYTES(buf, nbytes, (uint64_t)source_of(token) * 100 + N + 50);                        \
  replies_seen++;                                                                             \
 }
TEST_EACH_NARGS(HANDLERS)

#define SENDERS(N)                                                                         \
 static void send_##N(gasnet_node_t to, int async) {                                       \
  const int n = N;                                                                         \
  const size_t nbytes = payload_bytes(N);                                                  \
  char out[AREA_BYTES];                                                                    \
  CHECK_EQ(CALL(gasnet_AMRequestShort##N, to, REQ_SHORT + n TEST_ARGS_##N), GASNET_OK);    \
  pattern_fill(out, nbytes, (uint64_t)g1.rank * 100 + N);                                  \
  CHECK_EQ(CALL(gasnet_AMRequestMedium##N, to, REQ_MEDIUM + n, out, nbytes TEST_ARGS_##N), \
           GASNET_OK);                                                                     \
  if (async)                                                                               \
   CHECK_EQ(CALL(gasnet_AMRequestLongAsync##N, to, REQ_LONG + n, out, nbytes,              \
                 long_place(to, N, 0) TEST_ARGS_##N),                                      \
            GASNET_OK);                                                                    \
  else                                                                                     \
   CHECK_EQ(CALL(gasnet_AMRequestLong##N, to, REQ_LONG + n, out, nbytes,                   \
                 long_place(to, N, 0) TEST_ARGS_##N),                                      \
            GASNET_OK);                                                                    \
  if (!async) memset(out, 0xee, sizeof out);                                               \
  const int want = replies_seen_before + 3;                                                \
  GASNET_BLOCKUNTIL(replies_seen >= want);                                                 \
  replies_seen_before = want;                                                              \
 }
static int replies_seen_before;
TEST_EACH_NARGS(SENDERS)
#undef ARG

#define ENTRIES(N)                                                                           \
 {REQ_SHORT + N, (gex_AM_Fn_t)req_short_##N}, {REQ_MEDIUM + N, (gex_AM_Fn_t)req_medium_##N}, \
     {REQ_LONG + N, (gex_AM_Fn_t)req_long_##N}, {REP_SHORT + N, (gex_AM_Fn_t)rep_short_##N}, \
     {REP_MEDIUM + N, (gex_AM_Fn_t)rep_medium_##N}, {REP_LONG + N, (gex_AM_Fn_t)rep_long_##N},

/* ---- payload sizes: the reply says what arrived */
static volatile int sizes_back;
static volatile size_t size_seen;

static void size_handler(gasnet_token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  CHECK_BYTES(buf, nbytes, (uint64_t)seed);
  gasnet_AMReplyShort(token, H_SIZE_BACK, 1, (gex_AM_Arg_t)nbytes);
}
static void size_long_handler(gasnet_token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed,
                              gex_AM_Arg_t offset) {
  CHECK_PTR(buf, g1.base + offset);
  CHECK_BYTES(buf, nbytes, (uint64_t)seed);
  gasnet_AMReplyShort(token, H_SIZE_BACK, 1, (gex_AM_Arg_t)nbytes);
}
static void size_back_handler(gasnet_token_t token, gex_AM_Arg_t nbytes) {
  (void)token;
  size_seen = (size_t)nbytes;
  sizes_back++;
}

static void send_size(gasnet_node_t to, size_t nbytes, int is_long) {
  static char out[LONG_MAX_TESTED];
  const int before = sizes_back, seed = (int)(nbytes * 3 + 1);
  pattern_fill(out, nbytes, (uint64_t)seed);
  /* Senders do not share a place: each owns a stretch behind the reply areas. */
  const size_t offset = 2 * REPLY_AREA + (size_t)(g1.rank % PLACES) * LONG_MAX_TESTED + nbytes % 7;
  if (is_long)
    CHECK_EQ(gasnet_AMRequestLong(to, H_SIZE_LONG, out, nbytes, (char *)g1.seg[to].addr + offset, 2,
                                  seed, offset),
             GASNET_OK);
  else
    CHECK_EQ(gasnet_AMRequestMedium(to, H_SIZE, out, nbytes, 1, seed), GASNET_OK);
  memset(out, 0x11, nbytes);
  GASNET_BLOCKUNTIL(sizes_back > before);
  CHECK_EQ(size_seen, nbytes);
}

static void test_sizes(gasnet_node_t to) {
  const size_t medium = gasnet_AMMaxMedium();
  CHECK(medium >= 512 && gasnet_AMMaxLongRequest() >= 512 && gasnet_AMMaxLongReply() >= 512);
  CHECK_EQ(gasnet_AMMaxArgs(), 16);
  const size_t list[] = {0, 1, 7, 8, 63, 64, 65, 511, 512, 4095, 4096, 8191, 16384, 16385, 65000};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    if (list[i] <= medium) send_size(to, list[i], 0);
    send_size(to, list[i], 1);
  }
  if (medium <= LONG_MAX_TESTED) send_size(to, medium, 0);
  send_size(to, LONG_MAX_TESTED - 7, 1);
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {TEST_EACH_NARGS(ENTRIES) //
                                   {H_SIZE, (gex_AM_Fn_t)size_handler},
                                   {H_SIZE_LONG, (gex_AM_Fn_t)size_long_handler},
                                   {H_SIZE_BACK, (gex_AM_Fn_t)size_back_handler}};
  g1_start(&argc, &argv, table, (int)(sizeof table / sizeof *table), 16u << 20);
  const gasnet_node_t next = (g1.rank + 1) % g1.size;
#define SEND(N)       send_##N(next, 0);
#define SEND_ASYNC(N) send_##N(next, 1);
  TEST_EACH_NARGS(SEND)
  g1_barrier(); /* the places of the Long messages are used again */
  TEST_EACH_NARGS(SEND_ASYNC)
  CHECK_EQ(replies_seen, 2 * 3 * 17);
  test_sizes(next);
  test_sizes(g1.rank);
  g1_barrier();
  CHECK_EQ(requests_seen, 2 * 3 * 17);
  return g1_finish();
}
