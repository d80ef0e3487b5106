/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions behind the Fortran module `prif`: the C form of every PRIF procedure.
 *
 * Owns the types of arguments and the values of constants. Included by every file that defines such
 * a function, and by prif/flang, whose functions translate flang's calls and call these. Calls
 * nothing. Invariants: the interfaces in prif/fortran/ declare these arguments in this order
 * (tests/prif/programs/interfaces.py); all arguments are passed by reference, NULL for one that is
 * absent, save those that the Fortran source calls VALUE; image_num is an image of the initial
 * team, result_image, source_image and image_set are images of the current one. Source: PRIF 0.8,
 * doi 10.25344/S4Z88F.
 */
#ifndef PRIF_ENTRY_H
#define PRIF_ENTRY_H

#include "descriptor/descriptor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values of STAT= and constants: those that flang compiles into programs; tombolo_prif.F90 has
 * them, too. */
enum prif_stat {
  PRIF_STAT_FAILED_IMAGE = 101,
  PRIF_STAT_LOCKED = 102,
  PRIF_STAT_LOCKED_OTHER_IMAGE = 103,
  PRIF_STAT_STOPPED_IMAGE = 104,
  PRIF_STAT_UNLOCKED = 105,
  PRIF_STAT_UNLOCKED_FAILED_IMAGE = 106,
  PRIF_STAT_ERROR = 120, /* any other error */
  PRIF_STAT_OUT_OF_MEMORY = 121,
  PRIF_STAT_ALREADY_INIT = 122
};
enum prif_level { PRIF_CURRENT_TEAM = -1, PRIF_INITIAL_TEAM = -2, PRIF_PARENT_TEAM = -3 };

/* A coarray handle, and the word of a team variable that the library uses; NULL or -1 in the
 * latter: not formed. */
typedef struct prif_co *prif_handle;
typedef struct caf_team *prif_team;

/* Procedures of the program: cleanup of a coarray, operation of CO_REDUCE: both_and_out[i] =
 * first[i] op both_and_out[i]. Passed as the address of a variable that holds them; NULL there:
 * none. */
typedef void prif_cleanup_fn(prif_handle handle);
typedef void prif_operation_fn(void *first, void *both_and_out, size_t count, void *cdata);

/* Runs the stop callbacks of the program. code, text: NULL where there is none. */
typedef void prif_stop_runner(bool is_error_stop, bool quiet, const int32_t *code, const char *text,
                              size_t len);

/* The C name of a procedure. */
#define PRIF(name) tombolo_prif_##name

/* Parameters that several procedures have: a variable of an image, by its coarray or its address;
 * a transfer of bytes, or of strided data; a variable that counts it; the outcome. */
#define PRIF_VARIABLE \
 const int32_t *image_num, const prif_handle *coarray_handle, const size_t *offset
#define PRIF_ADDRESS(ptr) const int32_t *image_num, const intptr_t *ptr
#define PRIF_BYTES        void *const *current_image_buffer, const size_t *size_in_bytes
#define PRIF_STRIDES                                                           \
 const struct prif_desc *remote_stride, void *const *current_image_buffer,     \
     const struct prif_desc *current_image_stride, const size_t *element_size, \
     const struct prif_desc *extent
#define PRIF_NOTIFY const prif_handle *notify_coarray_handle, const size_t *notify_offset
#define PRIF_STATUS int32_t *stat, const struct prif_desc *errmsg, struct prif_desc *errmsg_alloc

/* flang calls a procedure by another name. Where the arguments are equal, it is an alias; else
 * prif/flang has a function. */
