/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of atomic subroutines that flang emits.
 *
 * Owns nothing. Called by programs of flang -fcoarray. Calls: the C form of the same procedure.
 * Invariants: as in calls.h.
 */
#include "flang/calls.h"

FLANG_CALL(atomic_add,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            const int64_t *value, int32_t *stat),
           (image_num, coarray_handle, offset, value, stat))

FLANG_CALL(atomic_add_indirect,
           (const int32_t *image_num, const intptr_t *atom_remote_ptr, const int64_t *value,
            int32_t *stat),
           (image_num, atom_remote_ptr, value, stat))

FLANG_CALL(atomic_and,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            const int64_t *value, int32_t *stat),
           (image_num, coarray_handle, offset, value, stat))

FLANG_CALL(atomic_and_indirect,
           (const int32_t *image_num, const intptr_t *atom_remote_ptr, const int64_t *value,
            int32_t *stat),
           (image_num, atom_remote_ptr, value, stat))

FLANG_CALL(atomic_or,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            const int64_t *value, int32_t *stat),
           (image_num, coarray_handle, offset, value, stat))

FLANG_CALL(atomic_or_indirect,
           (const int32_t *image_num, const intptr_t *atom_remote_ptr, const int64_t *value,
            int32_t *stat),
           (image_num, atom_remote_ptr, value, stat))

FLANG_CALL(atomic_xor,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            const int64_t *value, int32_t *stat),
           (image_num, coarray_handle, offset, value, stat))

FLANG_CALL(atomic_xor_indirect,
           (const int32_t *image_num, const intptr_t *atom_remote_ptr, const int64_t *value,
            int32_t *stat),
           (image_num, atom_remote_ptr, value, stat))

FLANG_CALL(atomic_fetch_add,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            const int64_t *value, int64_t *old, int32_t *stat),
           (image_num, coarray_handle, offset, value, old, stat))

FLANG_CALL(atomic_fetch_add_indirect,
           (const int32_t *image_num, const intptr_t *atom_remote_ptr, const int64_t *value,
            int64_t *old, int32_t *stat),
           (image_num, atom_remote_ptr, value, old, stat))

FLANG_CALL(atomic_fetch_and,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            const int64_t *value, int64_t *old, int32_t *stat),
           (image_num, coarray_handle, offset, value, old, stat))

FLANG_CALL(atomic_fetch_and_indirect,
           (const int32_t *image_num, const intptr_t *atom_remote_ptr, const int64_t *value,
            int64_t *old, int32_t *stat),
           (image_num, atom_remote_ptr, value, old, stat))

FLANG_CALL(atomic_fetch_or,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            const int64_t *value, int64_t *old, int32_t *stat),
           (image_num, coarray_handle, offset, value, old, stat))

FLANG_CALL(atomic_fetch_or_indirect,
           (const int32_t *image_num, const intptr_t *atom_remote_ptr, const int64_t *value,
            int64_t *old, int32_t *stat),
           (image_num, atom_remote_ptr, value, old, stat))

FLANG_CALL(atomic_fetch_xor,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            const int64_t *value, int64_t *old, int32_t *stat),
           (image_num, coarray_handle, offset, value, old, stat))

FLANG_CALL(atomic_fetch_xor_indirect,
           (const int32_t *image_num, const intptr_t *atom_remote_ptr, const int64_t *value,
            int64_t *old, int32_t *stat),
           (image_num, atom_remote_ptr, value, old, stat))

FLANG_CALL(atomic_cas_int,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            int64_t *old, const int64_t *compare, const int64_t *new, int32_t *stat),
           (image_num, coarray_handle, offset, old, compare, new, stat))

FLANG_CALL(atomic_cas_int_indirect,
           (const int32_t *image_num, const intptr_t *atom_remote_ptr, int64_t *old,
            const int64_t *compare, const int64_t *new, int32_t *stat),
           (image_num, atom_remote_ptr, old, compare, new, stat))

FLANG_CALL(atomic_cas_logical,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            int64_t *old, const int64_t *compare, const int64_t *new, int32_t *stat),
           (image_num, coarray_handle, offset, old, compare, new, stat))

FLANG_CALL(atomic_cas_logical_indirect,
           (const int32_t *image_num, const intptr_t *atom_remote_ptr, int64_t *old,
            const int64_t *compare, const int64_t *new, int32_t *stat),
           (image_num, atom_remote_ptr, old, compare, new, stat))

FLANG_CALL(atomic_define_int,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            const int64_t *value, int32_t *stat),
           (image_num, coarray_handle, offset, value, stat))

FLANG_CALL(atomic_define_int_indirect,
           (const int32_t *image_num, const intptr_t *atom_remote_ptr, const int64_t *value,
            int32_t *stat),
           (image_num, atom_remote_ptr, value, stat))

FLANG_CALL(atomic_ref_int,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            int64_t *value, int32_t *stat),
           (image_num, coarray_handle, offset, value, stat))

FLANG_CALL(atomic_ref_int_indirect,
           (const int32_t *image_num, const intptr_t *atom_remote_ptr, int64_t *value,
            int32_t *stat),
           (image_num, atom_remote_ptr, value, stat))

FLANG_CALL(atomic_define_logical,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            const int64_t *value, int32_t *stat),
           (image_num, coarray_handle, offset, value, stat))

FLANG_CALL(atomic_define_logical_indirect,
           (const int32_t *image_num, const intptr_t *atom_remote_ptr, const int64_t *value,
            int32_t *stat),
           (image_num, atom_remote_ptr, value, stat))

FLANG_CALL(atomic_ref_logical,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            int64_t *value, int32_t *stat),
           (image_num, coarray_handle, offset, value, stat))

FLANG_CALL(atomic_ref_logical_indirect,
           (const int32_t *image_num, const intptr_t *atom_remote_ptr, int64_t *value,
            int32_t *stat),
           (image_num, atom_remote_ptr, value, stat))
