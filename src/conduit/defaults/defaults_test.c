/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit test of tmb_conduit_complete: which slots a conduit must fill, and which are filled for it.
 */
#include "base/compiler.h"
#include "conduit/conduit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/capture_test.h"

static int slot(void) {
  abort();
}

/* Offsets of the mandatory slots in the table. */
#define SLOT(name) \
 { #name, offsetof(struct tmb_conduit_ops, name) }
static const struct {
  const char *name;
  size_t at;
} mandatory[] = {SLOT(open),     SLOT(close), SLOT(am_send),   SLOT(am_stage), SLOT(am_release),
                 SLOT(progress), SLOT(sleep), SLOT(wake_self), SLOT(attach),   SLOT(flag_word)};

/* A table with the mandatory slots, except that of index `without`. */
static struct tmb_conduit_ops table(size_t without) {
  struct tmb_conduit_ops ops = {.name = "none"};
  int (*fn)(void) = slot;
  for (size_t i = 0; i < TMB_ARRAY_LEN(mandatory); i++)
    if (i != without) memcpy((char *)&ops + mandatory[i].at, &fn, sizeof fn);
  return ops;
}

static void complete(void *ops) {
  tmb_conduit_complete(ops);
}

static void mandatory_slots(void **state) {
  static struct capture cap;
  (void)state;
  for (size_t i = 0; i < TMB_ARRAY_LEN(mandatory); i++) {
    struct tmb_conduit_ops ops = table(i);
    char want[64];
    snprintf(want, sizeof want, "mandatory slot %s", mandatory[i].name);
    assert_int_equal(capture_run(&cap, complete, &ops), 0);
    if (!capture_died_of(&cap, SIGABRT) || !strstr(cap.text, want))
      fail_msg("without %s: %s", mandatory[i].name, cap.text);
  }
}

static void filled_slots(void **state) {
  struct tmb_conduit_ops ops = table(SIZE_MAX);
  (void)state;
  tmb_conduit_complete(&ops);
  assert_true(ops.put && ops.get && ops.put_signal && ops.get_signal && ops.am_long);
  assert_true(ops.flag_post && ops.expect_loss && ops.lost);
  assert_true(ops.notify && ops.notify_unindexed);
  assert_true(!ops.index_begin && !ops.index_area && !ops.shared_word && !ops.shared_area);
  assert_true(ops.signals_told);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(mandatory_slots),
                                     cmocka_unit_test(filled_slots)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
