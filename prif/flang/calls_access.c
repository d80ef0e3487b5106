/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of put and get that flang emits.
 *
 * Owns nothing. Called by programs of flang -fcoarray. Calls: the C form of each procedure.
 * Invariants: as in calls.h.
 */
#include "flang/calls.h"

FLANG_CALL(get,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            void *const *current_image_buffer, const size_t *size_in_bytes, STATUS),
           (image_num, coarray_handle, offset, current_image_buffer, size_in_bytes, STATUS_GIVEN))

FLANG_CALL(put,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            void *const *current_image_buffer, const size_t *size_in_bytes, STATUS),
           (image_num, coarray_handle, offset, current_image_buffer, size_in_bytes, STATUS_GIVEN))

FLANG_CALL(get_indirect,
           (const int32_t *image_num, const intptr_t *remote_ptr, void *const *current_image_buffer,
            const size_t *size_in_bytes, STATUS),
           (image_num, remote_ptr, current_image_buffer, size_in_bytes, STATUS_GIVEN))

FLANG_CALL(put_indirect,
           (const int32_t *image_num, const intptr_t *remote_ptr, void *const *current_image_buffer,
            const size_t *size_in_bytes, STATUS),
           (image_num, remote_ptr, current_image_buffer, size_in_bytes, STATUS_GIVEN))

FLANG_CALL(put_with_notify,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            void *const *current_image_buffer, const size_t *size_in_bytes,
            const prif_handle *notify_coarray_handle, const size_t *notify_offset, STATUS),
           (image_num, coarray_handle, offset, current_image_buffer, size_in_bytes,
            notify_coarray_handle, notify_offset, STATUS_GIVEN))

FLANG_CALL(put_with_notify_indirect,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            void *const *current_image_buffer, const size_t *size_in_bytes,
            const intptr_t *notify_ptr, STATUS),
           (image_num, coarray_handle, offset, current_image_buffer, size_in_bytes, notify_ptr,
            STATUS_GIVEN))

FLANG_CALL(put_indirect_with_notify,
           (const int32_t *image_num, const intptr_t *remote_ptr, void *const *current_image_buffer,
            const size_t *size_in_bytes, const prif_handle *notify_coarray_handle,
            const size_t *notify_offset, STATUS),
           (image_num, remote_ptr, current_image_buffer, size_in_bytes, notify_coarray_handle,
            notify_offset, STATUS_GIVEN))

FLANG_CALL(put_indirect_with_notify_indirect,
           (const int32_t *image_num, const intptr_t *remote_ptr, void *const *current_image_buffer,
            const size_t *size_in_bytes, const intptr_t *notify_ptr, STATUS),
           (image_num, remote_ptr, current_image_buffer, size_in_bytes, notify_ptr, STATUS_GIVEN))

FLANG_CALL(get_strided,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            const struct prif_desc *remote_stride, void *const *current_image_buffer,
            const struct prif_desc *current_image_stride, const size_t *element_size,
            const struct prif_desc *extent, STATUS),
           (image_num, coarray_handle, offset, remote_stride, current_image_buffer,
            current_image_stride, element_size, extent, STATUS_GIVEN))

FLANG_CALL(put_strided,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            const struct prif_desc *remote_stride, void *const *current_image_buffer,
            const struct prif_desc *current_image_stride, const size_t *element_size,
            const struct prif_desc *extent, STATUS),
           (image_num, coarray_handle, offset, remote_stride, current_image_buffer,
            current_image_stride, element_size, extent, STATUS_GIVEN))

FLANG_CALL(get_strided_indirect,
           (const int32_t *image_num, const intptr_t *remote_ptr,
            const struct prif_desc *remote_stride, void *const *current_image_buffer,
            const struct prif_desc *current_image_stride, const size_t *element_size,
            const struct prif_desc *extent, STATUS),
           (image_num, remote_ptr, remote_stride, current_image_buffer, current_image_stride,
            element_size, extent, STATUS_GIVEN))

FLANG_CALL(put_strided_indirect,
           (const int32_t *image_num, const intptr_t *remote_ptr,
            const struct prif_desc *remote_stride, void *const *current_image_buffer,
            const struct prif_desc *current_image_stride, const size_t *element_size,
            const struct prif_desc *extent, STATUS),
           (image_num, remote_ptr, remote_stride, current_image_buffer, current_image_stride,
            element_size, extent, STATUS_GIVEN))

FLANG_CALL(put_strided_with_notify,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            const struct prif_desc *remote_stride, void *const *current_image_buffer,
            const struct prif_desc *current_image_stride, const size_t *element_size,
            const struct prif_desc *extent, const prif_handle *notify_coarray_handle,
            const size_t *notify_offset, STATUS),
           (image_num, coarray_handle, offset, remote_stride, current_image_buffer,
            current_image_stride, element_size, extent, notify_coarray_handle, notify_offset,
            STATUS_GIVEN))

FLANG_CALL(put_strided_with_notify_indirect,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            const struct prif_desc *remote_stride, void *const *current_image_buffer,
            const struct prif_desc *current_image_stride, const size_t *element_size,
            const struct prif_desc *extent, const intptr_t *notify_ptr, STATUS),
           (image_num, coarray_handle, offset, remote_stride, current_image_buffer,
            current_image_stride, element_size, extent, notify_ptr, STATUS_GIVEN))

FLANG_CALL(put_strided_indirect_with_notify,
           (const int32_t *image_num, const intptr_t *remote_ptr,
            const struct prif_desc *remote_stride, void *const *current_image_buffer,
            const struct prif_desc *current_image_stride, const size_t *element_size,
            const struct prif_desc *extent, const prif_handle *notify_coarray_handle,
            const size_t *notify_offset, STATUS),
           (image_num, remote_ptr, remote_stride, current_image_buffer, current_image_stride,
            element_size, extent, notify_coarray_handle, notify_offset, STATUS_GIVEN))

FLANG_CALL(put_strided_indirect_with_notify_indirect,
           (const int32_t *image_num, const intptr_t *remote_ptr,
            const struct prif_desc *remote_stride, void *const *current_image_buffer,
            const struct prif_desc *current_image_stride, const size_t *element_size,
            const struct prif_desc *extent, const intptr_t *notify_ptr, STATUS),
           (image_num, remote_ptr, remote_stride, current_image_buffer, current_image_stride,
            element_size, extent, notify_ptr, STATUS_GIVEN))
