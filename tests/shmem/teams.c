/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 7 */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 SHMEM_DEBUG=1 */
/* Teams: splits, translation, contexts of teams, and every collective of every type on them. */
#include "check.h"

#include <shmem.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 3, MOST = 64 };
static int me, n; /* in the team under test */
static shmem_team_t team;

#define V(T, pe, i) ((T)((pe)*5 + (i) + 1))

#define DATA(N, T)                                                                              \
 static T src_##N[MOST * COUNT * 3], dst_##N[MOST * COUNT * 3];                                 \
 static void data_##N(void) {                                                                   \
  T *const src = src_##N, *const dst = dst_##N;                                                 \
  for (int i = 0; i < COUNT; i++) src[i] = V(T, me, i), dst[i] = 0;                             \
  CHECK_EQ(shmem_##N##_broadcast(team, dst, src, COUNT, n - 1), 0);                             \
  for (int i = 0; i < COUNT; i++) CHECK(dst[i] == V(T, n - 1, i));                              \
  CHECK_EQ(shmem_##N##_fcollect(team, dst, src, COUNT), 0);                                     \
  for (int i = 0; i < n * COUNT; i++) CHECK(dst[i] == V(T, i / COUNT, i % COUNT));              \
  CHECK_EQ(shmem_##N##_collect(team, dst, src, (size_t)me % COUNT), 0);                         \
  for (int pe = 0, k = 0; pe < n; pe++)                                                         \
   for (int i = 0; i < pe % COUNT; i++) CHECK(dst[k++] == V(T, pe, i));                         \
  for (int i = 0; i < n * COUNT; i++) src[i] = V(T, me, i);                                     \
  CHECK_EQ(shmem_##N##_alltoall(team, dst, src, COUNT), 0);                                     \
  for (int i = 0; i < n * COUNT; i++) CHECK(dst[i] == V(T, i / COUNT, me * COUNT + i % COUNT)); \
  for (int i = 0; i < n * COUNT; i++) src[2 * i] = V(T, me, i);                                 \
  CHECK_EQ(shmem_##N##_alltoalls(team, dst, src, 3, 2, COUNT), 0);                              \
  for (int i = 0; i < n * COUNT; i++)                                                           \
   CHECK(dst[3 * i] == V(T, i / COUNT, me * COUNT + i % COUNT));                                \
 }
SHMEM_TYPES_RMA_(DATA)

/* Result of OP over values 1 + (pe + i) % 3 of PEs 0 to last. */
#define EXPECT(T, last, i, OP)          \
 ({                                     \
 T x = (T)(1 + (i) % 3);                \
 for (int pe = 1; pe <= (last); pe++) { \
  const T y = (T)(1 + (pe + (i)) % 3);  \
  x = (T)(OP);                          \
 }                                      \
 x;                                     \
 })
#define REDUCE(N, T, NAME, OP)                                                    \
 static void NAME##_##N(void) {                                                   \
  T *const src = src_##N, *const dst = dst_##N;                                   \
  for (int i = 0; i < COUNT; i++) src[i] = (T)(1 + (me + i) % 3);                 \
  CHECK_EQ(shmem_##N##_##NAME##_reduce(team, dst, src, COUNT), 0);                \
  for (int i = 0; i < COUNT; i++) CHECK(dst[i] == EXPECT(T, n - 1, i, OP));       \
  CHECK_EQ(shmem_##N##_##NAME##_reduce(team, src, src, COUNT), 0); /* in place */ \
  for (int i = 0; i < COUNT; i++) CHECK(src[i] == EXPECT(T, n - 1, i, OP));       \
 }
#define SCAN(N, T)                                                                            \
 static void scan_##N(void) {                                                                 \
  T *const src = src_##N, *const dst = dst_##N;                                               \
  for (int i = 0; i < COUNT; i++) src[i] = (T)(1 + (me + i) % 3);                             \
  CHECK_EQ(shmem_##N##_sum_exscan(team, dst, src, COUNT), 0);                                 \
  for (int i = 0; i < COUNT; i++) CHECK(dst[i] == (me ? EXPECT(T, me - 1, i, x + y) : (T)0)); \
  CHECK_EQ(shmem_##N##_sum_inscan(team, src, src, COUNT), 0);                                 \
  for (int i = 0; i < COUNT; i++) CHECK(src[i] == EXPECT(T, me, i, x + y));                   \
 }
#define REDUCE_BIT(N, T)   REDUCE(N, T, and, x &y) REDUCE(N, T, or, x | y) REDUCE(N, T, xor, x ^ y)
#define REDUCE_ORDER(N, T) REDUCE(N, T, max, x > y ? x : y) REDUCE(N, T, min, x < y ? x : y)
#define REDUCE_SUM(N, T)   REDUCE(N, T, sum, x + y) REDUCE(N, T, prod, x *y) SCAN(N, T)
SHMEM_TYPES_REDUCE_BIT_(REDUCE_BIT)
SHMEM_TYPES_REDUCE_(REDUCE_ORDER)
SHMEM_TYPES_REDUCE_(REDUCE_SUM)
static float _Complex src_complexf[COUNT], dst_complexf[COUNT];
static double _Complex src_complexd[COUNT], dst_complexd[COUNT];
REDUCE_SUM(complexf, float _Complex)
REDUCE_SUM(complexd, double _Complex)

static void check_collectives(shmem_team_t of) {
  team = of;
  me = shmem_team_my_pe(of), n = shmem_team_n_pes(of);
#define CALL_DATA(N, T)  data_##N();
#define CALL_BIT(N, T)   and_##N(), or_##N(), xor_##N();
#define CALL_ORDER(N, T) max_##N(), min_##N();
#define CALL_SUM(N, T)   sum_##N(), prod_##N(), scan_##N();
  SHMEM_TYPES_RMA_(CALL_DATA)
  SHMEM_TYPES_REDUCE_BIT_(CALL_BIT)
  SHMEM_TYPES_REDUCE_(CALL_ORDER)
  SHMEM_TYPES_REDUCE_(CALL_SUM)
  CALL_SUM(complexf, )
  CALL_SUM(complexd, )
  CHECK_EQ(shmem_team_sync(of), 0);
  CHECK_EQ(shmem_sync(of), 0); /* generic */
}

static void check_special(int world, int size) {
  int pes = 0;
  CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_WORLD), world);
  CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_WORLD), size);
  CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_INVALID), -1);
  CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_INVALID), -1);
  static int object;
  for (int pe = 0; pe < size; pe++) pes += shmem_ptr(&object, pe) != NULL;
  CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_SHARED), pes);
  CHECK(shmem_team_n_pes(SHMEM_TEAM_NODE) >= 1);
  for (int i = 0; i < pes; i++) CHECK(shmem_team_ptr(SHMEM_TEAM_SHARED, &object, i) != NULL);
  CHECK_PTR(shmem_team_ptr(SHMEM_TEAM_INVALID, &object, 0), NULL);
  if (!getenv("SHMEM_DEBUG")) CHECK(shmem_team_sync(SHMEM_TEAM_INVALID) != 0); /* else refused */
  shmem_team_t none = SHMEM_TEAM_WORLD;
  CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &none) != 0);
  CHECK(none == SHMEM_TEAM_INVALID);
  CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, size + 1, NULL, 0, &none) != 0);
  CHECK(none == SHMEM_TEAM_INVALID);
}

