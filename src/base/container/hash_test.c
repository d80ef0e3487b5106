/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of hash tables, see hash.h.
 *
 * Owns nothing. Called by ctest as unit.base.container.hash. Calls: hash.h. The hash of these
 * entries is a member, so that cases choose which of them collide. Invariant tested: a table holds
 * what a plain array holds after the same additions and deletions.
 */
#include "base/container/hash.h"
#include "base/unit_test.h"

struct item {
  uintptr_t key; /* not 0 */
  uint64_t hash;
};

static uint64_t hash_of(const void *entry) {
  return ((const struct item *)entry)->hash;
}

static bool same(const void *a, const void *b) {
  return ((const struct item *)a)->key == ((const struct item *)b)->key;
}

static const struct tmb_hash_kind kind = {sizeof(struct item), hash_of, same};

TEST(an_empty_table_finds_nothing) {
  struct tmb_hash t = {0};
  const struct item one = {1, 1};
  assert_null(tmb_hash_find(&t, &kind, &one));
  tmb_hash_free(&t);
}

TEST(a_second_addition_finds_the_first) {
  struct tmb_hash t = {0};
  struct item one = {1, 7};
  ((struct item *)tmb_hash_add(&t, &kind, &one))->hash = 7;
  assert_int_equal(t.used, 1);
  assert_non_null(tmb_hash_add(&t, &kind, &one));
  assert_int_equal(t.used, 1);
  tmb_hash_free(&t);
}

/* Entries of few hashes, also at the end of the table, so that probing goes round. */
TEST(additions_and_deletions) {
  enum { KEYS = 300, STEPS = 20000 };
  bool there[KEYS + 1] = {false};
  struct tmb_hash t = {0};
  size_t count = 0;
  uint64_t random = 1;
  for (int step = 0; step < STEPS; step++) {
    random = random * UINT64_C(6364136223846793005) + 1;
    const uintptr_t key = 1 + (random >> 33) % KEYS;
    const struct item like = {key, 60 + key % 8};
    struct item *const found = tmb_hash_find(&t, &kind, &like);
    if ((found != NULL) != there[key]) fail_msg("step %d: key %zu", step, (size_t)key);
    if (found && found->key != key) fail_msg("step %d: key %zu", step, (size_t)found->key);
    if (found)
      tmb_hash_erase(&t, &kind, found);
    else
      assert_non_null(tmb_hash_add(&t, &kind, &like));
    there[key] = !there[key];
    count += there[key] ? 1 : (size_t)-1;
    assert_int_equal(t.used, count);
  }
  for (uintptr_t key = 1; key <= KEYS; key++) {
    const struct item like = {key, 60 + key % 8};
    if ((tmb_hash_find(&t, &kind, &like) != NULL) != there[key]) fail_msg("key %zu", (size_t)key);
  }
  tmb_hash_free(&t);
}

/* Values of draft-eastlake-fnv, appendix C. */
TEST(texts) {
  assert_int_equal(tmb_hash_text(TMB_HASH_START, ""), UINT64_C(0xcbf29ce484222325));
  assert_int_equal(tmb_hash_text(TMB_HASH_START, "a"), UINT64_C(0xaf63dc4c8601ec8c));
  assert_int_equal(tmb_hash_text(TMB_HASH_START, "foobar"), UINT64_C(0x85944171f73967e8));
  assert_int_equal(tmb_hash_text(tmb_hash_text(TMB_HASH_START, "foo"), "bar"),
                   UINT64_C(0x85944171f73967e8));
}

int main(void) {
  return unit_run(NULL, NULL);
}
