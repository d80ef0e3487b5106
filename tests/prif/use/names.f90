! SPDX-License-Identifier: BSD-3-Clause
! Every name of the module: it can be imported, has its arguments by keyword, and the types have
! their sizes and first values. The calls are compiled and linked, not run.
! ranks: 1 2
program names
  use, intrinsic :: iso_c_binding
  use check
  use prif, only: prif_coarray_handle, prif_team_type, prif_event_type, prif_notify_type, &
    prif_lock_type, prif_critical_type, prif_stop_callback_interface, &
    prif_operation_wrapper_interface, prif_coarray_cleanup_interface, PRIF_VERSION_MAJOR, &
    PRIF_VERSION_MINOR, PRIF_CURRENT_TEAM, PRIF_INITIAL_TEAM, PRIF_PARENT_TEAM, &
    PRIF_STAT_FAILED_IMAGE, PRIF_STAT_LOCKED, PRIF_STAT_LOCKED_OTHER_IMAGE, &
    PRIF_STAT_STOPPED_IMAGE, PRIF_STAT_UNLOCKED, PRIF_STAT_UNLOCKED_FAILED_IMAGE, &
    PRIF_STAT_OUT_OF_MEMORY, PRIF_STAT_ALREADY_INIT, PRIF_ATOMIC_INT_KIND, &
    PRIF_ATOMIC_LOGICAL_KIND
  use prif, only: prif_init, prif_stop, prif_error_stop, prif_fail_image, &
    prif_register_stop_callback
  use prif, only: prif_num_images, prif_num_images_with_team, prif_num_images_with_team_number, &
    prif_this_image_no_coarray, prif_this_image_with_coarray, prif_this_image_with_dim, &
    prif_failed_images, prif_stopped_images, prif_image_status
  use prif, only: prif_allocate_coarray, prif_allocate, prif_deallocate_coarray, &
    prif_deallocate_coarrays, prif_deallocate, prif_alias_create, prif_alias_destroy
  use prif, only: prif_set_context_data, prif_get_context_data, prif_size_bytes, &
    prif_local_data_pointer, prif_lcobound_with_dim, prif_lcobound_no_dim, prif_ucobound_with_dim, &
    prif_ucobound_no_dim, prif_coshape, prif_image_index, prif_image_index_with_team, &
    prif_image_index_with_team_number, prif_initial_team_index, prif_initial_team_index_with_team, &
    prif_initial_team_index_with_team_number
  use prif, only: prif_get, prif_put, prif_get_indirect, prif_put_indirect, prif_put_with_notify, &
    prif_put_with_notify_indirect, prif_put_indirect_with_notify, &
    prif_put_indirect_with_notify_indirect, prif_get_strided, prif_put_strided, &
    prif_get_strided_indirect, prif_put_strided_indirect, prif_put_strided_with_notify, &
    prif_put_strided_with_notify_indirect, prif_put_strided_indirect_with_notify, &
    prif_put_strided_indirect_with_notify_indirect
  use prif, only: prif_sync_memory, prif_sync_all, prif_sync_images, prif_sync_team, prif_lock, &
    prif_lock_indirect, prif_unlock, prif_unlock_indirect, prif_critical, prif_end_critical, &
    prif_event_post, prif_event_post_indirect, prif_event_wait, prif_event_query, prif_notify_wait
  use prif, only: prif_form_team, prif_change_team, prif_end_team, prif_get_team, prif_team_number
  use prif, only: prif_co_broadcast, prif_co_broadcast_cptr, prif_co_sum, prif_co_max, &
    prif_co_min, prif_co_max_character, prif_co_min_character, prif_co_reduce, prif_co_reduce_cptr
  use prif, only: prif_atomic_add, prif_atomic_add_indirect, prif_atomic_and, &
    prif_atomic_and_indirect, prif_atomic_or, prif_atomic_or_indirect, prif_atomic_xor, &
    prif_atomic_xor_indirect, prif_atomic_fetch_add, prif_atomic_fetch_add_indirect, &
    prif_atomic_fetch_and, prif_atomic_fetch_and_indirect, prif_atomic_fetch_or, &
    prif_atomic_fetch_or_indirect, prif_atomic_fetch_xor, prif_atomic_fetch_xor_indirect, &
    prif_atomic_cas_int, prif_atomic_cas_int_indirect, prif_atomic_cas_logical, &
    prif_atomic_cas_logical_indirect, prif_atomic_define_int, prif_atomic_define_int_indirect, &
    prif_atomic_ref_int, prif_atomic_ref_int_indirect, prif_atomic_define_logical, &
    prif_atomic_define_logical_indirect, prif_atomic_ref_logical, prif_atomic_ref_logical_indirect
  implicit none
  integer(c_int) :: i, i2, stat
  integer(c_int64_t) :: l, l2
  integer(c_size_t) :: z, z2
  integer(c_intptr_t) :: a
  integer(PRIF_ATOMIC_INT_KIND) :: k, k2
  logical(PRIF_ATOMIC_LOGICAL_KIND) :: g, g2
  logical(c_bool) :: b, b2
  type(c_ptr) :: p, p2
  type(prif_coarray_handle) :: h, h2, ha(2)
  type(prif_team_type) :: t, t2
  integer(c_int) :: ia(2)
  integer(c_int64_t) :: la(2), la2(2)
  integer(c_size_t) :: za(2), za2(2)
  integer(c_ptrdiff_t) :: da(2)
  integer(c_int), allocatable :: il(:)
  character(len=20) :: s
  character(len=:), allocatable :: e
  real :: x(2)
  procedure(prif_stop_callback_interface), pointer :: callback => null()
  procedure(prif_operation_wrapper_interface), pointer :: operation => null()
  procedure(prif_coarray_cleanup_interface), pointer :: cleanup => null()

  call begin()
  call expect_values()
  call expect_types()
  ! Never, which no compiler knows.
  if (images == 0) then
    call name_life()
    call name_image()
    call name_memory()
    call name_query()
    call name_access()
    call name_sync()
    call name_team()
    call name_collective()
    call name_atomic()
  end if
  call finish()

