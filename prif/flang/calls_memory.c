/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of coarrays and memory that flang emits.
 *
 * Owns nothing. Called by programs of flang -fcoarray. Calls: the C form of each procedure.
 * Invariants: as in calls.h.
 */
#include "flang/calls.h"

FLANG_CALL(allocate_coarray,
           (const struct prif_desc *lcobounds, const struct prif_desc *ucobounds,
            const size_t *size_in_bytes, prif_cleanup_fn *const *final_proc,
            prif_handle *coarray_handle, void **allocated_memory, STATUS),
           (lcobounds, ucobounds, size_in_bytes, final_proc, coarray_handle, allocated_memory,
            STATUS_GIVEN))

FLANG_CALL(allocate, (const size_t *size_in_bytes, void **allocated_memory, STATUS),
           (size_in_bytes, allocated_memory, STATUS_GIVEN))

FLANG_CALL(deallocate_coarray, (const prif_handle *coarray_handle, STATUS),
           (coarray_handle, STATUS_GIVEN))

FLANG_CALL(deallocate_coarrays, (const struct prif_desc *coarray_handles, STATUS),
           (coarray_handles, STATUS_GIVEN))

FLANG_CALL(deallocate, (void *const *mem, STATUS), (mem, STATUS_GIVEN))

FLANG_CALL(image_index_with_team,
           (const prif_handle *coarray_handle, const struct prif_desc *sub, const void *team,
            int32_t *image_index),
           (coarray_handle, sub, prif_team_word(team), image_index))

FLANG_CALL(initial_team_index_with_team,
           (const prif_handle *coarray_handle, const struct prif_desc *sub, const void *team,
            int32_t *initial_team_index, int32_t *stat),
           (coarray_handle, sub, prif_team_word(team), initial_team_index, stat))
