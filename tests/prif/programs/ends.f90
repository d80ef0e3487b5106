! SPDX-License-Identifier: BSD-3-Clause
! How a program ends, one way for each first argument; ends.py says what must come of it.
module callbacks
  use, intrinsic :: iso_c_binding
  implicit none
contains
  subroutine tell(name, is_error_stop, quiet, stop_code_int, stop_code_char)
    character(len=*), intent(in) :: name
    logical(c_bool), intent(in) :: is_error_stop, quiet
    integer(c_int), intent(in), optional :: stop_code_int
    character(len=*), intent(in), optional :: stop_code_char
    print '(a,2(1x,l1))', name, is_error_stop, quiet
    if (present(stop_code_int)) print '(a,i0)', 'int ', stop_code_int
    if (present(stop_code_char)) print '(3a)', 'char [', stop_code_char, ']'
  end subroutine
  subroutine first(is_error_stop, quiet, stop_code_int, stop_code_char)
    logical(c_bool), intent(in) :: is_error_stop, quiet
    integer(c_int), intent(in), optional :: stop_code_int
    character(len=*), intent(in), optional :: stop_code_char
    call tell('first', is_error_stop, quiet, stop_code_int, stop_code_char)
  end subroutine
  subroutine later(is_error_stop, quiet, stop_code_int, stop_code_char)
    logical(c_bool), intent(in) :: is_error_stop, quiet
    integer(c_int), intent(in), optional :: stop_code_int
    character(len=*), intent(in), optional :: stop_code_char
    call tell('second', is_error_stop, quiet, stop_code_int, stop_code_char)
  end subroutine
end module

program ends
  use, intrinsic :: iso_c_binding
  use prif
  use callbacks
  implicit none
  procedure(prif_stop_callback_interface), pointer :: callback
  procedure(prif_coarray_cleanup_interface), pointer :: none => null()
  character(len=32) :: how
  type(prif_coarray_handle) :: handle
  type(prif_team_type) :: team
  integer(c_int) :: stat, me
  type(c_ptr) :: memory
  integer(c_size_t) :: bytes
  integer(c_int64_t), target :: count
  integer(c_int), allocatable :: list(:)
  character(len=120) :: text
  call prif_init(stat)
  call prif_this_image_no_coarray(this_image=me)
  call get_command_argument(1, how)
  select case (how)
  case ('stop')
    print '(a,i0)', 'output of image ', me
    call prif_stop(.false._c_bool, merge(5_c_int, 0_c_int, me == 1))
  case ('stop_text')
    call prif_stop(.false._c_bool, stop_code_char='enough')
  case ('quiet')
    call prif_stop(.true._c_bool, stop_code_char='enough')
  case ('memory')
    call prif_allocate(2_c_size_t**60, memory)
  case ('memory_coarray')
    call prif_allocate_coarray([1_c_int64_t], [integer(c_int64_t) ::], 2_c_size_t**60, none, &
      handle, memory)
  case ('callbacks')
    callback => first
    call prif_register_stop_callback(callback)
    callback => later
    call prif_register_stop_callback(callback)
    call prif_stop(.false._c_bool, 7_c_int)
  case ('callbacks_error')
    callback => first
    call prif_register_stop_callback(callback)
    if (me == 1) call prif_error_stop(.true._c_bool, stop_code_char='why ')
    call prif_sync_all()
  case ('error_stop')
    if (me == 1) call prif_error_stop(.false._c_bool, 9_c_int)
    call prif_sync_all()
  case ('error_text')
    if (me == 1) call prif_error_stop(.false._c_bool, stop_code_char='bad input')
    call prif_sync_all()
  case ('stopped')
    if (me == 1) call prif_stop(.true._c_bool)
    call prif_sync_all(stat, text)
    call prif_stopped_images(stopped_images=list)
    if (me == 2) print '(a,i0,1x,i0,1x,a)', 'stat ', stat, list(1), trim(text)
    call prif_stop(.true._c_bool)
  case ('failed')
    if (me == 1) call prif_fail_image()
    call prif_sync_all(stat, text)
    call prif_failed_images(failed_images=list)
    if (me == 2) print '(a,i0,1x,i0,1x,a)', 'stat ', stat, list(1), trim(text)
    call prif_image_status(1_c_int, image_status=stat)
    if (me == 2) print '(a,i0)', 'status ', stat
    call prif_stop(.true._c_bool)
  case ('own_error') ! of the language, while the others do not synchronise
    call coarray(handle, memory)
    if (me == 1) error stop 6
    do
      call prif_event_query(memory, count)
      if (count > 0) exit
    end do
  case ('own_end') ! without prif_stop
    call coarray(handle, memory)
    if (me == 1) stop
    call wait_for_stop()
    call prif_get(1_c_int, handle, 0_c_size_t, c_loc(count), 8_c_size_t, stat)
    print '(a,i0)', 'stat ', stat
  case ('null_handle')
    call prif_size_bytes(handle, bytes)
  case ('bad_handle')
    handle = transfer(12345_c_intptr_t, handle)
    call prif_size_bytes(handle, bytes)
  case ('bad_team')
    call prif_num_images_with_team(team, stat)
  case ('bad_number')
    call prif_num_images_with_team_number(7_c_int64_t, stat)
  case ('bad_level')
    call prif_get_team(5_c_int, team)
  end select
contains
  subroutine coarray(handle, memory)
    type(prif_coarray_handle), intent(out) :: handle
    type(c_ptr), intent(out) :: memory
    procedure(prif_coarray_cleanup_interface), pointer :: none
    integer(c_int64_t), pointer :: word
    none => null()
    call prif_allocate_coarray([1_c_int64_t], [integer(c_int64_t) ::], 8_c_size_t, none, handle, &
      memory)
    call c_f_pointer(memory, word)
    word = 0
    call prif_sync_all()
  end subroutine

  subroutine wait_for_stop() ! of image 1
    do
      call prif_stopped_images(stopped_images=list)
      if (any(list == 1)) exit
    end do
  end subroutine
end program