contains

  subroutine expect_values()
    integer, parameter :: stats(8) = [PRIF_STAT_FAILED_IMAGE, PRIF_STAT_LOCKED, &
      PRIF_STAT_LOCKED_OTHER_IMAGE, PRIF_STAT_STOPPED_IMAGE, PRIF_STAT_UNLOCKED, &
      PRIF_STAT_UNLOCKED_FAILED_IMAGE, PRIF_STAT_OUT_OF_MEMORY, PRIF_STAT_ALREADY_INIT]
    integer, parameter :: teams(3) = [PRIF_CURRENT_TEAM, PRIF_INITIAL_TEAM, PRIF_PARENT_TEAM]
    integer :: n
    call expect(PRIF_VERSION_MAJOR == 0 .and. PRIF_VERSION_MINOR == 8, 'version')
    call expect(PRIF_ATOMIC_INT_KIND == 8 .and. PRIF_ATOMIC_LOGICAL_KIND == 8, 'atomic kinds')
    call expect(all(stats > 0), 'stat values are positive')
    do n = 1, 8
      call expect(count(stats == stats(n)) == 1, 'stat values differ')
    end do
    call expect(all(teams == [-1, -2, -3]), 'team constants')
    call prif_init(stat=stat)
    call expect(stat == PRIF_STAT_ALREADY_INIT, 'a second prif_init')
  end subroutine

  ! first: the words of a variable that has its first value.
  subroutine expect_zero(first, what)
    integer(c_int64_t), intent(in) :: first(:)
    character(*), intent(in) :: what
    call expect(size(first) >= 1 .and. size(first) <= 8, what // ': size')
    call expect(all(first == 0), what // ': first value')
  end subroutine

  subroutine expect_types()
    type :: node
      type(node), pointer :: next => null()
    end type
    type(node) :: sample
    type(prif_coarray_handle) :: handle
    type(prif_team_type) :: team
    type(prif_event_type) :: event
    type(prif_notify_type) :: notify
    type(prif_lock_type) :: lock
    type(prif_critical_type) :: critical
    call expect_zero(transfer(event, [0_c_int64_t]), 'prif_event_type')
    call expect_zero(transfer(notify, [0_c_int64_t]), 'prif_notify_type')
    call expect_zero(transfer(lock, [0_c_int64_t]), 'prif_lock_type')
    call expect_zero(transfer(critical, [0_c_int64_t]), 'prif_critical_type')
    call expect_zero(transfer(handle, [0_c_int64_t]), 'prif_coarray_handle')
    call expect_zero(transfer(team, [0_c_int64_t]), 'prif_team_type')
    call expect(c_sizeof(handle) == c_sizeof(p), 'a handle is a pointer')
    call expect(storage_size(team) == storage_size(sample), 'size of prif_team_type')
  end subroutine

  subroutine name_life()
    call prif_init(stat=stat)
    call prif_stop(quiet=b, stop_code_int=i, stop_code_char=s)
    call prif_error_stop(quiet=b, stop_code_int=i, stop_code_char=s)
    call prif_fail_image()
    call prif_register_stop_callback(callback=callback)
  end subroutine

  subroutine name_image()
    call prif_num_images(num_images=i2)
    call prif_num_images_with_team(team=t, num_images=i2)
    call prif_num_images_with_team_number(team_number=l, num_images=i2)
    call prif_this_image_no_coarray(team=t, this_image=i2)
    call prif_this_image_with_coarray(coarray_handle=h, team=t, cosubscripts=la2)
    call prif_this_image_with_dim(coarray_handle=h, dim=i, team=t, cosubscript=l2)
    call prif_failed_images(team=t, failed_images=il)
    call prif_stopped_images(team=t, stopped_images=il)
    call prif_image_status(image=i, team=t, image_status=i2)
  end subroutine

  subroutine name_memory()
    call prif_allocate_coarray(lcobounds=la, ucobounds=la, size_in_bytes=z, final_proc=cleanup, &
      coarray_handle=h2, allocated_memory=p2, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_allocate(size_in_bytes=z, allocated_memory=p2, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_deallocate_coarray(coarray_handle=h, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_deallocate_coarrays(coarray_handles=ha, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_deallocate(mem=p, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_alias_create(source_handle=h, alias_lcobounds=la, alias_ucobounds=la, &
      data_pointer_offset=z, alias_handle=h2)
    call prif_alias_destroy(alias_handle=h)
  end subroutine

  subroutine name_query()
    call prif_set_context_data(coarray_handle=h, context_data=p)
    call prif_get_context_data(coarray_handle=h, context_data=p2)
    call prif_size_bytes(coarray_handle=h, data_size=z2)
    call prif_local_data_pointer(coarray_handle=h, local_data=p2)
    call prif_lcobound_with_dim(coarray_handle=h, dim=i, lcobound=l2)
    call prif_lcobound_no_dim(coarray_handle=h, lcobounds=la2)
    call prif_ucobound_with_dim(coarray_handle=h, dim=i, ucobound=l2)
    call prif_ucobound_no_dim(coarray_handle=h, ucobounds=la2)
    call prif_coshape(coarray_handle=h, sizes=za2)
    call prif_image_index(coarray_handle=h, sub=la, image_index=i2)
    call prif_image_index_with_team(coarray_handle=h, sub=la, team=t, image_index=i2)
    call prif_image_index_with_team_number(coarray_handle=h, sub=la, team_number=l, image_index=i2)
    call prif_initial_team_index(coarray_handle=h, sub=la, initial_team_index=i2, stat=stat)
    call prif_initial_team_index_with_team(coarray_handle=h, sub=la, team=t, &
      initial_team_index=i2, stat=stat)
    call prif_initial_team_index_with_team_number(coarray_handle=h, sub=la, team_number=l, &
      initial_team_index=i2, stat=stat)
  end subroutine

  subroutine name_access()
    call prif_get(image_num=i, coarray_handle=h, offset=z, current_image_buffer=p, &
      size_in_bytes=z, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_put(image_num=i, coarray_handle=h, offset=z, current_image_buffer=p, &
      size_in_bytes=z, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_get_indirect(image_num=i, remote_ptr=a, current_image_buffer=p, size_in_bytes=z, &
      stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_put_indirect(image_num=i, remote_ptr=a, current_image_buffer=p, size_in_bytes=z, &
      stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_put_with_notify(image_num=i, coarray_handle=h, offset=z, current_image_buffer=p, &
      size_in_bytes=z, notify_coarray_handle=h, notify_offset=z, stat=stat, errmsg=s, &
      errmsg_alloc=e)
    call prif_put_with_notify_indirect(image_num=i, coarray_handle=h, offset=z, &
      current_image_buffer=p, size_in_bytes=z, notify_ptr=a, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_put_indirect_with_notify(image_num=i, remote_ptr=a, current_image_buffer=p, &
      size_in_bytes=z, notify_coarray_handle=h, notify_offset=z, stat=stat, errmsg=s, &
      errmsg_alloc=e)
    call prif_put_indirect_with_notify_indirect(image_num=i, remote_ptr=a, &
      current_image_buffer=p, size_in_bytes=z, notify_ptr=a, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_get_strided(image_num=i, coarray_handle=h, offset=z, remote_stride=da, &
      current_image_buffer=p, current_image_stride=da, element_size=z, extent=za, stat=stat, &
      errmsg=s, errmsg_alloc=e)
    call prif_put_strided(image_num=i, coarray_handle=h, offset=z, remote_stride=da, &
      current_image_buffer=p, current_image_stride=da, element_size=z, extent=za, stat=stat, &
      errmsg=s, errmsg_alloc=e)
    call prif_get_strided_indirect(image_num=i, remote_ptr=a, remote_stride=da, &
      current_image_buffer=p, current_image_stride=da, element_size=z, extent=za, stat=stat, &
      errmsg=s, errmsg_alloc=e)
    call prif_put_strided_indirect(image_num=i, remote_ptr=a, remote_stride=da, &
      current_image_buffer=p, current_image_stride=da, element_size=z, extent=za, stat=stat, &
      errmsg=s, errmsg_alloc=e)
    call prif_put_strided_with_notify(image_num=i, coarray_handle=h, offset=z, remote_stride=da, &
      current_image_buffer=p, current_image_stride=da, element_size=z, extent=za, &
      notify_coarray_handle=h, notify_offset=z, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_put_strided_with_notify_indirect(image_num=i, coarray_handle=h, offset=z, &
      remote_stride=da, current_image_buffer=p, current_image_stride=da, element_size=z, extent=za, &
      notify_ptr=a, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_put_strided_indirect_with_notify(image_num=i, remote_ptr=a, remote_stride=da, &
      current_image_buffer=p, current_image_stride=da, element_size=z, extent=za, &
      notify_coarray_handle=h, notify_offset=z, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_put_strided_indirect_with_notify_indirect(image_num=i, remote_ptr=a, &
      remote_stride=da, current_image_buffer=p, current_image_stride=da, element_size=z, extent=za, &
      notify_ptr=a, stat=stat, errmsg=s, errmsg_alloc=e)
  end subroutine

  subroutine name_sync()
    call prif_sync_memory(stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_sync_all(stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_sync_images(image_set=ia, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_sync_team(team=t, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_lock(image_num=i, coarray_handle=h, offset=z, acquired_lock=b2, stat=stat, &
      errmsg=s, errmsg_alloc=e)
    call prif_lock_indirect(image_num=i, lock_var_ptr=a, acquired_lock=b2, stat=stat, errmsg=s, &
      errmsg_alloc=e)
    call prif_unlock(image_num=i, coarray_handle=h, offset=z, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_unlock_indirect(image_num=i, lock_var_ptr=a, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_critical(critical_coarray=h, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_end_critical(critical_coarray=h)
    call prif_event_post(image_num=i, coarray_handle=h, offset=z, stat=stat, errmsg=s, &
      errmsg_alloc=e)
    call prif_event_post_indirect(image_num=i, event_var_ptr=a, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_event_wait(event_var_ptr=p, until_count=l, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_event_query(event_var_ptr=p, count=l2, stat=stat)
    call prif_notify_wait(notify_var_ptr=p, until_count=l, stat=stat, errmsg=s, errmsg_alloc=e)
  end subroutine

  subroutine name_team()
    call prif_form_team(team_number=l, team=t2, new_index=i, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_change_team(team=t, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_end_team(stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_get_team(level=i, team=t2)
    call prif_team_number(team=t, team_number=l2)
  end subroutine

  subroutine name_collective()
    call prif_co_broadcast(a=x, source_image=i, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_co_broadcast_cptr(a_ptr=p, size_in_bytes=z, source_image=i, stat=stat, errmsg=s, &
      errmsg_alloc=e)
    call prif_co_sum(a=x, result_image=i, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_co_max(a=x, result_image=i, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_co_min(a=x, result_image=i, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_co_max_character(a=s, result_image=i, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_co_min_character(a=s, result_image=i, stat=stat, errmsg=s, errmsg_alloc=e)
    call prif_co_reduce(a=x, operation_wrapper=operation, cdata=p, result_image=i, stat=stat, &
      errmsg=s, errmsg_alloc=e)
    call prif_co_reduce_cptr(a_ptr=p, element_size=z, element_count=z, &
      operation_wrapper=operation, cdata=p, result_image=i, stat=stat, errmsg=s, errmsg_alloc=e)
  end subroutine

  subroutine name_atomic()
    call prif_atomic_add(image_num=i, coarray_handle=h, offset=z, value=k, stat=stat)
    call prif_atomic_add_indirect(image_num=i, atom_remote_ptr=a, value=k, stat=stat)
    call prif_atomic_and(image_num=i, coarray_handle=h, offset=z, value=k, stat=stat)
    call prif_atomic_and_indirect(image_num=i, atom_remote_ptr=a, value=k, stat=stat)
    call prif_atomic_or(image_num=i, coarray_handle=h, offset=z, value=k, stat=stat)
    call prif_atomic_or_indirect(image_num=i, atom_remote_ptr=a, value=k, stat=stat)
    call prif_atomic_xor(image_num=i, coarray_handle=h, offset=z, value=k, stat=stat)
    call prif_atomic_xor_indirect(image_num=i, atom_remote_ptr=a, value=k, stat=stat)
    call prif_atomic_fetch_add(image_num=i, coarray_handle=h, offset=z, value=k, old=k2, stat=stat)
    call prif_atomic_fetch_add_indirect(image_num=i, atom_remote_ptr=a, value=k, old=k2, stat=stat)
    call prif_atomic_fetch_and(image_num=i, coarray_handle=h, offset=z, value=k, old=k2, stat=stat)
    call prif_atomic_fetch_and_indirect(image_num=i, atom_remote_ptr=a, value=k, old=k2, stat=stat)
    call prif_atomic_fetch_or(image_num=i, coarray_handle=h, offset=z, value=k, old=k2, stat=stat)
    call prif_atomic_fetch_or_indirect(image_num=i, atom_remote_ptr=a, value=k, old=k2, stat=stat)
    call prif_atomic_fetch_xor(image_num=i, coarray_handle=h, offset=z, value=k, old=k2, stat=stat)
    call prif_atomic_fetch_xor_indirect(image_num=i, atom_remote_ptr=a, value=k, old=k2, stat=stat)
    call prif_atomic_cas_int(image_num=i, coarray_handle=h, offset=z, old=k2, compare=k, new=k, &
      stat=stat)
    call prif_atomic_cas_int_indirect(image_num=i, atom_remote_ptr=a, old=k2, compare=k, new=k, &
      stat=stat)
    call prif_atomic_cas_logical(image_num=i, coarray_handle=h, offset=z, old=g2, compare=g, &
      new=g, stat=stat)
    call prif_atomic_cas_logical_indirect(image_num=i, atom_remote_ptr=a, old=g2, compare=g, &
      new=g, stat=stat)
    call prif_atomic_define_int(image_num=i, coarray_handle=h, offset=z, value=k, stat=stat)
    call prif_atomic_define_int_indirect(image_num=i, atom_remote_ptr=a, value=k, stat=stat)
    call prif_atomic_ref_int(image_num=i, coarray_handle=h, offset=z, value=k2, stat=stat)
    call prif_atomic_ref_int_indirect(image_num=i, atom_remote_ptr=a, value=k2, stat=stat)
    call prif_atomic_define_logical(image_num=i, coarray_handle=h, offset=z, value=g, stat=stat)
    call prif_atomic_define_logical_indirect(image_num=i, atom_remote_ptr=a, value=g, stat=stat)
    call prif_atomic_ref_logical(image_num=i, coarray_handle=h, offset=z, value=g2, stat=stat)
    call prif_atomic_ref_logical_indirect(image_num=i, atom_remote_ptr=a, value=g2, stat=stat)
  end subroutine
end program
