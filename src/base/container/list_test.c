/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lists, see list.h.
 *
 * Owns nothing. Called by ctest as unit.base.container.list. Calls: list.h, with `next` at the
 * begin of a struct and behind other members. Each case walks the list afterwards, so that a lost
 * or repeated struct fails it. Invariant tested: the last struct's `next` is NULL.
 */

#include "base/container/list.h"
#include "base/unit_test.h"

struct item {
  int number;
  struct item *next;
};

static struct item items[5] = {{0, NULL}, {1, NULL}, {2, NULL}, {3, NULL}, {4, NULL}};

/* The numbers of a list as decimal digits: 123 for 1, 2, 3. */
static int digits(const struct item *list) {
  int number = 0;
  for (; list; list = list->next) number = 10 * number + list->number;
  return number;
}

TEST(test_pushed_last_is_popped_first) {
  struct item *list = NULL;
  assert_null(TMB_LIST_POP(&list));
  for (int i = 1; i < 4; i++) TMB_LIST_PUSH(&list, &items[i]);
  assert_int_equal(digits(list), 321);
  assert_ptr_equal(TMB_LIST_POP(&list), &items[3]);
  assert_int_equal(digits(list), 21);
  while (list) (void)TMB_LIST_POP(&list);
  assert_null(list);
}

TEST(test_a_cursor_inserts_and_takes_out) {
  struct item *list = NULL;
  TMB_LIST_PUSH(&list, &items[3]);
  TMB_LIST_PUSH(&list, &items[1]);
  struct item **at = &list->next;
  TMB_LIST_PUSH(at, &items[2]);
  assert_int_equal(digits(list), 123);
  assert_ptr_equal(TMB_LIST_POP(at), &items[2]);
  assert_int_equal(digits(list), 13);
  at = TMB_LIST_END(&list);
  assert_ptr_equal(at, &items[3].next);
  assert_null(TMB_LIST_POP(at));
  TMB_LIST_PUSH(at, &items[4]);
  assert_int_equal(digits(list), 134);
}

TEST(test_remove_finds_each_place) {
  struct item *list = NULL;
  for (int i = 4; i > 0; i--) TMB_LIST_PUSH(&list, &items[i]);
  assert_true(TMB_LIST_REMOVE(&list, &items[2]));
  assert_int_equal(digits(list), 134);
  assert_true(TMB_LIST_REMOVE(&list, &items[4]));
  assert_true(TMB_LIST_REMOVE(&list, &items[1]));
  assert_int_equal(digits(list), 3);
  assert_false(TMB_LIST_REMOVE(&list, &items[1]));
  assert_true(TMB_LIST_REMOVE(&list, &items[3]));
  assert_false(TMB_LIST_REMOVE(&list, &items[3]));
  assert_null(list);
}

TEST(test_a_queue_keeps_the_order) {
  struct item *first = NULL, *last = NULL;
  items[1].next = &items[4]; /* of an earlier list */
  TMB_QUEUE_ADD(&first, &last, &items[1]);
  assert_int_equal(digits(first), 1);
  TMB_QUEUE_ADD(&first, &last, &items[2]);
  TMB_QUEUE_ADD(&first, &last, &items[3]);
  assert_int_equal(digits(first), 123);
  assert_ptr_equal(last, &items[3]);
  for (int i = 1; i < 4; i++) assert_ptr_equal(TMB_LIST_POP(&first), &items[i]);
  assert_null(first);
  TMB_QUEUE_ADD(&first, &last, &items[4]); /* `last` names a struct that has left */
  assert_int_equal(digits(first), 4);
  assert_ptr_equal(last, &items[4]);
}

TEST(test_a_kept_end_extends) {
  struct item *first = NULL, **end = &first;
  for (int i = 1; i < 4; i++) TMB_LIST_EXTEND(&end, &items[i]);
  assert_int_equal(digits(first), 123);
  assert_ptr_equal(end, &items[3].next);
}

int main(void) {
  return unit_run(NULL, NULL);
}
