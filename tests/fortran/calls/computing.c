/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Image 1 computes without coarray statements, and the others read and write components of it by
 * accessors: also by one that reads a list of the image that asks. Then it computes and makes
 * statements in turn while they do so. Calls are those that gfortran 15 emits.
 */
/* again: TOMBOLO_TEST_SHM=0 TOMBOLO_PLACES=cyclic:2 */
/* ranks: 2 4 */
#include "calls15.h"

#include <time.h>

enum { IMAGES_MOST = 64, LIMIT_S = 20, TURNS = 300, LIST = 1000 };
enum { HASH_READ = 9, HASH_WRITE = 17, HASH_SUM = 33, HASH_LIST = 65 };

/* A coarray of a type with a component of each image that writes. */
struct object {
  volatile int64_t from[IMAGES_MOST];
};

/* Values that the accessors use. */
struct subscripts {
  int64_t at, count;
  const int64_t *list; /* [count] of the image that asks */
};

static void *token;
static struct object *mine;

/* ... = x[i]%from(at) */
READS(read_component, const struct subscripts, void **result, struct object) {
  *result = (void *)(uintptr_t)&object->from[add->at];
  *owned = 0;
}

/* x[i]%from(at) = ... */
WRITES(write_component, const struct subscripts, const int64_t *data) {
  object->from[add->at] = *data;
}

/* The list of the image that asks. */
READS(read_list, const void, struct caf_desc *d, struct subscripts) {
  *d = copy_of(object->list, object->count);
  *owned = 1;
}

/* ... = sum(list) + x[i]%from(at) */
READS(read_sum, const struct subscripts, void **result, struct object) {
  struct caf_desc list = array_of(NULL, 0, 1);
  get_array(of, *image, HASH_LIST, NO_VALUES, &list);
  int64_t *sum = malloc(sizeof *sum);
  if (!sum) abort();
  *sum = object->from[add->at];
  for (int64_t i = 0; i < add->count; i++) *sum += ((int64_t *)list.base)[i];
  free(list.base);
  *result = sum;
  *owned = 1;
}

__attribute__((constructor)) static void register_all(void) {
  const struct hashed accessors[] = {{HASH_READ, (void (*)(void))read_component},
                                     {HASH_WRITE, (void (*)(void))write_component},
                                     {HASH_LIST, (void (*)(void))read_list},
                                     {HASH_SUM, (void (*)(void))read_sum}};
  const struct structure s =
      register_structure(sizeof *mine, accessors, sizeof accessors / sizeof accessors[0]);
  token = s.token;
  mine = s.own;
}

static int64_t get(int image, int hash, struct subscripts add) {
  return get_number(token, image, hash, VALUES(add), NULL);
}

static void put(int image, int64_t at, int64_t value) {
  struct subscripts add = {at, 0, NULL};
  put_number(token, image, HASH_WRITE, VALUES(add), value);
}

/* Computes until every other image has written `last`; meanwhile, with `calls`, makes statements,
 * of which some ask image 2. */
static void compute(int images, int64_t last, bool calls) {
  const time_t begun = time(NULL);
  int left = 1;
  for (unsigned turn = 0; left; turn++) {
    left = 0;
    for (int i = 1; i < images; i++) left += mine->from[i] != last;
    if (turn % 1024 == 0) check(time(NULL) - begun < LIMIT_S, "an access of a computing image");
    if (calls && turn % 64 == 0) CAF(sync_memory)(NULL, NULL, 0);
    if (calls && turn % 128 == 0)
      check(get(2, HASH_READ, (struct subscripts){0, 0, NULL}) == 20, "get of the computing image");
  }
}

static void ask(int me, int64_t last, int turns) {
  static int64_t list[LIST];
  for (int i = 0; i < LIST; i++) list[i] = i;
  for (int t = 0; t < turns; t++) {
    put(1, me - 1, t);
    check(get(1, HASH_READ, (struct subscripts){me - 1, 0, NULL}) == t, "get of a component");
    check(get(1, HASH_SUM, (struct subscripts){me - 1, LIST, list}) == t + LIST / 2 * (LIST - 1),
          "get by an accessor that asks back");
  }
  put(1, me - 1, last);
}

int main(int argc, char **argv) {
  CAF(init)(&argc, &argv);
  const int me = CAF(this_image)(0), images = CAF(num_images)(0, -1);
  mine->from[0] = me * 10;
  for (int calls = 0; calls < 2; calls++) {
    const int64_t last = 1000000 + calls;
    CAF(sync_all)(NULL, NULL, 0);
    if (me == 1)
      compute(images, last, calls);
    else
      ask(me, last, calls ? TURNS : 2);
  }
  CAF(sync_all)(NULL, NULL, 0);
  CAF(finalize)();
  return 0;
}
