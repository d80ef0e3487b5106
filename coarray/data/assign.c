/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assignment between sections of two images, conversion included.
 *
 * Owns nothing beyond a call. Called by transfer.c, ref.c and collective.c. Calls: strided put and
 * get, the indexed forms where a subscript is a vector, attached events. Invariants: a put to a far
 * image reads from a copy, so that the program may change its variables, and more puts begin, while
 * it is in progress.
 */
#include "data/attach.h"
#include "data/pending.h"

#include <stdlib.h>
#include <string.h>

struct list {
  void **address;
  size_t count;
};

static void list_add(void *arg, char *element) {
  struct list *list = arg;
  list->address[list->count++] = element;
}

/* Addresses of all elements; malloc'ed. */
static struct list list_of(const struct caf_section *s) {
  const size_t n = caf_section_elements(s);
  struct list list = {caf_temporary(n * sizeof(void *)), 0};
  caf_section_each(s, list_add, &list);
  return list;
}

/* Strides of a dense buffer with the shape of a section. */
static void dense(const struct caf_section *s, ptrdiff_t *stride) {
  ptrdiff_t next = (ptrdiff_t)s->elem_len;
  for (unsigned d = 0; d < s->levels; d++) {
    stride[d] = next;
    next *= (ptrdiff_t)s->count[d];
  }
}

/* Copies a remote section of `rank` into a local buffer [elements]. */
static void pull(uint32_t rank, const struct caf_section *remote, void *buffer) {
  const size_t n = caf_section_elements(remote);
  if (n == 0 || remote->elem_len == 0) return;
  caf_section_await(rank, remote);
  if (remote->indexed) {
    struct list list = list_of(remote);
    gex_VIS_IndexedGetBlocking(caf.tm, 1, &buffer, n * remote->elem_len, rank, n, list.address,
                               remote->elem_len, remote->flags);
    free(list.address);
    return;
  }
  ptrdiff_t stride[CAF_RANK_MAX];
  dense(remote, stride);
  gex_VIS_StridedGetBlocking(caf.tm, buffer, stride, rank, remote->base, remote->stride,
                             remote->elem_len, remote->count, remote->levels, remote->flags);
}

/* Copies a buffer [elements] into a section of a near rank. */
static void push(uint32_t rank, const struct caf_section *remote, const void *buffer) {
  const size_t n = caf_section_elements(remote);
  void *source = (void *)(uintptr_t)buffer;
  if (n == 0 || remote->elem_len == 0) return;
  if (remote->indexed) {
    struct list list = list_of(remote);
    gex_VIS_IndexedPutBlocking(caf.tm, rank, n, list.address, remote->elem_len, 1, &source,
                               n * remote->elem_len, remote->flags);
    free(list.address);
    return;
  }
  ptrdiff_t stride[CAF_RANK_MAX];
  dense(remote, stride);
  gex_VIS_StridedPutBlocking(caf.tm, rank, remote->base, remote->stride, source, stride,
                             remote->elem_len, remote->count, remote->levels, remote->flags);
}

/* ---- assignment of sections */

/* Walk of the local side of an assignment, beside a dense buffer. */
struct walk {
  char *buffer;
  const struct caf_elem *local, *remote;
  size_t step; /* bytes of a buffer element; 0: a scalar is given to all */
};

static void gather_element(void *arg, char *element) {
  struct walk *w = arg;
  caf_convert(w->buffer, w->remote, element, w->local);
  w->buffer += w->remote->len;
}

static void scatter_element(void *arg, char *element) {
  struct walk *w = arg;
  caf_convert(element, w->local, w->buffer, w->remote);
  w->buffer += w->step;
}

/* Whether both sides can be given to the strided engine as they are. */
static bool plain(const struct caf_section *a, const struct caf_elem *ae,
                  const struct caf_section *b, const struct caf_elem *be) {
  return caf_same_elem(ae, be) && !a->indexed && !b->indexed && a->levels == b->levels;
}

/* Whether memory of the two sections may overlap on this image. */
static bool overlaps(uint32_t rank) {
  return rank == caf.rank;
}

/* Packs the values of an assignment into a buffer [elements of remote], converted. */
static void gather(char *buffer, const struct caf_section *remote,
                   const struct caf_elem *remote_elem, const struct caf_section *local,
                   const struct caf_elem *local_elem) {
  struct walk walk = {buffer, local_elem, remote_elem, remote_elem->len};
  if (local->levels > 0 || remote->levels == 0) {
    caf_section_each(local, gather_element, &walk);
    return;
  }
  const size_t n = caf_section_elements(remote);
  for (size_t i = 0; i < n; i++) gather_element(&walk, local->base);
}

