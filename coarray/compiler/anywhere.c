/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses of objects of any image, see anywhere.h; transfers between two of them.
 *
 * Owns nothing beyond a call. Called by compiler15.c, and with transfers by compiler12.c and
 * compiler16.c. Calls: remote.c, and accessors by trial.c. Invariants: an accessor of a structure
 * runs here only where it follows no address.
 */
#include "compiler/anywhere.h"

#include "compiler/here.h"
#include "compiler/trial.h"
#include "inside.h"

#include <stdlib.h>
#include <string.h>

/* Finds the object of an access; shape: of the coarray, or NULL. Returns false after caf_fail. */
static bool find(struct caf_there *there, const struct caf_any *s, const struct caf_desc *shape,
                 const struct caf_status *to) {
  const struct caf_token *t = s->token;
  if (caf_is_accessors(t)) {
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

size_t caf_text_length_slow(const struct caf_token *t, size_t bytes, size_t object_chars) {
  const size_t whole = t && t->elem_type == CAF_CHARACTER ? t->elem_bytes : 0;
  if (!whole || !bytes || whole % bytes || 4 * object_chars == whole) return object_chars;
  return whole / bytes;
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

/* A result without shape, or with that of the variable which it may be put into. [out] room: there.
 */
static struct caf_desc result_of(const struct caf_target *t, struct caf_room *room) {
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
static void store_array(const struct caf_target *t, struct caf_answer *a,
                        const struct caf_status *to) {
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

void caf_fail_not_allocated(const struct caf_status *to) {
  caf_fail(to, CAF_STAT_ERROR,
           "a component of a coindexed object is used that is not allocated [TMB-2064]");
}

static void store(const struct caf_target *t, struct caf_answer *a, const struct caf_status *to) {
  if (!a->found.at) {
    caf_fail_not_allocated(to);
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

static void get(const struct caf_there *there, struct caf_ask *ask, const struct caf_target *t,
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

void caf_any_get(const struct caf_any *object, const size_t *src_chars, struct caf_ask *ask,
                 const struct caf_target *target, int *stat) {
  CAF_INSIDE;
  const struct caf_status to = {.stat = stat};
  struct caf_there there;
  if (stat) caf_poll_counted();
  if (!find(&there, object, ask->object, &to)) return;
  if (src_chars) ask->object_chars = caf_text_length(there.token, target->bytes, *src_chars);
  get(&there, ask, target, &to);
}

/* Asks an image, or runs the accessor here now and then, to find out whether it may. */
int32_t caf_any_is_present(const struct caf_any *object, struct caf_ask *ask) {
  CAF_INSIDE;
  const struct caf_status to = {0};
  const struct caf_token *t = object->token;
  struct caf_there there;
  if (!find(&there, object, NULL, &to)) return 0;
  if (there.token) ask->by_pointer = caf_takes_pointer(t);
  if (there.token && t->rank > 0) ask->object = caf_shape_here(t);
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

void caf_any_put(const struct caf_any *object, const size_t *dst_chars, size_t src_size,
                 const struct caf_desc *src_desc, struct caf_ask *ask, int *stat) {
  CAF_INSIDE;
  const struct caf_status to = {.stat = stat};
  const struct caf_room room = {.bytes = 0};
  struct caf_there there;
  struct caf_answer answer;
  struct caf_desc shape;
  void *copy = NULL;
  if (stat) caf_poll_counted();
  if (!find(&there, object, ask->object, &to)) return;
  if (dst_chars) ask->object_chars = caf_text_length(there.token, src_size, *dst_chars);
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
  const struct caf_any *object;
  const struct caf_desc *desc;
  struct caf_ask *ask;
  struct caf_status to;
  struct caf_there there;
};

static bool find_half(struct half *h, size_t char_bytes) {
  if (!find(&h->there, h->object, h->desc, &h->to)) return false;
  if (h->ask->has_object_chars)
    h->ask->object_chars = caf_text_length(h->there.token, char_bytes, h->ask->object_chars);
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

static struct caf_any object_of(const struct caf_side *s) {
  return (struct caf_any){s->object.token, s->object.image, s->team, s->team_number};
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
  const struct caf_any of = object_of(from), to = object_of(into);
  struct half source = {&of, from->object.shape, &get, {.stat = from->stat}, {0}},
              target = {&to, into->object.shape, &put, {.stat = into->stat}, {0}};
  transfer_other(&source, &target);
}
