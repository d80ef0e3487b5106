/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* again: TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* debug: both */
/* timeout: 120 */
/*
 * API 04.5: peer completion. Each put of any shape and form, when armed, runs the handler at the
 * target exactly once, as a Medium reply of the initiator without arguments, with the payload, and
 * after the data are in place; the next put does not. Zero payload, the largest payload, puts of no
 * bytes, of many messages, disarming, arming twice, further endpoints.
 */
#include <gasnet_vis.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

enum { SLOT = 1 << 18, FORMS = 9, LARGE = 200000 };

/* Payload of a message: where the data are, and their value. */
struct note {
  uint64_t at, bytes, stride, seed;
};

static gex_AM_Index_t index_note, index_empty;
static volatile uint64_t notes, empties, longest, far_notes;

static void check_token(gex_Token_t token, gex_AM_Index_t index) {
  gex_Token_Info_t info;
  memset(&info, 0, sizeof info);
  gex_Token_Info(token, &info, GEX_TI_ALL);
  CHECK_EQ(info.gex_is_req, 0);
  CHECK_EQ(info.gex_is_long, 0);
  CHECK_CMP(info.gex_srcrank, <, job.size);
  CHECK_EQ(info.gex_entry->gex_index, index);
}

static void on_note(gex_Token_t token, void *buf, size_t nbytes) {
  struct note n;
  check_token(token, index_note);
  if (!CHECK_EQ(nbytes, sizeof n)) return;
  memcpy(&n, buf, sizeof n);
  size_t wrong = 0;
  unsigned char *want = malloc(n.bytes + 1);
  REQUIRE(want != NULL);
  pattern_fill(want, n.bytes, n.seed);
  for (size_t i = 0; i < n.bytes; i++)
    wrong += want[i] != (unsigned char)job.base[n.at + i / 8 * n.stride + i % 8];
  CHECK_EQ(wrong, 0);
  free(want);
  notes++;
}

static void on_empty(gex_Token_t token, void *buf, size_t nbytes) {
  check_token(token, index_empty);
  if (nbytes > longest) longest = nbytes;
  CHECK_BYTES(buf, nbytes, 77);
  empties++;
}

static void on_far(gex_Token_t token, void *buf, size_t nbytes) {
  (void)buf;
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_ALL);
  CHECK_EQ(gex_EP_QueryIndex(info.gex_ep), 1);
  CHECK_EQ(nbytes, 3);
  far_notes++;
}

/* All ranks see their counter reach `value`, before anyone goes on. */
static void wait_for(const volatile uint64_t *counter, uint64_t value) {
  GASNET_BLOCKUNTIL(*counter >= value);
  CHECK_EQ(*counter, value);
  job_barrier();
}

/* Put `bytes` bytes in words of 8, two words apart at the target, in one of nine forms. */
static void put(int form, gex_Rank_t peer, const struct note *n, char *data, gex_Flags_t flags) {
  char *far = job.peer[peer] + n->at;
  const size_t words = n->bytes / 8;
  const ptrdiff_t wide = (ptrdiff_t)n->stride, tight = 8;
  gex_Event_t ev = GEX_EVENT_INVALID;
  gex_Memvec_t *vec = malloc((words + 1) * sizeof *vec);
  void **addr = malloc((words + 1) * sizeof *addr);
  REQUIRE(vec && addr);
  for (size_t i = 0; i < words; i++) {
    vec[i] = (gex_Memvec_t){far + i * n->stride, 8};
    addr[i] = far + i * n->stride;
  }
  const gex_Memvec_t one = {data, n->bytes};
  void *const whole[1] = {data};
  switch (form) {
  case 0:
    gex_VIS_StridedPutBlocking(job.tm, peer, far, &wide, data, &tight, 8, &words, 1, flags);
    break;
  case 1: gex_VIS_StridedPutNBI(job.tm, peer, far, &wide, data, &tight, 8, &words, 1, flags); break;
  case 2:
    ev = gex_VIS_StridedPutNB(job.tm, peer, far, &wide, data, &tight, 8, &words, 1, flags);
    break;
  case 3: gex_VIS_VectorPutBlocking(job.tm, peer, words, vec, 1, &one, flags); break;
  case 4: gex_VIS_VectorPutNBI(job.tm, peer, words, vec, 1, &one, flags); break;
  case 5: ev = gex_VIS_VectorPutNB(job.tm, peer, words, vec, 1, &one, flags); break;
  case 6:
    gex_VIS_IndexedPutBlocking(job.tm, peer, words, addr, 8, 1, whole, n->bytes, flags);
    break;
  case 7: gex_VIS_IndexedPutNBI(job.tm, peer, words, addr, 8, 1, whole, n->bytes, flags); break;
  default: ev = gex_VIS_IndexedPutNB(job.tm, peer, words, addr, 8, 1, whole, n->bytes, flags);
  }
  gex_Event_Wait(ev);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  free(vec);
  free(addr);
}