#define PRIF_FLANG(name)                           \
 extern __typeof__(PRIF(name)) _QMprifPprif_##name \
     __attribute__((alias("tombolo_prif_" #name), visibility("default")));

#pragma GCC visibility push(default)

/* ---- Start and end */

void PRIF(init)(int32_t *stat);
void PRIF(stop)(const bool *quiet, const int32_t *stop_code_int,
                const struct prif_desc *stop_code_char);
void PRIF(error_stop)(const bool *quiet, const int32_t *stop_code_int,
                      const struct prif_desc *stop_code_char);
void PRIF(fail_image)(void);
void PRIF(set_stop_runner)(prif_stop_runner *run);

/* ---- Queries of images */

void PRIF(num_images)(int32_t *num_images);
void PRIF(num_images_with_team)(const prif_team *team, int32_t *num_images);
void PRIF(num_images_with_team_number)(const int64_t *team_number, int32_t *num_images);
void PRIF(this_image_no_coarray)(const prif_team *team, int32_t *this_image);
void PRIF(this_image_with_coarray)(const prif_handle *coarray_handle, const prif_team *team,
                                   const struct prif_desc *cosubscripts);
void PRIF(this_image_with_dim)(const prif_handle *coarray_handle, const int32_t *dim,
                               const prif_team *team, int64_t *cosubscript);
void PRIF(failed_images)(const prif_team *team, struct prif_desc *failed_images);
void PRIF(stopped_images)(const prif_team *team, struct prif_desc *stopped_images);
void PRIF(image_status)(const int32_t *image, const prif_team *team, int32_t *image_status);

/* ---- Memory: coarrays, components, aliases */

void PRIF(allocate_coarray)(const struct prif_desc *lcobounds, const struct prif_desc *ucobounds,
                            const size_t *size_in_bytes, prif_cleanup_fn *const *final_proc,
                            prif_handle *coarray_handle, void **allocated_memory, PRIF_STATUS);
void PRIF(allocate)(const size_t *size_in_bytes, void **allocated_memory, PRIF_STATUS);
void PRIF(deallocate_coarray)(const prif_handle *coarray_handle, PRIF_STATUS);
void PRIF(deallocate_coarrays)(const struct prif_desc *coarray_handles, PRIF_STATUS);
void PRIF(deallocate)(void *const *mem, PRIF_STATUS);
void PRIF(alias_create)(const prif_handle *source_handle, const struct prif_desc *alias_lcobounds,
                        const struct prif_desc *alias_ucobounds, const size_t *data_pointer_offset,
                        prif_handle *alias_handle);
void PRIF(alias_destroy)(const prif_handle *alias_handle);

/* ---- Queries of coarrays */

void prif_set_context_data(prif_handle coarray_handle, void *context_data);
void prif_get_context_data(prif_handle coarray_handle, void **context_data);
void prif_size_bytes(prif_handle coarray_handle, size_t *data_size);
void prif_local_data_pointer(prif_handle coarray_handle, void **local_data);
void PRIF(lcobound_with_dim)(const prif_handle *coarray_handle, const int32_t *dim,
                             int64_t *lcobound);
void PRIF(lcobound_no_dim)(const prif_handle *coarray_handle, const struct prif_desc *lcobounds);
void PRIF(ucobound_with_dim)(const prif_handle *coarray_handle, const int32_t *dim,
                             int64_t *ucobound);
void PRIF(ucobound_no_dim)(const prif_handle *coarray_handle, const struct prif_desc *ucobounds);
void PRIF(coshape)(const prif_handle *coarray_handle, const struct prif_desc *sizes);
void PRIF(image_index)(const prif_handle *coarray_handle, const struct prif_desc *sub,
                       int32_t *image_index);
void PRIF(image_index_with_team)(const prif_handle *coarray_handle, const struct prif_desc *sub,
                                 const prif_team *team, int32_t *image_index);
void PRIF(image_index_with_team_number)(const prif_handle *coarray_handle,
                                        const struct prif_desc *sub, const int64_t *team_number,
                                        int32_t *image_index);
void PRIF(initial_team_index)(const prif_handle *coarray_handle, const struct prif_desc *sub,
                              int32_t *initial_team_index, int32_t *stat);
void PRIF(initial_team_index_with_team)(const prif_handle *coarray_handle,
                                        const struct prif_desc *sub, const prif_team *team,
                                        int32_t *initial_team_index, int32_t *stat);
void PRIF(initial_team_index_with_team_number)(const prif_handle *coarray_handle,
                                               const struct prif_desc *sub,
                                               const int64_t *team_number,
                                               int32_t *initial_team_index, int32_t *stat);

/* ---- Put and get: contiguous, strided, with notification */

void PRIF(get)(PRIF_VARIABLE, PRIF_BYTES, PRIF_STATUS);
void PRIF(put)(PRIF_VARIABLE, PRIF_BYTES, PRIF_STATUS);
void PRIF(get_indirect)(PRIF_ADDRESS(remote_ptr), PRIF_BYTES, PRIF_STATUS);
void PRIF(put_indirect)(PRIF_ADDRESS(remote_ptr), PRIF_BYTES, PRIF_STATUS);
void PRIF(put_with_notify)(PRIF_VARIABLE, PRIF_BYTES, PRIF_NOTIFY, PRIF_STATUS);
void PRIF(put_with_notify_indirect)(PRIF_VARIABLE, PRIF_BYTES, const intptr_t *notify_ptr,
                                    PRIF_STATUS);
void PRIF(put_indirect_with_notify)(PRIF_ADDRESS(remote_ptr), PRIF_BYTES, PRIF_NOTIFY, PRIF_STATUS);
void PRIF(put_indirect_with_notify_indirect)(PRIF_ADDRESS(remote_ptr), PRIF_BYTES,
                                             const intptr_t *notify_ptr, PRIF_STATUS);
void PRIF(get_strided)(PRIF_VARIABLE, PRIF_STRIDES, PRIF_STATUS);
void PRIF(put_strided)(PRIF_VARIABLE, PRIF_STRIDES, PRIF_STATUS);
void PRIF(get_strided_indirect)(PRIF_ADDRESS(remote_ptr), PRIF_STRIDES, PRIF_STATUS);
void PRIF(put_strided_indirect)(PRIF_ADDRESS(remote_ptr), PRIF_STRIDES, PRIF_STATUS);
void PRIF(put_strided_with_notify)(PRIF_VARIABLE, PRIF_STRIDES, PRIF_NOTIFY, PRIF_STATUS);
void PRIF(put_strided_with_notify_indirect)(PRIF_VARIABLE, PRIF_STRIDES, const intptr_t *notify_ptr,
                                            PRIF_STATUS);
void PRIF(put_strided_indirect_with_notify)(PRIF_ADDRESS(remote_ptr), PRIF_STRIDES, PRIF_NOTIFY,
                                            PRIF_STATUS);
void PRIF(put_strided_indirect_with_notify_indirect)(PRIF_ADDRESS(remote_ptr), PRIF_STRIDES,
                                                     const intptr_t *notify_ptr, PRIF_STATUS);

/* ---- Synchronisation, locks, critical, events, notifications */

void PRIF(sync_memory)(PRIF_STATUS);
void PRIF(sync_all)(PRIF_STATUS);
void PRIF(sync_images)(const struct prif_desc *image_set, PRIF_STATUS);
void PRIF(sync_team)(const prif_team *team, PRIF_STATUS);
void PRIF(lock)(PRIF_VARIABLE, bool *acquired_lock, PRIF_STATUS);
void PRIF(lock_indirect)(PRIF_ADDRESS(lock_var_ptr), bool *acquired_lock, PRIF_STATUS);
void PRIF(unlock)(PRIF_VARIABLE, PRIF_STATUS);
void PRIF(unlock_indirect)(PRIF_ADDRESS(lock_var_ptr), PRIF_STATUS);
void PRIF(critical)(const prif_handle *critical_coarray, PRIF_STATUS);
void PRIF(end_critical)(const prif_handle *critical_coarray);
void PRIF(event_post)(PRIF_VARIABLE, PRIF_STATUS);
void PRIF(event_post_indirect)(PRIF_ADDRESS(event_var_ptr), PRIF_STATUS);
void PRIF(event_wait)(void *const *event_var_ptr, const int64_t *until_count, PRIF_STATUS);
void PRIF(event_query)(void *const *event_var_ptr, int64_t *count, int32_t *stat);
void PRIF(notify_wait)(void *const *notify_var_ptr, const int64_t *until_count, PRIF_STATUS);

/* ---- Teams */

void PRIF(form_team)(const int64_t *team_number, prif_team *team, const int32_t *new_index,
                     PRIF_STATUS);
void PRIF(change_team)(const prif_team *team, PRIF_STATUS);
void PRIF(end_team)(PRIF_STATUS);
void PRIF(get_team)(const int32_t *level, prif_team *team);
void PRIF(team_number)(const prif_team *team, int64_t *team_number);

/* ---- Collective subroutines */

void PRIF(co_broadcast)(const struct prif_desc *a, const int32_t *source_image, PRIF_STATUS);
void PRIF(co_broadcast_cptr)(void *const *a_ptr, const size_t *size_in_bytes,
                             const int32_t *source_image, PRIF_STATUS);
void PRIF(co_sum)(const struct prif_desc *a, const int32_t *result_image, PRIF_STATUS);
void PRIF(co_max)(const struct prif_desc *a, const int32_t *result_image, PRIF_STATUS);
void PRIF(co_min)(const struct prif_desc *a, const int32_t *result_image, PRIF_STATUS);
void PRIF(co_max_character)(const struct prif_desc *a, const int32_t *result_image, PRIF_STATUS);
void PRIF(co_min_character)(const struct prif_desc *a, const int32_t *result_image, PRIF_STATUS);
void PRIF(co_reduce)(const struct prif_desc *a, prif_operation_fn *const *operation_wrapper,
                     void *cdata, const int32_t *result_image, PRIF_STATUS);
void PRIF(co_reduce_cptr)(void *const *a_ptr, const size_t *element_size,
                          const size_t *element_count, prif_operation_fn *const *operation_wrapper,
                          void *cdata, const int32_t *result_image, PRIF_STATUS);

/* ---- Atomic subroutines */

void PRIF(atomic_add)(PRIF_VARIABLE, const int64_t *value, int32_t *stat);
void PRIF(atomic_add_indirect)(PRIF_ADDRESS(atom_remote_ptr), const int64_t *value, int32_t *stat);
void PRIF(atomic_and)(PRIF_VARIABLE, const int64_t *value, int32_t *stat);
void PRIF(atomic_and_indirect)(PRIF_ADDRESS(atom_remote_ptr), const int64_t *value, int32_t *stat);
void PRIF(atomic_or)(PRIF_VARIABLE, const int64_t *value, int32_t *stat);
void PRIF(atomic_or_indirect)(PRIF_ADDRESS(atom_remote_ptr), const int64_t *value, int32_t *stat);
void PRIF(atomic_xor)(PRIF_VARIABLE, const int64_t *value, int32_t *stat);
void PRIF(atomic_xor_indirect)(PRIF_ADDRESS(atom_remote_ptr), const int64_t *value, int32_t *stat);
void PRIF(atomic_fetch_add)(PRIF_VARIABLE, const int64_t *value, int64_t *old, int32_t *stat);
void PRIF(atomic_fetch_add_indirect)(PRIF_ADDRESS(atom_remote_ptr), const int64_t *value,
                                     int64_t *old, int32_t *stat);
void PRIF(atomic_fetch_and)(PRIF_VARIABLE, const int64_t *value, int64_t *old, int32_t *stat);
void PRIF(atomic_fetch_and_indirect)(PRIF_ADDRESS(atom_remote_ptr), const int64_t *value,
                                     int64_t *old, int32_t *stat);
void PRIF(atomic_fetch_or)(PRIF_VARIABLE, const int64_t *value, int64_t *old, int32_t *stat);
void PRIF(atomic_fetch_or_indirect)(PRIF_ADDRESS(atom_remote_ptr), const int64_t *value,
                                    int64_t *old, int32_t *stat);
void PRIF(atomic_fetch_xor)(PRIF_VARIABLE, const int64_t *value, int64_t *old, int32_t *stat);
void PRIF(atomic_fetch_xor_indirect)(PRIF_ADDRESS(atom_remote_ptr), const int64_t *value,
                                     int64_t *old, int32_t *stat);
void PRIF(atomic_cas_int)(PRIF_VARIABLE, int64_t *old, const int64_t *compare, const int64_t *new,
                          int32_t *stat);
void PRIF(atomic_cas_int_indirect)(PRIF_ADDRESS(atom_remote_ptr), int64_t *old,
                                   const int64_t *compare, const int64_t *new, int32_t *stat);
void PRIF(atomic_cas_logical)(PRIF_VARIABLE, int64_t *old, const int64_t *compare,
                              const int64_t *new, int32_t *stat);
void PRIF(atomic_cas_logical_indirect)(PRIF_ADDRESS(atom_remote_ptr), int64_t *old,
                                       const int64_t *compare, const int64_t *new, int32_t *stat);
void PRIF(atomic_define_int)(PRIF_VARIABLE, const int64_t *value, int32_t *stat);
void PRIF(atomic_define_int_indirect)(PRIF_ADDRESS(atom_remote_ptr), const int64_t *value,
                                      int32_t *stat);
void PRIF(atomic_ref_int)(PRIF_VARIABLE, int64_t *value, int32_t *stat);
void PRIF(atomic_ref_int_indirect)(PRIF_ADDRESS(atom_remote_ptr), int64_t *value, int32_t *stat);
void PRIF(atomic_define_logical)(PRIF_VARIABLE, const int64_t *value, int32_t *stat);
void PRIF(atomic_define_logical_indirect)(PRIF_ADDRESS(atom_remote_ptr), const int64_t *value,
                                          int32_t *stat);
void PRIF(atomic_ref_logical)(PRIF_VARIABLE, int64_t *value, int32_t *stat);
void PRIF(atomic_ref_logical_indirect)(PRIF_ADDRESS(atom_remote_ptr), int64_t *value,
                                       int32_t *stat);

#pragma GCC visibility pop

#endif
