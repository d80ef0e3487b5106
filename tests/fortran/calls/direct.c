/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accessors of structures on mapped memory. After some accesses image 1 reads and writes components
 * of image 2 while that makes no coarray statement and has no thread that serves. Accessors that
 * follow an address in the structure stay with its image, also one whose first sections are empty.
 * Calls are those that gfortran 15 emits.
 */
/* env: TOMBOLO_PROGRESS_SHARE=0 */
/* ranks: 2 */
#include "../../../coarray/abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LIMIT_S = 20, CALLS = 200, LIST = 4, EMPTY = 150 };
enum { HASH_READ = 9, HASH_WRITE = 17, HASH_LIST = 33, HASH_SET_LIST = 65 };

extern void CAF(init)(int *argc, char ***argv);
extern void CAF(finalize)(void);
extern void CAF(error_stop)(int code, bool quiet);
extern int CAF(this_image)(int distance);
extern int CAF(num_images)(int distance, int failed);
extern void CAF(sync_all)(int *stat, char *errmsg, size_t errmsg_len);
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

/* A coarray of a type with an allocatable component. */
struct object {
  volatile int64_t number, stop;
  int64_t *list; /* [LIST] */
};

/* A value that the accessors use. */
struct subscripts {
  int64_t at;
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

/* ... = x[i]%number */
static void ACCESSOR(read_number)(const struct subscripts *add, const int *image, void **result,
                                  int32_t *owned, struct object *object, void *of, size_t offset,
                                  size_t *chars, const size_t *object_chars) {
  (void)add, (void)image, (void)of, (void)offset, (void)chars, (void)object_chars;
  *result = (void *)(uintptr_t)&object->number;
  *owned = 0;
}

/* x[i]%number = ..., or x[i]%stop = ... */
static void ACCESSOR(write_number)(const struct subscripts *add, const int *image,
                                   struct object *object, const int64_t *data, void *of,
                                   size_t offset, const size_t *object_chars,
                                   const size_t *data_chars) {
  (void)image, (void)of, (void)offset, (void)object_chars, (void)data_chars;
  if (add->at)
    object->stop = *data;
  else
    object->number = *data;
}

/* ... = x[i]%list(1:at) */
static void ACCESSOR(read_list)(const struct subscripts *add, const int *image, struct caf_desc *d,
                                int32_t *owned, struct object *object, void *of, size_t offset,
                                size_t *chars, const size_t *object_chars) {
  (void)image, (void)of, (void)offset, (void)chars, (void)object_chars;
  d->dtype.elem_len = 8;
  d->dtype.rank = 1;
  d->dtype.type = CAF_INTEGER;
  d->span = 8;
  d->offset = (size_t)-1;
  d->dim[0] = (struct caf_dim){1, 1, add->at};
  d->base = malloc((size_t)add->at * 8 + 1);
  if (!d->base) abort();
  for (int64_t i = 0; i < add->at; i++) ((int64_t *)d->base)[i] = object->list[i];
  *owned = 1;
}

/* x[i]%list(at + 1) = ... */
static void ACCESSOR(write_list)(const struct subscripts *add, const int *image,
                                 struct object *object, const int64_t *data, void *of,
                                 size_t offset, const size_t *object_chars,
                                 const size_t *data_chars) {
  (void)image, (void)of, (void)offset, (void)object_chars, (void)data_chars;
  object->list[add->at] = *data;
}

__attribute__((constructor)) static void register_all(void) {
  struct caf_desc desc = {.dtype = {.elem_len = sizeof *mine, .type = CAF_DERIVED}};
  CAF(register)(sizeof *mine, CAF_STATIC, &token, &desc, NULL, NULL, 0);
  mine = desc.base;
  CAF(register_accessor)(HASH_READ, (void (*)(void))read_number);
  CAF(register_accessor)(HASH_WRITE, (void (*)(void))write_number);
  CAF(register_accessor)(HASH_LIST, (void (*)(void))read_list);
  CAF(register_accessor)(HASH_SET_LIST, (void (*)(void))write_list);
  CAF(register_accessors_finish)();
}

static int64_t get(void) {
  struct subscripts add = {0};
  int64_t value = -1, *to = &value;
  CAF(get_from_remote)
  (token, NULL, NULL, 2, 8, (void **)&to, NULL, NULL, false,
   CAF(get_remote_function_index)(HASH_READ), &add, sizeof add, NULL, NULL, NULL);
  return value;
}

static void put(int hash, int64_t at, int64_t value) {
  struct subscripts add = {at};
  CAF(send_to_remote)
  (token, NULL, NULL, 2, 8, &value, NULL, NULL, CAF(get_remote_function_index)(hash), &add,
   sizeof add, NULL, NULL, NULL);
}

/* The sum of the first elements of the list of image 2. */
static int64_t sum(int64_t count) {
  struct subscripts add = {count};
  struct caf_desc list = {.dtype = {.elem_len = 8, .rank = 1, .type = CAF_INTEGER}};
  int64_t total = 0;
  CAF(get_from_remote)
  (token, NULL, NULL, 2, 8, &list.base, NULL, &list, true,
   CAF(get_remote_function_index)(HASH_LIST), &add, sizeof add, NULL, NULL, NULL);
  for (int64_t i = 0; i < count; i++) total += ((int64_t *)list.base)[i];
  free(list.base);
  return total;
}

static void use(void) {
  for (int64_t i = 1; i <= CALLS; i++) {
    put(HASH_WRITE, 0, i);
    check(get() == i, "get of a number");
    put(HASH_SET_LIST, i % LIST, i);
    check(i < EMPTY ? sum(0) == 0 : sum(LIST) == 4 * i - 6, "get of a list");
  }
}

static void use_while_it_computes(void) {
  put(HASH_WRITE, 0, 77);
  check(get() == 77, "get from an image that computes");
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
