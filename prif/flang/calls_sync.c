/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls that synchronise that flang emits.
 *
 * Owns nothing. Called by programs of flang -fcoarray. Calls: the C form of each procedure.
 * Invariants: as in calls.h.
 */
#include "flang/calls.h"

FLANG_CALL(sync_memory, (STATUS), (STATUS_GIVEN))

FLANG_CALL(sync_all, (STATUS), (STATUS_GIVEN))

FLANG_CALL(sync_images, (const struct prif_desc *image_set, STATUS), (image_set, STATUS_GIVEN))

FLANG_CALL(sync_team, (const void *team, STATUS), (prif_team_word(team), STATUS_GIVEN))

FLANG_CALL(lock,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            bool *acquired_lock, STATUS),
           (image_num, coarray_handle, offset, acquired_lock, STATUS_GIVEN))

FLANG_CALL(lock_indirect,
           (const int32_t *image_num, const intptr_t *lock_var_ptr, bool *acquired_lock, STATUS),
           (image_num, lock_var_ptr, acquired_lock, STATUS_GIVEN))

FLANG_CALL(unlock,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            STATUS),
           (image_num, coarray_handle, offset, STATUS_GIVEN))

FLANG_CALL(unlock_indirect, (const int32_t *image_num, const intptr_t *lock_var_ptr, STATUS),
           (image_num, lock_var_ptr, STATUS_GIVEN))

FLANG_CALL(critical, (const prif_handle *critical_coarray, STATUS),
           (critical_coarray, STATUS_GIVEN))

FLANG_CALL(event_post,
           (const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset,
            STATUS),
           (image_num, coarray_handle, offset, STATUS_GIVEN))

FLANG_CALL(event_post_indirect, (const int32_t *image_num, const intptr_t *event_var_ptr, STATUS),
           (image_num, event_var_ptr, STATUS_GIVEN))

FLANG_CALL(event_wait, (void *const *event_var_ptr, const int64_t *until_count, STATUS),
           (event_var_ptr, until_count, STATUS_GIVEN))

FLANG_CALL(notify_wait, (void *const *notify_var_ptr, const int64_t *until_count, STATUS),
           (notify_var_ptr, until_count, STATUS_GIVEN))
