/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of gfortran 15 and 16 for coindexed objects: transfers by accessors.
 *
 * Owns nothing. Called by compiled programs, and by their accessors. Calls: remote.c. Invariants:
 * an accessor is a function of the program that accesses the object where it is, so components and
 * subscripts need no description; its values travel as a copy of `add`. Earlier compilers call
 * transfer.c and ref.c instead; one library serves both. The arguments were read from
 * -fdump-tree-original: a descriptor of the coarray where the accessor takes one, else NULL; with a
 * descriptor of the data, the address of a pointer to them; with characters, `size` is that of one.
 */
#include "compiler/generation.h"
#include "compiler/here.h"
#include "compiler/trial.h"
#include "data/remote.h"
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

/* Ends an access of an image that has not failed, as far as this one knows. */
static inline void end_short(int *stat) {
  if (__builtin_expect(!stat, 1)) return;
  *stat = 0;
  caf.until_poll -= CAF_WITH_STAT - CAF_SCALAR;
}

/* The image and the object of an access. */
struct selector {
  const void *token;
  int image;
  void **team;
  const int *team_number;
};

/* Whether an accessor asks: its statement is that of the image which it answers. */
static inline bool is_accessors(const struct caf_token *t) {
  return t && t->type < 0;
}

/* Finds the object of an access; shape: of the coarray, or NULL. Returns false after caf_fail. */
static bool find(struct caf_there *there, const struct selector *s, const struct caf_desc *shape,
                 const struct caf_status *to) {
  const struct caf_token *t = s->token;
  if (is_accessors(t)) {
    *there = (struct caf_there){.rank = t->type == CAF_OF_SELF ? caf.rank : t->asker,
                                .base = (uintptr_t)t->base};
    return true;
  }
  there->token = t;
  there->rank = s->team || s->team_number ? caf_rank_in(s->image, s->team, s->team_number, to)
                                          : caf_rank_there(t, s->image, to);
  if (there->rank == UINT32_MAX || !caf_address(t, 0, 0, there->rank, to)) return false;
  there->base = t->addr[there->rank];
  /* Of a dummy argument: where it begins in the coarray that was passed for it. */
  const size_t offset = shape ? (size_t)((char *)shape->base - (char *)t->base) : 0;
  if (offset < t->bytes) there->base += offset;
  return true;
}

/* Length of the elements of a coarray of characters, where the compiler passes that of a substring,
 * by which it would find the elements. [in] bytes: of a character of the other side, which those of
 * kind 4 may be put from, too. */
static __attribute__((noinline)) size_t length_slow(const struct caf_token *t, size_t bytes,
                                                    size_t object_chars) {
  const size_t whole = t && t->elem_type == CAF_CHARACTER ? t->elem_bytes : 0;
  if (!whole || !bytes || whole % bytes || 4 * object_chars == whole) return object_chars;
  return whole / bytes;
}

static inline __attribute__((always_inline)) size_t length_of(const struct caf_token *t,
                                                              size_t bytes, size_t object_chars) {
  if (t && __builtin_expect(t->elem_bytes == object_chars * bytes, 1)) return object_chars;
  return length_slow(t, bytes, object_chars);
}

/* Whether the accessor may run here on a structure of another image. Notes what it takes, by which
 * its next access may be short. */
static bool runs_on_structure(const struct caf_there *there, const struct caf_ask *ask) {
  const struct caf_token *t = there->token;
  struct caf_accessor *const accessor = caf_accessor_at(ask->index);
  if (!t || !accessor) return false;
  caf_accessor_note(accessor, t);
  return t->elem_type == CAF_DERIVED && there->rank != caf.rank && caf_is_near(there->rank) &&
         caf_trial_direct(ask, t, there->rank, (size_t)(there->base - t->addr[there->rank]));
}

/* Makes an access. Returns false after caf_fail. An access of a failed image without STAT= moves
 * nothing, and a variable with room gets zeros, as with accesses that need no accessor. */
