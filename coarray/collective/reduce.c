/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CO_REDUCE: a reduction by a function of the program.
 *
 * Owns nothing beyond a call. Called by compiled programs. Calls: collective.c. Invariants: the
 * function is called as the compiler would call it, which depends on type and kind: numbers come
 * back in registers, derived types as C structs, characters through an argument. The operation is
 * associative, not always commutative for the layer, so the order of images is kept.
 */
#include "collective/collective.h"
#include "inside.h"

#include <stdlib.h>
#include <string.h>

CAF_EXPORT void CAF(co_reduce)(struct caf_desc *a, void *(*function)(void *, void *), int flags,
                               int result_image, int *stat, char *errmsg, int a_len,
                               size_t errmsg_len);

enum { FLAG_HIDDEN_LENGTH = 1, FLAG_VALUE = 4 };

struct operation {
  void (*function)(void);
  bool by_value;
  size_t elem_len, characters;
};

#define REDUCE(S, T)                                                               \
 static void reduce_##S(const void *a, void *b, size_t count, const void *cdata) { \
  const struct operation *op = cdata;                                              \
  const T *x = a;                                                                  \
  T *y = b;                                                                        \
  for (size_t i = 0; i < count; i++)                                               \
   y[i] = op->by_value ? ((T(*)(T, T))op->function)(x[i], y[i])                    \
                       : ((T(*)(const T *, const T *))op->function)(&x[i], &y[i]); \
 }
typedef _Complex float complex128 __attribute__((mode(TC)));
REDUCE(i1, int8_t)
REDUCE(i2, int16_t)
REDUCE(i4, int32_t)
REDUCE(i8, int64_t)
REDUCE(i16, __int128)
REDUCE(r4, float)
REDUCE(r8, double)
REDUCE(r16, caf_real16)
REDUCE(c4, float _Complex)
REDUCE(c8, double _Complex)
REDUCE(c16, complex128)

/* f(result, length, x, y, length, length) */
static void reduce_character(const void *a, void *b, size_t count, const void *cdata) {
  const struct operation *op = cdata;
  char *result = malloc(op->elem_len + 1);
  for (size_t i = 0; result && i < count; i++) {
    const char *x = (const char *)a + i * op->elem_len;
    char *y = (char *)b + i * op->elem_len;
    ((void (*)(char *, size_t, const char *, const char *, size_t, size_t))op->function)(
        result, op->characters, x, y, op->characters, op->characters);
    memcpy(y, result, op->elem_len);
  }
  free(result);
}

/* Calls a function that returns a struct of more than 16 bytes: it writes where the caller says, by
 * a hidden first argument, on ARM by the register x8. */
static void call_struct(const struct operation *op, void *result, const void *x, const void *y) {
  /* tidy-allow: platform because C cannot call a function of a type that is known at run time. */
#ifdef __aarch64__
  register void *to __asm__("x8") = result;
  register const void *first __asm__("x0") = x, *second __asm__("x1") = y;
  __asm__ volatile("blr %[function]"
                   : "+r"(to), "+r"(first), "+r"(second)
                   : [function] "r"(op->function)
                   : "x2", "x3", "x4", "x5", "x6", "x7", "x9", "x10", "x11", "x12", "x13", "x14",
                     "x15", "x16", "x17", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7",
                     "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18",
                     "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29",
                     "v30", "v31", "cc", "memory");
#else
  ((void *(*)(void *, const void *, const void *))op->function)(result, x, y);
#endif
}

/* Whether the function writes its result to memory: on ARM structs of up to four REAL components of
 * one kind come back in registers, so that nothing is written. Called on an element with itself. */
static bool writes_struct(const struct operation *op, const void *element) {
  char result[4 * sizeof(caf_real16)];
  if (op->elem_len > sizeof result || !element) return true;
  for (int fill = 1; fill <= 2; fill++) {
    memset(result, fill, sizeof result);
    call_struct(op, result, element, element);
    for (size_t i = 0; i < op->elem_len; i++)
      if (result[i] != fill) return true;
  }
  return false;
}

static void reduce_struct(const void *a, void *b, size_t count, const void *cdata) {
  const struct operation *op = cdata;
  char *result = malloc(op->elem_len);
  for (size_t i = 0; result && i < count; i++) {
    char *y = (char *)b + i * op->elem_len;
    call_struct(op, result, (const char *)a + i * op->elem_len, y);
    memcpy(y, result, op->elem_len);
  }
  free(result);
}

static const struct {
  int type;
  size_t len;
  gex_Coll_ReduceFn_t fn;
} rows[] = {
    {CAF_INTEGER, 1, reduce_i1}, {CAF_INTEGER, 2, reduce_i2},   {CAF_INTEGER, 4, reduce_i4},
    {CAF_INTEGER, 8, reduce_i8}, {CAF_INTEGER, 16, reduce_i16}, {CAF_LOGICAL, 1, reduce_i1},
    {CAF_LOGICAL, 2, reduce_i2}, {CAF_LOGICAL, 4, reduce_i4},   {CAF_LOGICAL, 8, reduce_i8},
    {CAF_REAL, 4, reduce_r4},    {CAF_REAL, 8, reduce_r8},      {CAF_REAL, 16, reduce_r16},
    {CAF_COMPLEX, 8, reduce_c4}, {CAF_COMPLEX, 16, reduce_c8},  {CAF_COMPLEX, 32, reduce_c16},
};

static gex_Coll_ReduceFn_t function_of(const struct caf_desc *a, int flags,
                                       const struct operation *op) {
  const size_t len = a->dtype.elem_len;
  if (a->dtype.type == CAF_CHARACTER) return flags & FLAG_HIDDEN_LENGTH ? reduce_character : NULL;
  if (a->dtype.type == CAF_DERIVED)
    return len > 16 && !(flags & FLAG_VALUE) && writes_struct(op, a->base) ? reduce_struct : NULL;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].type == a->dtype.type && rows[i].len == len) return rows[i].fn;
  return NULL;
}

void CAF(co_reduce)(struct caf_desc *a, void *(*function)(void *, void *), int flags,
                    int result_image, int *stat, char *errmsg, int a_len, size_t errmsg_len) {
  CAF_INSIDE;
  CAF_STATEMENT("CO_REDUCE");
  const struct caf_status to = caf_collective_status(stat, errmsg, errmsg_len, 0, &a_len);
  struct operation op = {(void (*)(void))function, (flags & FLAG_VALUE) != 0, a->dtype.elem_len,
                         a_len > 0 ? (size_t)a_len : a->dtype.elem_len};
  const struct caf_reduction how = {.name = "CO_REDUCE",
                                    .dt = GEX_DT_USER,
                                    .op = GEX_OP_USER_NC,
                                    .fn = function_of(a, flags, &op),
                                    .cdata = &op};
  if (!how.fn) {
    caf_fail(&to, CAF_STAT_ERROR,
             "CO_REDUCE: no method of calling a function of type %d with results of %zu bytes "
             "(flags %d): "
             "derived types need more than 16 bytes and arguments by reference, and on ARM more "
             "than four REAL components of one kind [TMB-2011]",
             a->dtype.type, a->dtype.elem_len, flags);
    return;
  }
  struct caf_section s;
  caf_section_of(&s, a, a->base, NULL);
  caf_reduce_run(&s, result_image, &how, &to);
}
