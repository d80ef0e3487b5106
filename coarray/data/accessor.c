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

typedef void getter(const void *add, const int *image, void **result, int32_t *owned, void *object,
                    void *token, size_t offset, size_t *chars, const size_t *object_chars);
typedef void desc_getter(const void *add, const int *image, struct caf_desc *result, int32_t *owned,
                         void *object, void *token, size_t offset, size_t *chars,
                         const size_t *object_chars);
typedef void setter(const void *add, const int *image, void *object, const void *data, void *token,
                    size_t offset, const size_t *object_chars, const size_t *data_chars);
typedef void asker(const void *add, const int *image, int32_t *present, void *object, void *token,
                   size_t offset);

struct accessor {
  int hash;
  void (*function)(void);
  struct caf_trials trials;
};

static struct {
  struct accessor *at; /* [count], sorted by hash when `sorted` */
  size_t count, capacity;
  bool sorted;
} table;

void caf_accessor_add(int hash, void (*function)(void)) {
  if (table.count == table.capacity) {
    const size_t capacity = table.capacity ? 2 * table.capacity : 64;
    struct accessor *more = realloc(table.at, capacity * sizeof *more);
    if (!more) {
      const struct caf_status none = {0};
      caf_fail(&none, CAF_STAT_ERROR, "out of memory for the table of accessors [TMB-0001]");
      return;
    }
    table.at = more;
    table.capacity = capacity;
  }
  table.at[table.count++] = (struct accessor){.hash = hash, .function = function};
  table.sorted = false;
  caf.pending |= CAF_SERVES;
}

static int by_hash(const void *a, const void *b) {
  const int x = ((const struct accessor *)a)->hash, y = ((const struct accessor *)b)->hash;
  return (x > y) - (x < y);
}

bool caf_accessors_any(void) {
  return table.count != 0;
}

void caf_accessors_sort(void) {
  if (table.count) qsort(table.at, table.count, sizeof *table.at, by_hash);
  table.sorted = true;
}

int caf_accessor_index(int hash) {
  const struct accessor key = {.hash = hash};
  if (!table.sorted) caf_accessors_sort();
  const struct accessor *found =
      table.count ? bsearch(&key, table.at, table.count, sizeof key, by_hash) : NULL;
  return found ? (int)(found - table.at) : -1;
}

struct caf_trials *caf_accessor_trials(int index) {
  return index >= 0 && (size_t)index < table.count ? &table.at[index].trials : NULL;
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

/* A token that stands for the image that asks: what is read of such a token, see `find` of
 * compiler15.c. To clear the rest would take half of the time of a scalar. */
static void stand_for(struct caf_token *t, uint32_t rank, uint64_t add) {
  t->type = CAF_OF_ASKER;
  t->base = (void *)(uintptr_t)add;
  t->asker = rank;
}

/* A call for a scalar in preparation. */
struct scalar_call {
  int image;
  struct caf_desc object;
  struct caf_token token; /* last: it ends with an array of any length */
};

/* Returns the object in the form that the accessor takes; NULL: there is no such accessor. */
static void *prepare_scalar(struct scalar_call *c, const struct caf_scalar *s) {
  if (s->index < 0 || (size_t)s->index >= table.count) return NULL;
  c->image = (int)caf.rank + 1;
  stand_for(&c->token, caf.rank, (uintptr_t)s->add);
  if (!s->shape) return s->base;
  memcpy(&c->object, s->shape, caf_desc_bytes(s->shape));
  c->object.base = s->base;
  return &c->object;
}

void *caf_accessor_find(const struct caf_scalar *s, int32_t *owned) {
  struct scalar_call c;
  void *const place = prepare_scalar(&c, s);
  void *at = NULL;
  size_t chars = 0;
  if (place)
    ((getter *)table.at[s->index].function)(s->add, &c.image, &at, owned, place, &c.token, 0,
                                            &chars, NULL);
  return at;
}

bool caf_accessor_set(const struct caf_scalar *s, const void *data) {
  struct scalar_call c;
  void *const place = prepare_scalar(&c, s);
  if (place)
    ((setter *)table.at[s->index].function)(s->add, &c.image, place, data, &c.token, 0, NULL, NULL);
  return place != NULL;
}

static void prepare(struct call *c, const struct caf_ask *ask, char *base,
                    const struct caf_asker *from) {
  c->function = table.at[ask->index].function;
  c->base = base;
  c->place = ask->by_pointer ? (void *)&c->base : base;
  if (ask->object) {
    memcpy(&c->object, ask->object, caf_desc_bytes(ask->object));
    c->object.base = base;
    c->place = &c->object;
  }
  c->image = (int)from->rank + 1;
  stand_for(&c->token, from->rank, from->add);
  c->object_chars = ask->has_object_chars ? &ask->object_chars : NULL;
}

static void get(struct call *c, const struct caf_ask *ask, struct caf_found *found) {
  int32_t owned = 0;
  size_t chars = ask->result_chars;
  if (!ask->result) {
    ((getter *)c->function)(ask->add, &c->image, &found->at, &owned, c->place, &c->token, 0, &chars,
                            c->object_chars);
  } else {
    memcpy(&found->desc, ask->result, caf_desc_bytes(ask->result));
    ((desc_getter *)c->function)(ask->add, &c->image, &found->desc, &owned, c->place, &c->token, 0,
                                 &chars, c->object_chars);
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
  if (ask->index < 0 || (size_t)ask->index >= table.count) return CAF_STAT_ERROR;
  prepare(&c, ask, base, from);
  if (ask->kind == CAF_ACCESS_GET) {
    get(&c, ask, found);
  } else if (ask->kind == CAF_ACCESS_PUT) {
    const void *data = ask->data_desc ? (const void *)ask->data_desc : ask->data;
    ((setter *)c.function)(ask->add, &c.image, c.place, data, &c.token, 0, c.object_chars,
                           ask->has_data_chars ? &ask->data_chars : NULL);
  } else {
    int32_t present = 0;
    ((asker *)c.function)(ask->add, &c.image, &present, c.place, &c.token, 0);
    found->present = present;
  }
  return 0;
}
