/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective subroutines: CO_SUM, CO_MIN, CO_MAX, CO_BROADCAST.
 *
 * Owns nothing beyond a call. Called by compiled programs; CO_REDUCE is in reduce.c. Calls: the
 * collectives of the team. Invariants: a contiguous argument is reduced in place, without a copy;
 * any other is packed, and unpacked where it is defined. Types that the layer has no name for
 * (kinds 1, 2, 10 and 16, complex numbers, characters) are reduced by functions of this file, and
 * reals of 2 bytes by those of half.c.
 */
#include "collective/collective.h"
#include "collective/half.h"
#include "data/pending.h"
#include "inside.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* The last parameter, `after`, is none of gfortran's: see caf_collective_status. */
CAF_EXPORT void CAF(co_sum)(struct caf_desc *a, int result_image, int *stat, char *errmsg,
                            size_t errmsg_len, size_t after);
CAF_EXPORT void CAF(co_min)(struct caf_desc *a, int result_image, int *stat, char *errmsg,
                            int a_len, size_t errmsg_len, size_t after);
CAF_EXPORT void CAF(co_max)(struct caf_desc *a, int result_image, int *stat, char *errmsg,
                            int a_len, size_t errmsg_len, size_t after);
CAF_EXPORT void CAF(co_broadcast)(struct caf_desc *a, int source, int *stat, char *errmsg,
                                  size_t errmsg_len, size_t after);

/* ---- functions for types that have no GEX_DT_ */

#define LOOP(T, EXPR)                                  \
 {                                                     \
  const T *x = a;                                      \
  T *y = b;                                            \
  for (size_t i = 0; i < count; i++) y[i] = (T)(EXPR); \
 }

#define NUMERIC(S, T)                                                           \
 static void sum_##S(const void *a, void *b, size_t count, const void *cdata) { \
  (void)cdata;                                                                  \
  LOOP(T, x[i] + y[i])                                                          \
 }

#define ORDERED(S, T)                                                           \
 NUMERIC(S, T)                                                                  \
 static void min_##S(const void *a, void *b, size_t count, const void *cdata) { \
  (void)cdata;                                                                  \
  LOOP(T, x[i] < y[i] ? x[i] : y[i])                                            \
 }                                                                              \
 static void max_##S(const void *a, void *b, size_t count, const void *cdata) { \
  (void)cdata;                                                                  \
  LOOP(T, x[i] > y[i] ? x[i] : y[i])                                            \
 }

ORDERED(i1, int8_t)
ORDERED(i2, int16_t)
ORDERED(i16, __int128)
ORDERED(r10, long double)
ORDERED(r16, caf_real16)
NUMERIC(c4, float _Complex)
NUMERIC(c8, double _Complex)
NUMERIC(c10, long double _Complex)
typedef _Complex float complex128 __attribute__((mode(TC)));
NUMERIC(c16, complex128)

/* Characters compare by code; cdata: struct caf_elem. */
static int compare_characters(const char *x, const char *y, const struct caf_elem *e) {
  if (e->kind == 1) return memcmp(x, y, e->len);
  for (size_t i = 0; i < e->len; i += 4) {
    uint32_t c, d;
    memcpy(&c, x + i, 4);
    memcpy(&d, y + i, 4);
    if (c != d) return c < d ? -1 : 1;
  }
  return 0;
}

static void min_character(const void *a, void *b, size_t count, const void *cdata) {
  const struct caf_elem *e = cdata;
  for (size_t i = 0; i < count; i++) {
    const char *x = (const char *)a + i * e->len;
    char *y = (char *)b + i * e->len;
    if (compare_characters(x, y, e) < 0) memcpy(y, x, e->len);
  }
}

static void max_character(const void *a, void *b, size_t count, const void *cdata) {
  const struct caf_elem *e = cdata;
  for (size_t i = 0; i < count; i++) {
    const char *x = (const char *)a + i * e->len;
    char *y = (char *)b + i * e->len;
    if (compare_characters(x, y, e) > 0) memcpy(y, x, e->len);
  }
}

struct row {
  int type, kind;
  gex_DT_t dt;               /* GEX_DT_USER: the functions */
  gex_Coll_ReduceFn_t fn[3]; /* by enum caf_fold */
};

