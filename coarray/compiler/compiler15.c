/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of gfortran 15 and 16 for coindexed objects: transfers by accessors.
 *
 * Owns nothing. Called by compiled programs, and by their accessors. Calls: anywhere.c, here.c.
 * Invariants: an accessor is a function of the program that accesses the object where it is, so
 * components and subscripts need no description; its values travel as a copy of `add`. Earlier
 * compilers call transfer.c and ref.c instead; one library serves both. The arguments were read
 * from -fdump-tree-original: a descriptor of the coarray where the accessor takes one, else NULL;
 * with a descriptor of the data, the address of a pointer to them; with characters, `size` is that
 * of one.
 */
#include "compiler/anywhere.h"
#include "compiler/here.h"
#include "inside.h"

#include <stdlib.h>
#include <string.h>

CAF_EXPORT void CAF(register_accessor)(int hash, void (*accessor)(void));
CAF_EXPORT void CAF(register_accessors_finish)(void);
CAF_EXPORT int CAF(get_remote_function_index)(int hash);
CAF_EXPORT void CAF(get_from_remote)(void *token, const struct caf_desc *src,
                                     const size_t *src_chars, int image, size_t dst_size,
                                     void **dst, size_t *dst_chars, struct caf_desc *dst_desc,
                                     bool may_realloc, int index, void *add, size_t add_bytes,
                                     int *stat, void **team, int *team_number);
CAF_EXPORT int32_t CAF(is_present_on_remote)(void *token, int image, int index, void *add,
                                             size_t add_bytes);
CAF_EXPORT void CAF(send_to_remote)(void *token, struct caf_desc *dst, const size_t *dst_chars,
                                    int image, size_t src_size, const void *src,
                                    const size_t *src_chars, const struct caf_desc *src_desc,
                                    int index, void *add, size_t add_bytes, int *stat, void **team,
                                    int *team_number);

void CAF(register_accessor)(int hash, void (*accessor)(void)) {
  caf_accessor_add(hash, accessor);
}

void CAF(register_accessors_finish)(void) {
  caf_accessors_sort();
  caf_serve_start();
}

int CAF(get_remote_function_index)(int hash) {
  const int index = caf_accessor_index(hash);
  const struct caf_status none = {0};
  if (index < 0)
    caf_fail(&none, CAF_STAT_ERROR,
             "the compiler asks for accessor %d, which is not registered [TMB-2013]", hash);
  return index;
}

/* Whether an access needs neither an image of another team, nor a poll that tells whether its image
 * has failed. */
static inline __attribute__((always_inline)) bool is_usual(const int *stat, void *const *team,
                                                           const int *number) {
  if (__builtin_expect(!stat && !team && !number, 1)) return true;
  if (stat && caf_has_reports()) return false;
  return (!team && !number) || caf_is_current(team, number);
}

/* ---- get */

/* Copies a scalar that an accessor has found into a variable. Apart, as it is seldom needed. */
static __attribute__((noinline)) void take_scalar(void *at, bool owned, void *variable,
                                                  size_t bytes) {
  const struct caf_status none = {0};
  if (!at) {
    CAF_STATEMENT("get");
    caf_fail_not_allocated(&none);
    return;
  }
  if (at != variable) memmove(variable, at, bytes);
  if (owned) free(at);
}

/* Copies a scalar or a text, a short one without a call. The places may overlap. */
static inline void copy_scalar(char *to, const char *from, size_t bytes) {
  enum { PART = 16, MOST = 2 * PART };
  char first[PART], last[PART];
  if (__builtin_expect(bytes < PART || bytes > MOST, 0)) {
    memmove(to, from, bytes);
    return;
  }
  memcpy(first, from, PART);
  memcpy(last, from + bytes - PART, PART);
  memcpy(to, first, PART);
  memcpy(to + bytes - PART, last, PART);
}

/* Reads a scalar, or where it is of another image, only says where it is: the program takes numbers
 * and structures from there before its next statement, but a text that is an argument stays there.
 * [in,out] variable: as in caf_target. */
