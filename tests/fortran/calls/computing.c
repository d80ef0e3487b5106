/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Image 1 computes without coarray statements, and the others read and write components of it by
 * accessors: also by one that reads a list of the image that asks. Then it computes and makes
 * statements in turn while they do so. Calls are those that gfortran 15 emits.
 */
/* again: TOMBOLO_TEST_SHM=0 TOMBOLO_PLACES=cyclic:2 */
/* ranks: 2 4 */
#include "../../../coarray/abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { IMAGES_MOST = 64, LIMIT_S = 20, TURNS = 300, LIST = 1000 };
enum { HASH_READ = 9, HASH_WRITE = 17, HASH_SUM = 33, HASH_LIST = 65 };

extern void CAF(init)(int *argc, char ***argv);
extern void CAF(finalize)(void);
extern void CAF(error_stop)(int code, bool quiet);
extern int CAF(this_image)(int distance);
extern int CAF(num_images)(int distance, int failed);
extern void CAF(sync_all)(int *stat, char *errmsg, size_t errmsg_len);
extern void CAF(sync_memory)(int *stat, char *errmsg, size_t errmsg_len);
extern void CAF(register)(size_t size, int type, void **token, struct caf_desc *desc, int *stat,
                          char *errmsg, size_t errmsg_len);
extern void CAF(register_accessor)(int hash, void (*accessor)(void));
extern void CAF(register_accessors_finish)(void);
extern int CAF(get_remote_function_index)(int hash);
extern void CAF(get_from_remote)(void *token, const struct caf_desc *src, const size_t *src_chars,
                                 int image, size_t dst_size, void **dst, size_t *dst_chars,
                                 struct caf_desc *dst_desc, bool may_realloc, int index, void *add,
                                 size_t add_bytes, int *stat, void **team, int *team_number);
extern void CAF(send_to_remote)(void *token, struct caf_desc *dst, const size_t *dst_chars,
                                int image, size_t src_size, const void *src,
                                const size_t *src_chars, const struct caf_desc *src_desc, int index,
                                void *add, size_t add_bytes, int *stat, void **team,
                                int *team_number);

/* A coarray of a type with a component of each image that writes. */
struct object {
  volatile int64_t from[IMAGES_MOST];
};

/* Values that the accessors use. */
struct subscripts {
  int64_t at, count;
  const int64_t *list; /* [count] of the image that asks */
};

/* Name of a function with the arguments of the compiler's accessors. */
#define ACCESSOR(name) name

static void *token;
static struct object *mine;

static void check(bool condition, const char *what) {
  if (condition) return;
  printf("FAILED on image %d: %s\n", CAF(this_image)(0), what);
  CAF(error_stop)(1, true);
}

/* ... = x[i]%from(at) */
static void ACCESSOR(read_component)(const struct subscripts *add, const int *image, void **result,
                                     int32_t *owned, struct object *object, void *of, size_t offset,
                                     size_t *chars, const size_t *object_chars) {
  (void)image, (void)of, (void)offset, (void)chars, (void)object_chars;
  *result = (void *)(uintptr_t)&object->from[add->at];
  *owned = 0;
}

/* x[i]%from(at) = ... */
static void ACCESSOR(write_component)(const struct subscripts *add, const int *image,
                                      struct object *object, const int64_t *data, void *of,
                                      size_t offset, const size_t *object_chars,
                                      const size_t *data_chars) {
  (void)image, (void)of, (void)offset, (void)object_chars, (void)data_chars;
  object->from[add->at] = *data;
}

/* The list of the image that asks. */
static void ACCESSOR(read_list)(const void *add, const int *image, struct caf_desc *d,
                                int32_t *owned, struct subscripts *object, void *of, size_t offset,
                                size_t *chars, const size_t *object_chars) {
  (void)add, (void)image, (void)of, (void)offset, (void)chars, (void)object_chars;
  d->dtype.elem_len = 8;
  d->dtype.rank = 1;
  d->dtype.type = CAF_INTEGER;
  d->span = 8;
  d->dim[0] = (struct caf_dim){1, 1, object->count};
  d->base = malloc((size_t)object->count * 8);
  if (d->base) memcpy(d->base, object->list, (size_t)object->count * 8);
  *owned = 1;
}

/* ... = sum(list) + x[i]%from(at) */
static void ACCESSOR(read_sum)(const struct subscripts *add, const int *image, void **result,
                               int32_t *owned, struct object *object, void *of, size_t offset,
                               size_t *chars, const size_t *object_chars) {
  struct caf_desc list = {.dtype = {.elem_len = 8, .rank = 1, .type = CAF_INTEGER}};
  (void)offset, (void)chars, (void)object_chars;
  CAF(get_from_remote)
  (of, NULL, NULL, *image, 8, &list.base, NULL, &list, true,
   CAF(get_remote_function_index)(HASH_LIST), NULL, 0, NULL, NULL, NULL);
  int64_t *sum = malloc(sizeof *sum);
  if (!sum) abort();
  *sum = object->from[add->at];
  for (int64_t i = 0; i < add->count; i++) *sum += ((int64_t *)list.base)[i];
  free(list.base);
  *result = sum;
  *owned = 1;
}

__attribute__((constructor)) static void register_all(void) {
  struct caf_desc desc = {.dtype = {.elem_len = sizeof *mine, .type = CAF_DERIVED}};
  CAF(register)(sizeof *mine, CAF_STATIC, &token, &desc, NULL, NULL, 0);
  mine = desc.base;
  CAF(register_accessor)(HASH_READ, (void (*)(void))read_component);
  CAF(register_accessor)(HASH_WRITE, (void (*)(void))write_component);
  CAF(register_accessor)(HASH_LIST, (void (*)(void))read_list);
  CAF(register_accessor)(HASH_SUM, (void (*)(void))read_sum);
  CAF(register_accessors_finish)();
}

static int64_t get(int image, int hash, struct subscripts add) {
  int64_t value = -1, *to = &value;
  CAF(get_from_remote)
  (token, NULL, NULL, image, 8, (void **)&to, NULL, NULL, false,
   CAF(get_remote_function_index)(hash), &add, sizeof add, NULL, NULL, NULL);
  return value;
}

static void put(int image, int64_t at, int64_t value) {
  struct subscripts add = {at, 0, NULL};
  CAF(send_to_remote)
  (token, NULL, NULL, image, 8, &value, NULL, NULL, CAF(get_remote_function_index)(HASH_WRITE),
   &add, sizeof add, NULL, NULL, NULL);
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
