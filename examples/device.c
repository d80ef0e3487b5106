/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device.c: a put into memory of the next rank's device, and a get back.
 *
 * The example of the chapter "Memory kinds" of the Book. Without a CUDA device the segment lies in
 * host memory; nothing else changes.
 * Compile: tombolo cc device.c -o device
 * Run:     tombolo run -n 2 ./device
 */
/* mode: SEQ */
/* ranks: 2 */
#include <gasnet_mk.h>
#include <gasnetex.h>

enum { BYTES = 1 << 20 };

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  if (gex_Client_Init(&client, &ep, &team, "DEVICE", &argc, &argv, 0) != GASNET_OK) return 1;
  const gex_Rank_t me = gex_TM_QueryRank(team), size = gex_TM_QuerySize(team);
  const gex_Rank_t right = (me + 1) % size;

  /* book: kind */
  gex_MK_t kind;
  gex_MK_Create_args_t args = {.gex_class = GEX_MK_CLASS_CUDA_UVA};
  args.gex_args.gex_class_cuda_uva.gex_CUdevice = 0;
  const int found = gex_MK_Create(&kind, client, &args, 0) == GASNET_OK;
  if (!found) kind = GEX_MK_HOST;
  /* book end */

  /* book: segment */
  gex_Segment_t segment;
  gex_EP_t device;
  if (gex_Segment_Create(&segment, client, NULL, BYTES, kind, 0) != GASNET_OK ||
      gex_EP_Create(&device, client, GEX_EP_CAPABILITY_RMA, 0) != GASNET_OK)
    gasnet_exit(1);
  gex_EP_BindSegment(device, segment, 0);
  gex_EP_PublishBoundSegment(team, &device, 1, 0);
  /* book end */

  /* book: put */
  gex_TM_t pair = gex_TM_Pair(ep, gex_EP_QueryIndex(device));
  void *there;
  gex_Segment_QueryBound(pair, right, &there, NULL, NULL);
  uint64_t number = 1000 + me, back = 0;
  gex_RMA_PutBlocking(pair, right, there, &number, sizeof number, 0);
  gex_RMA_GetBlocking(pair, &back, right, there, sizeof back, 0);
  /* book end */

  const int bad = back != number;
  printf("%s: rank %u used memory of %s\n", bad ? "FAILED" : "ok", me,
         found ? "a device" : "the host");
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  /* book: end */
  gex_Segment_Destroy(segment, 0);
  if (found) gex_MK_Destroy(kind, 0);
  /* book end */
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(bad);
}
