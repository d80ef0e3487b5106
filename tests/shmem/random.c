/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 7 */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 TOMBOLO_CONDUIT=ofi+TOMBOLO_PLACES=cyclic:2 */
/* again: SHMEM_DEBUG=1 TOMBOLO_STATS=1 */
/*
 * A random program against a model: all PEs draw the same sequence of operations, each of which one
 * PE performs on the memory of another; every PE keeps what the memory of all must be. Memory is
 * the heap, and a global array. After some operations everybody compares its own with the model.
 */
#include "check.h"

#include <shmem.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 96, ROUNDS = 40, STEPS = 30, MOST = 7 };
static uint64_t global[WORDS], *heap, model[2][MOST][WORDS];
static shmem_ctx_t contexts[3];
static uint64_t state;
static int me, n;

static uint64_t draw(uint64_t below) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (state >> 33) % below;
}

/* One step; all PEs draw the same. */
struct step {
  int kind, origin, target, where;
  size_t at, count, stride;
  uint64_t value;
  shmem_ctx_t ctx;
};

static uint64_t *memory(const struct step *s) {
  return s->where ? global : heap;
}

/* The effect on the model. */
static void predict(const struct step *s) {
  uint64_t *m = &model[s->where][s->target][s->at];
  switch (s->kind) {
  case 0: /* put */
  case 1: /* put_nbi */
    for (size_t i = 0; i < s->count; i++) m[i] = s->value + i;
    break;
  case 2: /* iput */
    for (size_t i = 0; i < s->count; i++) m[i * s->stride] = s->value + i;
    break;
  case 3: m[0] = s->value; break;  /* p */
  case 4: m[0] += s->value; break; /* add */
  case 5: m[0] ^= s->value; break; /* xor */
  case 6: m[0] = s->value; break;  /* swap */
  case 7:                          /* put_signal, add: the word behind the data */
    for (size_t i = 0; i < s->count; i++) m[i] = s->value + i;
    m[s->count] += s->value;
    break;
  default: break; /* gets */
  }
}

static void perform_get(const struct step *s) {
  uint64_t got[WORDS];
  const uint64_t *m = &model[s->where][s->target][s->at];
  if (s->kind == 8) {
    shmem_get(s->ctx, got, memory(s) + s->at, s->count, s->target);
    for (size_t i = 0; i < s->count; i++) CHECK(got[i] == m[i]);
  } else if (s->kind == 9) {
    shmem_iget(s->ctx, got, memory(s) + s->at, 1, (ptrdiff_t)s->stride, s->count, s->target);
    for (size_t i = 0; i < s->count; i++) CHECK(got[i] == m[i * s->stride]);
  } else {
    CHECK(shmem_atomic_fetch(s->ctx, memory(s) + s->at, s->target) == m[0]);
  }
}

/* in before: the first word, as it was. Nobody else touches the memory in this round. */
static void perform(const struct step *s, uint64_t before) {
  uint64_t data[WORDS], *at = memory(s) + s->at;
  for (size_t i = 0; i < WORDS; i++) data[i] = s->value + i;
  switch (s->kind) {
  case 0: shmem_put(s->ctx, at, data, s->count, s->target); break;
  case 1:
    shmem_put_nbi(s->ctx, at, data, s->count, s->target);
    shmem_ctx_quiet(s->ctx); /* data end here */
    break;
  case 2: shmem_iput(s->ctx, at, data, (ptrdiff_t)s->stride, 1, s->count, s->target); break;
  case 3: shmem_p(s->ctx, at, s->value, s->target); break;
  case 4: shmem_atomic_add(s->ctx, at, s->value, s->target); break;
  case 5: shmem_atomic_xor(s->ctx, at, s->value, s->target); break;
  case 6: CHECK(shmem_atomic_swap(s->ctx, at, s->value, s->target) == before); break;
  case 7:
    shmem_put_signal(s->ctx, at, data, s->count, at + s->count, s->value, SHMEM_SIGNAL_ADD,
                     s->target);
    break;
  default: perform_get(s); break;
  }
  shmem_ctx_fence(s->ctx);
  if (s->value % 3 == 0) shmem_ctx_quiet(s->ctx);
}

static struct step next_step(int origin) {
  struct step s = {.kind = (int)draw(11), .origin = origin, .where = (int)draw(2)};
  s.target = (int)draw((uint64_t)n);
  s.count = 1 + draw(12);
  s.stride = 1 + draw(4);
  s.at = draw(WORDS - 12 * 4 - 1);
  s.value = draw(1u << 30) | 1;
  s.ctx = contexts[draw(3)];
  return s;
}

/* The object of a round belongs to one origin, whose operations on one context are ordered. */
static void play_round(void) {
  const int origin = (int)draw((uint64_t)n);
  const shmem_ctx_t ctx = contexts[draw(3)];
  for (int k = 0; k < STEPS; k++) {
    struct step s = next_step(origin);
    s.ctx = ctx;
    const uint64_t before = model[s.where][s.target][s.at];
    if (me == origin && s.kind > 7) shmem_ctx_quiet(ctx); /* a get sees what was put */
    if (me == origin && s.kind == 6) shmem_ctx_quiet(ctx);
    if (me == origin) perform(&s, before);
    predict(&s);
  }
  if (me == origin) shmem_ctx_quiet(ctx);
  shmem_barrier_all();
  CHECK(memcmp(heap, model[0][me], sizeof model[0][me]) == 0);
  CHECK(memcmp(global, model[1][me], sizeof model[1][me]) == 0);
  shmem_barrier_all();
}

int main(void) {
  const char *seed = getenv("TMB_TEST_SEED");
  state = seed ? strtoull(seed, NULL, 10) : 20251121;
  shmem_init();
  me = shmem_my_pe(), n = shmem_n_pes();
  check_set_rank((unsigned)me);
  heap = shmem_calloc(WORDS, sizeof *heap);
  contexts[0] = SHMEM_CTX_DEFAULT;
  CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &contexts[1]), 0);
  CHECK_EQ(shmem_ctx_create(SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE, &contexts[2]), 0);
  for (int k = 0; k < ROUNDS; k++) play_round();
  shmem_ctx_destroy(contexts[1]);
  shmem_ctx_destroy(contexts[2]);
  shmem_finalize();
  return check_done();
}