static inline __attribute__((always_inline)) void get_scalar(const struct caf_here *here,
                                                             void **variable, size_t bytes) {
  int32_t owned = 0;
  void *const at = caf_here_find(here, &owned);
  if (__builtin_expect(!at || owned, 0))
    take_scalar(at, owned, *variable, bytes);
  else if (__builtin_expect(here->rank != caf.rank, 1))
    *variable = at;
  else if (bytes == 8)
    memcpy(*variable, at, 8);
  else if (bytes == 4)
    memcpy(*variable, at, 4);
  else
    copy_scalar(*variable, at, bytes);
}

/* A get, as the compiler passes it. */
struct get_call {
  struct caf_selector object;
  const size_t *src_chars;
  struct caf_target target;
  size_t add_bytes;
  int *stat;
  void **team;
  int *team_number;
  const void *caller;
};

/* Lengths of a text, in characters, as the compiler passes them: of the variable and of the
 * coindexed object; NULL: it has none. */
struct lengths {
  const size_t *chars, *object_chars;
};

/* Whether a text is one of a coarray of texts. [in] bytes: of a character. */
static inline bool is_whole(const struct caf_token *t, size_t bytes, const size_t *object_chars) {
  return !object_chars || *object_chars * bytes == t->elem_bytes;
}

/* Reads a scalar, also a text. [in] bytes: of the scalar, or of a character. */
static inline __attribute__((always_inline)) void
get_text(const struct caf_here *here, void *variable, size_t bytes, struct lengths of) {
  struct caf_here_call call;
  void *at = NULL;
  int32_t owned = 0;
  size_t whole = bytes;
  void *const place = caf_here_prepare(&call, here);
  call.chars = of.chars ? *of.chars : 0;
  if (of.chars) whole *= call.chars;
  ((caf_getter *)here->accessor->function)(here->add, &caf.image, &at, &owned, place, &call.token,
                                           0, &call.chars, of.object_chars);
  if (__builtin_expect(!at || owned, 0))
    take_scalar(at, owned, variable, whole);
  else
    copy_scalar(variable, at, whole);
}

/* Gets a scalar that is here, also a text, without TEAM=. Returns false where it is not. */
static bool get_scalar_here(const struct get_call *c) {
  struct caf_here here;
  const struct caf_target *const t = &c->target;
  if (!caf_find_slow(&here, &c->object, CAF_ATTACH_READ, c->stat != NULL)) return false;
  size_t length = 0;
  if (c->src_chars) length = caf_text_length(c->object.token, t->bytes, *c->src_chars);
  get_text(&here, *t->dst, t->bytes, (struct lengths){t->chars, c->src_chars ? &length : NULL});
  return true;
}

/* [in] t: the coarray; bytes: of a character; chars: of the variable; NULL: it is none of texts. */
static inline __attribute__((always_inline)) struct caf_lengths
lengths_of(const struct caf_token *t, size_t bytes, const size_t *chars,
           const size_t *object_chars) {
  struct caf_lengths of = {.has_chars = chars, .has_object_chars = object_chars};
  if (chars) of.chars = *chars;
  if (object_chars)
    of.object_chars =
        caf_is_accessors(t) ? *object_chars : caf_text_length(t, bytes, *object_chars);
  return of;
}

/* Gets an array of texts that is here. Returns false where it is not. Apart, as arrays of numbers
 * need none of its memory. */
static __attribute__((noinline)) bool get_texts_here(const struct get_call *c) {
  const struct caf_target *const t = &c->target;
  const struct caf_lengths of = lengths_of(c->object.token, t->bytes, t->chars, c->src_chars);
  return caf_here_get(&c->object, t->desc, &of, c->stat != NULL);
}

/* Gets an object that is here, of the current team. Returns false where it is not. */
static inline bool get_of_current(const struct get_call *c) {
  const struct caf_target *const t = &c->target;
  if (!t->desc) return get_scalar_here(c);
  const bool texts = t->chars || c->src_chars;
  if (!(texts ? get_texts_here(c) : caf_here_get(&c->object, t->desc, NULL, c->stat != NULL)))
    return false;
  if (t->dst) *t->dst = t->desc->base;
  return true;
}

/* The same, of another team. Apart, as above. */
static __attribute__((noinline)) bool get_of_team(const struct get_call *c) {
  struct get_call own = *c;
  own.object.image = caf_image_in(c->object.image, c->team, c->team_number);
  own.team = NULL;
  own.team_number = NULL;
  return own.object.image && get_of_current(&own);
}

