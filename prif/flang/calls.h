/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls that flang -fcoarray emits, and their differences from those of `use prif`.
 *
 * Owns nothing. Included by the files of prif/flang. Calls the C form of the procedures.
 * Invariants: a team arrives as a descriptor of the variable (flang 22) or as the variable (23); an
 * errmsg_alloc is a copy of the program's descriptor, so its text may be overwritten but not
 * replaced; all else is as in entry.h. Source: LLVM IR of flang 22.1.8.
 */
#ifndef PRIF_FLANG_CALLS_H
#define PRIF_FLANG_CALLS_H

#include "entry.h"

/* The word of a team variable. */
prif_team *prif_team_word(const void *team);

/* ERRMSG= of a statement: the text of errmsg_alloc is overwritten where it has one. */
const struct prif_desc *prif_flang_errmsg(const struct prif_desc *errmsg,
                                          const struct prif_desc *errmsg_alloc);

/* The last three parameters of a call. */
typedef const struct prif_desc prif_text;
#define STATUS         int32_t *stat, prif_text *errmsg, prif_text *errmsg_alloc

/* The arguments made of them. */
#define STATUS_GIVEN   stat, prif_flang_errmsg(errmsg, errmsg_alloc), NULL

/* The arguments made of the lists of entry.h. */
#define VARIABLE_GIVEN image_num, coarray_handle, offset
#define STRIDES_GIVEN \
 remote_stride, current_image_buffer, current_image_stride, element_size, extent
#define BYTES_GIVEN      current_image_buffer, size_in_bytes
#define NOTIFY_GIVEN     notify_coarray_handle, notify_offset

#define FLANG_NAME(name) _QMprifPprif_##name
#define FLANG_EXPORT     __attribute__((visibility("default")))

/* Defines the function that flang calls, by the C form of the procedure. */
#define FLANG_CALL(name, parameters, arguments) \
 FLANG_EXPORT void FLANG_NAME(name) parameters; \
 void FLANG_NAME(name) parameters {             \
  PRIF(name) arguments;                         \
 }

#endif
