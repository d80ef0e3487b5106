/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * API 08.6: synchronisation of explicit handles (one, some, all; wait, try, try without polling),
 * of implicit operations, and access regions; more than 65535 operations outstanding at once.
 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/* ranks: 1 2 3 4 7 */
#include "legacy.h"

enum { WORDS = 70000, ARRAY = 64 };

static gasnet_node_t to;
static uint32_t *remote; /* WORDS words of ours in the segment of `to` */
static uint32_t out[WORDS], in[WORDS];

static void fill_out(uint32_t salt) {
  for (uint32_t i = 0; i < WORDS; i++) out[i] = (uint32_t)mix64(i + ((uint64_t)salt << 32));
}

static void expect_remote(size_t words) {
  memset(in, 0, words * 4);
  gasnet_get_bulk(in, to, remote, words * 4);
  CHECK_EQ(memcmp(in, out, words * 4), 0);
}

static gasnet_handle_t put_word(size_t i) {
  return gasnet_put_nb(to, remote + i, &out[i], 4);
}

static void test_invalid(void) {
  gasnet_handle_t none[3] = {GASNET_INVALID_HANDLE, GASNET_INVALID_HANDLE, GASNET_INVALID_HANDLE};
  static const gasnet_handle_t zero;
  CHECK(zero == GASNET_INVALID_HANDLE);
  gasnet_wait_syncnb(none[0]);
  CHECK_EQ(gasnet_try_syncnb(none[0]), GASNET_OK);
  CHECK_EQ(gasnet_try_syncnb_nopoll(none[0]), GASNET_OK);
  gasnet_wait_syncnb_some(none, 3);
  gasnet_wait_syncnb_all(none, 3);
  CHECK_EQ(gasnet_try_syncnb_some(none, 3), GASNET_OK);
  CHECK_EQ(gasnet_try_syncnb_all(none, 3), GASNET_OK);
  CHECK_EQ(gasnet_try_syncnb_some_nopoll(none, 3), GASNET_OK);
  CHECK_EQ(gasnet_try_syncnb_all_nopoll(none, 3), GASNET_OK);
  gasnet_wait_syncnb_some(NULL, 0);
  gasnet_wait_syncnb_all(NULL, 0);
  CHECK_EQ(gasnet_try_syncnb_some(NULL, 0), GASNET_OK);
  CHECK_EQ(gasnet_try_syncnb_all_nopoll(NULL, 0), GASNET_OK);
  gasnet_wait_syncnbi_all();
  CHECK_EQ(gasnet_try_syncnbi_gets(), GASNET_OK);
  CHECK_EQ(gasnet_try_syncnbi_puts(), GASNET_OK);
  CHECK_EQ(gasnet_try_syncnbi_all(), GASNET_OK);
}

static void test_one(void) {
  fill_out(1);
  for (size_t i = 0; i < 20; i++) {
    const gasnet_handle_t handle = put_word(i);
    if (i % 2) {
      gasnet_wait_syncnb(handle);
    } else {
      int rc;
      while ((rc = gasnet_try_syncnb(handle)) != GASNET_OK) CHECK_EQ(rc, GASNET_ERR_NOT_READY);
    }
  }
  expect_remote(20);
}

static int live(const gasnet_handle_t *handle, int n) {
  int count = 0;
  for (int i = 0; i < n; i++) count += handle[i] != GASNET_INVALID_HANDLE;
  return count;
}

/* One form of array synchronisation until nothing is left. */
static void sync_array(int form, gasnet_handle_t *handle) {
  while (live(handle, ARRAY)) {
    const int before = live(handle, ARRAY);
    int rc = GASNET_OK;
    if (form == 0) gasnet_wait_syncnb_some(handle, ARRAY);
    if (form == 1) gasnet_wait_syncnb_all(handle, ARRAY);
    if (form == 2) rc = gasnet_try_syncnb_some(handle, ARRAY);
    if (form == 3) rc = gasnet_try_syncnb_all(handle, ARRAY);
    if (form == 4) gasnet_AMPoll(), rc = gasnet_try_syncnb_some_nopoll(handle, ARRAY);
    if (form == 5) gasnet_AMPoll(), rc = gasnet_try_syncnb_all_nopoll(handle, ARRAY);
    const int after = live(handle, ARRAY);
    CHECK(rc == GASNET_OK || rc == GASNET_ERR_NOT_READY);
    if (form % 2)
      CHECK(rc != GASNET_OK || after == 0);
    else
      CHECK(rc != GASNET_OK || after < before);
  }
}

