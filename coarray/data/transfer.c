/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assignments from and to coindexed objects: get, send and sendget.
 *
 * Owns nothing. Called by compiled programs. Calls: put and get, section.c. Invariants: an
 * assignment to an image whose memory is mapped is complete when its call returns, one to another
 * has been sent (pending.h), so the order of accesses to one image is that of the program; scalars
 * of one type go straight to the put or get. The address of the remote side is token + offset; its
 * descriptor gives only shape and strides.
 */
#include "data/attach.h"
#include "data/pending.h"

#include <string.h>

/* The arguments are the compiler's. */
CAF_EXPORT void CAF(get)(void *token, size_t offset, int image, struct caf_desc *src,
                         struct caf_vector *vector, struct caf_desc *dst, int src_kind,
                         int dst_kind, bool may_need_tmp, int *stat);
CAF_EXPORT void CAF(send)(void *token, size_t offset, int image, struct caf_desc *dst,
                          struct caf_vector *vector, struct caf_desc *src, int dst_kind,
                          int src_kind, bool may_need_tmp, int *stat, void **team);
CAF_EXPORT void CAF(sendget)(void *dst_token, size_t dst_offset, int dst_image,
                             struct caf_desc *dst, struct caf_vector *dst_vector, void *src_token,
                             size_t src_offset, int src_image, struct caf_desc *src,
                             struct caf_vector *src_vector, int dst_kind, int src_kind,
                             bool may_need_tmp, int *stat);

#define NUMBER_BYTES 32u /* the largest number: COMPLEX(16) */

static struct caf_elem elem_of(const struct caf_desc *desc, int kind) {
  return (struct caf_elem){desc->dtype.type, kind, desc->dtype.elem_len};
}

/* Scalars of one type on both sides: most assignments. */
static inline bool same_scalars(const struct caf_desc *a, const struct caf_desc *b, int a_kind,
                                int b_kind) {
  return (a->dtype.rank | b->dtype.rank) == 0 && a_kind == b_kind &&
         a->dtype.type == b->dtype.type && a->dtype.elem_len == b->dtype.elem_len;
}

/* Numbers of different types or kinds on both sides: they are converted here, without a section. */
static inline bool scalar_numbers(const struct caf_desc *a, const struct caf_desc *b) {
  return (a->dtype.rank | b->dtype.rank) == 0 && a->dtype.elem_len <= NUMBER_BYTES &&
         b->dtype.elem_len <= NUMBER_BYTES && a->dtype.type < CAF_DERIVED &&
         b->dtype.type < CAF_DERIVED;
}

/* Refuses a substring of a coindexed object, `s[i](2:3)`: gfortran 12 gives where it begins, and as
 * its length that of the whole. One that begins at 1 looks like the whole. */
static __attribute__((noinline)) bool substring(const struct caf_token *token, size_t offset,
                                                const struct caf_desc *remote,
                                                const struct caf_status *to) {
  const size_t whole = token->char_bytes;
  char name[CAF_NAME_ROOM];
  if (whole == 0 || remote->dtype.elem_len != whole || offset % whole == 0) return false;
  caf_fail(to, CAF_STAT_ERROR,
           "a substring of %s is used with an image index: gfortran 12 does not pass its length: "
           "assign the whole to a variable first [TMB-2063]",
           caf_name_of(token, name, sizeof name));
  return true;
}

static inline bool is_substring(const struct caf_token *token, size_t offset,
                                const struct caf_desc *remote, const struct caf_status *to) {
  return __builtin_expect(remote->dtype.type == CAF_CHARACTER, 0) &&
         substring(token, offset, remote, to);
}

/* An assignment that is not one of equal scalars, or posts events. */
struct assignment {
  uint32_t rank;
  void *remote;
  const struct caf_desc *remote_desc, *local_desc;
  const struct caf_vector *vector;
  int remote_kind, local_kind;
  const struct caf_status *to;
};

static __attribute__((noinline)) void get_any(const struct assignment *a) {
  const struct caf_elem from_elem = elem_of(a->remote_desc, a->remote_kind),
                        into_elem = elem_of(a->local_desc, a->local_kind);
  if (scalar_numbers(a->remote_desc, a->local_desc) && !caf_attached(a->rank, CAF_ATTACH_READ)) {
    _Alignas(16) char number[NUMBER_BYTES];
    caf_get(number, a->rank, a->remote, from_elem.len, 0);
    caf_convert(a->local_desc->base, &into_elem, number, &from_elem);
    return;
  }
  struct caf_section from, into;
  const struct caf_remote_object object = {a->remote_desc, a->remote, a->vector};
  if (!caf_remote_section(&from, &object, a->local_desc, a->to)) return;
  caf_section_of(&into, a->local_desc, a->local_desc->base, NULL);
  caf_assign_local(&into, &into_elem, a->rank, &from, &from_elem);
  caf_section_free(&from);
}