static bool call(const struct caf_there *there, struct caf_ask *ask, const struct caf_room *room,
                 struct caf_answer *answer, const struct caf_status *to) {
  ask->direct = runs_on_structure(there, ask);
  const int code = caf_remote_call(there, ask, room, answer);
  if (!code) return !there->token || !caf_failed(there->rank, to); /* meanwhile */
  if (code == CAF_STAT_FAILED && !to->stat && (room->at || ask->kind != CAF_ACCESS_GET)) {
    if (room->bytes) memset(room->at, 0, room->bytes);
    answer->found = (struct caf_found){.at = room->at};
    if (ask->result) answer->found.desc = caf_desc_packed(ask->result, room->at);
    answer->bytes = room->bytes;
    return true;
  }
  caf_fail(to, code, "image %u of the initial team %s [TMB-2012]", there->rank + 1,
           code == CAF_STAT_ERROR ? "is not of the same program" : caf_end_name(code));
  return false;
}

/* The elements of a section that lie together: where they are, or a copy. [out] copy: malloc'ed, or
 * NULL. Returns NULL, after caf_fail, when there is no memory. */
static void *together(const struct caf_section *s, void **copy, const struct caf_status *to) {
  const size_t bytes = caf_section_elements(s) * s->elem_len;
  *copy = NULL;
  if (caf_section_contiguous(s)) return s->base;
  *copy = malloc(bytes + 1);
  if (*copy)
    caf_section_pack(s, *copy);
  else
    caf_fail(to, CAF_STAT_ERROR, "out of memory: %zu bytes for a transfer [TMB-0001]", bytes);
  return *copy;
}

/* ---- get */

/* Where the result of a get goes. */
struct target {
  void **dst;
  size_t bytes; /* of a scalar, or of one of its characters */
  size_t *chars;
  struct caf_desc *desc;
  bool may_realloc;
};

/* A result without shape, or with that of the variable which it may be put into. [out] room: there.
 */
static struct caf_desc result_of(const struct target *t, struct caf_room *room) {
  struct caf_desc shape = {.base = NULL};
  struct caf_section s;
  shape.dtype = t->desc->dtype;
  if (t->may_realloc) return shape;
  caf_section_of(&s, t->desc, t->desc->base, NULL);
  if (!caf_section_contiguous(&s)) return shape;
  *room = (struct caf_room){s.base, caf_section_elements(&s) * s.elem_len};
  return caf_desc_packed(t->desc, s.base);
}

/* Stores the result of a get in an array variable. */
static void store_array(const struct target *t, struct caf_answer *a, const struct caf_status *to) {
  struct caf_desc *found = &a->found.desc;
  struct caf_section from, into;
  if (found->base == t->desc->base) return;
  caf_section_of(&from, found, found->base, NULL);
  const size_t bytes = caf_section_elements(&from) * from.elem_len;
  if (t->may_realloc) {
    void *memory = found->base;
    if (!a->found.owned) memory = malloc(bytes + 1);
    if (!memory) {
      caf_fail(to, CAF_STAT_ERROR, "out of memory: %zu bytes for a transfer [TMB-0001]", bytes);
      return;
    }
    if (!a->found.owned) caf_section_pack(&from, memory);
    a->found.owned = false;
    *found = caf_desc_packed(found, memory);
    memcpy(t->desc, found, caf_desc_bytes(found));
    return;
  }
  caf_section_of(&into, t->desc, t->desc->base, NULL);
  void *copy, *elements = together(&from, &copy, to);
  if (elements && caf_section_elements(&into) * into.elem_len <= bytes)
    caf_section_unpack(&into, elements);
  free(copy);
}

static __attribute__((cold)) void fail_not_allocated(const struct caf_status *to) {
  caf_fail(to, CAF_STAT_ERROR,
           "a component of a coindexed object is used that is not allocated [TMB-2064]");
}

