/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* again: TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=udp+TOMBOLO_TEST_UDP_CREDITS=8 */
/*
 * API 02: a long Medium follows short messages that nobody answers, also where credit for one of
 * them and for the Medium is more than the peer gives.
 */
#include "job.h"

enum { COUNT = 30, BYTES = 65000 };

static int come;

static void on_short(gex_Token_t token) {
  (void)token;
  come++;
}

static void on_medium(gex_Token_t token, void *payload, size_t nbytes) {
  (void)token;
  CHECK_EQ(nbytes, BYTES);
  CHECK_EQ(((char *)payload)[BYTES - 1], 7);
  come++;
}

int main(int argc, char **argv) {
  static char data[BYTES];
  const gex_Flags_t request = GEX_FLAG_AM_REQUEST;
  gex_AM_Entry_t table[] = {
      {130, (gex_AM_Fn_t)on_short, GEX_FLAG_AM_SHORT | request, 0, NULL, "short"},
      {131, (gex_AM_Fn_t)on_medium, GEX_FLAG_AM_MEDIUM | request, 0, NULL, "medium"}};
  job_start(&argc, &argv, 0, table, 2);
  data[BYTES - 1] = 7;
  for (int i = 0; i < COUNT && job.rank == 0; i++) {
    for (int k = 0; k < i; k++) CHECK_EQ(gex_AM_RequestShort0(job.tm, 1, 130, 0), 0);
    CHECK_EQ(gex_AM_RequestMedium0(job.tm, 1, 131, data, BYTES, GEX_EVENT_NOW, 0), 0);
  }
  if (job.rank == 1) GASNET_BLOCKUNTIL(come == COUNT + COUNT * (COUNT - 1) / 2);
  job_barrier();
  return job_finish();
}