/* Gets an object that is here, of any team. Returns false where it is not. */
static inline bool get_here(const struct get_call *c) {
  if (c->target.may_realloc) return false;
  return c->team || c->team_number ? get_of_team(c) : get_of_current(c);
}

/* All gets but those of the fewest instructions. */
static __attribute__((noinline)) void get_in_full(const struct get_call *c) {
  const struct caf_target *t = &c->target;
  if (get_here(c)) {
    caf_ok(c->stat);
    return;
  }
  if (!caf_is_accessors(c->object.token)) {
    caf.statement.call = "get";
    caf.statement.caller = c->caller;
  }
  const struct caf_any object = {c->object.token, c->object.image, c->team, c->team_number};
  struct caf_ask ask = {.kind = CAF_ACCESS_GET,
                        .index = c->object.index,
                        .object = c->object.shape,
                        .has_object_chars = c->src_chars != NULL,
                        .add = c->object.add,
                        .add_bytes = c->add_bytes,
                        .result_bytes = t->bytes,
                        .result_chars = t->chars ? *t->chars : 0};
  caf_any_get(&object, c->src_chars, &ask, t, c->stat);
}

void CAF(get_from_remote)(void *token, const struct caf_desc *src, const size_t *src_chars,
                          int image, size_t dst_size, void **dst, size_t *dst_chars,
                          struct caf_desc *dst_desc, bool may_realloc, int index, void *add,
                          size_t add_bytes, int *stat, void **team, int *team_number) {
  if (__builtin_expect(!dst_desc && !may_realloc && is_usual(stat, team, team_number), 1)) {
    const struct caf_selector s = {token, image, index, src, add};
    struct caf_here here;
    if (__builtin_expect(caf_find_short(&here, &s, CAF_ATTACH_READ, CAF_SCALAR), 1)) {
      if (__builtin_expect(!dst_chars && !src_chars, 1)) {
        get_scalar(&here, dst, dst_size);
        caf_ok(stat);
        return;
      }
      if (is_whole(token, dst_size, src_chars)) {
        get_text(&here, *dst, dst_size, (struct lengths){dst_chars, src_chars});
        caf_ok(stat);
        return;
      }
    }
  }
  const struct get_call c = {{token, image, index, src, add},
                             src_chars,
                             {dst, dst_size, dst_chars, dst_desc, may_realloc},
                             add_bytes,
                             stat,
                             team,
                             team_number,
                             __builtin_return_address(0)};
  get_in_full(&c);
}

/* ---- ALLOCATED */

/* All questions but those of the fewest instructions. */
static __attribute__((noinline)) int32_t is_present_in_full(const struct caf_token *t, int image,
                                                            int index, void *add, size_t add_bytes,
                                                            const void *caller) {
  if (!t) return 0; /* the coarray itself is not allocated */
  if (!caf_is_accessors(t) && (t->rank == 0 || caf_shape_here(t))) {
    struct caf_here here;
    const struct caf_selector s = {t, image, index, t->rank ? caf_shape_here(t) : NULL, add};
    if (caf_find_here(&here, &s, 0, false)) return caf_here_asks(&here, caf_takes_pointer(t));
  }
  caf.statement.call = "ALLOCATED";
  caf.statement.caller = caller;
  const struct caf_any object = {t, image, NULL, NULL};
  struct caf_ask ask = {
      .kind = CAF_ACCESS_PRESENT, .index = index, .add = add, .add_bytes = add_bytes};
  return caf_any_is_present(&object, &ask);
}

int32_t CAF(is_present_on_remote)(void *token, int image, int index, void *add, size_t add_bytes) {
  const struct caf_token *t = token;
  uint32_t rank;
  const uintptr_t place = caf_place_short(t, image, &rank);
  if (__builtin_expect(place && t->rank == 0, 1)) {
    const struct caf_here here = {(char *)place, NULL, add, &caf.accessors[index], rank};
    const bool runs = here.accessor->trials.direct || rank == caf.rank;
    if (runs && !caf_poll_is_due(CAF_SCALAR)) return caf_here_asks(&here, caf_takes_pointer(t));
  }
  return is_present_in_full(t, image, index, add, add_bytes, __builtin_return_address(0));
}

/* ---- put */

/* A put, as the compiler passes it. */
struct put_call {
  struct caf_selector object;
  const size_t *dst_chars;
  size_t src_size;
  const void *src;
  const size_t *src_chars;
  const struct caf_desc *src_desc;
  size_t add_bytes;
  int *stat;
  void **team;
  int *team_number;
  const void *caller;
};