static void store(const struct target *t, struct caf_answer *a, const struct caf_status *to) {
  if (!a->found.at) {
    fail_not_allocated(to);
    return;
  }
  if (t->desc) {
    store_array(t, a, to);
    if (t->dst) *t->dst = t->desc->base;
  } else if (t->may_realloc) {
    void *memory = realloc(*t->dst, a->bytes + 1);
    if (memory) *t->dst = memcpy(memory, a->found.at, a->bytes);
  } else if (*t->dst != a->found.at) {
    memmove(*t->dst, a->found.at, a->bytes);
  }
}

static void get(const struct caf_there *there, struct caf_ask *ask, const struct target *t,
                const struct caf_status *to) {
  struct caf_answer answer; /* zeros would take as long as the access of a scalar */
  struct caf_room room = {.bytes = 0};
  struct caf_desc result;
  answer.bytes = 0;
  answer.found.at = NULL;
  answer.found.owned = false;
  if (t->desc) {
    result = result_of(t, &room);
    ask->result = &result;
  } else if (!t->may_realloc) {
    room = (struct caf_room){*t->dst, t->bytes * (t->chars ? *t->chars : 1)};
  }
  if (call(there, ask, &room, &answer, to)) {
    caf_ok(to->stat);
    store(t, &answer, to);
  }
  if (answer.found.owned) free(answer.found.at);
}

static __attribute__((noinline)) void get_any(const struct selector *selector,
                                              const size_t *src_chars, struct caf_ask *ask,
                                              const struct target *target, int *stat) {
  CAF_INSIDE;
  const struct caf_status to = {.stat = stat};
  struct caf_there there;
  if (stat) caf_poll_counted();
  if (!find(&there, selector, ask->object, &to)) return;
  if (src_chars) ask->object_chars = length_of(there.token, target->bytes, *src_chars);
  get(&there, ask, target, &to);
}

