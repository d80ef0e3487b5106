/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kit of internal messages from inside: 64-bit arguments, pieces in any order from several
 * sources, pieces of a peer that is lost, messages of a form that their handler does not take.
 */
#include "base/unit_test.h"
#include "core/am/kit.h"

#include "base/capture_test.h"
#include "core/am/am.h"

TEST(values_come_back) {
  static const uint64_t value[] = {0,          1,           0x7fffffff,         0x80000000,
                                   0xffffffff, 0x100000000, 0x80000000ffffffff, UINT64_MAX};
  for (size_t i = 0; i < sizeof value / sizeof value[0]; i++) {
    int32_t args[2];
    tmb_kit_pack64(args, value[i]);
    assert_int_equal(tmb_kit_unpack64(args), value[i]);
    assert_int_equal((uint32_t)args[0], (uint32_t)value[i]); /* low half first */
  }
  int32_t args[2];
  tmb_kit_pack_ptr(args, args);
  assert_ptr_equal(tmb_kit_unpack_ptr(args), args);
}

TEST(one_piece_needs_no_table) {
  assert_true(tmb_kit_last_piece(3, 7, 100, 100));
  assert_true(tmb_kit_last_piece(3, 7, 0, 0));
  assert_int_equal(tmb_kit_incomplete(), 0);
}

/* Transfers of three sources with equal numbers, their pieces interleaved. */
TEST(pieces_are_counted_by_transfer) {
  enum { SOURCES = 3, IDS = 200, PIECES = 5 };
  for (uint32_t piece = 0; piece < PIECES; piece++)
    for (uint32_t id = 0; id < IDS; id++)
      for (uint32_t src = 0; src < SOURCES; src++) {
        const uint64_t total = PIECES * (src + 1);
        assert_int_equal(tmb_kit_last_piece(src, id, total, src + 1), piece == PIECES - 1);
      }
  assert_int_equal(tmb_kit_incomplete(), 0);
  assert_false(tmb_kit_last_piece(0, 0, 2, 1)); /* a number that was used is free again */
  assert_true(tmb_kit_last_piece(0, 0, 2, 1));
}

TEST(a_lost_peer_is_forgotten) {
  for (uint32_t id = 0; id < 300; id++) {
    assert_false(tmb_kit_last_piece(1, id, 10, 4));
    assert_false(tmb_kit_last_piece(2, id, 10, 4));
  }
  assert_int_equal(tmb_kit_incomplete(), 600);
  tmb_kit_layer.peer_lost(1);
  assert_int_equal(tmb_kit_incomplete(), 300);
  for (uint32_t id = 0; id < 300; id++) assert_true(tmb_kit_last_piece(2, id, 10, 6));
  assert_int_equal(tmb_kit_incomplete(), 0);
}

TEST(numbers_differ) {
  const uint32_t first = tmb_kit_next_id();
  for (uint32_t i = 1; i < 100; i++) assert_int_equal(tmb_kit_next_id(), first + i);
}

/* ---- layout of a message */

static void run(const struct tmb_am_in *in) {
  printf("ran with %u arguments\n", in->nargs);
}

static void deliver(void *arg) {
  static const struct tmb_layer_handler handler = {TMB_KIT_TEST, TMB_TAKES_MEDIUM, 2, 8, run};
  tmb_am_set_internal(&handler);
  tmb_up_am(arg);
}

TEST(other_forms_end_the_job) {
  static struct capture out;
  static const int32_t args[2] = {1, 2};
  char payload[16] = {0};
  const struct tmb_am_in good = {.src = 4,
                                 .category = TMB_AM_MEDIUM,
                                 .handler = TMB_KIT_TEST,
                                 .nargs = 2,
                                 .args = args,
                                 .payload = payload,
                                 .nbytes = 8};
  struct tmb_am_in in[5] = {good, good, good, good, good};
  in[1].category = TMB_AM_SHORT;
  in[2].nargs = 1;
  in[3].nbytes = 7;
  in[4].handler = TMB_KIT_TEST + 1;
  for (int i = 0; i < 5; i++) {
    assert_int_equal(capture_run(&out, deliver, &in[i]), 0);
    assert_int_equal(capture_ended_well(&out), i == 0);
    assert_non_null(strstr(out.text, i == 0   ? "ran with 2"
                                     : i == 4 ? "registered indices are 128..255"
                                              : "a message of rank 4"));
  }
}

int main(void) {
  return unit_run(NULL, NULL);
}
