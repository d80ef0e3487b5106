/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* again: TOMBOLO_PLACES=cyclic:3+TOMBOLO_CONDUIT=udp */
/*
 * A client that repeats an immediate Commit until it succeeds goes on, although all ranks do so at
 * the same time and none may poll between Prepare and Commit (API 02.4, 02.5).
 */
#include "job.h"

enum { MESSAGES = 2000, BYTES = 512 };

static volatile unsigned came;

static void on_message(gex_Token_t token, void *buf, size_t nbytes) {
  (void)token;
  CHECK_BYTES(buf, nbytes, 3);
  came++;
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {{200, (gex_AM_Fn_t)on_message, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST,
                             0, NULL, "on_message"}};
  static char payload[BYTES];
  job_start(&argc, &argv, 4096, table, 1);
  const gex_Rank_t right = (job.rank + 1) % job.size;
  pattern_fill(payload, sizeof payload, 3);
  for (int i = 0; i < MESSAGES; i++) {
    void *const own = i % 2 ? payload : NULL;
    const gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(job.tm, right, own, BYTES, BYTES,
                                                            own ? GEX_EVENT_NOW : NULL, 0, 0);
    if (!own) pattern_fill(gex_AM_SrcDescAddr(sd), BYTES, 3);
    while (gex_AM_CommitRequestMedium0_v2(sd, 200, BYTES, GEX_FLAG_IMMEDIATE)) {}
  }
  GASNET_BLOCKUNTIL(came == MESSAGES);
  return job_finish();
}