static void each_form(size_t bytes, char *data) {
  static uint64_t expected;
  const gex_Rank_t peer = (job.rank + 1) % job.size;
  for (int form = 0; form < FORMS; form++) {
    const struct note n = {0, bytes, 16, bytes + (uint64_t)form};
    pattern_fill(data, bytes, n.seed);
    gex_VIS_SetPeerCompletionHandler(index_note, &n, sizeof n, 0);
    put(form, peer, &n, data, form % 3 ? GEX_FLAG_ENABLE_LEAF_LC : 0);
    wait_for(&notes, ++expected);
    put(form, peer, &n, data, 0); /* disarmed: nobody is notified */
    job_barrier();
    CHECK_EQ(notes, expected);
    job_barrier();
  }
}

static void disarm(char *data) {
  const gex_Rank_t peer = (job.rank + 1) % job.size;
  const struct note n = {0, 64, 16, 3};
  const uint64_t before = notes;
  gex_VIS_SetPeerCompletionHandler(index_note, &n, sizeof n, 0);
  gex_VIS_SetPeerCompletionHandler(0, NULL, 0, 0);
  put(0, peer, &n, data, 0);
  job_barrier();
  job_barrier();
  CHECK_EQ(notes, before);
}

/* Puts of no bytes notify; payloads of no bytes and of the most; arming again replaces. */
static void extremes(void) {
  const gex_Rank_t peer = (job.rank + 1) % job.size;
  char most[GEX_VIS_MAX_PEERCOMPLETION];
  const ptrdiff_t stride = 8;
  const size_t none = 0;
  pattern_fill(most, sizeof most, 77);
  CHECK_CMP(GEX_VIS_MAX_PEERCOMPLETION, >=, 127);
  gex_VIS_SetPeerCompletionHandler(index_empty, NULL, 0, 0);
  gex_VIS_VectorPutBlocking(job.tm, peer, 0, NULL, 0, NULL, 0);
  wait_for(&empties, 1);
  CHECK_EQ(longest, 0);
  job_barrier();
  gex_VIS_SetPeerCompletionHandler(index_note, most, 5, 0);
  gex_VIS_SetPeerCompletionHandler(index_empty, most, sizeof most, 0);
  gex_VIS_StridedPutNBI(job.tm, peer, NULL, &stride, NULL, &stride, 8, &none, 1, 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  wait_for(&empties, 2);
  CHECK_EQ(longest, sizeof most);
  gex_VIS_SetPeerCompletionHandler(index_empty, most, 1, 0);
  gex_Event_Wait(gex_VIS_IndexedPutNB(job.tm, peer, 0, NULL, 8, 0, NULL, 8, 0));
  wait_for(&empties, 3);
  gex_VIS_SetPeerCompletionHandler(index_empty, most, sizeof most, 0);
  const struct note n = {SLOT / 2, sizeof most, 16, 77};
  put(2, peer, &n, most, 0);
  wait_for(&empties, 4);
}

/* A further endpoint has a handler of its own under the index. */
static void further_endpoint(void) {
  gex_EP_t ep;
  REQUIRE(gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_ALL, 0) == GASNET_OK);
  gex_AM_Entry_t entry = {
      index_note, (gex_AM_Fn_t)on_far, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, NULL, "far"};
  REQUIRE(gex_EP_RegisterHandlers(ep, &entry, 1) == GASNET_OK);
  REQUIRE(gex_EP_BindSegment(ep, job.seg, 0) == GASNET_OK);
  REQUIRE(gex_EP_PublishBoundSegment(job.tm, &ep, 1, 0) == GASNET_OK);
  job_barrier();
  const gex_Rank_t peer = (job.rank + 1) % job.size;
  const size_t count = 5;
  const ptrdiff_t stride = 8, wide = 32;
  uint64_t data[5] = {1, 2, 3, 4, 5};
  const uint64_t before = notes;
  gex_VIS_SetPeerCompletionHandler(index_note, "abc", 3, 0);
  gex_VIS_StridedPutBlocking(gex_TM_Pair(job.ep, 1), peer, job.peer[peer] + 4096, &wide, data,
                             &stride, 8, &count, 1, 0);
  wait_for(&far_notes, 1);
  CHECK_EQ(notes, before);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {
      {0, (gex_AM_Fn_t)on_note, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, NULL, "note"},
      {0, (gex_AM_Fn_t)on_empty, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, NULL, "empty"},
  };
  job_start(&argc, &argv, 0, table, 2);
  index_note = table[0].gex_index;
  index_empty = table[1].gex_index;
  job_attach((uintptr_t)2 * SLOT);
  char *data = malloc(LARGE);
  REQUIRE(data != NULL);
  job_barrier();
  each_form(8, data);
  each_form(4000, data);
  each_form(LARGE, data);
  disarm(data);
  extremes();
  further_endpoint();
  job_barrier();
  free(data);
  return job_finish();
}
