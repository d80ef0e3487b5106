/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Array sections: from the compiler's descriptors to counts and strides, and their transfer.
 *
 * Owns nothing beyond a call. Called by transfer.c, ref.c and collective.c. Calls: contiguous and
 * strided put and get, and the indexed forms where a subscript is a vector. Invariants: the first
 * dimension varies fastest; a put to a far image reads from a copy, so that the program may change
 * its variables, and more puts begin, while it is in progress.
 */
#include "data/attach.h"
#include "data/pending.h"

#include <stdlib.h>
#include <string.h>

/* Memory of a transfer; at least one byte. Ends the program when there is none. */
static void *temporary(size_t bytes) {
  void *memory = malloc(bytes + 1);
  if (!memory) {
    const struct caf_status none = {0};
    caf_fail(&none, CAF_STAT_ERROR, "out of memory: %zu bytes for a transfer [TMB-0001]", bytes);
  }
  return memory;
}

static void apply_vector(struct caf_section *s, unsigned d, const struct caf_vector *v,
                         const struct caf_dim *dim) {
  const ptrdiff_t unit = s->stride[d];
  if (v->nvec == 0) {
    s->count[d] = caf_triplet_count(v);
    if (s->count[d] == 0) return;
    s->base += (v->u.triplet.lb - dim->lb) * unit;
    s->stride[d] = v->u.triplet.stride * unit;
    return;
  }
  s->count[d] = v->nvec;
  s->index[d] = temporary(v->nvec * sizeof *s->index[d]);
  for (size_t i = 0; i < v->nvec; i++)
    s->index[d][i] = (caf_vector_at(v->u.v.vector, v->u.v.kind, (ptrdiff_t)i) - dim->lb) * unit;
  s->indexed = true;
}

void caf_section_of(struct caf_section *s, const struct caf_desc *desc, char *base,
                    const struct caf_vector *vector) {
  s->base = base;
  s->elem_len = desc->dtype.elem_len;
  s->levels = (unsigned)desc->dtype.rank;
  s->indexed = false;
  s->flags = 0;
  const ptrdiff_t unit = caf_unit(desc, base);
  for (unsigned d = 0; d < s->levels; d++) {
    const ptrdiff_t n = desc->dim[d].ub - desc->dim[d].lb + 1;
    s->count[d] = n > 0 ? (size_t)n : 0;
    s->stride[d] = desc->dim[d].stride * unit;
    s->index[d] = NULL;
    if (vector) apply_vector(s, d, &vector[d], &desc->dim[d]);
  }
}

void caf_section_free(struct caf_section *s) {
  if (!s->indexed) return;
  for (unsigned d = 0; d < s->levels; d++) free(s->index[d]);
}

size_t caf_section_elements(const struct caf_section *s) {
  size_t n = 1;
  for (unsigned d = 0; d < s->levels; d++) n *= s->count[d];
  return n;
}

bool caf_section_contiguous(const struct caf_section *s) {
  ptrdiff_t next = (ptrdiff_t)s->elem_len;
  for (unsigned d = 0; d < s->levels; d++) {
    if (s->count[d] != 1 && (s->stride[d] != next || s->index[d])) return false;
    next *= (ptrdiff_t)s->count[d];
  }
  return !s->indexed;
}

/* Range of the bytes of a section that has elements. */
struct bounds {
  char *low, *high;
};

static struct bounds bounds_of(const struct caf_section *s) {
  struct bounds b = {s->base, s->base + s->elem_len};
  for (unsigned d = 0; d < s->levels; d++) {
    ptrdiff_t least = 0, most = (ptrdiff_t)(s->count[d] - 1) * s->stride[d];
    if (most < 0) {
      least = most;
      most = 0;
    }
    for (size_t i = 0; s->index[d] && i < s->count[d]; i++) {
      if (i == 0 || s->index[d][i] < least) least = s->index[d][i];
      if (i == 0 || s->index[d][i] > most) most = s->index[d][i];
    }
    b.low += least;
    b.high += most;
  }
  return b;
}

void caf_section_await(uint32_t rank, const struct caf_section *s) {
  if (!(caf.pending & CAF_UNDER_WAY)) {
    caf_await(rank, s->base, 1);
    return;
  }
  const struct bounds b = bounds_of(s);
  caf_await_slow(rank, b.low, (size_t)(b.high - b.low));
}

void caf_section_pending(uint32_t rank, const struct caf_section *s) {
  const struct bounds b = bounds_of(s);
  caf_pending_add(rank, b.low, (size_t)(b.high - b.low));
}

void caf_section_each(const struct caf_section *s, void (*fn)(void *arg, char *element),
                      void *arg) {
  size_t at[CAF_RANK_MAX] = {0};
  if (caf_section_elements(s) == 0) return;
  for (;;) {
    char *p = s->base;
    for (unsigned d = 0; d < s->levels; d++)
      p += s->index[d] ? s->index[d][at[d]] : (ptrdiff_t)at[d] * s->stride[d];
    fn(arg, p);
    unsigned d = 0;
    while (d < s->levels && ++at[d] == s->count[d]) at[d++] = 0;
    if (d == s->levels) return;
  }
}

struct pack {
  char *at;
  size_t len;
};

static void pack_element(void *arg, char *element) {
  struct pack *p = arg;
  memcpy(p->at, element, p->len);
  p->at += p->len;
}

static void unpack_element(void *arg, char *element) {
  struct pack *p = arg;
  memcpy(element, p->at, p->len);
  p->at += p->len;
}

void caf_section_pack(const struct caf_section *s, void *buffer) {
  struct pack p = {buffer, s->elem_len};
  caf_section_each(s, pack_element, &p);
}

void caf_section_unpack(const struct caf_section *s, const void *buffer) {
  struct pack p = {(char *)(uintptr_t)buffer, s->elem_len};
  caf_section_each(s, unpack_element, &p);
}

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
  struct list list = {temporary(n * sizeof(void *)), 0};
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

void caf_pull(uint32_t rank, const struct caf_section *remote, void *buffer) {
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
  char *buffer = temporary(n * remote_elem->len);
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
  char *buffer = temporary(n * remote_elem->len);
  caf_pull(rank, remote, buffer);
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
  char *buffer = temporary(n * src_elem->len);
  caf_pull(src_rank, src, buffer);
  if (caf_attached(src_rank, CAF_ATTACH_READ)) caf_attach_post(src_rank, src, CAF_ATTACH_READ);
  struct caf_section dense_copy = *src;
  dense_copy.base = buffer;
  dense_copy.indexed = false;
  dense(src, dense_copy.stride);
  memset(dense_copy.index, 0, sizeof dense_copy.index);
  caf_assign_remote(dst_rank, dst, dst_elem, &dense_copy, src_elem);
  free(buffer);
}
