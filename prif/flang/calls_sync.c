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

FLANG_CALL(lock, (PRIF_VARIABLE, bool *acquired_lock, STATUS),
           (VARIABLE_GIVEN, acquired_lock, STATUS_GIVEN))

FLANG_CALL(lock_indirect, (PRIF_ADDRESS(lock_var_ptr), bool *acquired_lock, STATUS),
           (image_num, lock_var_ptr, acquired_lock, STATUS_GIVEN))

FLANG_CALL(unlock, (PRIF_VARIABLE, STATUS), (VARIABLE_GIVEN, STATUS_GIVEN))

FLANG_CALL(unlock_indirect, (PRIF_ADDRESS(lock_var_ptr), STATUS),
           (image_num, lock_var_ptr, STATUS_GIVEN))

FLANG_CALL(critical, (const prif_handle *critical_coarray, STATUS),
           (critical_coarray, STATUS_GIVEN))

FLANG_CALL(event_post, (PRIF_VARIABLE, STATUS), (VARIABLE_GIVEN, STATUS_GIVEN))

FLANG_CALL(event_post_indirect, (PRIF_ADDRESS(event_var_ptr), STATUS),
           (image_num, event_var_ptr, STATUS_GIVEN))

FLANG_CALL(event_wait, (void *const *event_var_ptr, const int64_t *until_count, STATUS),
           (event_var_ptr, until_count, STATUS_GIVEN))

FLANG_CALL(notify_wait, (void *const *notify_var_ptr, const int64_t *until_count, STATUS),
           (notify_var_ptr, until_count, STATUS_GIVEN))
