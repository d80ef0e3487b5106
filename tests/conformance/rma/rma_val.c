/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/*
 * API 03.1, 03.2: value puts (blocking, NB, NBI) and value get: 1..8 bytes at every alignment, zero
 * extension, only the low bytes are written, nothing around them is touched, zero bytes do nothing.
 */
#include "job.h"

enum { BLOCKING, NB, NBI, FORMS, SPAN = 32 };

static void put(int form, gex_Rank_t to, void *dest, gex_RMA_Value_t value, size_t n) {
  if (form == BLOCKING) CHECK_EQ(gex_RMA_PutBlockingVal(job.tm, to, dest, value, n, 0), 0);
  if (form == NB) {
    const gex_Event_t ev = gex_RMA_PutNBVal(job.tm, to, dest, value, n, 0);
    CHECK(ev != GEX_EVENT_NO_OP);
    gex_Event_Wait(ev);
  }
  if (form == NBI) {
    CHECK_EQ(gex_RMA_PutNBIVal(job.tm, to, dest, value, n, 0), 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
  }
}

/* The bytes that an nbytes-wide integer with the low bits of value has. */
static void bytes_of(gex_RMA_Value_t value, size_t n, unsigned char *out) {
  const uint16_t probe = 1;
  const int little = *(const unsigned char *)&probe;
  for (size_t i = 0; i < n; i++) out[i] = (unsigned char)(value >> 8 * (little ? i : n - 1 - i));
}

static void one(int form, gex_Rank_t to, size_t n, size_t at) {
  unsigned char want[SPAN], got[SPAN];
  char *const area = job.peer[to] + SPAN * job.rank;
  const gex_RMA_Value_t value =
      mix64(to * 1000 + n * 50 + at + (unsigned)form * 7) | 0x8080808080808080u;
  memset(want, 0xc3, SPAN);
  CHECK_EQ(gex_RMA_PutBlocking(job.tm, to, area, want, SPAN, 0), 0);
  bytes_of(value, n, want + at);
  put(form, to, area + at, value, n);
  CHECK_EQ(gex_RMA_GetBlocking(job.tm, got, to, area, SPAN, 0), 0);
  CHECK(!memcmp(got, want, SPAN));
  const gex_RMA_Value_t mask = n == 8 ? ~(gex_RMA_Value_t)0 : ((gex_RMA_Value_t)1 << 8 * n) - 1;
  CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, to, area + at, n, 0), n ? value & mask : 0);
  CHECK_EQ(gex_RMA_GetBlockingVal(gex_TM_Pair(job.ep, 0), to, area + at, n, GEX_FLAG_IMMEDIATE),
           n ? value & mask : 0);
}

/* A counter in a loop of gets is re-read each time. */
static void spin_on_get(void) {
  const gex_Rank_t next = (job.rank + 1) % job.size;
  uint64_t *const mine = (uint64_t *)(void *)(job.base + job.bytes - 8);
  char *const theirs = job.peer[next] + job.bytes - 8;
  job_barrier();
  *(volatile uint64_t *)mine = 0;
  job_barrier();
  for (uint64_t i = 1; i <= 100; i++) {
    put((int)(i % FORMS), job.rank, mine, i, 8);
    while (gex_RMA_GetBlockingVal(job.tm, next, theirs, 8, 0) < i) gasnet_AMPoll();
  }
  job_barrier();
  CHECK_EQ(*(volatile uint64_t *)mine, 100);
}

int main(int argc, char **argv) {
  CHECK_EQ(SIZEOF_GEX_RMA_VALUE_T, sizeof(gex_RMA_Value_t));
  job_start(&argc, &argv, 2 * GASNET_PAGESIZE, NULL, 0);
  for (gex_Rank_t to = 0; to < job.size; to++)
    for (int form = 0; form < FORMS; form++)
      for (size_t n = 0; n <= 8; n++)
        for (size_t at = 0; at < 9; at++) one(form, to, n, at);
  for (gex_Rank_t to = 0; to < job.size; to++) {
    put(BLOCKING, to, NULL, 5, 0);
    CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, to, NULL, 0, 0), 0);
  }
  spin_on_get();
  return job_finish();
}
