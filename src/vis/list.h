/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of pieces: one side of a vector or indexed transfer, and a place in it.
 *
 * Owns: struct tmb_vis_list and its cursor. Called by vis.c (mapped peers), vis_send.c (packing)
 * and vis_check.c. Calls memcpy. A list is the caller's: either entries of (address, length), or
 * addresses of entries of one length. Invariants: a list is never written; `shift` is added to
 * every address (a mapping, or the base of a segment); a cursor stands at a byte that is there, or
 * at the end (index == count).
 */
#ifndef TMB_VIS_LIST_H
#define TMB_VIS_LIST_H

#include "core/gex.h"

#include <stdbool.h>

struct tmb_vis_list {
  const gex_Memvec_t *vec; /* [count], or NULL */
  void *const *addr;       /* [count], if vec is NULL */
  size_t count;
  size_t len; /* of every entry of addr, bytes */
  uintptr_t shift;
};

struct tmb_vis_cursor {
  const struct tmb_vis_list *list;
  size_t index, skip; /* number of the entry, and bytes of it that the cursor has passed */
};

static inline size_t tmb_vis_len(const struct tmb_vis_list *list, size_t i) {
  return list->vec ? list->vec[i].gex_len : list->len;
}

static inline char *tmb_vis_addr(const struct tmb_vis_list *list, size_t i) {
  return (char *)((uintptr_t)(list->vec ? list->vec[i].gex_addr : list->addr[i]) + list->shift);
}

/* Bytes that follow in the cursor's entry, at *at; moves over empty entries. 0: the end. */
static inline size_t tmb_vis_next(struct tmb_vis_cursor *c, char **at) {
  while (c->index < c->list->count) {
    const size_t left = tmb_vis_len(c->list, c->index) - c->skip;
    if (left) {
      *at = tmb_vis_addr(c->list, c->index) + c->skip;
      return left;
    }
    c->index++;
    c->skip = 0;
  }
  return 0;
}

/* Move the cursor on by nbytes, at most the result of tmb_vis_next. */
static inline void tmb_vis_skip(struct tmb_vis_cursor *c, size_t nbytes) {
  c->skip += nbytes;
  if (c->skip < tmb_vis_len(c->list, c->index)) return;
  c->index++;
  c->skip = 0;
}

/* Total of a list. Returns false when it overflows. */
bool tmb_vis_list_bytes(const struct tmb_vis_list *list, size_t *bytes);

/* Copy all of src to dst; equal totals, else as much as the shorter one has. */
void tmb_vis_list_copy(const struct tmb_vis_list *dst, const struct tmb_vis_list *src);

/* tmb_vis_list_copy of two lists of (address, length). in dst_shift, src_shift: added to the
 * addresses. */
void tmb_vis_vector_copy(const gex_Memvec_t *dst, size_t dst_count, const gex_Memvec_t *src,
                         size_t src_count, uintptr_t dst_shift, uintptr_t src_shift);

/* Copy nbytes between the cursor's place and packed memory, and move the cursor. */
void tmb_vis_list_pack(struct tmb_vis_cursor *c, char *packed, size_t nbytes);
void tmb_vis_list_unpack(struct tmb_vis_cursor *c, const char *packed, size_t nbytes);

/* Move the cursor only. */
void tmb_vis_list_advance(struct tmb_vis_cursor *c, size_t nbytes);

#endif