/* Those that the layer names come first: they are found soonest. */
static const struct row rows[] = {
    {CAF_INTEGER, 4, GEX_DT_I32, {0}},
    {CAF_REAL, 8, GEX_DT_DBL, {0}},
    {CAF_INTEGER, 8, GEX_DT_I64, {0}},
    {CAF_REAL, 4, GEX_DT_FLT, {0}},
    {CAF_INTEGER, 1, GEX_DT_USER, {sum_i1, min_i1, max_i1}},
    {CAF_INTEGER, 2, GEX_DT_USER, {sum_i2, min_i2, max_i2}},
    {CAF_INTEGER, 16, GEX_DT_USER, {sum_i16, min_i16, max_i16}},
    {CAF_REAL, 2, GEX_DT_USER, {caf_sum_r2, caf_min_r2, caf_max_r2}},
    {CAF_REAL, 3, GEX_DT_USER, {caf_sum_r3, caf_min_r3, caf_max_r3}},
    {CAF_REAL, 10, GEX_DT_USER, {sum_r10, min_r10, max_r10}},
    {CAF_REAL, 16, GEX_DT_USER, {sum_r16, min_r16, max_r16}},
    {CAF_COMPLEX, 2, GEX_DT_USER, {caf_sum_c_r2, NULL, NULL}},
    {CAF_COMPLEX, 3, GEX_DT_USER, {caf_sum_c_r3, NULL, NULL}},
    {CAF_COMPLEX, 4, GEX_DT_USER, {sum_c4, NULL, NULL}},
    {CAF_COMPLEX, 8, GEX_DT_USER, {sum_c8, NULL, NULL}},
    {CAF_COMPLEX, 10, GEX_DT_USER, {sum_c10, NULL, NULL}},
    {CAF_COMPLEX, 16, GEX_DT_USER, {sum_c16, NULL, NULL}},
    {CAF_CHARACTER, 1, GEX_DT_USER, {NULL, min_character, max_character}},
    {CAF_CHARACTER, 4, GEX_DT_USER, {NULL, min_character, max_character}},
};

/* Whether an exponent, of both wide kinds, is one of 2^-most to 2^most. */
static bool is_usual(unsigned exponent, int most) {
  const int e = (int)(exponent & 0x7fff) - 16383;
  return e > -most && e < most;
}

enum { USUAL = 1500, COMMON = 300 };
enum kind { KIND_10, KIND_16, KIND_10_PERHAPS, KIND_EITHER, KINDS = KIND_EITHER };

/* Guess the kind of a wide real from its bits: kind 10 has its exponent in bytes 8 and 9, a leading
 * bit before them, and padding behind, which may hold anything, as parts of other numbers; kind 16
 * its exponent in bytes 14 and 15. One in a hundred values of kind 16 looks like one of kind 10
 * with such padding. */
static enum kind kind_of(const char *value) {
  uint64_t mantissa;
  uint16_t exponent10, exponent16;
  memcpy(&mantissa, value, 8);
  memcpy(&exponent10, value + 8, 2);
  memcpy(&exponent16, value + 14, 2);
  const bool may16 = is_usual(exponent16, USUAL);
  if (mantissa == 0 && (exponent10 & 0x7fff) == 0) return may16 ? KIND_16 : KIND_EITHER;
  if (!(mantissa >> 63 && is_usual(exponent10, USUAL))) return KIND_16;
  if (!may16) return KIND_10;
  return is_usual(exponent10, COMMON) ? KIND_10_PERHAPS : KIND_EITHER;
}

struct kind_vote {
  uint64_t votes[KINDS];
  size_t parts;
};

static void vote(void *arg, char *element) {
  struct kind_vote *v = arg;
  for (size_t i = 0; i < v->parts; i++) {
    const enum kind kind = kind_of(element + 16 * i);
    if (kind != KIND_EITHER) v->votes[kind]++;
  }
}

static bool elects_kind10(const uint64_t votes[KINDS]) {
  return votes[KIND_10] > votes[KIND_16] || (!votes[KIND_16] && votes[KIND_10_PERHAPS]);
}

/* Descriptors of reals of kind 10 and 16 are equal: the images compare the values, and agree. */
static bool agree_kind10(const struct caf_section *s) {
  struct kind_vote v = {.parts = s->elem_len / 16};
  caf_section_each(s, vote, &v);
  uint64_t all[KINDS] = {0};
  if (!caf_team_whole(caf.team)) return elects_kind10(v.votes);
  (void)caf_wait_event(gex_Coll_ReduceToAllNB(caf.team->tm, all, v.votes, GEX_DT_U64, 8, KINDS,
                                              GEX_OP_ADD, NULL, NULL, 0),
                       caf.team);
  return elects_kind10(all);
}

