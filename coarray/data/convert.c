/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conversion of one element, as Fortran's intrinsic assignment defines it.
 *
 * Owns nothing. Called by assign.c for assignments whose two sides differ in type or kind. Calls
 * libc and libquadmath's arithmetic that is part of libgcc. Invariants: numbers go through the
 * widest integer or real type, so no kind loses digits that the target can hold; real to integer
 * cuts off the fraction; characters are cut or padded with blanks; unlike types that Fortran does
 * not assign to each other never get here: the compiler refuses them.
 */
#include "section.h"

#include <string.h>

typedef __int128 wide_int;
typedef caf_real16 wide_real;

/* A number in flight: complex numbers have both parts. */
struct number {
  wide_real re, im;
};

static wide_int load_int(const void *p, int kind) {
  wide_int v;
  switch (kind) {
  case 1: return *(const int8_t *)p;
  case 2: return *(const int16_t *)p;
  case 4: return *(const int32_t *)p;
  case 8: return *(const int64_t *)p;
  default: memcpy(&v, p, sizeof v); return v;
  }
}

static void store_int(void *p, int kind, wide_int v) {
  switch (kind) {
  case 1: *(int8_t *)p = (int8_t)v; break;
  case 2: *(int16_t *)p = (int16_t)v; break;
  case 4: *(int32_t *)p = (int32_t)v; break;
  case 8: *(int64_t *)p = (int64_t)v; break;
  default: memcpy(p, &v, sizeof v);
  }
}

static wide_real load_real(const char *p, int kind) {
  wide_real v;
  switch (kind) {
  case 4: return *(const float *)(const void *)p;
  case 8: return *(const double *)(const void *)p;
  case 10: return *(const long double *)(const void *)p;
  default: memcpy(&v, p, sizeof v); return v;
  }
}

static void store_real(char *p, int kind, wide_real v) {
  switch (kind) {
  case 4: *(float *)(void *)p = (float)v; break;
  case 8: *(double *)(void *)p = (double)v; break;
  case 10: *(long double *)(void *)p = (long double)v; break;
  default: memcpy(p, &v, sizeof v);
  }
}

/* Bytes of a real of a kind in memory. */
static size_t real_bytes(int kind) {
  return kind == 10 ? 16 : (size_t)kind;
}

static bool is_whole(const struct caf_elem *e) {
  return e->type == CAF_INTEGER || e->type == CAF_LOGICAL;
}

static struct number load_number(const void *p, const struct caf_elem *e) {
  struct number n = {0, 0};
  if (is_whole(e))
    n.re = (wide_real)load_int(p, e->kind);
  else
    n.re = load_real(p, e->kind);
  if (e->type == CAF_COMPLEX) n.im = load_real((const char *)p + real_bytes(e->kind), e->kind);
  return n;
}

static void store_number(void *p, const struct caf_elem *e, const struct number *n) {
  switch (e->type) {
  case CAF_INTEGER:
  case CAF_LOGICAL: store_int(p, e->kind, (wide_int)n->re); break;
  case CAF_COMPLEX: store_real((char *)p + real_bytes(e->kind), e->kind, n->im); /* FALLTHROUGH */
  default: store_real(p, e->kind, n->re);
  }
}

static void convert_character(char *to, const struct caf_elem *te, const char *from,
                              const struct caf_elem *fe) {
  const size_t tk = (size_t)te->kind, fk = (size_t)fe->kind;
  const size_t have = fe->len / fk, want = te->len / tk;
  for (size_t i = 0; i < want; i++) {
    uint32_t c = ' ';
    if (i < have && fk == 1) c = (unsigned char)from[i];
    if (i < have && fk == 4) memcpy(&c, from + 4 * i, 4);
    if (tk == 1)
      to[i] = c > 255 ? '?' : (char)c;
    else
      memcpy(to + 4 * i, &c, 4);
  }
}

void caf_convert(void *to, const struct caf_elem *to_elem, const void *from,
                 const struct caf_elem *from_elem) {
  uint64_t word;
  /* Words first: a comparison of type and kind as one load waits for the stores of both. */
  if (caf_convert_word(&word, to_elem, from, from_elem)) {
    const uint32_t half = (uint32_t)word;
    memcpy(to, to_elem->kind == 8 ? (const void *)&word : &half, (size_t)to_elem->kind);
    return;
  }
  if (caf_same_elem(to_elem, from_elem)) {
    memmove(to, from, to_elem->len);
  } else if (to_elem->type == CAF_CHARACTER) {
    convert_character(to, to_elem, from, from_elem);
  } else if (to_elem->type == CAF_DERIVED || from_elem->type == CAF_DERIVED) {
    memmove(to, from, to_elem->len < from_elem->len ? to_elem->len : from_elem->len);
  } else if (is_whole(to_elem) && is_whole(from_elem)) {
    store_int(to, to_elem->kind, load_int(from, from_elem->kind));
  } else {
    const struct number n = load_number(from, from_elem);
    store_number(to, to_elem, &n);
  }
}
