/* SPDX-License-Identifier: BSD-3-Clause */
/* Trace areas of ranks that have ended: a head that cannot be is refused, and times of damaged
 * events become numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/cmp_test.h"
#include "base/compiler.h"
#include "base/config.h"
#include "base/error.h"
#include "boot/trace/set.h"

#include <unistd.h>

enum { RANKS = 2, CAPACITY = 128 };

static struct tmb_ctl *ctl;

static void make_job(void) {
  const struct tmb_ctl_job job = {.size = RANKS,
                                  .hosts = 1,
                                  .only_host = TMB_CTL_ALL_HOSTS,
                                  .trace_bytes = TMB_ALIGN_UP(tmb_trace_bytes(CAPACITY), 4096u)};
  int fd = -1;
  assert_int_equal(tmb_ctl_create(&job, false, &fd, &ctl), TMB_OK);
  close(fd);
}

static void heads(void **state) {
  (void)state;
  make_job();
  struct tmb_trace_area *area = tmb_ctl_trace(ctl, 1);
  assert_ptr_equal(tmb_trace_of(ctl, 1), area);
  const uint64_t right = area->capacity;
  assert_cmp(right, >=, CAPACITY);
  const uint64_t wrong[] = {
      0, 3, right - 1, right + 1, 2 * right, UINT64_C(1) << 40, UINT64_MAX, UINT64_C(1) << 63};
  for (size_t i = 0; i < TMB_ARRAY_LEN(wrong); i++) {
    area->capacity = wrong[i];
    assert_null(tmb_trace_of(ctl, 1));
    assert_non_null(tmb_trace_of(ctl, 0));
  }
  tmb_ctl_unmap(ctl);
}

static void damaged_events(void **state) {
  (void)state;
  make_job();
  struct tmb_trace_area *area = tmb_ctl_trace(ctl, 0);
  area->next = UINT64_MAX - 5; /* the ring is read as full */
  for (uint64_t n = area->next - area->capacity; n != area->next; n++) {
    struct tmb_trace_event *e = &area->event[n & (area->capacity - 1)];
    *e = (struct tmb_trace_event){.begin = n * UINT64_C(0x9e3779b97f4a7c15),
                                  .end = ~n,
                                  .kind = (uint8_t)(1 + n % (TMB_TRACE_KINDS - 1)),
                                  .what = (uint8_t)n,
                                  .peer = (uint32_t)(n * 77),
                                  .name = (uint32_t)(n << 7),
                                  .number = n,
                                  .seq = (uint32_t)(n + 1)};
  }
  struct tmb_trace_set set;
  assert_int_equal(tmb_trace_set_open(&set, ctl), TMB_OK);
  tmb_trace_set_here(&set, ctl);
  assert_int_equal(tmb_trace_set_items(&set), TMB_OK);
  assert_int_equal(set.items, area->capacity);
  assert_int_equal(tmb_trace_write_json(&set, "/dev/null"), 0);
  tmb_trace_set_free(&set);
  tmb_ctl_unmap(ctl);
}

int main(void) {
  tmb_cfg_init();
  const struct CMUnitTest tests[] = {cmocka_unit_test(heads), cmocka_unit_test(damaged_events)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
