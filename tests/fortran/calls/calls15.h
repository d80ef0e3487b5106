/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of coarray programs as gfortran 15 emits them (-fdump-tree-original), for programs written
 * by hand.
 *
 * Owns: short forms of calls with many arguments. Included by the programs of this folder that have
 * accessors. Calls: libcaf_tombolo. Invariants: a failed check ends all images.
 */
#ifndef CALLS15_H
#define CALLS15_H

#include "../../../coarray/abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
extern int32_t CAF(is_present_on_remote)(void *token, int image, int index, void *add,
                                         size_t add_bytes);
extern void CAF(send_to_remote)(void *token, struct caf_desc *dst, const size_t *dst_chars,
                                int image, size_t src_size, const void *src,
                                const size_t *src_chars, const struct caf_desc *src_desc, int index,
                                void *add, size_t add_bytes, int *stat, void **team,
                                int *team_number);
extern void CAF(transfer_between_remotes)(void *dst_token, struct caf_desc *dst_desc,
                                          size_t *dst_chars, int dst_image, int dst_index,
                                          void *dst_add, size_t dst_add_bytes, void *src_token,
                                          const struct caf_desc *src_desc, const size_t *src_chars,
                                          int src_image, int src_index, void *src_add,
                                          size_t src_add_bytes, size_t src_size, bool scalar,
                                          int *dst_stat, int *src_stat, void **dst_team,
                                          int *dst_team_number);

/* Accessors with the arguments of the compiler's. READS: gives RESULT, a `void **result` or a
 * `struct caf_desc *d`, and `owned`, whether the caller frees it. WRITES: takes DATA, a pointer
 * `data`. HAS: gives `present`. add: the values of a subscript; object: the structure of the image;
 * of: the coarray's token. */
#define UNUSED __attribute__((unused))
#define READS(NAME, ADD, RESULT, OBJECT)                                                       \
 static void NAME(UNUSED ADD *add, UNUSED const int *image, RESULT, int32_t *owned,            \
                  OBJECT *object, UNUSED void *of, UNUSED size_t offset, UNUSED size_t *chars, \
                  UNUSED const size_t *object_chars)
#define WRITES(NAME, ADD, DATA)                                                             \
 static void NAME(UNUSED ADD *add, UNUSED const int *image, struct object *object, DATA,    \
                  UNUSED void *of, UNUSED size_t offset, UNUSED const size_t *object_chars, \
                  UNUSED const size_t *data_chars)
#define HAS(NAME)                                                                    \
 static void NAME(UNUSED const void *add, UNUSED const int *image, int32_t *present, \
                  struct object *object, UNUSED void *of, UNUSED size_t offset)

/* Values that an accessor uses. */
struct values {
  void *at;
  size_t bytes;
};
#define VALUES(variable) ((struct values){&(variable), sizeof(variable)})
#define NO_VALUES        ((struct values){NULL, 0})

/* A coarray of one structure. */
struct structure {
  void *token, *own; /* own: the structure of this image */
};

/* An accessor and its hash. */
struct hashed {
  int hash;
  void (*function)(void);
};

static inline void check(bool condition, const char *what) {
  if (condition) return;
  printf("FAILED on image %d: %s\n", CAF(this_image)(0), what);
  CAF(error_stop)(1, true);
}

/* Called by a constructor. [in] accessors: [count]. */
static inline struct structure register_structure(size_t bytes, const struct hashed *accessors,
                                                  size_t count) {
  struct caf_desc desc = {.dtype = {.elem_len = bytes, .type = CAF_DERIVED}};
  struct structure s;
  CAF(register)(bytes, CAF_STATIC, &s.token, &desc, NULL, NULL, 0);
  s.own = desc.base;
  for (size_t i = 0; i < count; i++)
    CAF(register_accessor)(accessors[i].hash, accessors[i].function);
  CAF(register_accessors_finish)();
  return s;
}

/* A descriptor of 8-byte integers. */
static inline struct caf_desc array_of(int64_t *base, ptrdiff_t count, ptrdiff_t stride) {
  return (struct caf_desc){.base = base,
                           .dtype = {.elem_len = 8, .rank = 1, .type = CAF_INTEGER},
                           .span = 8,
                           .offset = (size_t)-stride,
                           .dim = {{stride, 1, count}}};
}

/* A descriptor of a copy of `count` 8-byte integers, which the caller of an accessor frees. */
static inline struct caf_desc copy_of(const int64_t *values, int64_t count) {
  int64_t *const copy = malloc((size_t)count * 8 + 1);
  if (!copy) abort();
  memcpy(copy, values, (size_t)count * 8);
  return array_of(copy, count, 1);
}

/* ... = object, an 8-byte integer; [out] stat: or NULL. */
static inline int64_t get_number(void *token, int image, int hash, struct values add, int *stat) {
  int64_t value = -1;
  void *to = &value;
  CAF(get_from_remote)
  (token, NULL, NULL, image, 8, &to, NULL, NULL, false, CAF(get_remote_function_index)(hash),
   add.at, add.bytes, stat, NULL, NULL);
  return *(const int64_t *)to; /* as compiled programs: the library may say where the number is */
}

/* object = an 8-byte integer. */
static inline void put_number(void *token, int image, int hash, struct values add, int64_t value) {
  CAF(send_to_remote)
  (token, NULL, NULL, image, 8, &value, NULL, NULL, CAF(get_remote_function_index)(hash), add.at,
   add.bytes, NULL, NULL, NULL);
}

/* array = object, 8-byte integers; allocates the array where it has no base. */
static inline void get_array(void *token, int image, int hash, struct values add,
                             struct caf_desc *array) {
  CAF(get_from_remote)
  (token, NULL, NULL, image, 8, &array->base, NULL, array, array->base == NULL,
   CAF(get_remote_function_index)(hash), add.at, add.bytes, NULL, NULL, NULL);
}

#endif
