/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accessors of structures on mapped memory. After some accesses image 1 reads and writes components
 * of image 2 while that makes no coarray statement and has no thread that serves. Accessors that
 * follow an address in the structure stay with its image, also one whose first sections are empty.
 * Sections go by each way that an accessor may give its result.
 * Calls are those that gfortran 15 emits.
 */
/* env: TOMBOLO_PROGRESS_SHARE=0 */
/* ranks: 2 */
#include "calls15.h"

#include <time.h>

enum { LIMIT_S = 20, CALLS = 200, LIST = 4, EMPTY = 150, MANY = 600 };
enum {
  HASH_READ = 9,
  HASH_WRITE = 17,
  HASH_LIST = 33,
  HASH_SET_LIST = 65,
  HASH_PRESENT,
  HASH_LAST,
  HASH_MANY,
  HASH_SET_MANY
};

/* A coarray of a type with an allocatable component. */
struct object {
  volatile int64_t number, stop;
  int64_t *list; /* [LIST] */
  int64_t many[MANY];
};

/* Place of the result of read_many: the variable, as the compiler's accessors do; where it is in
 * the object; memory of its own. */
enum place { IN_ROOM, IN_OBJECT, OWNED };

/* Values that the accessors use. */
struct subscripts {
  int64_t at, step, count;
  enum place place;
};

static void *token;
static struct object *mine;

/* ... = x[i]%number */
READS(read_number, const struct subscripts, void **result, struct object) {
  *result = (void *)(uintptr_t)&object->number;
  *owned = 0;
}

/* x[i]%number = ..., or x[i]%stop = ... */
WRITES(write_number, const struct subscripts, const int64_t *data) {
  if (add->at)
    object->stop = *data;
  else
    object->number = *data;
}

/* ... = x[i]%list(1:at) */
READS(read_list, const struct subscripts, struct caf_desc *d, struct object) {
  *d = copy_of(object->list, add->at);
  *owned = 1;
}

/* x[i]%list(at + 1) = ... */
WRITES(write_list, const struct subscripts, const int64_t *data) {
  object->list[add->at] = *data;
}

/* allocated(x[i]%list) */
HAS(has_list) {
  *present = object->list != NULL;
}

/* An accessor that follows an address: allocated(x[i]%list(LIST)%c), were list one of pointers. */
HAS(has_last) {
  *present = object->list[LIST - 1] != 0;
}

/* ... = x[i]%many(at + 1 : at + count * step : step) */
READS(read_many, const struct subscripts, struct caf_desc *d, struct object) {
  const bool fits = d->base && d->dim[0].ub - d->dim[0].lb + 1 == add->count;
  int64_t *const room = fits ? d->base : NULL, *const from = object->many + add->at;
  *owned = add->place == OWNED || (add->place == IN_ROOM && !fits);
  *d = array_of(*owned ? malloc((size_t)add->count * 8) : room, add->count, 1);
  if (add->place == IN_OBJECT) *d = array_of(from, add->count, add->step);
  for (int64_t i = 0; d->base != from && i < add->count; i++)
    ((int64_t *)d->base)[i] = from[i * add->step];
}

/* x[i]%many(at + 1 : at + count * step : step) = ... */
WRITES(write_many, const struct subscripts, const struct caf_desc *data) {
  for (int64_t i = 0; i < add->count; i++)
    object->many[add->at + i * add->step] = ((const int64_t *)data->base)[i];
}

__attribute__((constructor)) static void register_all(void) {
  const struct hashed accessors[] = {
      {HASH_READ, (void (*)(void))read_number}, {HASH_WRITE, (void (*)(void))write_number},
      {HASH_LIST, (void (*)(void))read_list},   {HASH_SET_LIST, (void (*)(void))write_list},
      {HASH_MANY, (void (*)(void))read_many},   {HASH_SET_MANY, (void (*)(void))write_many},
      {HASH_PRESENT, (void (*)(void))has_list}, {HASH_LAST, (void (*)(void))has_last}};
  const struct structure s =
      register_structure(sizeof *mine, accessors, sizeof accessors / sizeof accessors[0]);
  token = s.token;
  mine = s.own;
}

static int64_t get(void) {
  return get_number(token, 2, HASH_READ, NO_VALUES, NULL);
}

static void put(int hash, int64_t at, int64_t value) {
  struct subscripts add = {.at = at};
  put_number(token, 2, hash, VALUES(add), value);
}