/* Copies a scalar that an accessor has found into a variable. Apart, as it is seldom needed. */
static __attribute__((noinline)) void take_scalar(void *at, bool owned, void *variable,
                                                  size_t bytes) {
  const struct caf_status none = {0};
  if (!at) {
    CAF_STATEMENT("get");
    fail_not_allocated(&none);
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

/* Reads a scalar into a variable. */
static inline __attribute__((always_inline)) void get_scalar(const struct caf_here *here,
                                                             void *variable, size_t bytes) {
  int32_t owned = 0;
  void *const at = caf_here_find(here, &owned);
  if (__builtin_expect(!at || owned, 0))
    take_scalar(at, owned, variable, bytes);
  else if (__builtin_expect(bytes == 8, 1))
    memcpy(variable, at, 8);
  else if (bytes == 4)
    memcpy(variable, at, 4);
  else if (bytes == 1)
    memcpy(variable, at, 1);
  else
    copy_scalar(variable, at, bytes);
}

/* A get, as the compiler passes it. */
struct get_call {
  struct caf_selector object;
  const size_t *src_chars;
  struct target target;
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
  const struct target *const t = &c->target;
  if (!caf_find_slow(&here, &c->object, CAF_ATTACH_READ, c->stat != NULL)) return false;
  size_t length = 0;
  if (c->src_chars) length = length_of(c->object.token, t->bytes, *c->src_chars);
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
    of.object_chars = is_accessors(t) ? *object_chars : length_of(t, bytes, *object_chars);
  return of;
}

/* Gets an array that is here. Returns false where it is not. */
static bool get_array_here(const struct get_call *c) {
  const struct target *const t = &c->target;
  const bool texts = t->chars || c->src_chars;
  struct caf_lengths of;
  if (texts) of = lengths_of(c->object.token, t->bytes, t->chars, c->src_chars);
  if (!caf_here_get(&c->object, t->desc, texts ? &of : NULL, c->stat != NULL)) return false;
  if (t->dst) *t->dst = t->desc->base;
  return true;
}

/* All gets but those of the fewest instructions. */
static __attribute__((noinline)) void get_in_full(const struct get_call *c) {
  const struct target *t = &c->target;
  const bool usual = !t->may_realloc && !c->team && !c->team_number;
  if (usual && (t->desc ? get_array_here(c) : get_scalar_here(c))) {
    caf_ok(c->stat);
    return;
  }
  if (!is_accessors(c->object.token)) {
    caf.statement.call = "get";
    caf.statement.caller = c->caller;
  }
  const struct selector selector = {c->object.token, c->object.image, c->team, c->team_number};
  struct caf_ask ask = {.kind = CAF_ACCESS_GET,
                        .index = c->object.index,
                        .object = c->object.shape,
                        .has_object_chars = c->src_chars != NULL,
                        .add = c->object.add,
                        .add_bytes = c->add_bytes,
                        .result_bytes = t->bytes,
                        .result_chars = t->chars ? *t->chars : 0};
  get_any(&selector, c->src_chars, &ask, t, c->stat);
}

void CAF(get_from_remote)(void *token, const struct caf_desc *src, const size_t *src_chars,
                          int image, size_t dst_size, void **dst, size_t *dst_chars,
                          struct caf_desc *dst_desc, bool may_realloc, int index, void *add,
                          size_t add_bytes, int *stat, void **team, int *team_number) {
  if (__builtin_expect(!dst_desc && !may_realloc && !team && !team_number, 1)) {
    const struct caf_selector s = {token, image, index, src, add};
    struct caf_here here;
    if (__builtin_expect(caf_find_short(&here, &s, CAF_ATTACH_READ, CAF_SCALAR), 1)) {
      if (__builtin_expect(!dst_chars && !src_chars, 1)) {
        get_scalar(&here, *dst, dst_size);
        end_short(stat);
        return;
      }
      if (is_whole(token, dst_size, src_chars)) {
        get_text(&here, *dst, dst_size, (struct lengths){dst_chars, src_chars});
        end_short(stat);
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

/* The shape of an allocatable coarray, by its variable. NULL: it is elsewhere now. */
static const struct caf_desc *shape_of(const struct caf_token *t) {
  return t->desc && t->desc->base == t->base ? t->desc : NULL;
}

/* Whether an accessor takes the address of a pointer to the coarray. */
static bool takes_pointer(const struct caf_token *t) {
  return t->rank == 0 && caf_scalars_by_pointer && t->elem_bytes == t->bytes;
}

/* Asks an image, or runs the accessor here now and then, to find out whether it may. */
static int32_t is_present(const struct selector *selector, struct caf_ask *ask) {
  CAF_INSIDE;
  const struct caf_status to = {0};
  const struct caf_token *t = selector->token;
  struct caf_there there;
  if (!find(&there, selector, NULL, &to)) return 0;
  if (there.token) ask->by_pointer = takes_pointer(t);
  if (there.token && t->rank > 0) ask->object = shape_of(t);
  if (there.token && t->rank > 0 && !ask->object) {
    char name[CAF_NAME_ROOM];
    caf_fail(&to, CAF_STAT_ERROR,
             "ALLOCATED of a component of %s: the variable has changed since its ALLOCATE, as by "
             "MOVE_ALLOC; gfortran does not pass its shape [TMB-2065]",
             caf_name_of(t, name, sizeof name));
    return 0;
  }
  struct caf_answer answer;
  const struct caf_room room = {.bytes = 0};
  return call(&there, ask, &room, &answer, &to) ? answer.found.present : 0;
}

/* All questions but those of the fewest instructions. */
static __attribute__((noinline)) int32_t is_present_in_full(const struct caf_token *t, int image,
                                                            int index, void *add, size_t add_bytes,
                                                            const void *caller) {
  if (!t) return 0; /* the coarray itself is not allocated */
  if (!is_accessors(t) && (t->rank == 0 || shape_of(t))) {
    struct caf_here here;
    const struct caf_selector s = {t, image, index, t->rank ? shape_of(t) : NULL, add};
    if (caf_find_here(&here, &s, 0, false)) return caf_here_asks(&here, takes_pointer(t));
  }
  caf.statement.call = "ALLOCATED";
  caf.statement.caller = caller;
  const struct selector selector = {t, image, NULL, NULL};
  struct caf_ask ask = {
      .kind = CAF_ACCESS_PRESENT, .index = index, .add = add, .add_bytes = add_bytes};
  return is_present(&selector, &ask);
}

int32_t CAF(is_present_on_remote)(void *token, int image, int index, void *add, size_t add_bytes) {
  const struct caf_token *t = token;
  uint32_t rank;
  const uintptr_t place = caf_place_short(t, image, &rank);
  if (__builtin_expect(place && t->rank == 0, 1)) {
    const struct caf_here here = {(char *)place, NULL, add, &caf.accessors[index]};
    if (here.accessor->trials.direct && !caf_poll_is_due(CAF_SCALAR))
      return caf_here_asks(&here, takes_pointer(t));
  }
  return is_present_in_full(t, image, index, add, add_bytes, __builtin_return_address(0));
}

/* ---- put */

static __attribute__((noinline)) void put_any(const struct selector *selector,
                                              const size_t *dst_chars, size_t src_size,
                                              const struct caf_desc *src_desc, struct caf_ask *ask,
                                              int *stat) {
  CAF_INSIDE;
  const struct caf_status to = {.stat = stat};
  const struct caf_room room = {.bytes = 0};
  struct caf_there there;
  struct caf_answer answer;
  struct caf_desc shape;
  void *copy = NULL;
  if (stat) caf_poll_counted();
  if (!find(&there, selector, ask->object, &to)) return;
  if (dst_chars) ask->object_chars = length_of(there.token, src_size, *dst_chars);
  if (src_desc) {
    struct caf_section s;
    caf_section_of(&s, src_desc, src_desc->base, NULL);
    ask->data_bytes = caf_section_elements(&s) * s.elem_len;
    shape = caf_desc_packed(src_desc, together(&s, &copy, &to));
    if (!shape.base && ask->data_bytes) return;
    ask->data = shape.base;
    ask->data_desc = &shape;
  }
  if (call(&there, ask, &room, &answer, &to)) caf_ok(stat);
  free(copy);
}

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
  if (c->dst_chars) length = length_of(c->object.token, c->src_size, *c->dst_chars);
  put_text(&here, c->src, (struct lengths){c->src_chars, c->dst_chars ? &length : NULL});
  return true;
}

/* Puts any object that is here, without TEAM=. Returns false where it is not. */
static bool put_here(const struct put_call *c) {
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
  if (!c->team && !c->team_number && put_here(c)) {
    caf_ok(c->stat);
    return;
  }
  caf.statement.call = "put";
  caf.statement.caller = c->caller;
  const struct selector selector = {c->object.token, c->object.image, c->team, c->team_number};
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
  put_any(&selector, c->dst_chars, c->src_size, c->src_desc, &ask, c->stat);
}

void CAF(send_to_remote)(void *token, struct caf_desc *dst, const size_t *dst_chars, int image,
                         size_t src_size, const void *src, const size_t *src_chars,
                         const struct caf_desc *src_desc, int index, void *add, size_t add_bytes,
                         int *stat, void **team, int *team_number) {
  if (__builtin_expect(!team && !team_number && (!src_desc || caf_here_takes_short(src_desc)), 1)) {
    const struct caf_selector s = {token, image, index, dst, add};
    const void *const data = src_desc ? (const void *)src_desc : src;
    struct caf_here here;
    if (__builtin_expect(caf_find_short(&here, &s, CAF_ATTACH_WRITE, CAF_SCALAR), 1)) {
      if (__builtin_expect(is_whole(token, src_size, dst_chars), 1)) {
        put_text(&here, data, (struct lengths){src_chars, dst_chars});
        end_short(stat);
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

/* ---- from image to image */

/* The second half of a transfer: puts the data that the first has got. */
static bool put_found(const struct caf_there *there, struct caf_ask *ask, struct caf_answer *got,
                      const struct caf_status *to) {
  struct caf_desc shape;
  struct caf_answer answer;
  const struct caf_room room = {.bytes = 0};
  struct caf_section s;
  void *copy = NULL;
  ask->data = got->found.at;
  ask->data_bytes = got->bytes;
  if (ask->data_desc) {
    caf_section_of(&s, &got->found.desc, got->found.desc.base, NULL);
    ask->data_bytes = caf_section_elements(&s) * s.elem_len;
    shape = caf_desc_packed(&got->found.desc, together(&s, &copy, to));
    if (!shape.base && ask->data_bytes) return false;
    ask->data = shape.base;
    ask->data_desc = &shape;
  }
  const bool done = call(there, ask, &room, &answer, to);
  free(copy);
  return done;
}

/* One of the two objects of a transfer. */
struct half {
  const struct selector *selector;
  const struct caf_desc *desc;
  struct caf_ask *ask;
  struct caf_status to;
  struct caf_there there;
};

static bool find_half(struct half *h, size_t char_bytes) {
  if (!find(&h->there, h->selector, h->desc, &h->to)) return false;
  if (h->ask->has_object_chars)
    h->ask->object_chars = length_of(h->there.token, char_bytes, h->ask->object_chars);
  return true;
}

/* A transfer of objects of which one is on another image. */
static __attribute__((noinline)) void transfer_other(struct half *source, struct half *target) {
  CAF_INSIDE;
  struct caf_answer got = {.bytes = 0};
  const struct caf_room room = {.bytes = 0};
  const size_t char_bytes = source->ask->result_bytes;
  if (!find_half(source, char_bytes) || !find_half(target, char_bytes)) return;
  if (!call(&source->there, source->ask, &room, &got, &source->to)) return;
  caf_ok(source->to.stat);
  if (put_found(&target->there, target->ask, &got, &target->to)) caf_ok(target->to.stat);
  if (got.found.owned) free(got.found.at);
}

static struct selector selector_of(const struct caf_side *s) {
  return (struct selector){s->object.token, s->object.image, s->team, s->team_number};
}

void caf_transfer_in_full(const struct caf_transfer *t, bool usual) {
  const struct caf_side *from = &t->from, *into = &t->into;
  if (usual && t->scalar && caf_here_move(&into->object, &from->object)) return;
  caf.statement.call = "put";
  caf.statement.caller = t->caller;
  const struct caf_desc shape = {.base = NULL};
  struct caf_ask get = {.kind = CAF_ACCESS_GET,
                        .index = from->object.index,
                        .object = from->object.shape,
                        .has_object_chars = from->chars != NULL,
                        .object_chars = from->chars ? *from->chars : 0,
                        .add = from->object.add,
                        .add_bytes = from->add_bytes,
                        .result_bytes = t->bytes,
                        .result_chars = from->chars ? *from->chars : 0,
                        .result = t->scalar ? NULL : &shape};
  struct caf_ask put = {.kind = CAF_ACCESS_PUT,
                        .index = into->object.index,
                        .object = into->object.shape,
                        .has_object_chars = into->chars != NULL,
                        .object_chars = into->chars ? *into->chars : 0,
                        .has_data_chars = from->chars != NULL,
                        .data_chars = from->chars ? *from->chars : 0,
                        .add = into->object.add,
                        .add_bytes = into->add_bytes,
                        .data_desc = get.result};
  const struct selector of = selector_of(from), to = selector_of(into);
  struct half source = {&of, from->object.shape, &get, {.stat = from->stat}, {0}},
              target = {&to, into->object.shape, &put, {.stat = into->stat}, {0}};
  transfer_other(&source, &target);
}
