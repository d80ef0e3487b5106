! SPDX-License-Identifier: BSD-3-Clause
! The Parallel Runtime Interface for Fortran, revision 0.8 (doi 10.25344/S4Z88F): what the module
! `prif` has. Programs write `use prif`.
!
! Nearly all procedures are C functions of libprif_tombolo (prif/entry.h), declared in the files
! *.inc beside this one. What cannot be passed to C, procedure pointers and elemental arguments, is
! turned here into what can. Each compiler compiles this file for itself: a compiler reads no other's
! module files.
module tombolo_prif
  use, intrinsic :: iso_c_binding, only: c_associated, c_bool, c_char, c_f_pointer, c_funloc, &
    c_funptr, c_int, c_int64_t, c_intptr_t, c_null_funptr, c_null_ptr, c_ptr, c_ptrdiff_t, c_size_t
  implicit none
  private
  public :: prif_coarray_handle, prif_team_type, prif_event_type, prif_notify_type
  public :: prif_lock_type, prif_critical_type
  public :: prif_stop_callback_interface, prif_operation_wrapper_interface
  public :: prif_coarray_cleanup_interface
  ! Start and end
  public :: prif_init, prif_stop, prif_error_stop, prif_fail_image, prif_register_stop_callback
  ! Queries of images
  public :: prif_num_images, prif_num_images_with_team, prif_num_images_with_team_number
  public :: prif_this_image_no_coarray, prif_this_image_with_coarray, prif_this_image_with_dim
  public :: prif_failed_images, prif_stopped_images, prif_image_status
  ! Memory: coarrays, components, aliases
  public :: prif_allocate_coarray, prif_allocate, prif_deallocate_coarray
  public :: prif_deallocate_coarrays, prif_deallocate, prif_alias_create, prif_alias_destroy
  ! Queries of coarrays
  public :: prif_set_context_data, prif_get_context_data, prif_size_bytes
  public :: prif_local_data_pointer, prif_lcobound_with_dim, prif_lcobound_no_dim
  public :: prif_ucobound_with_dim, prif_ucobound_no_dim, prif_coshape, prif_image_index
  public :: prif_image_index_with_team, prif_image_index_with_team_number
  public :: prif_initial_team_index, prif_initial_team_index_with_team
  public :: prif_initial_team_index_with_team_number
  ! Put and get: contiguous, strided, with notification
  public :: prif_get, prif_put, prif_get_indirect, prif_put_indirect, prif_put_with_notify
  public :: prif_put_with_notify_indirect, prif_put_indirect_with_notify
  public :: prif_put_indirect_with_notify_indirect, prif_get_strided, prif_put_strided
  public :: prif_get_strided_indirect, prif_put_strided_indirect, prif_put_strided_with_notify
  public :: prif_put_strided_with_notify_indirect, prif_put_strided_indirect_with_notify
  public :: prif_put_strided_indirect_with_notify_indirect
  ! Synchronisation, locks, critical, events, notifications
  public :: prif_sync_memory, prif_sync_all, prif_sync_images, prif_sync_team, prif_lock
  public :: prif_lock_indirect, prif_unlock, prif_unlock_indirect, prif_critical
  public :: prif_end_critical, prif_event_post, prif_event_post_indirect, prif_event_wait
  public :: prif_event_query, prif_notify_wait
  ! Teams
  public :: prif_form_team, prif_change_team, prif_end_team, prif_get_team, prif_team_number
  ! Collective subroutines
  public :: prif_co_broadcast, prif_co_broadcast_cptr, prif_co_sum, prif_co_max, prif_co_min
  public :: prif_co_max_character, prif_co_min_character, prif_co_reduce, prif_co_reduce_cptr
  ! Atomic subroutines
  public :: prif_atomic_add, prif_atomic_add_indirect, prif_atomic_and, prif_atomic_and_indirect
  public :: prif_atomic_or, prif_atomic_or_indirect, prif_atomic_xor, prif_atomic_xor_indirect
  public :: prif_atomic_fetch_add, prif_atomic_fetch_add_indirect, prif_atomic_fetch_and
  public :: prif_atomic_fetch_and_indirect, prif_atomic_fetch_or, prif_atomic_fetch_or_indirect
  public :: prif_atomic_fetch_xor, prif_atomic_fetch_xor_indirect, prif_atomic_cas_int
  public :: prif_atomic_cas_int_indirect, prif_atomic_cas_logical
  public :: prif_atomic_cas_logical_indirect, prif_atomic_define_int
  public :: prif_atomic_define_int_indirect, prif_atomic_ref_int, prif_atomic_ref_int_indirect
  public :: prif_atomic_define_logical, prif_atomic_define_logical_indirect
  public :: prif_atomic_ref_logical, prif_atomic_ref_logical_indirect

  ! Constants of ISO_FORTRAN_ENV that flang 22 compiles into programs; prif/entry.h has them, too.
  integer(c_int), parameter, public :: PRIF_VERSION_MAJOR = 0
  integer(c_int), parameter, public :: PRIF_VERSION_MINOR = 8
  integer(c_int), parameter, public :: PRIF_CURRENT_TEAM = -1
  integer(c_int), parameter, public :: PRIF_INITIAL_TEAM = -2
  integer(c_int), parameter, public :: PRIF_PARENT_TEAM = -3
  integer(c_int), parameter, public :: PRIF_STAT_FAILED_IMAGE = 101
  integer(c_int), parameter, public :: PRIF_STAT_LOCKED = 102
  integer(c_int), parameter, public :: PRIF_STAT_LOCKED_OTHER_IMAGE = 103
  integer(c_int), parameter, public :: PRIF_STAT_STOPPED_IMAGE = 104
  integer(c_int), parameter, public :: PRIF_STAT_UNLOCKED = 105
  integer(c_int), parameter, public :: PRIF_STAT_UNLOCKED_FAILED_IMAGE = 106
  integer(c_int), parameter, public :: PRIF_STAT_OUT_OF_MEMORY = 121
  integer(c_int), parameter, public :: PRIF_STAT_ALREADY_INIT = 122
  integer(c_int), parameter, public :: PRIF_ATOMIC_INT_KIND = 8
  integer(c_int), parameter, public :: PRIF_ATOMIC_LOGICAL_KIND = 8

  type, bind(c) :: prif_coarray_handle
    private
    type(c_ptr) :: info = c_null_ptr
  end type

  ! The library uses the first word. A type with one pointer component has as many with flang.
  type, bind(c) :: prif_team_type
    private
    type(c_ptr) :: team = c_null_ptr
