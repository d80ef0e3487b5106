/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accessors: the table of them, and their calls.
 *
 * Owns: the table. Called by compiler15.c and remote.c. Calls: functions of the program.
 * Invariants: signatures are those that the compiler emits (-fdump-tree-original). A result with a
 * descriptor is put where the descriptor says if it has the right shape, else the accessor
 * allocates it and says so. The length of a result is passed and not changed. The token of an
 * accessor stands for the image that asks: it is good for an access to the memory of `add` there.
 */
#include "data/accessor.h"

#include "data/pending.h"

#include <stdlib.h>
#include <string.h>

static struct {
  uint32_t capacity;
  bool sorted; /* by hash */
} table;

void caf_accessor_add(int hash, void (*function)(void)) {
  if (caf.accessor_count == table.capacity) {
    const uint32_t capacity = table.capacity ? 2 * table.capacity : 64;
    struct caf_accessor *more = aligned_alloc(sizeof *more, capacity * sizeof *more);
    if (!more) {
      const struct caf_status none = {0};
      caf_fail(&none, CAF_STAT_ERROR, "out of memory for the table of accessors [TMB-0001]");
      return;
    }
    if (caf.accessors) memcpy(more, caf.accessors, caf.accessor_count * sizeof *more);
    free(caf.accessors);
    caf.accessors = more;
    table.capacity = capacity;
  }
  caf.accessors[caf.accessor_count++] = (struct caf_accessor){.hash = hash, .function = function};
  table.sorted = false;
  caf_serves(0);
}

static int by_hash(const void *a, const void *b) {
  const int x = ((const struct caf_accessor *)a)->hash, y = ((const struct caf_accessor *)b)->hash;
  return (x > y) - (x < y);
}

bool caf_accessors_any(void) {
  return caf.accessor_count != 0;
}

void caf_accessors_sort(void) {
  const uint32_t count = caf.accessor_count;
  if (count) qsort(caf.accessors, count, sizeof *caf.accessors, by_hash);
  table.sorted = true;
}

int caf_accessor_index(int hash) {
  const struct caf_accessor key = {.hash = hash};
  const uint32_t count = caf.accessor_count;
  if (!table.sorted) caf_accessors_sort();
  const struct caf_accessor *found =
      count ? bsearch(&key, caf.accessors, count, sizeof key, by_hash) : NULL;
  return found ? (int)(found - caf.accessors) : -1;
}

struct caf_desc caf_desc_packed(const struct caf_desc *desc, void *base) {
  struct caf_desc d;
  memcpy(&d, desc, offsetof(struct caf_desc, dim));
  d.base = base;
  d.span = (ptrdiff_t)desc->dtype.elem_len;
  d.offset = 0;
  ptrdiff_t stride = 1;
  for (int i = 0; i < desc->dtype.rank; i++) {
    const ptrdiff_t n = desc->dim[i].ub - desc->dim[i].lb + 1;
    d.dim[i] = (struct caf_dim){stride, 1, n > 0 ? n : 0};
    d.offset -= (size_t)stride;
    stride *= d.dim[i].ub;
  }
  return d;
}

/* A call in preparation: arguments of every kind of accessor. */
struct call {
  void (*function)(void);
  struct caf_desc object;
  char *base;
  void *place; /* the object, in the form that the accessor takes */
  int image;
  const size_t *object_chars;
  struct caf_token token; /* last: it ends with an array of any length */
};

static void prepare(struct call *c, const struct caf_ask *ask, char *base,
                    const struct caf_asker *from) {
  c->function = caf.accessors[ask->index].function;
  c->base = base;
  c->place = ask->by_pointer ? (void *)&c->base : base;
  if (ask->object) {
    memcpy(&c->object, ask->object, caf_desc_bytes(ask->object));
    c->object.base = base;
    c->place = &c->object;
  }
  c->image = (int)from->rank + 1;
  caf_token_of_asker(&c->token, CAF_OF_ASKER, from->add);
  c->token.asker = from->rank;
  c->object_chars = ask->has_object_chars ? &ask->object_chars : NULL;
}

static void get(struct call *c, const struct caf_ask *ask, struct caf_found *found) {
  int32_t owned = 0;
  size_t chars = ask->result_chars;
  if (!ask->result) {
    ((caf_getter *)c->function)(ask->add, &c->image, &found->at, &owned, c->place, &c->token, 0,
                                &chars, c->object_chars);
  } else {
    memcpy(&found->desc, ask->result, caf_desc_bytes(ask->result));
    ((caf_array_getter *)c->function)(ask->add, &c->image, &found->desc, &owned, c->place,
                                      &c->token, 0, &chars, c->object_chars);
    found->at = found->desc.base;
  }
  found->owned = owned != 0;
  found->chars = chars;
}

int caf_accessor_call(const struct caf_ask *ask, char *base, const struct caf_asker *from,
                      struct caf_found *found) {
  struct call c;
  found->at = NULL;
  found->owned = false;
  found->chars = 0;
  found->present = 0;
  if (ask->index < 0 || (uint32_t)ask->index >= caf.accessor_count) return CAF_STAT_ERROR;
  prepare(&c, ask, base, from);
  if (ask->kind == CAF_ACCESS_GET) {
    get(&c, ask, found);
  } else if (ask->kind == CAF_ACCESS_PUT) {
    const void *data = ask->data_desc ? (const void *)ask->data_desc : ask->data;
    ((caf_setter *)c.function)(ask->add, &c.image, c.place, data, &c.token, 0, c.object_chars,
                               ask->has_data_chars ? &ask->data_chars : NULL);
  } else {
    int32_t present = 0;
    ((caf_asking *)c.function)(ask->add, &c.image, &present, c.place, &c.token, 0);
    found->present = present;
  }
  return 0;
}