/* Type and kind of gfortran's argument. in a_len: of a character; its kind follows from it. */
static struct caf_elem elem_of(const struct caf_desc *a, const struct caf_section *s, int a_len) {
  struct caf_elem e = {a->dtype.type, (int)s->elem_len, s->elem_len};
  if (e.type == CAF_CHARACTER) e.kind = a_len > 0 && e.len == 4 * (size_t)a_len ? 4 : 1;
  if (e.type == CAF_COMPLEX) e.kind /= 2;
  if ((e.type == CAF_REAL || e.type == CAF_COMPLEX) && e.kind == 16 && agree_kind10(s)) e.kind = 10;
  return e;
}

#define LOWEST_ADDRESS  0x400000u /* of data in any program: the default of linkers */
#define HIGHEST_ADDRESS ((uintptr_t)1 << 47)
#define IN_REGISTERS    16u /* bytes of a text that is passed by value without the stack */
#define LONGEST_TEXT    (1u << 20)

/* gfortran 11 and 12 pass a text of fixed length by value, and the rest of arguments as if by
 * reference. An undefined text can look like an address: so it is none when the lengths are those
 * of a text in registers, of which the second one makes all later arguments move by one, to
 * `after`; and caf_fail checks whether there is memory before it writes. */
struct caf_status caf_collective_status(int *stat, char *errmsg, size_t errmsg_len, size_t after,
                                        int *a_len) {
  const uintptr_t at = (uintptr_t)errmsg;
  const bool by_value = errmsg_len <= IN_REGISTERS || errmsg_len > LONGEST_TEXT ||
                        (after > 8 && after <= IN_REGISTERS);
  if (at >= LOWEST_ADDRESS && at < HIGHEST_ADDRESS)
    return (struct caf_status){stat, by_value ? NULL : errmsg, errmsg_len};
  /* A text of more than 16 bytes went to the stack: the length follows where errmsg should be. */
  if (a_len && at) *a_len = at < LOWEST_ADDRESS ? (int)at : 0;
  return (struct caf_status){.stat = stat};
}

/* By enum caf_fold. */
static const struct {
  const char *name;
  gex_OP_t op;
} folds[] = {{"CO_SUM", GEX_OP_ADD}, {"CO_MIN", GEX_OP_MIN}, {"CO_MAX", GEX_OP_MAX}};

void caf_fold_run(const struct caf_section *s, const struct caf_elem *e, int result_image,
                  enum caf_fold kind, const struct caf_status *to) {
  const struct row *row = NULL;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0] && !row; i++)
    if (rows[i].type == e->type && rows[i].kind == e->kind) row = &rows[i];
  if (!row || (row->dt == GEX_DT_USER && !row->fn[kind])) {
    caf_fail(to, CAF_STAT_ERROR,
             "%s: an argument of type %d with elements of %zu bytes%s [TMB-2010]", folds[kind].name,
             e->type, e->len,
             e->type == CAF_DERIVED
                 ? ": gfortran passes whole structures for a component of an array of structures: "
                   "copy it to an array first"
                 : "");
    return;
  }
  struct caf_elem elem = *e;
  const struct caf_reduction how = {.name = folds[kind].name,
                                    .dt = row->dt,
                                    .op = row->dt == GEX_DT_USER ? GEX_OP_USER : folds[kind].op,
                                    .fn = row->fn[kind],
                                    .cdata = &elem};
  caf_reduce_run(s, result_image, &how, to);
}

static void end_reduction(struct caf_team *team, int code, const char *name,
                          const struct caf_status *to) {
  char who[CAF_ENDED_ROOM];
  if (__builtin_expect(code != 0, 0))
    caf_fail(to, code, "%s: %s has %s [TMB-2008]", name,
             caf_ended_images(team, code, who, sizeof who), caf_end_name(code));
  else
    caf_ok(to->stat);
}

/* The type of a scalar that the layer has a name for; GEX_DT_USER: it is none. */
static gex_DT_t named(const struct caf_desc *a) {
  const bool real = a->dtype.type == CAF_REAL;
  if (a->dtype.rank || (!real && a->dtype.type != CAF_INTEGER)) return GEX_DT_USER;
  if (a->dtype.elem_len == 4) return real ? GEX_DT_FLT : GEX_DT_I32;
  if (a->dtype.elem_len == 8) return real ? GEX_DT_DBL : GEX_DT_I64;
  return GEX_DT_USER;
}

/* A scalar for all images, in fewer instructions: they take as long as a barrier. Returns false
 * where there is more to do. */
