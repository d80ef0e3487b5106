/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls the transfers of gfortran 15 as it emits them (-fdump-tree-original): gets, puts and
 * transfers by accessors, of scalars, arrays and characters, small and larger than a message, and
 * an accessor that makes an access itself. For machines that have no such compiler.
 */
/* again: TOMBOLO_TEST_SHM=0 */
/* ranks: 1 2 3 4 */
#include "calls15.h"

enum {
  ELEMENTS = 100000,
  HASH_ELEMENT = 77,
  HASH_SECTION = -5,
  HASH_SET,
  HASH_FILL,
  HASH_TEXT,
  HASH_PRESENT,
  HASH_PICKED,
  HASH_LIST
};

/* The coarray: a derived type with an allocatable component, which only its image can follow. */
struct object {
  int64_t first;
  int64_t *component; /* [ELEMENTS] */
  char text[8];
};

/* Values that the accessors use. */
struct subscripts {
  int64_t from, to, step;
  const int64_t *list; /* [to] of the image that asks */
};

/* ... = x[i]%component(from) */
READS(get_element, struct subscripts, void **result, struct object) {
  check(*image >= 1 && *image <= CAF(num_images)(0, -1) && of, "image and token of an accessor");
  *result = &object->component[add->from];
  *owned = 0;
}

/* ... = x[i]%component(from:to:step) */
READS(get_section, struct subscripts, struct caf_desc *d, struct object) {
  *d = array_of(object->component + add->from, (add->to - add->from) / add->step + 1, add->step);
  *owned = 0;
}

/* ... = x[i]%text, made anew */
READS(get_text, void, void **result, struct object) {
  check(*chars == 5, "length that the caller expects");
  *result = malloc(5);
  if (*result) memcpy(*result, object->text, 5);
  *owned = 1;
}

/* The list of the image that asks. */
READS(get_list, const void, struct caf_desc *d, struct subscripts) {
  *d = copy_of(object->list, object->to);
  *owned = 1;
}

/* ... = x[i]%component(list) */
READS(get_picked, struct subscripts, struct caf_desc *d, struct object) {
  struct caf_desc list = array_of(NULL, 0, 1);
  get_array(of, *image, HASH_LIST, NO_VALUES, &list);
  struct subscripts all = {0, add->to - 1, 1, NULL};
  get_section(&all, image, d, owned, object, of, offset, chars, object_chars);
  int64_t *picked = malloc((size_t)add->to * 8);
  for (int64_t i = 0; picked && i < add->to; i++)
    picked[i] = object->component[((int64_t *)list.base)[i]];
  d->base = picked;
  *owned = 1;
  free(list.base);
}

/* x[i]%component(from) = ... */
WRITES(set_element, struct subscripts, const int64_t *data) {
  object->component[add->from] = *data;
}

/* x[i]%component(from:to:step) = ... */
WRITES(set_section, struct subscripts, const struct caf_desc *data) {
  const int64_t *value = data->base;
  for (int64_t i = add->from, k = 0; i <= add->to; i += add->step, k++)
    object->component[i] = value[k * data->dim[0].stride];
}

/* allocated(x[i]%component) */
HAS(is_present) {
  *present = object->component != NULL;
}

static void *token;
static struct object *mine;

__attribute__((constructor)) static void register_all(void) {
  const struct hashed accessors[] = {
      {HASH_ELEMENT, (void (*)(void))get_element}, {HASH_SECTION, (void (*)(void))get_section},
      {HASH_TEXT, (void (*)(void))get_text},       {HASH_SET, (void (*)(void))set_element},
      {HASH_FILL, (void (*)(void))set_section},    {HASH_PRESENT, (void (*)(void))is_present},
      {HASH_PICKED, (void (*)(void))get_picked},   {HASH_LIST, (void (*)(void))get_list}};
  const struct structure s =
      register_structure(sizeof *mine, accessors, sizeof accessors / sizeof accessors[0]);
  token = s.token;
  mine = s.own;
}