/* The sum of the first elements of the list of image 2. */
static int64_t sum(int64_t count) {
  struct subscripts add = {.at = count};
  struct caf_desc list = array_of(NULL, 0, 1);
  int64_t total = 0;
  get_array(token, 2, HASH_LIST, VALUES(add), &list);
  for (int64_t i = 0; i < count; i++) total += ((int64_t *)list.base)[i];
  free(list.base);
  return total;
}

static int32_t is_present(int hash) {
  return CAF(is_present_on_remote)(token, 2, CAF(get_remote_function_index)(hash), NULL, 0);
}

static void use(void) {
  for (int64_t i = 1; i <= CALLS; i++) {
    put(HASH_WRITE, 0, i);
    check(get() == i, "get of a number");
    put(HASH_SET_LIST, i % LIST, i);
    check(i < EMPTY ? sum(0) == 0 : sum(LIST) == 4 * i - 6, "get of a list");
    check(is_present(HASH_PRESENT) == 1, "a list that is allocated");
    check(is_present(HASH_LAST) == (i >= LIST - 1), "what an element of a list says");
  }
}

/* many(at + 1 : at + count * step : step) of image 2 = a variable with gaps, or without, of
 * `count` elements from `value` on; reads them by an accessor of each kind; copies them to the next
 * ones there. */
static void use_section(int64_t at, int64_t step, int64_t count, ptrdiff_t gap, int64_t value) {
  static int64_t from[2 * MANY], into[2 * MANY];
  struct subscripts add = {.at = at, .step = step, .count = count};
  struct caf_desc variable = array_of(from, count, gap);
  for (int64_t i = 0; i < count; i++) from[i * gap] = value + i;
  CAF(send_to_remote)
  (token, NULL, NULL, 2, 8, from, NULL, &variable, CAF(get_remote_function_index)(HASH_SET_MANY),
   &add, sizeof add, NULL, NULL, NULL);
  for (int kind = 0; kind < 4; kind++) {
    struct subscripts next = add;
    next.at += kind == 3; /* what the transfer has written */
    next.place = kind % 3;
    memset(into, 0, sizeof into);
    variable = array_of(into, count, gap);
    get_array(token, 2, HASH_MANY, VALUES(next), &variable);
    check(variable.base == into, "place of a section");
    for (int64_t i = 0; i < count; i++) check(into[i * gap] == value + i, "get of a section");
    for (int64_t i = 0; i < MANY; i++) check(gap == 1 || into[2 * i + 1] == 0, "gaps of a section");
    next.at = at + 1;
    add.place = kind % 3;
    if (kind < 3) CAF(transfer_between_remotes)
    (token, NULL, NULL, 2, CAF(get_remote_function_index)(HASH_SET_MANY), &next, sizeof next, token,
     NULL, NULL, 2, CAF(get_remote_function_index)(HASH_MANY), &add, sizeof add, 8, false, NULL,
     NULL, NULL, NULL);
  }
}

static void use_sections(void) {
  for (int i = 0; i < CALLS; i++) {
    use_section(i, 2, 10, 1, i);
    use_section(i, 2, 10, 2, -i);
  }
  use_section(0, 2, MANY / 2, 2, 7); /* more than the library gathers on its stack */
}

static void use_while_it_computes(void) {
  put(HASH_WRITE, 0, 77);
  check(get() == 77, "get from an image that computes");
  check(is_present(HASH_PRESENT) == 1, "ALLOCATED of an image that computes");
  put(HASH_WRITE, 1, 1);
}

static void compute(void) {
  const time_t begun = time(NULL);
  while (!mine->stop) check(time(NULL) - begun < LIMIT_S, "an access waits for its image");
  check(mine->number == 77, "put to an image that computes");
}

int main(int argc, char **argv) {
  CAF(init)(&argc, &argv);
  const bool first = CAF(this_image)(0) == 1;
  mine->list = calloc(LIST, sizeof *mine->list);
  check(mine->list && CAF(num_images)(0, -1) == 2, "two images and memory");
  CAF(sync_all)(NULL, NULL, 0);
  if (first) use();
  if (first) use_sections();
  CAF(sync_all)(NULL, NULL, 0);
  if (first)
    use_while_it_computes();
  else
    compute();
  CAF(sync_all)(NULL, NULL, 0);
  free(mine->list);
  CAF(finalize)();
  return 0;
}