void CAF(get)(void *token, size_t offset, int image, struct caf_desc *src,
              struct caf_vector *vector, struct caf_desc *dst, int src_kind, int dst_kind,
              bool may_need_tmp, int *stat) {
  CAF_STATEMENT("get");
  (void)may_need_tmp;
  const struct caf_status to = {.stat = stat};
  const uint32_t rank = caf_rank_there(token, image, &to);
  if (__builtin_expect(rank == UINT32_MAX, 0)) return;
  const size_t bytes = src->dtype.elem_len;
  void *remote = caf_address(token, offset, bytes, rank, &to);
  if (__builtin_expect(!remote, 0) || is_substring(token, offset, src, &to)) return;
  caf_ok(stat);
  if (same_scalars(src, dst, src_kind, dst_kind) &&
      !caf_attached_at(rank, CAF_ATTACH_READ, remote, bytes)) {
    caf_await(rank, remote, bytes);
    if (bytes == 8) /* known sizes are copied inline */
      gex_RMA_GetBlocking(caf.tm, dst->base, rank, remote, 8, 0);
    else if (bytes == 4)
      gex_RMA_GetBlocking(caf.tm, dst->base, rank, remote, 4, 0);
    else
      gex_RMA_GetBlocking(caf.tm, dst->base, rank, remote, bytes, 0);
  } else {
    get_any(&(struct assignment){rank, remote, src, dst, vector, src_kind, dst_kind, &to});
  }
  (void)caf_failed(rank, &to); /* meanwhile */
}

/* Writes a number of 4 or 8 bytes, its low ones, to a near rank. */
static inline __attribute__((always_inline)) void put_word(uint32_t rank, void *remote,
                                                           uint64_t word, size_t bytes) {
  if (bytes == 8)
    gex_RMA_PutBlockingVal(caf.tm, rank, remote, word, 8, 0);
  else
    gex_RMA_PutBlockingVal(caf.tm, rank, remote, word, 4, 0);
}

static __attribute__((noinline)) void put_far(uint32_t rank, void *remote, const void *data,
                                              size_t bytes) {
  caf_put(rank, remote, data, bytes, 0);
}

/* Writes a scalar; those of 4 and 8 bytes are stored inline. */
static inline __attribute__((always_inline)) void put_scalar(uint32_t rank, void *remote,
                                                             const void *data, size_t bytes) {
  uint64_t word;
  uint32_t half;
  if (!caf_is_near(rank)) {
    put_far(rank, remote, data, bytes);
  } else if (bytes != 8 && bytes != 4) {
    gex_RMA_PutBlocking(caf.tm, rank, remote, data, bytes, 0);
  } else if (bytes == 8) {
    memcpy(&word, data, sizeof word);
    put_word(rank, remote, word, 8);
  } else {
    memcpy(&half, data, sizeof half);
    put_word(rank, remote, half, 4);
  }
}

static __attribute__((noinline)) void put(uint32_t rank, void *remote, const void *data,
                                          size_t bytes) {
  if (caf_attached_at(rank, CAF_ATTACH_WRITE, remote, bytes))
    caf_attach_put(rank, remote, data, bytes, 0);
  else
    put_scalar(rank, remote, data, bytes);
}

/* Writes a number that the compiler has not converted. */
static __attribute__((noinline)) void send_other_number(uint32_t rank, void *remote,
                                                        const struct caf_elem *into,
                                                        const void *data,
                                                        const struct caf_elem *from) {
  _Alignas(16) char number[NUMBER_BYTES];
  caf_convert(number, into, data, from);
  put(rank, remote, number, into->len);
}

static __attribute__((noinline)) void send_number(uint32_t rank, void *remote,
                                                  const struct caf_desc *dst,
                                                  const struct caf_desc *src, int dst_kind,
                                                  int src_kind) {
  const struct caf_elem from = elem_of(src, src_kind), into = elem_of(dst, dst_kind);
  uint64_t word;
  if (!caf_is_near(rank) || caf_attached_at(rank, CAF_ATTACH_WRITE, remote, into.len) ||
      !caf_convert_word(&word, &into, src->base, &from)) {
    const struct caf_elem kept[2] = {from, into};
    send_other_number(rank, remote, &kept[1], src->base, &kept[0]);
  } else {
    put_word(rank, remote, word, (size_t)dst_kind);
  }
}