/* A context of a team names PEs by their numbers there. */
static void check_context(shmem_team_t of) {
  static int word;
  shmem_ctx_t ctx;
  shmem_team_t same;
  word = -1;
  shmem_team_sync(of);
  const int rank = shmem_team_my_pe(of), size = shmem_team_n_pes(of);
  CHECK_EQ(shmem_team_create_ctx(of, SHMEM_CTX_SERIALIZED, &ctx), 0);
  CHECK_EQ(shmem_ctx_get_team(ctx, &same), 0);
  CHECK(same == of);
  shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
  shmem_p(ctx, &word, rank, (rank + 1) % size);
  shmem_ctx_session_stop(ctx);
  shmem_ctx_quiet(ctx);
  shmem_team_sync(of);
  CHECK_EQ(word, (rank + size - 1) % size);
  shmem_ctx_destroy(ctx);
  shmem_ctx_destroy(SHMEM_CTX_INVALID);
}

static void check_splits(int world, int size) {
  const shmem_team_config_t config = {2};
  shmem_team_config_t got = {0};
  shmem_team_t odd, back, x, y;
  if (size > 1) {
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, size / 2, &config,
                                      SHMEM_TEAM_NUM_CONTEXTS, &odd),
             0);
    CHECK_EQ(odd != SHMEM_TEAM_INVALID, world % 2);
    if (world % 2) {
      CHECK_EQ(shmem_team_my_pe(odd), world / 2);
      CHECK_EQ(shmem_team_translate_pe(odd, 0, SHMEM_TEAM_WORLD), 1);
      CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, odd), -1);
      CHECK_EQ(shmem_team_get_config(odd, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
      CHECK_EQ(got.num_contexts, 2);
      check_context(odd);
      check_collectives(odd);
      shmem_team_destroy(odd);
    }
  }
  CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, size - 1, -1, size, NULL, 0, &back), 0);
  CHECK_EQ(shmem_team_my_pe(back), size - 1 - world);
  check_collectives(back);
  CHECK_EQ(shmem_team_split_2d(back, 2, NULL, 0, &x, NULL, 0, &y), 0);
  const int rank = size - 1 - world;
  CHECK_EQ(shmem_team_my_pe(x), rank % 2);
  CHECK_EQ(shmem_team_my_pe(y), rank / 2);
  CHECK_EQ(shmem_team_n_pes(x), rank / 2 * 2 + 1 < size ? 2 : 1);
  CHECK_EQ(shmem_team_n_pes(y), (size + 1 - rank % 2) / 2);
  check_context(y);
  shmem_team_destroy(x);
  shmem_team_destroy(y);
  shmem_team_destroy(back);
  shmem_team_destroy(SHMEM_TEAM_INVALID);
}

int main(void) {
  shmem_init();
  const int world = shmem_my_pe(), size = shmem_n_pes();
  check_set_rank((unsigned)world);
  check_special(world, size);
  check_collectives(SHMEM_TEAM_WORLD);
  check_collectives(SHMEM_TEAM_SHARED);
  check_splits(world, size);
  shmem_finalize();
  return check_done();
}
