/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and fills descriptors of gfortran and flang.
 *
 * Owns nothing. Called as descriptor.h says. Calls malloc, by which both compilers allocate.
 * Invariants: writes no field beyond base, elem_len and the first dimension, so the other fields of
 * a compiler's descriptor stay.
 */
#include "descriptor/descriptor.h"

#include "section.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION_GFORTRAN = 1 }; /* any other: flang */

size_t prif_desc_count(const struct prif_desc *d) {
  size_t count = 1;
  for (int i = 0; i < d->rank; i++) count *= d->dim[i].extent > 0 ? (size_t)d->dim[i].extent : 0;
  return count;
}

void prif_desc_section(struct caf_section *s, const struct prif_desc *d) {
  memset(s, 0, sizeof *s);
  s->base = d->base;
  s->elem_len = d->elem_len;
  s->levels = (unsigned)d->rank;
  for (int i = 0; i < d->rank; i++) {
    s->count[i] = d->dim[i].extent > 0 ? (size_t)d->dim[i].extent : 0;
    s->stride[i] = d->dim[i].stride;
  }
}

/* ---- types */

struct type_row {
  uint8_t code;
  uint8_t type, kind;
};

/* flang's codes; integers and logicals, which have codes of their own for each C type of a size, by
 * their size. */
static const struct type_row flang_types[] = {
    {25, CAF_REAL, 2},     {26, CAF_REAL, 3},    {27, CAF_REAL, 4},     {28, CAF_REAL, 8},
    {29, CAF_REAL, 10},    {31, CAF_REAL, 16},   {32, CAF_COMPLEX, 2},  {33, CAF_COMPLEX, 3},
    {34, CAF_COMPLEX, 4},  {35, CAF_COMPLEX, 8}, {36, CAF_COMPLEX, 10}, {38, CAF_COMPLEX, 16},
    {40, CAF_CHARACTER, 1}};
enum { FLANG_LOGICAL = 12, FLANG_LAST_LOGICAL = 16, FLANG_LAST_INTEGER = 24 };

static void flang_elem(struct caf_elem *e, const struct prif_desc *d) {
  const uint8_t code = d->code[0];
  if (code >= 1 && code <= FLANG_LAST_INTEGER) {
    e->type = code >= FLANG_LOGICAL && code <= FLANG_LAST_LOGICAL ? CAF_LOGICAL : CAF_INTEGER;
    e->kind = (int)d->elem_len;
    return;
  }
  for (size_t i = 0; i < sizeof flang_types / sizeof flang_types[0]; i++)
    if (flang_types[i].code == code) {
      e->type = flang_types[i].type;
      e->kind = flang_types[i].kind;
    }
}

/* gfortran's codes: base type, and the kind above. */
static void gfortran_elem(struct caf_elem *e, const struct prif_desc *d) {
  static const uint8_t types[] = {0,           CAF_INTEGER,   CAF_LOGICAL, CAF_REAL,
                                  CAF_COMPLEX, CAF_CHARACTER, CAF_DERIVED};
  const uint8_t code = d->code[1];
  if (code >= sizeof types) return;
  e->type = types[code];
  e->kind = d->code[2];
}

void prif_desc_elem(struct caf_elem *e, const struct prif_desc *d) {
  *e = (struct caf_elem){.len = d->elem_len};
  if (d->version == VERSION_GFORTRAN)
    gfortran_elem(e, d);
  else
    flang_elem(e, d);
}

/* ---- results */

static bool replace(struct prif_desc *d, const void *data, size_t bytes) {
  void *copy = malloc(bytes + 1);
  free(d->base);
  d->base = copy;
  if (copy) memcpy(copy, data, bytes);
  return copy != NULL;
}

void prif_desc_message(const struct prif_desc *errmsg, struct prif_desc *errmsg_alloc,
                       const char *text) {
  size_t len = strlen(text);
  if (errmsg_alloc && replace(errmsg_alloc, text, len)) errmsg_alloc->elem_len = len;
  if (!errmsg || !errmsg->base) return;
  if (len > errmsg->elem_len) len = errmsg->elem_len;
  memset(errmsg->base, ' ', errmsg->elem_len);
  memcpy(errmsg->base, text, len);
}

bool prif_desc_integers(struct prif_desc *d, const int32_t *list, size_t count) {
  if (!replace(d, list, count * sizeof *list)) return false;
  d->elem_len = sizeof *list;
  d->dim[0].lower = 1;
  d->dim[0].extent = (ptrdiff_t)count;
  d->dim[0].stride = sizeof *list;
  return true;
}
