/* SPDX-License-Identifier: BSD-3-Clause */
/* Trace areas of ranks that have ended: an impossible head is refused, times of damaged events
 * become numbers, and clocks are corrected by causes and effects. */

#include "base/compiler.h"
#include "base/config.h"
#include "base/error.h"
#include "base/unit_test.h"
#include "boot/trace/set.h"

#include <stdlib.h>
#include <string.h>
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

TEST(heads) {
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

/* The clocks of ranks of one host agree: else an arrow between them could run backward. */
TEST(one_moment) {
  make_job();
  const struct tmb_trace_area *a = tmb_ctl_trace(ctl, 0), *b = tmb_ctl_trace(ctl, 1);
  assert_cmp(a->tick0, >, 0);
  assert_int_equal(a->tick0, b->tick0);
  assert_int_equal(a->ns0, b->ns0);
  tmb_ctl_unmap(ctl);
}

TEST(damaged_events) {
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

/* ---- clocks of two hosts */

/* Two ranks on two hosts. The clock of the second is `late_ns` behind, and known within
 * `error_ns`. */
struct pair {
  struct tmb_trace_area *area[2];
  struct tmb_trace_rank rank[2];
  struct tmb_trace_offset offset[2];
  struct tmb_trace_set set;
  uint64_t late_ns;
};

static void make_pair(struct pair *p, uint64_t late_ns, double error_ns) {
  *p = (struct pair){.late_ns = late_ns, .offset = {[1].error_ns = error_ns}};
  p->set = (struct tmb_trace_set){.size = 2, .hosts = 2, .rank = p->rank, .offset = p->offset};
  for (uint32_t r = 0; r < 2; r++) {
    const size_t bytes = TMB_ALIGN_UP(tmb_trace_bytes(CAPACITY), (size_t)TMB_CACHE_LINE);
    p->area[r] = aligned_alloc(TMB_CACHE_LINE, bytes);
    assert_non_null(p->area[r]);
    memset(p->area[r], 0, bytes);
    p->area[r]->capacity = CAPACITY;
    p->rank[r] = (struct tmb_trace_rank){
        .area = p->area[r], .host = r, .end = {UINT64_C(1) << 30, UINT64_C(1) << 30}};
  }
}

static void free_pair(struct pair *p) {
  free(p->set.item);
  for (uint32_t r = 0; r < 2; r++) free(p->area[r]);
}

/* Record an event; times are those of the first host. */
static void record(struct pair *p, uint32_t rank, const struct tmb_trace_event *event) {
  struct tmb_trace_area *a = p->area[rank];
  struct tmb_trace_event *e = &a->event[a->next++ & (CAPACITY - 1)];
  *e = *event;
  e->begin -= rank * p->late_ns;
  e->end -= rank * p->late_ns;
  e->peer = 1 - rank;
  e->seq = (uint32_t)a->next;
}

/* Recorded events: a request that is answered, a signal that ends a wait. All take 2 us. */
static void talk(struct pair *p) {
  record(p, 0, &(struct tmb_trace_event){100000, 100100, .kind = TMB_TRACE_MESSAGE, .number = 1});
  record(p, 1, &(struct tmb_trace_event){102000, 102100, .kind = TMB_TRACE_HANDLER, .number = 1});
  record(p, 1, &(struct tmb_trace_event){103000, 103100, .kind = TMB_TRACE_MESSAGE, .number = 1});
  record(p, 0, &(struct tmb_trace_event){105000, 105100, .kind = TMB_TRACE_HANDLER, .number = 1});
  record(p, 0,
         &(struct tmb_trace_event){110000, 110100, .kind = TMB_TRACE_OPERATION,
                                   .what = TMB_WHAT_PUT_SIGNAL, .object = 64});
  record(p, 1,
         &(struct tmb_trace_event){101000, 112000, .kind = TMB_TRACE_WAIT, .what = TMB_WAIT_SIGNAL,
                                   .object = 64});
}

/* Check that each of three effects has its cause, which begins before; of handlers, before them. */
static void expect_causes(const struct tmb_trace_set *set) {
  uint32_t causes = 0;
  assert_int_equal(set->arrows_dropped, 0);
  for (uint32_t i = 0; i < set->items; i++) {
    const struct tmb_trace_item *e = &set->item[i];
    assert_cmp(e->begin_ns, >=, 0);
    if (e->cause == TMB_TRACE_NO_ITEM) continue;
    const bool handler = e->event->kind == TMB_TRACE_HANDLER;
    assert_cmp(set->item[e->cause].begin_ns, <=, handler ? e->begin_ns : e->end_ns);
    causes++;
  }
  assert_int_equal(causes, 3);
}

/* However the clock errs within its bound, no cause is lost. */
TEST(clocks_in_doubt) {
  const int late_ns[] = {0, 1900, 2100, 9000, 14900, -1900, -2100, -14900};
  for (size_t i = 0; i < TMB_ARRAY_LEN(late_ns); i++) {
    struct pair p;
    make_pair(&p, (uint64_t)(int64_t)late_ns[i], 15000);
    talk(&p);
    assert_int_equal(tmb_trace_set_items(&p.set), TMB_OK);
    expect_causes(&p.set);
    /* Items of one host keep their distance. */
    assert_cmp(p.set.item[1].begin_ns - p.set.item[0].begin_ns, ==, 5000);
    free_pair(&p);
  }
}

/* A clock that errs by more than its stated error: arrows that run backward are dropped and
 * counted. */
TEST(clocks_that_lie) {
  struct pair p;
  make_pair(&p, 50000, 1000);
  talk(&p);
  assert_int_equal(tmb_trace_set_items(&p.set), TMB_OK);
  assert_int_equal(p.set.arrows_dropped, 1); /* the request; no signal is before the wait's end */
  free_pair(&p);
}

int main(void) {
  tmb_cfg_init();
  return unit_run(NULL, NULL);
}
