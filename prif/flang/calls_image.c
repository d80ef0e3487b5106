/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of images, teams and collective subroutines that flang emits.
 *
 * Owns nothing. Called by programs of flang -fcoarray. Calls: the C form of each procedure.
 * Invariants: as in calls.h.
 */
#include "flang/calls.h"

FLANG_CALL(num_images_with_team, (const void *team, int32_t *num_images),
           (prif_team_word(team), num_images))

FLANG_CALL(this_image_no_coarray, (const void *team, int32_t *this_image),
           (prif_team_word(team), this_image))

FLANG_CALL(this_image_with_coarray,
           (const prif_handle *coarray_handle, const void *team,
            const struct prif_desc *cosubscripts),
           (coarray_handle, prif_team_word(team), cosubscripts))

FLANG_CALL(this_image_with_dim,
           (const prif_handle *coarray_handle, const int32_t *dim, const void *team,
            int64_t *cosubscript),
           (coarray_handle, dim, prif_team_word(team), cosubscript))

FLANG_CALL(failed_images, (const void *team, struct prif_desc *failed_images),
           (prif_team_word(team), failed_images))

FLANG_CALL(stopped_images, (const void *team, struct prif_desc *stopped_images),
           (prif_team_word(team), stopped_images))

FLANG_CALL(image_status, (const int32_t *image, const void *team, int32_t *image_status),
           (image, prif_team_word(team), image_status))

FLANG_CALL(form_team,
           (const int64_t *team_number, const void *team, const int32_t *new_index, STATUS),
           (team_number, prif_team_word(team), new_index, STATUS_GIVEN))

FLANG_CALL(change_team, (const void *team, STATUS), (prif_team_word(team), STATUS_GIVEN))

FLANG_CALL(end_team, (STATUS), (STATUS_GIVEN))

FLANG_CALL(get_team, (const int32_t *level, const void *team), (level, prif_team_word(team)))

FLANG_CALL(team_number, (const void *team, int64_t *team_number),
           (prif_team_word(team), team_number))

FLANG_CALL(co_broadcast, (const struct prif_desc *a, const int32_t *source_image, STATUS),
           (a, source_image, STATUS_GIVEN))

FLANG_CALL(co_broadcast_cptr,
           (void *const *a_ptr, const size_t *size_in_bytes, const int32_t *source_image, STATUS),
           (a_ptr, size_in_bytes, source_image, STATUS_GIVEN))

FLANG_CALL(co_sum, (const struct prif_desc *a, const int32_t *result_image, STATUS),
           (a, result_image, STATUS_GIVEN))

FLANG_CALL(co_max, (const struct prif_desc *a, const int32_t *result_image, STATUS),
           (a, result_image, STATUS_GIVEN))

FLANG_CALL(co_min, (const struct prif_desc *a, const int32_t *result_image, STATUS),
           (a, result_image, STATUS_GIVEN))

FLANG_CALL(co_max_character, (const struct prif_desc *a, const int32_t *result_image, STATUS),
           (a, result_image, STATUS_GIVEN))

FLANG_CALL(co_min_character, (const struct prif_desc *a, const int32_t *result_image, STATUS),
           (a, result_image, STATUS_GIVEN))

FLANG_CALL(co_reduce,
           (const struct prif_desc *a, prif_operation_fn *const *operation_wrapper, void *cdata,
            const int32_t *result_image, STATUS),
           (a, operation_wrapper, cdata, result_image, STATUS_GIVEN))

FLANG_CALL(co_reduce_cptr,
           (void *const *a_ptr, const size_t *element_size, const size_t *element_count,
            prif_operation_fn *const *operation_wrapper, void *cdata, const int32_t *result_image,
            STATUS),
           (a_ptr, element_size, element_count, operation_wrapper, cdata, result_image,
            STATUS_GIVEN))