#ifdef __flang__
    type(c_ptr) :: unused(4) = c_null_ptr
#endif
  end type

  type, bind(c) :: prif_event_type
    private
    integer(c_int64_t) :: count = 0
  end type

  type, bind(c) :: prif_notify_type
    private
    integer(c_int64_t) :: count = 0
  end type

  ! 0: free; else the image that holds it.
  type, bind(c) :: prif_lock_type
    private
    integer(c_int64_t) :: owner = 0
  end type

  type, bind(c) :: prif_critical_type
    private
    integer(c_int64_t) :: owner = 0
  end type

  abstract interface
    subroutine prif_stop_callback_interface(is_error_stop, quiet, stop_code_int, stop_code_char)
      import
      logical(c_bool), intent(in) :: is_error_stop, quiet
      integer(c_int), intent(in), optional :: stop_code_int
      character(len=*), intent(in), optional :: stop_code_char
    end subroutine

    ! Each of `count` elements of arg2_and_out becomes that of arg1 op that of arg2_and_out.
    subroutine prif_operation_wrapper_interface(arg1, arg2_and_out, count, cdata) bind(c)
      import
      type(c_ptr), value, intent(in) :: arg1, arg2_and_out
      integer(c_size_t), value, intent(in) :: count
      type(c_ptr), value, intent(in) :: cdata
    end subroutine

    subroutine prif_coarray_cleanup_interface(handle) bind(c)
      import
      type(prif_coarray_handle), value, intent(in) :: handle
    end subroutine
  end interface

  interface
    include 'life.inc'
    include 'image.inc'
    include 'memory.inc'
    include 'query.inc'
    include 'access.inc'
    include 'sync.inc'
    include 'team.inc'
    include 'collective.inc'
    include 'atomic.inc'
  end interface

  ! The callbacks of the program, the last registered first.
  type :: stop_callback
    procedure(prif_stop_callback_interface), pointer, nopass :: callback => null()
    type(stop_callback), pointer :: next => null()
  end type
  type(stop_callback), pointer, save :: stop_callbacks => null()