static void read_all(int right) {
  struct subscripts add = {7, 0, 1, NULL};
  int stat = -1;
  const int64_t value = get_number(token, right, HASH_ELEMENT, VALUES(add), &stat);
  check(value == right * 1000000 + 7 && stat == 0, "get of an element");
  for (int64_t n = 10; n <= ELEMENTS / 2; n *= 5) {
    int64_t *all = calloc((size_t)n * 2, 8);
    if (!all) abort();
    struct caf_desc into = array_of(all, n, 2);
    add = (struct subscripts){1, 2 * n - 1, 2, NULL};
    get_array(token, right, HASH_SECTION, VALUES(add), &into);
    for (int64_t i = 0; i < n; i++)
      check(all[2 * i] == right * 1000000 + 1 + 2 * i && all[2 * i + 1] == 0, "get of a section");
    free(all);
  }
  struct caf_desc grows = array_of(NULL, 0, 1);
  add = (struct subscripts){0, 99, 1, NULL};
  get_array(token, right, HASH_SECTION, VALUES(add), &grows);
  check(grows.dim[0].ub == 100 && ((int64_t *)grows.base)[99] == right * 1000000 + 99,
        "get that allocates");
  free(grows.base);
  char text[8] = "", *text_to = text;
  size_t chars = 5;
  CAF(get_from_remote)
  (token, NULL, NULL, right, 1, (void **)&text_to, &chars, NULL, false,
   CAF(get_remote_function_index)(HASH_TEXT), NULL, 0, NULL, NULL, NULL);
  check(chars == 5 && memcmp(text, "hello", 5) == 0, "get of characters");
  const int64_t list[] = {4, 2, 99};
  struct caf_desc picked = array_of(NULL, 0, 1);
  add = (struct subscripts){0, 3, 1, list};
  get_array(token, right, HASH_PICKED, VALUES(add), &picked);
  check(picked.dim[0].ub - picked.dim[0].lb == 2, "size by a vector");
  for (int i = 0; i < 3; i++)
    check(((int64_t *)picked.base)[i] == right * 1000000 + list[i], "get by a vector");
  free(picked.base);
  check(CAF(is_present_on_remote)(token, right, CAF(get_remote_function_index)(HASH_PRESENT), NULL,
                                  0) == 1,
        "is_present_on_remote");
}

static void write_all(int me, int right) {
  struct subscripts add = {3, 0, 1, NULL};
  put_number(token, right, HASH_SET, VALUES(add), -me);
  int64_t *all = malloc(ELEMENTS * 8);
  for (int64_t i = 0; all && i < ELEMENTS; i++) all[i] = me * 100 + i;
  struct caf_desc from = array_of(all, ELEMENTS / 4, 2);
  add = (struct subscripts){ELEMENTS / 2, ELEMENTS - 1, 2, NULL};
  CAF(send_to_remote)
  (token, NULL, NULL, right, 8, all, NULL, &from, CAF(get_remote_function_index)(HASH_FILL), &add,
   sizeof add, NULL, NULL, NULL);
  free(all);
}

int main(int argc, char **argv) {
  CAF(init)(&argc, &argv);
  const int me = CAF(this_image)(0), images = CAF(num_images)(0, -1);
  const int right = me % images + 1, left = (me + images - 2) % images + 1;
  mine->component = malloc(ELEMENTS * 8);
  if (!mine->component) return 1;
  for (int64_t i = 0; i < ELEMENTS; i++) mine->component[i] = me * 1000000 + i;
  memcpy(mine->text, "hello", 6);
  CAF(sync_all)(NULL, NULL, 0);
  read_all(right);
  CAF(sync_all)(NULL, NULL, 0);
  write_all(me, right);
  CAF(sync_all)(NULL, NULL, 0);
  check(mine->component[3] == -left, "put of an element");
  for (int64_t i = 0; i < ELEMENTS / 4; i++)
    check(mine->component[ELEMENTS / 2 + 2 * i] == left * 100 + 2 * i, "put of a section");
  CAF(sync_all)(NULL, NULL, 0);
  struct subscripts from = {10, 19, 1, NULL}, into = {20, 29, 1, NULL};
  int dst_stat = -1, src_stat = -1;
  if (me == 1) CAF(transfer_between_remotes)
  (token, NULL, NULL, images, CAF(get_remote_function_index)(HASH_FILL), &into, sizeof into, token,
   NULL, NULL, right, CAF(get_remote_function_index)(HASH_SECTION), &from, sizeof from, 8, false,
   &dst_stat, &src_stat, NULL, NULL);
  CAF(sync_all)(NULL, NULL, 0);
  if (me == images)
    check(mine->component[29] == (images > 1 ? 2 : 1) * 1000000 + 19, "between two images");
  if (me == 1) check(dst_stat == 0 && src_stat == 0, "stats of a transfer");
  CAF(sync_all)(NULL, NULL, 0);
  CAF(finalize)();
  return 0;
}
