/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* debug: both */
/*
 * API 08.8: the 18 GASNet-1 calls, put and got back, against loops; headers in the order gasnet.h,
 * gasnet_vis.h (vis_legacy_order.c has the other one). Also chunks of 0 repetitions and of no
 * levels.
 */
#include <gasnet.h>
#include <gasnet_vis.h>
#include <string.h>

#include "check.h"

enum { SLOT = 1 << 16, ROWS = 30, CHUNK = 24, PIECES = 20 };

static char *far_slot;
static gasnet_node_t peer;
static char here[SLOT], back[SLOT];

enum form { BULK, NB_BULK, NBI_BULK };

/* Two levels: chunks of 24 bytes, 5 by 6 of them; spread out at the peer. */
static void strided(enum form form) {
  const size_t count[3] = {CHUNK, 5, 6}, wide[2] = {40, 256}, tight[2] = {CHUNK, 5 * CHUNK};
  const size_t total = ROWS * CHUNK;
  pattern_fill(here, total, 10u + form);
  memset(back, 0, SLOT);
  switch (form) {
  case BULK:
    gasnet_puts_bulk(peer, far_slot, wide, here, tight, count, 2);
    gasnet_gets_bulk(back, tight, peer, far_slot, wide, count, 2);
    break;
  case NB_BULK:
    gasnet_wait_syncnb(gasnet_puts_nb_bulk(peer, far_slot, wide, here, tight, count, 2));
    gasnet_wait_syncnb(gasnet_gets_nb_bulk(back, tight, peer, far_slot, wide, count, 2));
    break;
  default:
    gasnet_puts_nbi_bulk(peer, far_slot, wide, here, tight, count, 2);
    gasnet_wait_syncnbi_puts();
    gasnet_gets_nbi_bulk(back, tight, peer, far_slot, wide, count, 2);
    gasnet_wait_syncnbi_gets();
  }
  CHECK_BYTES(back, total, 10u + form);
  gasnet_get_bulk(back, peer, far_slot, SLOT);
  for (size_t j = 0; j < 6; j++)
    for (size_t i = 0; i < 5; i++)
      CHECK_CMP(memcmp(back + j * 256 + i * 40, here + (j * 5 + i) * CHUNK, CHUNK), ==, 0);
}

static void vector(enum form form) {
  gasnet_memvec_t apart[PIECES];
  size_t total = 0;
  for (size_t i = 0; i < PIECES; i++) {
    apart[i].addr = far_slot + (PIECES - 1 - i) * 100;
    apart[i].len = i * 3;
    total += i * 3;
  }
  gasnet_memvec_t whole[2] = {{here, total / 2}, {here + total / 2, total - total / 2}};
  gasnet_memvec_t got[1] = {{back, total}};
  pattern_fill(here, total, 20u + form);
  memset(back, 0, SLOT);
  switch (form) {
  case BULK:
    gasnet_putv_bulk(peer, PIECES, apart, 2, whole);
    gasnet_getv_bulk(1, got, peer, PIECES, apart);
    break;
  case NB_BULK:
    gasnet_wait_syncnb(gasnet_putv_nb_bulk(peer, PIECES, apart, 2, whole));
    gasnet_wait_syncnb(gasnet_getv_nb_bulk(1, got, peer, PIECES, apart));
    break;
  default:
    gasnet_putv_nbi_bulk(peer, PIECES, apart, 2, whole);
    gasnet_wait_syncnbi_all();
    gasnet_getv_nbi_bulk(1, got, peer, PIECES, apart);
    gasnet_wait_syncnbi_all();
  }
  CHECK_BYTES(back, total, 20u + form);
  gasnet_get_bulk(back, peer, far_slot, SLOT);
  for (size_t i = 0, at = 0; i < PIECES; at += 3 * i++)
    CHECK_CMP(memcmp(back + (PIECES - 1 - i) * 100, here + at, 3 * i), ==, 0);
}

static void indexed(enum form form) {
  void *apart[PIECES], *whole[1] = {here}, *got[2] = {back, back + 500};
  for (size_t i = 0; i < PIECES; i++) apart[i] = far_slot + (i * 7 % PIECES) * 64;
  pattern_fill(here, PIECES * 50, 30u + form);
  memset(back, 0, SLOT);
  switch (form) {
  case BULK:
    gasnet_puti_bulk(peer, PIECES, apart, 50, 1, whole, 50 * PIECES);
    gasnet_geti_bulk(2, got, 500, peer, PIECES, apart, 50);
    break;
  case NB_BULK:
    gasnet_wait_syncnb(gasnet_puti_nb_bulk(peer, PIECES, apart, 50, 1, whole, 50 * PIECES));
    gasnet_wait_syncnb(gasnet_geti_nb_bulk(2, got, 500, peer, PIECES, apart, 50));
    break;
  default:
    gasnet_puti_nbi_bulk(peer, PIECES, apart, 50, 1, whole, 50 * PIECES);
    gasnet_wait_syncnbi_puts();
    gasnet_geti_nbi_bulk(2, got, 500, peer, PIECES, apart, 50);
    gasnet_wait_syncnbi_gets();
  }
  CHECK_BYTES(back, PIECES * 50, 30u + form);
  gasnet_get_bulk(back, peer, far_slot, SLOT);
  for (size_t i = 0; i < PIECES; i++)
    CHECK_CMP(memcmp(back + (i * 7 % PIECES) * 64, here + i * 50, 50), ==, 0);
}

static void degenerate(void) {
  const size_t chunk[1] = {77}, none[2] = {8, 0}, stride[1] = {8};
  pattern_fill(here, 77, 40);
  gasnet_puts_bulk(peer, far_slot, NULL, here, NULL, chunk, 0);
  gasnet_puts_bulk(peer, far_slot, stride, back, stride, none, 1);
  memset(back, 0, 77);
  gasnet_gets_bulk(back, NULL, peer, far_slot, NULL, chunk, 0);
  CHECK_BYTES(back, 77, 40);
  gasnet_putv_bulk(peer, 0, NULL, 0, NULL);
  gasnet_geti_bulk(0, NULL, 8, peer, 0, NULL, 8);
}

int main(int argc, char **argv) {
  gasnet_init(&argc, &argv);
  const gasnet_node_t nodes = gasnet_nodes();
  check_set_rank(gasnet_mynode());
  const uintptr_t bytes = (uintptr_t)nodes * SLOT;
  REQUIRE(gasnet_attach(NULL, 0, (bytes + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * GASNET_PAGESIZE,
                        0) == GASNET_OK);
  static gasnet_seginfo_t seg[64];
  REQUIRE(nodes <= 64 && gasnet_getSegmentInfo(seg, nodes) == GASNET_OK);
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
  peer = (gasnet_mynode() + 1) % nodes;
  far_slot = (char *)seg[peer].addr + (size_t)gasnet_mynode() * SLOT;
  for (int form = BULK; form <= NBI_BULK; form++) {
    strided((enum form)form);
    vector((enum form)form);
    indexed((enum form)form);
  }
  degenerate();
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
  const int rc = check_done();
  gasnet_exit(rc);
  return rc;
}