static void test_arrays(void) {
  for (int form = 0; form < 6; form++) {
    gasnet_handle_t handle[ARRAY];
    fill_out(10 + (uint32_t)form);
    for (int i = 0; i < ARRAY; i++)
      handle[i] = i % 5 == 4 ? GASNET_INVALID_HANDLE : put_word((size_t)i);
    for (int i = 4; i < ARRAY; i += 5) gasnet_put_val(to, remote + i, out[i], 4);
    sync_array(form, handle);
    expect_remote(ARRAY);
    for (int i = 0; i < ARRAY; i++) handle[i] = gasnet_get_nb(&in[i], to, remote + i, 4);
    sync_array(form, handle);
    CHECK_EQ(memcmp(in, out, ARRAY * 4), 0);
  }
}

/* More than 65535 operations outstanding, explicit and implicit. */
static void test_many(void) {
  gasnet_handle_t *const handle = (gasnet_handle_t *)check_room(1, WORDS * sizeof *handle);
  fill_out(30);
  for (size_t i = 0; i < WORDS; i++) handle[i] = put_word(i);
  gasnet_wait_syncnb_all(handle, WORDS);
  CHECK_EQ(live(handle, WORDS), 0);
  expect_remote(WORDS);
  free(handle);

  fill_out(31);
  for (size_t i = 0; i < WORDS; i++) gasnet_put_nbi_bulk(to, remote + i, &out[i], 4);
  gasnet_wait_syncnbi_puts();
  memset(in, 0, sizeof in);
  for (size_t i = 0; i < WORDS; i++) gasnet_get_nbi(&in[i], to, remote + i, 4);
  int rc;
  while ((rc = gasnet_try_syncnbi_gets()) != GASNET_OK) CHECK_EQ(rc, GASNET_ERR_NOT_READY);
  CHECK_EQ(memcmp(in, out, sizeof in), 0);
}

/* Operations of a region are those of its handle; explicit ones inside are their own. */
static void test_region(void) {
  for (int round = 0; round < 3; round++) {
    fill_out(40 + (uint32_t)round);
    gasnet_put_nbi(to, remote + 1000, &out[1000], 4); /* not of the region */
    gasnet_begin_nbi_accessregion();
    for (size_t i = 0; i < 500; i++) gasnet_put_nbi_bulk(to, remote + i, &out[i], 4);
    const gasnet_handle_t single = put_word(500);
    gasnet_put_nbi_val(to, remote + 501, out[501], 4);
    gasnet_memset_nbi(to, remote + 502, 0x77, 4);
    const gasnet_handle_t region = gasnet_end_nbi_accessregion();
    gasnet_wait_syncnb(single);
    gasnet_wait_syncnbi_puts();
    gasnet_wait_syncnb(region);
    out[502] = 0x77777777;
    expect_remote(503);
    CHECK_EQ(gasnet_get_val(to, remote + 1000, 4), out[1000]);

    memset(in, 0, 503 * 4);
    gasnet_begin_nbi_accessregion();
    for (size_t i = 0; i < 503; i++) gasnet_get_nbi(&in[i], to, remote + i, 4);
    gasnet_handle_t get_region = gasnet_end_nbi_accessregion();
    gasnet_wait_syncnb_all(&get_region, 1);
    CHECK_EQ(memcmp(in, out, 503 * 4), 0);
  }
  gasnet_begin_nbi_accessregion();
  gasnet_wait_syncnb(gasnet_end_nbi_accessregion()); /* empty */
}

int main(int argc, char **argv) {
  g1_start(&argc, &argv, NULL, 0, 2 * ((WORDS * 4 + 4095) / 4096 * 4096));
  const gasnet_node_t targets[] = {g1.rank, (g1.rank + 1) % g1.size};
  for (int t = 0; t < 2; t++) {
    to = targets[t];
    remote = (uint32_t *)g1.seg[to].addr + (to == g1.rank ? 0 : g1.seg[to].size / 8);
    test_invalid();
    test_one();
    test_arrays();
    if (g1.rank == 0) test_many(); /* over sockets a second of each rank that does it */
    test_region();
  }
  return g1_finish();
}