static bool fold_scalar(const struct caf_desc *a, enum caf_fold kind, const struct caf_status *to) {
  struct caf_team *team = caf.team;
  const gex_DT_t dt = named(a);
  if (dt == GEX_DT_USER || caf_meets_itself(team) || !caf_team_whole(team)) return false;
  if (team->tm == GEX_TM_INVALID) return false;
  caf_complete();
  const int code =
      caf_wait_event(gex_Coll_ReduceToAllNB(team->tm, a->base, a->base, dt, a->dtype.elem_len, 1,
                                            folds[kind].op, NULL, NULL, 0),
                     team);
  end_reduction(team, code, folds[kind].name, to);
  return true;
}

static void fold(struct caf_desc *a, int result_image, enum caf_fold kind, int a_len,
                 const struct caf_status *to) {
  struct caf_section s;
  if (!result_image && fold_scalar(a, kind, to)) return;
  caf_section_of(&s, a, a->base, NULL);
  const struct caf_elem e = elem_of(a, &s, a_len);
  caf_fold_run(&s, &e, result_image, kind, to);
}

void CAF(co_sum)(struct caf_desc *a, int result_image, int *stat, char *errmsg, size_t errmsg_len,
                 size_t after) {
  CAF_INSIDE;
  CAF_STATEMENT("CO_SUM");
  const struct caf_status to = caf_collective_status(stat, errmsg, errmsg_len, after, NULL);
  fold(a, result_image, CAF_FOLD_SUM, 0, &to);
}

#define EXTREME(NAME, KIND, WORDS)                                                             \
 void CAF(NAME)(struct caf_desc * a, int result_image, int *stat, char *errmsg, int a_len,     \
                size_t errmsg_len, size_t after) {                                             \
  CAF_INSIDE;                                                                                  \
  CAF_STATEMENT(WORDS);                                                                        \
  const struct caf_status to = caf_collective_status(stat, errmsg, errmsg_len, after, &a_len); \
  fold(a, result_image, KIND, a_len, &to);                                                     \
 }
EXTREME(co_min, CAF_FOLD_MIN, "CO_MIN")
EXTREME(co_max, CAF_FOLD_MAX, "CO_MAX")

/* ---- packing */

/* The argument as one piece of memory: itself, or a packed copy (*copy), which is malloc'ed. */
static void *pack(const struct caf_section *s, size_t elements, void **copy) {
  *copy = NULL;
  if (caf_section_contiguous(s)) return s->base;
  *copy = malloc(elements * s->elem_len + 1);
  if (!*copy) {
    const struct caf_status none = {0};
    caf_fail(&none, CAF_STAT_ERROR,
             "out of memory: %zu bytes for a collective subroutine [TMB-0001]",
             elements * s->elem_len);
  }
  caf_section_pack(s, *copy);
  return *copy;
}

static void unpack(const struct caf_section *s, void *copy, bool defined) {
  if (copy && defined) caf_section_unpack(s, copy);
  free(copy);
}

/* A reduction of a whole argument. */
struct fold_all {
  const struct caf_reduction *how;
  size_t elements, len;
};

#define FOLD_AS(T)                                                                           \
 for (size_t i = 0; i < all->elements; i++) {                                                \
  const T x = ((const T *)in)[i], y = ((T *)inout)[i];                                       \
  const bool less = x < y;                                                                   \
  ((T *)inout)[i] = how->op == GEX_OP_ADD ? x + y : (how->op == GEX_OP_MIN) == less ? x : y; \
 }

/* inout = in op inout, for teams that the layer does not know. */
static void fold_elements(void *arg, const void *in, void *inout) {
  const struct fold_all *all = arg;
  const struct caf_reduction *how = all->how;
  switch (how->dt) {
  case GEX_DT_I32: FOLD_AS(int32_t) break;
  case GEX_DT_I64: FOLD_AS(int64_t) break;
  case GEX_DT_FLT: FOLD_AS(float) break;
  case GEX_DT_DBL: FOLD_AS(double) break;
  default: how->fn(in, inout, all->elements, how->cdata);
  }
}

/* A collective that cannot be done, as a member of the team is lost: all others find that out. */
static int refuse(struct caf_team *team) {
  caf_begin(team);
  return caf_team_state(team);
}

