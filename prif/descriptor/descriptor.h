/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors that Fortran compilers pass to C: arrays, characters, allocatable arguments.
 *
 * Owns: the layout that gfortran and flang have in common, and offsets of the rest. Called by the
 * functions that a program calls. Calls coarray/ for sections. Invariants: the word `version` says
 * which compiler made a descriptor; only descriptor.c reads `code`. Source: chapter 18.5 of the
 * Fortran standard, ISO_Fortran_binding.h of both compilers.
 */
#ifndef PRIF_DESCRIPTOR_H
#define PRIF_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PRIF_RANK_MAX 15

struct prif_desc {
  void *base;      /* NULL: not allocated, and with gfortran elem_len and dim hold anything */
  size_t elem_len; /* bytes */
  int32_t version; /* 1: gfortran; 20240719: flang 22 */
  int8_t rank;
  uint8_t code[3]; /* gfortran: attribute, type of 2 bytes; flang: type, attribute, extra */
  struct {
    ptrdiff_t lower, extent, stride; /* stride: bytes */
  } dim[PRIF_RANK_MAX];              /* as many as ranks */
};

struct caf_section;
struct caf_elem;

/* Element `i`, from 0, of an array of rank 1. */
static inline void *prif_desc_at(const struct prif_desc *d, size_t i) {
  return (char *)d->base + (ptrdiff_t)i * d->dim[0].stride;
}

/* Elements of an array; 1 of a scalar. */
size_t prif_desc_count(const struct prif_desc *d);

/* The elements of an argument of any rank, as a section of coarray/. [out] s */
void prif_desc_section(struct caf_section *s, const struct prif_desc *d);

/* Type (enum caf_type), kind and bytes of an element. [out] e: type 0: none that can be reduced. */
void prif_desc_elem(struct caf_elem *e, const struct prif_desc *d);

/* Writes a message into ERRMSG=, padded or cut, or makes ERRMSG_ALLOC= this text. errmsg,
 * errmsg_alloc: NULL: absent. The program frees the new text with free(). */
void prif_desc_message(const struct prif_desc *errmsg, struct prif_desc *errmsg_alloc,
                       const char *text);

/* Makes an allocatable array of rank 1 hold `count` integers, in place of its old content. Returns
 * false when there is no memory: the array is not allocated then. */
bool prif_desc_integers(struct prif_desc *d, const int32_t *list, size_t count);

#endif
