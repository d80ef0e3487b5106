/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/*
 * API 02.5: all eight Commit calls with every argument count 0..16, numbered and counting forms.
 */
#include "am_args.h"
#include "job.h"

enum { MEDIUM, LONG, BYTES = 24, FORMS = 4 }; /* forms: plain, plain numbered, v2, v2 numbered */

static gex_AM_Index_t
    first[4]; /* medium request, long request, medium reply, long reply; 0 arguments */
static volatile uint32_t seen[4][17];
static int form; /* the same on all ranks between barriers */

static gex_AM_Arg_t ARG(int i) {
  return (gex_AM_Arg_t)(uint32_t)mix64((unsigned)i);
}

static char *area(gex_Rank_t to, gex_Rank_t from, int is_reply, int n) {
  return job.peer[to] + ((from * 2 + (unsigned)is_reply) * 17 + (unsigned)n) * BYTES;
}

static void arrived(int which, int n, const void *buf, size_t nbytes, const gex_AM_Arg_t *got) {
  for (int i = 0; i < n; i++) CHECK_EQ(got[i], ARG(i));
  CHECK_EQ(nbytes, BYTES);
  CHECK_BYTES(buf, nbytes, (unsigned)which * 100 + (unsigned)n);
  seen[which][n]++;
}

static void fill(gex_AM_SrcDesc_t sd, int which, int n) {
  REQUIRE(sd != GEX_AM_SRCDESC_NO_OP);
  pattern_fill(gex_AM_SrcDescAddr(sd), BYTES, (unsigned)which * 100 + (unsigned)n);
}

/* One Commit of a name stem in the four forms; `extra` is ", dest" of the long calls. */
#define COMMIT(stem, n, sd, h, ...)                                                               \
 do {                                                                                             \
  if (form == 0) stem(sd, h, BYTES __VA_ARGS__ TEST_ARGS_##n);                                    \
  if (form == 1) TEST_CALL(stem##n, sd, h, BYTES __VA_ARGS__ TEST_ARGS_##n);                      \
  if (form == 2) CHECK_EQ(stem##_v2(sd, h, BYTES __VA_ARGS__, 0 TEST_ARGS_##n), 0);               \
  if (form == 3) CHECK_EQ(TEST_CALL(stem##n##_v2, sd, h, BYTES __VA_ARGS__, 0 TEST_ARGS_##n), 0); \
 } while (0)

#define HANDLERS(n)                                                                              \
 static void medium_rep##n(gex_Token_t token, void *buf, size_t nbytes TEST_PARAMS_##n) {        \
  const gex_AM_Arg_t got[] = {0 TEST_NAMES_##n};                                                 \
  (void)token;                                                                                   \
  arrived(2, n, buf, nbytes, got + 1);                                                           \
 }                                                                                               \
 static void long_rep##n(gex_Token_t token, void *buf, size_t nbytes TEST_PARAMS_##n) {          \
  const gex_AM_Arg_t got[] = {0 TEST_NAMES_##n};                                                 \
  CHECK_PTR(buf, area(job.rank, job_source(token), 1, n));                                       \
  arrived(3, n, buf, nbytes, got + 1);                                                           \
 }                                                                                               \
 static void medium_req##n(gex_Token_t token, void *buf, size_t nbytes TEST_PARAMS_##n) {        \
  const gex_AM_Arg_t got[] = {0 TEST_NAMES_##n};                                                 \
  const gex_AM_Index_t h = (gex_AM_Index_t)(first[2] + n);                                       \
  arrived(0, n, buf, nbytes, got + 1);                                                           \
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, NULL, BYTES, BYTES, NULL, 0, n);        \
  fill(sd, 2, n);                                                                                \
  COMMIT(gex_AM_CommitReplyMedium, n, sd, h);                                                    \
 }                                                                                               \
 static void long_req##n(gex_Token_t token, void *buf, size_t nbytes TEST_PARAMS_##n) {          \
  const gex_AM_Arg_t got[] = {0 TEST_NAMES_##n};                                                 \
  const gex_AM_Index_t h = (gex_AM_Index_t)(first[3] + n);                                       \
  CHECK_PTR(buf, area(job.rank, job_source(token), 0, n));                                       \
  arrived(1, n, buf, nbytes, got + 1);                                                           \
  char *dest = area(job_source(token), job.rank, 1, n);                                          \
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyLong(token, NULL, BYTES, BYTES, NULL, NULL, 0, n);    \
  fill(sd, 3, n);                                                                                \
  COMMIT(gex_AM_CommitReplyLong, n, sd, h, , dest);                                              \
 }                                                                                               \
 static void send##n(gex_Rank_t to) {                                                            \
  gex_AM_Index_t h = (gex_AM_Index_t)(first[0] + n);                                             \
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(job.tm, to, NULL, BYTES, BYTES, NULL, 0, n); \
  fill(sd, 0, n);                                                                                \
  COMMIT(gex_AM_CommitRequestMedium, n, sd, h);                                                  \
  char *dest = area(to, job.rank, 0, n);                                                         \
  sd = gex_AM_PrepareRequestLong(job.tm, to, NULL, BYTES, BYTES, dest, NULL, 0, n);              \
  fill(sd, 1, n);                                                                                \
  h = (gex_AM_Index_t)(first[1] + n);                                                            \
  COMMIT(gex_AM_CommitRequestLong, n, sd, h, , dest);                                            \
 }
TEST_EACH_NARGS(HANDLERS)

#define F0(n)      (gex_AM_Fn_t) medium_req##n,
#define F1(n)      (gex_AM_Fn_t) long_req##n,
#define F2(n)      (gex_AM_Fn_t) medium_rep##n,
#define F3(n)      (gex_AM_Fn_t) long_rep##n,
#define SEND_FN(n) send##n,
static const gex_AM_Fn_t fns[4][17] = {
    {TEST_EACH_NARGS(F0)}, {TEST_EACH_NARGS(F1)}, {TEST_EACH_NARGS(F2)}, {TEST_EACH_NARGS(F3)}};
static void (*const senders[17])(gex_Rank_t) = {TEST_EACH_NARGS(SEND_FN)};

static void register_all(void) {
  unsigned next = GEX_AM_INDEX_BASE;
  for (int which = 0; which < 4; which++) {
    first[which] = (gex_AM_Index_t)next;
    for (unsigned n = 0; n <= 16; n++) {
      const gex_Flags_t flags = (which & 1 ? GEX_FLAG_AM_LONG : GEX_FLAG_AM_MEDIUM) |
                                (which & 2 ? GEX_FLAG_AM_REPLY : GEX_FLAG_AM_REQUEST);
      gex_AM_Entry_t e = {(gex_AM_Index_t)next++, fns[which][n], flags, n, NULL, "commit"};
      REQUIRE(gex_EP_RegisterHandlers(job.ep, &e, 1) == GASNET_OK);
    }
  }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 16 * 1024, NULL, 0);
  REQUIRE((uintptr_t)BYTES * 17 * 2 * job.size <= job.bytes);
  register_all();
  for (form = 0; form < FORMS; form++) {
    memset(job.base, 0, job.bytes);
    job_barrier();
    const uint32_t want = job.size * (uint32_t)(form + 1);
    for (gex_Rank_t r = 0; r < job.size; r++)
      for (int n = 0; n <= 16; n++) senders[n](r);
    for (int i = 0; i < 4 * 17; i++) GASNET_BLOCKUNTIL(seen[i / 17][i % 17] == want);
    job_barrier();
    for (int i = 0; i < 4 * 17; i++) CHECK_EQ(seen[i / 17][i % 17], want);
    job_barrier();
  }
  return job_finish();
}