/* Begins to write a section of a far rank; the put reads from a copy that stays. */
static void write_far(uint32_t rank, const struct caf_section *remote,
                      const struct caf_elem *remote_elem, const struct caf_section *local,
                      const struct caf_elem *local_elem) {
  const size_t n = caf_section_elements(remote), bytes = n * remote_elem->len;
  if (plain(remote, remote_elem, local, local_elem) && caf_section_contiguous(remote) &&
      caf_section_contiguous(local)) {
    caf_put(rank, remote->base, local->base, bytes, remote->flags);
    return;
  }
  caf_section_await(rank, remote); /* may free all memory of caf_pending_memory */
  const size_t pointers = remote->indexed ? n + 1 : 0; /* where the pieces go; where they are */
  void **memory = caf_pending_memory(pointers * sizeof(void *) + bytes);
  char *data = (char *)(memory + pointers);
  gather(data, remote, remote_elem, local, local_elem);
  if (remote->indexed) {
    struct list list = {memory, 0};
    caf_section_each(remote, list_add, &list);
    memory[n] = data;
    gex_VIS_IndexedPutNBI(caf.tm, rank, n, memory, remote->elem_len, 1, &memory[n], bytes,
                          remote->flags);
  } else {
    ptrdiff_t stride[CAF_RANK_MAX];
    dense(remote, stride);
    gex_VIS_StridedPutNBI(caf.tm, rank, remote->base, remote->stride, data, stride,
                          remote->elem_len, remote->count, remote->levels, remote->flags);
  }
  caf_section_pending(rank, remote);
}

static void write_section(uint32_t rank, const struct caf_section *remote,
                          const struct caf_elem *remote_elem, const struct caf_section *local,
                          const struct caf_elem *local_elem) {
  const size_t n = caf_section_elements(remote);
  if (n == 0 || remote->elem_len == 0) return;
  if (!caf_is_near(rank)) {
    write_far(rank, remote, remote_elem, local, local_elem);
    return;
  }
  if (local->levels == 0 && remote->levels > 0 && caf_same_elem(remote_elem, local_elem) &&
      !remote->indexed && !overlaps(rank)) {
    const ptrdiff_t still[CAF_RANK_MAX] = {0};
    gex_VIS_StridedPutBlocking(caf.tm, rank, remote->base, remote->stride, local->base, still,
                               remote->elem_len, remote->count, remote->levels, remote->flags);
    return;
  }
  if (plain(remote, remote_elem, local, local_elem) && !overlaps(rank)) {
    gex_VIS_StridedPutBlocking(caf.tm, rank, remote->base, remote->stride, local->base,
                               local->stride, remote->elem_len, remote->count, remote->levels,
                               remote->flags);
    return;
  }
  char *buffer = caf_temporary(n * remote_elem->len);
  gather(buffer, remote, remote_elem, local, local_elem);
  push(rank, remote, buffer);
  free(buffer);
}

static void read_section(const struct caf_section *local, const struct caf_elem *local_elem,
                         uint32_t rank, const struct caf_section *remote,
                         const struct caf_elem *remote_elem) {
  const size_t n = caf_section_elements(remote);
  if (n == 0 || caf_section_elements(local) == 0) return;
  caf_section_await(rank, remote);
  if (plain(remote, remote_elem, local, local_elem) && !overlaps(rank)) {
    gex_VIS_StridedGetBlocking(caf.tm, local->base, local->stride, rank, remote->base,
                               remote->stride, remote->elem_len, remote->count, remote->levels,
                               remote->flags);
    return;
  }
  char *buffer = caf_temporary(n * remote_elem->len);
  pull(rank, remote, buffer);
  struct walk walk = {buffer, local_elem, remote_elem,
                      remote->levels == 0 && local->levels > 0 ? 0 : remote_elem->len};
  caf_section_each(local, scatter_element, &walk);
  free(buffer);
}

void caf_assign_remote(uint32_t rank, const struct caf_section *remote,
                       const struct caf_elem *remote_elem, const struct caf_section *local,
                       const struct caf_elem *local_elem) {
  const bool attached = caf_attached(rank, CAF_ATTACH_WRITE);
  if (attached && plain(remote, remote_elem, local, local_elem) && !overlaps(rank) &&
      caf_section_contiguous(remote) && caf_section_contiguous(local)) {
    caf_attach_put(rank, remote->base, local->base, caf_section_elements(remote) * remote_elem->len,
                   remote->flags);
    return;
  }
  write_section(rank, remote, remote_elem, local, local_elem);
  if (!attached) return;
  if (!caf_is_near(rank)) caf_complete(); /* the post comes after the data */
  caf_attach_post(rank, remote, CAF_ATTACH_WRITE);
}

void caf_assign_local(const struct caf_section *local, const struct caf_elem *local_elem,
                      uint32_t rank, const struct caf_section *remote,
                      const struct caf_elem *remote_elem) {
  read_section(local, local_elem, rank, remote, remote_elem);
  if (caf_attached(rank, CAF_ATTACH_READ)) caf_attach_post(rank, remote, CAF_ATTACH_READ);
}

void caf_relay(uint32_t dst_rank, const struct caf_section *dst, const struct caf_elem *dst_elem,
               uint32_t src_rank, const struct caf_section *src, const struct caf_elem *src_elem) {
  const size_t n = caf_section_elements(src);
  if (n == 0) return;
  char *buffer = caf_temporary(n * src_elem->len);
  pull(src_rank, src, buffer);
  if (caf_attached(src_rank, CAF_ATTACH_READ)) caf_attach_post(src_rank, src, CAF_ATTACH_READ);
  struct caf_section dense_copy = *src;
  dense_copy.base = buffer;
  dense_copy.indexed = false;
  dense(src, dense_copy.stride);
  memset(dense_copy.index, 0, sizeof dense_copy.index);
  caf_assign_remote(dst_rank, dst, dst_elem, &dense_copy, src_elem);
  free(buffer);
}