contains

  ! gfortran 12 cannot pass its own optional characters on to C: the text comes back in a local.
  subroutine prif_allocate_coarray(lcobounds, ucobounds, size_in_bytes, final_proc, &
    coarray_handle, allocated_memory, stat, errmsg, errmsg_alloc)
    integer(c_int64_t), intent(in) :: lcobounds(:), ucobounds(:)
    integer(c_size_t), intent(in) :: size_in_bytes
    procedure(prif_coarray_cleanup_interface), pointer, intent(in) :: final_proc
    type(prif_coarray_handle), intent(out) :: coarray_handle
    type(c_ptr), intent(out) :: allocated_memory
    include 'status.inc'
    character(len=:), allocatable :: text
    procedure(prif_coarray_cleanup_interface), pointer :: code
    type(c_funptr) :: cleanup
    code => final_proc ! gfortran's C_FUNLOC of such an argument is the address of the pointer
    cleanup = c_null_funptr
    if (associated(code)) cleanup = c_funloc(code)
    call c_allocate_coarray(lcobounds, ucobounds, size_in_bytes, cleanup, coarray_handle, &
      allocated_memory, stat, errmsg_alloc=text)
    if (allocated(text) .and. present(errmsg)) errmsg = text
    if (allocated(text) .and. present(errmsg_alloc)) errmsg_alloc = text
  end subroutine

  subroutine prif_co_reduce(a, operation_wrapper, cdata, result_image, stat, errmsg, errmsg_alloc)
    type(*), intent(inout), target :: a(..)
    procedure(prif_operation_wrapper_interface), pointer, intent(in) :: operation_wrapper
    type(c_ptr), value, intent(in) :: cdata
    integer(c_int), intent(in), optional :: result_image
    include 'status.inc'
    procedure(prif_operation_wrapper_interface), pointer :: code
    character(len=:), allocatable :: text
    code => operation_wrapper
    call c_co_reduce(a, c_funloc(code), cdata, result_image, stat, errmsg_alloc=text)
    if (allocated(text) .and. present(errmsg)) errmsg = text
    if (allocated(text) .and. present(errmsg_alloc)) errmsg_alloc = text
  end subroutine

  subroutine prif_co_reduce_cptr(a_ptr, element_size, element_count, operation_wrapper, cdata, &
    result_image, stat, errmsg, errmsg_alloc)
    type(c_ptr), intent(in) :: a_ptr
    integer(c_size_t), intent(in) :: element_size, element_count
    procedure(prif_operation_wrapper_interface), pointer, intent(in) :: operation_wrapper
    type(c_ptr), value, intent(in) :: cdata
    integer(c_int), intent(in), optional :: result_image
    include 'status.inc'
    procedure(prif_operation_wrapper_interface), pointer :: code
    character(len=:), allocatable :: text
    code => operation_wrapper
    call c_co_reduce_cptr(a_ptr, element_size, element_count, c_funloc(code), cdata, &
      result_image, stat, errmsg_alloc=text)
    if (allocated(text) .and. present(errmsg)) errmsg = text
    if (allocated(text) .and. present(errmsg_alloc)) errmsg_alloc = text
  end subroutine

  impure elemental subroutine prif_image_status(image, team, image_status)
    integer(c_int), intent(in) :: image
    type(prif_team_type), intent(in), optional :: team
    integer(c_int), intent(out) :: image_status
    call c_image_status(image, team, image_status)
  end subroutine

  subroutine prif_register_stop_callback(callback)
    procedure(prif_stop_callback_interface), pointer, intent(in) :: callback
    type(stop_callback), pointer :: entry
    allocate (entry)
    entry%callback => callback
    entry%next => stop_callbacks
    if (.not. associated(stop_callbacks)) call set_stop_runner(c_funloc(run_stop_callbacks))
    stop_callbacks => entry
  end subroutine

  ! Called by C. code, text [length]: c_null_ptr: none.
  subroutine run_stop_callbacks(is_error_stop, quiet, code, text, length) bind(c, &
    name='tombolo_prif_run_stop_callbacks')
    logical(c_bool), value, intent(in) :: is_error_stop, quiet
    type(c_ptr), value, intent(in) :: code, text
    integer(c_size_t), value, intent(in) :: length
    type(stop_callback), pointer :: entry
    integer(c_int), pointer :: code_int
    character(len=:), allocatable :: code_char
    call text_of(text, length, code_char)
    do while (associated(stop_callbacks))
      entry => stop_callbacks
      stop_callbacks => entry%next ! each is called once
      if (c_associated(code)) then
        call c_f_pointer(code, code_int)
        call entry%callback(is_error_stop, quiet, stop_code_int=code_int)
      else if (c_associated(text)) then
        call entry%callback(is_error_stop, quiet, stop_code_char=code_char)
      else
        call entry%callback(is_error_stop, quiet)
      end if
    end do
  end subroutine

  subroutine text_of(at, length, text)
    type(c_ptr), intent(in) :: at
    integer(c_size_t), intent(in) :: length
    character(len=:), allocatable, intent(out) :: text
    character(kind=c_char), pointer :: letters(:)
    integer(c_size_t) :: i
    allocate (character(len=merge(length, 0_c_size_t, c_associated(at))) :: text)
    if (.not. c_associated(at)) return
    call c_f_pointer(at, letters, [length])
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end subroutine

end module