static int reduce_in_layer(struct caf_team *team, void *data, int result_image,
                           const struct fold_all *all) {
  if (!caf_team_whole(team)) return refuse(team);
  const struct caf_reduction *how = all->how;
  if (result_image == 0)
    return caf_wait_event(gex_Coll_ReduceToAllNB(team->tm, data, data, how->dt, all->len,
                                                 all->elements, how->op, how->fn, how->cdata, 0),
                          team);
  return caf_wait_event(gex_Coll_ReduceToOneNB(team->tm, (gex_Rank_t)result_image - 1, data, data,
                                               how->dt, all->len, all->elements, how->op, how->fn,
                                               how->cdata, 0),
                        team);
}

void caf_reduce_run(const struct caf_section *s, int result_image, const struct caf_reduction *how,
                    const struct caf_status *to) {
  struct caf_team *team = caf.team;
  if (result_image < 0 || (uint32_t)result_image > team->size) {
    caf_fail(to, CAF_STAT_ERROR,
             "%s: RESULT_IMAGE=%d: the current team has images 1 to %u [TMB-2009]", how->name,
             result_image, team->size);
    return;
  }
  const size_t elements = caf_section_elements(s), len = s->elem_len;
  if (elements == 0 || len == 0 || caf_meets_itself(team)) { /* the layer reduces something */
    caf_ok(to->stat);
    return;
  }
  void *copy, *data = pack(s, elements, &copy);
  caf_complete();
  struct fold_all all = {how, elements, len};
  const int code = team->tm == GEX_TM_INVALID
                       ? caf_survivors_reduce(team, data, elements * len, fold_elements, &all)
                       : reduce_in_layer(team, data, result_image, &all);
  unpack(s, copy, result_image == 0 || (uint32_t)result_image == team->rank + 1);
  end_reduction(team, code, how->name, to);
}

void caf_broadcast_run(const struct caf_section *s, int source, const struct caf_status *to) {
  struct caf_team *team = caf.team;
  if (source < 1 || (uint32_t)source > team->size) {
    caf_fail(to, CAF_STAT_ERROR,
             "CO_BROADCAST: SOURCE_IMAGE=%d: the current team has images 1 to %u [TMB-2007]",
             source, team->size);
    return;
  }
  if (caf_meets_itself(team)) {
    caf_ok(to->stat);
    return;
  }
  const size_t elements = caf_section_elements(s);
  void *copy, *data = pack(s, elements, &copy);
  char who[CAF_ENDED_ROOM];
  caf_complete();
  const size_t bytes = elements * s->elem_len;
  const gex_Rank_t root = (gex_Rank_t)source - 1;
  int code;
  if (team->tm == GEX_TM_INVALID)
    code = caf_survivors_broadcast(team, root, data, bytes);
  else if (!caf_team_whole(team))
    code = refuse(team);
  else
    code = caf_wait_event(gex_Coll_BroadcastNB(team->tm, root, data, data, bytes, 0), team);
  unpack(s, copy, true);
  if (code)
    caf_fail(to, code, "CO_BROADCAST: %s has %s [TMB-2006]",
             caf_ended_images(team, code, who, sizeof who), caf_end_name(code));
  else
    caf_ok(to->stat);
}

/* Whether the argument is a component of a variable, CHARACTER of deferred length: gfortran (11 to
 * 16) passes an array of one element without length, whose address is that of a descriptor. */
static bool is_deferred_component(const struct caf_desc *a) {
  struct caf_desc inner; /* without dimensions */
  const size_t bytes = offsetof(struct caf_desc, dim);
  if (a->dtype.type != CAF_CHARACTER || a->dtype.elem_len || a->dtype.rank != 1) return false;
  if (!a->base || a->dim[0].lb != 1 || a->dim[0].ub != 1) return false;
  struct iovec here = {&inner, bytes}, there = {a->base, bytes};
  if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t)bytes) return false;
  return inner.dtype.type == CAF_CHARACTER && inner.dtype.elem_len == 0 && inner.dtype.rank == 0 &&
         inner.dtype.version == 0 && inner.span == 0;
}

void CAF(co_broadcast)(struct caf_desc *a, int source, int *stat, char *errmsg, size_t errmsg_len,
                       size_t after) {
  CAF_INSIDE;
  CAF_STATEMENT("CO_BROADCAST");
  const struct caf_status to = caf_collective_status(stat, errmsg, errmsg_len, after, NULL);
  struct caf_section s;
  if (is_deferred_component(a)) {
    caf_fail(&to, CAF_STAT_ERROR,
             "CO_BROADCAST of a variable with a CHARACTER component of deferred length: gfortran "
             "does not pass the component: broadcast its length and a variable of that length "
             "[TMB-2067]");
    return;
  }
  caf_section_of(&s, a, a->base, NULL);
  caf_broadcast_run(&s, source, &to);
}