static __attribute__((noinline)) void send_any(const struct assignment *a) {
  const struct caf_elem from_elem = elem_of(a->local_desc, a->local_kind),
                        into_elem = elem_of(a->remote_desc, a->remote_kind);
  if ((a->local_desc->dtype.rank | a->remote_desc->dtype.rank) == 0 &&
      caf_same_elem(&from_elem, &into_elem)) {
    put(a->rank, a->remote, a->local_desc->base, into_elem.len);
    return;
  }
  struct caf_section into, from;
  const struct caf_remote_object object = {a->remote_desc, a->remote, a->vector};
  if (!caf_remote_section(&into, &object, a->local_desc, a->to)) return;
  caf_section_of(&from, a->local_desc, a->local_desc->base, NULL);
  caf_assign_remote(a->rank, &into, &into_elem, &from, &from_elem);
  caf_section_free(&into);
}

void CAF(send)(void *token, size_t offset, int image, struct caf_desc *dst,
               struct caf_vector *vector, struct caf_desc *src, int dst_kind, int src_kind,
               bool may_need_tmp, int *stat, void **team) {
  CAF_STATEMENT("put");
  (void)may_need_tmp;
  const struct caf_status to = {.stat = stat};
  const uint32_t rank = __builtin_expect(team != NULL, 0) ? caf_rank_in(image, team, NULL, &to)
                                                          : caf_rank_there(token, image, &to);
  if (__builtin_expect(rank == UINT32_MAX, 0)) return;
  const size_t bytes = dst->dtype.elem_len;
  void *remote = caf_address(token, offset, bytes, rank, &to);
  if (__builtin_expect(!remote, 0) || is_substring(token, offset, dst, &to)) return;
  caf_ok(stat);
  const bool scalars = (src->dtype.rank | dst->dtype.rank) == 0;
  if (scalars && same_scalars(src, dst, src_kind, dst_kind) &&
      !caf_attached_at(rank, CAF_ATTACH_WRITE, remote, bytes))
    put_scalar(rank, remote, src->base, bytes);
  else if (scalars && scalar_numbers(dst, src))
    send_number(rank, remote, dst, src, dst_kind, src_kind);
  else
    send_any(&(struct assignment){rank, remote, dst, src, vector, dst_kind, src_kind, &to});
}

void CAF(sendget)(void *dst_token, size_t dst_offset, int dst_image, struct caf_desc *dst,
                  struct caf_vector *dst_vector, void *src_token, size_t src_offset, int src_image,
                  struct caf_desc *src, struct caf_vector *src_vector, int dst_kind, int src_kind,
                  bool may_need_tmp, int *stat) {
  CAF_STATEMENT("put");
  (void)may_need_tmp;
  const struct caf_status to = {.stat = stat};
  const uint32_t dst_rank = caf_rank_there(dst_token, dst_image, &to),
                 src_rank = caf_rank_there(src_token, src_image, &to);
  if (dst_rank == UINT32_MAX || src_rank == UINT32_MAX) return;
  void *dst_at = caf_address(dst_token, dst_offset, dst->dtype.elem_len, dst_rank, &to);
  void *src_at = caf_address(src_token, src_offset, src->dtype.elem_len, src_rank, &to);
  if (!dst_at || !src_at) return;
  if (is_substring(dst_token, dst_offset, dst, &to)) return;
  if (is_substring(src_token, src_offset, src, &to)) return;
  caf_ok(stat);
  struct caf_section from, into;
  const struct caf_remote_object src_object = {src, src_at, src_vector},
                                 dst_object = {dst, dst_at, dst_vector};
  if (!caf_remote_section(&from, &src_object, dst_vector ? NULL : dst, &to)) return;
  if (!caf_remote_section(&into, &dst_object, src_vector ? NULL : src, &to)) return;
  const struct caf_elem from_elem = elem_of(src, src_kind), into_elem = elem_of(dst, dst_kind);
  caf_relay(dst_rank, &into, &into_elem, src_rank, &from, &from_elem);
  caf_section_free(&from);
  caf_section_free(&into);
}
