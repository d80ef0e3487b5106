/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sections of arrays, and elements that are converted where both sides of an assignment differ.
 *
 * Owns: struct caf_section and struct caf_elem. Included by what reads the compiler's descriptors.
 * Calls: caf.h. Invariant: a section's base is an address on its image, here or elsewhere.
 */
#ifndef CAF_SECTION_H
#define CAF_SECTION_H

#include "caf.h"

/* Of a section that the target of a pointer is part of: it may lie in memory of the image that is
 * no coarray. */
#define CAF_ANYWHERE GEX_FLAG_PEER_SEG_UNKNOWN

/* A section: elements at base + sum of i[d] * stride[d], 0 <= i[d] < count[d]; where index[d] is
 * not NULL, at index[d][i[d]] instead of i[d] * stride[d]. All in bytes. */
struct caf_section {
  char *base;
  unsigned levels;
  size_t elem_len;
  size_t count[CAF_RANK_MAX];
  ptrdiff_t stride[CAF_RANK_MAX];
  ptrdiff_t *index[CAF_RANK_MAX]; /* malloc'ed */
  bool indexed;
  gex_Flags_t flags; /* of transfers to and from another image: 0, or CAF_ANYWHERE */
};

/* Element i of a vector subscript, an array of integers of `kind` bytes. */
ptrdiff_t caf_vector_at(const void *vector, int kind, ptrdiff_t i);

/* Elements of a subscript triplet; 0 where it is none, but an empty vector. */
size_t caf_triplet_count(const struct caf_vector *v);

/* Memory of a transfer; at least one byte, malloc'ed. Ends the program when there is none. */
void *caf_temporary(size_t bytes);

/* Element type. */
struct caf_elem {
  int type, kind;
  size_t len; /* bytes */
};

/* Bytes from one element to the next, by a descriptor whose data begin at base here, or on another
 * image; span.c. */
ptrdiff_t caf_unit_slow(const struct caf_desc *desc, const void *base);
static inline ptrdiff_t caf_unit(const struct caf_desc *desc, const void *base) {
  const ptrdiff_t len = (ptrdiff_t)desc->dtype.elem_len;
  if (__builtin_expect(desc->span == len || desc->span == 0, 1)) return len;
  return caf_unit_slow(desc, base);
}

/* Describes the elements of a descriptor, with base instead of its own address. vector: NULL or
 * [rank]. Call caf_section_free afterwards. */
void caf_section_of(struct caf_section *s, const struct caf_desc *desc, char *base,
                    const struct caf_vector *vector);
void caf_section_free(struct caf_section *s);

/* A coindexed object: its descriptor, its address on its image, and vector subscripts or NULL. */
struct caf_remote_object {
  const struct caf_desc *desc;
  char *base;
  const struct caf_vector *vector;
};

/* As caf_section_of. other: of the other side of the assignment, or NULL: it gives facts that the
 * compiler does not pass (subscript.c). Returns false after caf_fail. */
bool caf_remote_section(struct caf_section *s, const struct caf_remote_object *object,
                        const struct caf_desc *other, const struct caf_status *to);
size_t caf_section_elements(const struct caf_section *s);

/* Whether a section is one piece of memory in its order. */
bool caf_section_contiguous(const struct caf_section *s);

/* Waits until no put to any byte of a section of `rank` is in progress; says that one has begun. */
void caf_section_await(uint32_t rank, const struct caf_section *s);
void caf_section_pending(uint32_t rank, const struct caf_section *s);

/* Copies the elements into a buffer, in array element order, and back. */
void caf_section_pack(const struct caf_section *s, void *buffer);
void caf_section_unpack(const struct caf_section *s, const void *buffer);

/* Calls fn with the address of each element, in array element order. */
void caf_section_each(const struct caf_section *s, void (*fn)(void *arg, char *element), void *arg);

/* Converts one element, as an assignment does: kinds and types of numbers; characters are cut or
 * padded with blanks. */
void caf_convert(void *to, const struct caf_elem *to_elem, const void *from,
                 const struct caf_elem *from_elem);

/* Whether an element is a number of 4 or 8 bytes, of which most programs are. */
static inline bool caf_is_word(const struct caf_elem *e) {
  return (e->kind == 4 || e->kind == 8) && e->type >= CAF_INTEGER && e->type <= CAF_REAL;
}

/* The bits of a real as an integer. */
static inline uint64_t caf_bits_of_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline uint64_t caf_bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Converts a word to another kind or type without the wide types, which have no instructions. [out]
 * word: an integer whose low bytes are the result. Returns false, with nothing done, for others,
 * and for a real to an integer, which may not hold it. */
static inline bool caf_convert_word(uint64_t *word, const struct caf_elem *to, const void *from,
                                    const struct caf_elem *elem) {
  if (!caf_is_word(to) || !caf_is_word(elem)) return false;
  if (elem->type == CAF_REAL) {
    if (to->type != CAF_REAL || to->kind == elem->kind) return false;
    *word = elem->kind == 8 ? caf_bits_of_float((float)*(const double *)from)
                            : caf_bits_of_double(*(const float *)from);
    return true;
  }
  const int64_t whole = elem->kind == 8 ? *(const int64_t *)from : *(const int32_t *)from;
  if (to->type != CAF_REAL)
    *word = (uint64_t)whole;
  else
    *word = to->kind == 8 ? caf_bits_of_double((double)whole) : caf_bits_of_float((float)whole);
  return true;
}

static inline bool caf_same_elem(const struct caf_elem *a, const struct caf_elem *b) {
  return a->type == b->type && a->kind == b->kind && a->len == b->len;
}

/* remote = local, local = remote: whole assignments, conversion included. */
void caf_assign_remote(uint32_t rank, const struct caf_section *remote,
                       const struct caf_elem *remote_elem, const struct caf_section *local,
                       const struct caf_elem *local_elem);
void caf_assign_local(const struct caf_section *local, const struct caf_elem *local_elem,
                      uint32_t rank, const struct caf_section *remote,
                      const struct caf_elem *remote_elem);

/* remote = other remote, through a buffer here. */
void caf_relay(uint32_t dst_rank, const struct caf_section *dst, const struct caf_elem *dst_elem,
               uint32_t src_rank, const struct caf_section *src, const struct caf_elem *src_elem);

#endif
