// SPDX-License-Identifier: BSD-3-Clause
// API 08.4 from C++: numbered and variadic messages, C++ types as arguments, thread-info macros.
/* ranks: 1 2 4 */
#include <atomic>

#include "legacy.h"

namespace {

enum class Colour : int { Red = 3, Blue = 9 };
volatile int replies = 0;
volatile int64_t sum = 0;

void short_handler(gasnet_token_t token, gasnet_handlerarg_t a, gasnet_handlerarg_t b,
                   gasnet_handlerarg_t c) {
  CHECK_EQ(a, -5);
  CHECK_EQ(b, 9);
  CHECK_EQ(c, 1);
  CHECK_EQ(gasnet_AMReplyShort(token, 202, 2, 40, 2), GASNET_OK);
}
void medium_handler(gasnet_token_t token, void *buf, size_t nbytes) {
  CHECK_BYTES(buf, nbytes, 5);
  CHECK_EQ(gasnet_AMReplyMedium(token, 203, buf, nbytes, 1, nbytes), GASNET_OK);
}
void reply_handler(gasnet_token_t, gasnet_handlerarg_t a, gasnet_handlerarg_t b) {
  GASNET_BEGIN_FUNCTION();
  sum = sum + a + b;
  replies = replies + 1;
}
void reply_medium_handler(gasnet_token_t, void *buf, size_t nbytes, gasnet_handlerarg_t n) {
  CHECK_EQ(nbytes, n);
  CHECK_BYTES(buf, nbytes, 5);
  replies = replies + 1;
}
void long_handler(gasnet_token_t token, void *buf, size_t nbytes, gasnet_handlerarg_t offset) {
  CHECK_PTR(buf, g1.base + offset);
  CHECK_BYTES(buf, nbytes, 6);
  gasnet_node_t from;
  gasnet_AMGetMsgSource(token, &from);
  CHECK_EQ(gasnet_AMReplyLong2(token, 205, buf, nbytes,
                               static_cast<char *>(g1.seg[from].addr) + 8192, 6, 4),
           GASNET_OK);
}
void reply_long_handler(gasnet_token_t, void *buf, size_t nbytes, gasnet_handlerarg_t a,
                        gasnet_handlerarg_t b) {
  CHECK_PTR(buf, g1.base + 8192);
  CHECK_BYTES(buf, nbytes, 6);
  CHECK_EQ(a * 10 + b, 64);
  replies = replies + 1;
}

} // namespace

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {
      {200, (gex_AM_Fn_t)short_handler}, {201, (gex_AM_Fn_t)medium_handler},
      {202, (gex_AM_Fn_t)reply_handler}, {203, (gex_AM_Fn_t)reply_medium_handler},
      {204, (gex_AM_Fn_t)long_handler},  {205, (gex_AM_Fn_t)reply_long_handler}};
  g1_start(&argc, &argv, table, 6, 4 * GASNET_PAGESIZE);
  GASNET_BEGIN_FUNCTION();
  const gasnet_node_t next = (g1.rank + 1) % g1.size;
  char payload[300];

  const std::atomic<int> minus_five(-5);
  CHECK_EQ(gasnet_AMRequestShort(next, 200, 3, minus_five, Colour::Blue, true), GASNET_OK);
  CHECK_EQ(gasnet_AMRequestShort3(next, 200, -5, Colour::Blue, INT64_C(0x100000001)), GASNET_OK);
  pattern_fill(payload, sizeof payload, 5);
  CHECK_EQ(gasnet_AMRequestMedium(next, 201, payload, sizeof payload, 0), GASNET_OK);
  CHECK_EQ(gasnet_AMRequestMedium0(next, 201, payload, sizeof payload), GASNET_OK);
  GASNET_BLOCKUNTIL(replies == 4);
  CHECK_EQ(sum, 84);

  pattern_fill(payload, sizeof payload, 6);
  {
    GASNET_BEGIN_FUNCTION();
    char *const to = static_cast<char *>(g1.seg[next].addr) + 4096;
    CHECK_EQ(gasnet_AMRequestLong(next, 204, payload, sizeof payload, to, 1, 4096), GASNET_OK);
    GASNET_BLOCKUNTIL(replies == 5);
    CHECK_EQ(gasnet_AMRequestLongAsync1(next, 204, payload, sizeof payload, to, 4096), GASNET_OK);
    GASNET_BLOCKUNTIL(replies == 6);
  }
  g1_barrier();
  return g1_finish();
}