/* Writes a scalar, also a text, or an array of texts. [in] data: a scalar, or the descriptor of an
 * array. */
static inline __attribute__((always_inline)) void put_text(const struct caf_here *here,
                                                           const void *data, struct lengths of) {
  struct caf_here_call call;
  void *const place = caf_here_prepare(&call, here);
  ((caf_setter *)here->accessor->function)(here->add, &caf.image, place, data, &call.token, 0,
                                           of.object_chars, of.chars);
}

/* Puts a scalar that is here, also a text, without TEAM=. Returns false where it is not. */
static bool put_scalar_here(const struct put_call *c) {
  struct caf_here here;
  size_t length = 0;
  if (!caf_find_slow(&here, &c->object, CAF_ATTACH_WRITE, c->stat != NULL)) return false;
  if (c->dst_chars) length = caf_text_length(c->object.token, c->src_size, *c->dst_chars);
  put_text(&here, c->src, (struct lengths){c->src_chars, c->dst_chars ? &length : NULL});
  return true;
}

/* Puts an object that is here, of any team. Returns false where it is not. */
static bool put_here(const struct put_call *c) {
  if (c->team || c->team_number) {
    struct put_call own = *c;
    own.object.image = caf_image_in(c->object.image, c->team, c->team_number);
    own.team = NULL;
    own.team_number = NULL;
    return own.object.image && put_here(&own);
  }
  const struct caf_lengths texts =
      lengths_of(c->object.token, c->src_size, c->src_chars, c->dst_chars);
  const struct caf_lengths *const of = c->src_chars || c->dst_chars ? &texts : NULL;
  if (c->src_desc ? caf_here_put(&c->object, c->src_desc, of, c->stat != NULL) : put_scalar_here(c))
    return true;
  const void *const data = c->src_desc ? (const void *)c->src_desc : c->src;
  return !c->stat && caf_here_put_attached(&c->object, data, c->src_desc, of);
}

/* All puts but those of the fewest instructions. */
static __attribute__((noinline)) void put_in_full(const struct put_call *c) {
  if (put_here(c)) {
    caf_ok(c->stat);
    return;
  }
  caf.statement.call = "put";
  caf.statement.caller = c->caller;
  const struct caf_any object = {c->object.token, c->object.image, c->team, c->team_number};
  struct caf_ask ask = {.kind = CAF_ACCESS_PUT,
                        .index = c->object.index,
                        .object = c->object.shape,
                        .has_object_chars = c->dst_chars != NULL,
                        .has_data_chars = c->src_chars != NULL,
                        .add = c->object.add,
                        .add_bytes = c->add_bytes,
                        .data = c->src,
                        .data_bytes = c->src_size * (c->src_chars ? *c->src_chars : 1),
                        .data_chars = c->src_chars ? *c->src_chars : 0};
  caf_any_put(&object, c->dst_chars, c->src_size, c->src_desc, &ask, c->stat);
}

void CAF(send_to_remote)(void *token, struct caf_desc *dst, const size_t *dst_chars, int image,
                         size_t src_size, const void *src, const size_t *src_chars,
                         const struct caf_desc *src_desc, int index, void *add, size_t add_bytes,
                         int *stat, void **team, int *team_number) {
  if (__builtin_expect(
          is_usual(stat, team, team_number) && (!src_desc || caf_here_takes_short(src_desc)), 1)) {
    const struct caf_selector s = {token, image, index, dst, add};
    const void *const data = src_desc ? (const void *)src_desc : src;
    struct caf_here here;
    if (__builtin_expect(caf_find_short(&here, &s, CAF_ATTACH_WRITE, CAF_SCALAR), 1)) {
      if (__builtin_expect(is_whole(token, src_size, dst_chars), 1)) {
        put_text(&here, data, (struct lengths){src_chars, dst_chars});
        caf_ok(stat);
        return;
      }
    }
  }
  const struct put_call c = {{token, image, index, dst, add},
                             dst_chars,
                             src_size,
                             src,
                             src_chars,
                             src_desc,
                             add_bytes,
                             stat,
                             team,
                             team_number,
                             __builtin_return_address(0)};
  put_in_full(&c);
}
