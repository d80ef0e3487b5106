/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of put and get that flang emits.
 *
 * Owns nothing. Called by programs of flang -fcoarray. Calls: the C form of each procedure.
 * Invariants: as in calls.h.
 */
#include "flang/calls.h"

FLANG_CALL(get, (PRIF_VARIABLE, PRIF_BYTES, STATUS), (VARIABLE_GIVEN, BYTES_GIVEN, STATUS_GIVEN))

FLANG_CALL(put, (PRIF_VARIABLE, PRIF_BYTES, STATUS), (VARIABLE_GIVEN, BYTES_GIVEN, STATUS_GIVEN))

FLANG_CALL(get_indirect, (PRIF_ADDRESS(remote_ptr), PRIF_BYTES, STATUS),
           (image_num, remote_ptr, BYTES_GIVEN, STATUS_GIVEN))

FLANG_CALL(put_indirect, (PRIF_ADDRESS(remote_ptr), PRIF_BYTES, STATUS),
           (image_num, remote_ptr, BYTES_GIVEN, STATUS_GIVEN))

FLANG_CALL(put_with_notify, (PRIF_VARIABLE, PRIF_BYTES, PRIF_NOTIFY, STATUS),
           (VARIABLE_GIVEN, BYTES_GIVEN, NOTIFY_GIVEN, STATUS_GIVEN))

FLANG_CALL(put_with_notify_indirect,
           (PRIF_VARIABLE, PRIF_BYTES, const intptr_t *notify_ptr, STATUS),
           (VARIABLE_GIVEN, BYTES_GIVEN, notify_ptr, STATUS_GIVEN))

FLANG_CALL(put_indirect_with_notify, (PRIF_ADDRESS(remote_ptr), PRIF_BYTES, PRIF_NOTIFY, STATUS),
           (image_num, remote_ptr, BYTES_GIVEN, NOTIFY_GIVEN, STATUS_GIVEN))

FLANG_CALL(put_indirect_with_notify_indirect,
           (PRIF_ADDRESS(remote_ptr), PRIF_BYTES, const intptr_t *notify_ptr, STATUS),
           (image_num, remote_ptr, BYTES_GIVEN, notify_ptr, STATUS_GIVEN))

FLANG_CALL(get_strided, (PRIF_VARIABLE, PRIF_STRIDES, STATUS),
           (VARIABLE_GIVEN, STRIDES_GIVEN, STATUS_GIVEN))

FLANG_CALL(put_strided, (PRIF_VARIABLE, PRIF_STRIDES, STATUS),
           (VARIABLE_GIVEN, STRIDES_GIVEN, STATUS_GIVEN))

FLANG_CALL(get_strided_indirect, (PRIF_ADDRESS(remote_ptr), PRIF_STRIDES, STATUS),
           (image_num, remote_ptr, STRIDES_GIVEN, STATUS_GIVEN))

FLANG_CALL(put_strided_indirect, (PRIF_ADDRESS(remote_ptr), PRIF_STRIDES, STATUS),
           (image_num, remote_ptr, STRIDES_GIVEN, STATUS_GIVEN))

FLANG_CALL(put_strided_with_notify, (PRIF_VARIABLE, PRIF_STRIDES, PRIF_NOTIFY, STATUS),
           (VARIABLE_GIVEN, STRIDES_GIVEN, NOTIFY_GIVEN, STATUS_GIVEN))

FLANG_CALL(put_strided_with_notify_indirect,
           (PRIF_VARIABLE, PRIF_STRIDES, const intptr_t *notify_ptr, STATUS),
           (VARIABLE_GIVEN, STRIDES_GIVEN, notify_ptr, STATUS_GIVEN))

FLANG_CALL(put_strided_indirect_with_notify,
           (PRIF_ADDRESS(remote_ptr), PRIF_STRIDES, PRIF_NOTIFY, STATUS),
           (image_num, remote_ptr, STRIDES_GIVEN, NOTIFY_GIVEN, STATUS_GIVEN))

FLANG_CALL(put_strided_indirect_with_notify_indirect,
           (PRIF_ADDRESS(remote_ptr), PRIF_STRIDES, const intptr_t *notify_ptr, STATUS),
           (image_num, remote_ptr, STRIDES_GIVEN, notify_ptr, STATUS_GIVEN))
