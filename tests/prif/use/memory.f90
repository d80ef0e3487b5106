! SPDX-License-Identifier: BSD-3-Clause
! Coarrays and their handles: allocation, cobounds, context data, aliases, cleanup, errors.
! ranks: 1 2 4 7
module memory_cleanup
  use, intrinsic :: iso_c_binding
  use prif
  implicit none
  integer :: calls = 0
  integer(c_intptr_t) :: order(8) = 0
contains
  subroutine note(handle) bind(c)
    type(prif_coarray_handle), value, intent(in) :: handle
    type(c_ptr) :: context
    integer(c_size_t) :: bytes
    calls = calls + 1
    call prif_size_bytes(handle, bytes)
    call prif_get_context_data(handle, context)
    order(calls) = int(bytes, c_intptr_t)
    if (c_associated(context)) order(calls) = -order(calls)
  end subroutine
end module

program memory
  use, intrinsic :: iso_c_binding
  use prif
  use check
  use memory_cleanup
  implicit none
  procedure(prif_coarray_cleanup_interface), pointer :: none => null(), cleanup => null()
  type(prif_coarray_handle) :: nothing
  integer(c_int64_t) :: no_bounds(0)
  call begin()
  cleanup => note
  call one_coarray()
  call zero_bytes()
  call bounds()
  call corank15()
  call aliases()
  call cleanups()
  call components()
  call too_much()
  call wrong_bounds()
  call finish()
contains
  subroutine allocate(handle, bytes, memory, final)
    type(prif_coarray_handle), intent(out) :: handle
    integer, intent(in) :: bytes
    type(c_ptr), intent(out) :: memory
    procedure(prif_coarray_cleanup_interface), pointer, intent(in) :: final
    call prif_allocate_coarray([1_c_int64_t], no_bounds, int(bytes, c_size_t), final, handle, memory)
  end subroutine

  subroutine one_coarray()
    type(prif_coarray_handle) :: handle
    type(c_ptr) :: memory, local, context
    integer(c_size_t) :: bytes
    integer(c_int), pointer :: data(:)
    integer(c_int), target :: mine
    integer(c_int) :: stat
    character(len=200) :: text
    call allocate(handle, 400, memory, none)
    call c_f_pointer(memory, data, [100])
    data = this
    call prif_size_bytes(handle, bytes)
    call expect(bytes == 400, 'size_bytes')
    call prif_local_data_pointer(handle, local)
    call expect(c_associated(local, memory), 'local_data_pointer')
    call prif_get_context_data(handle, context)
    call expect(.not. c_associated(context), 'no context data at first')
    call prif_set_context_data(handle, c_loc(mine))
    call prif_get_context_data(handle, context)
    call expect(c_associated(context, c_loc(mine)), 'context data')
    stat = -1
    call prif_deallocate_coarray(handle, stat)
    call expect(stat == 0, 'deallocate gives 0')
    text = 'unchanged'
    call prif_deallocate_coarray(handle, stat, text)
    call expect(stat /= 0 .and. text /= 'unchanged', 'a handle that was freed is found')
    call expect(index(text, 'deallocated') > 0, 'and the message says that')
    call prif_deallocate_coarray(nothing, stat, text)
    call expect(stat /= 0 .and. index(text, 'null') > 0, 'a null handle is found')
  end subroutine

  subroutine zero_bytes()
    type(prif_coarray_handle) :: a, b
    type(c_ptr) :: memory
    integer(c_int) :: stat
    integer(c_size_t) :: bytes
    call allocate(a, 0, memory, none)
    call allocate(b, 0, memory, none)
    call prif_size_bytes(b, bytes)
    call expect(bytes == 0, 'a coarray of no bytes')
    call prif_deallocate_coarrays([a, a], stat)
    call expect(stat /= 0, 'a handle twice in a list is found')
    call prif_deallocate_coarrays([a, b], stat)
    call expect(stat == 0, 'two coarrays of no bytes')
  end subroutine

  subroutine bounds()
    type(prif_coarray_handle) :: handle
    type(c_ptr) :: memory
    integer(c_int64_t) :: low(3), up(3), shape(3), sub(3), one
    integer(c_int) :: k, at, stat, again
    integer(c_int64_t) :: last
    call prif_allocate_coarray([-1_c_int64_t, 2_c_int64_t, 0_c_int64_t], &
      [0_c_int64_t, 4_c_int64_t], 8_c_size_t, none, handle, memory)
    last = (images + 5)/6 - 1
    call prif_lcobound_no_dim(handle, low)
    call prif_ucobound_no_dim(handle, up)
    call prif_coshape(handle, shape)
    call expect(all(low == [-1, 2, 0]), 'lcobounds')
    call expect(all(up == [0_c_int64_t, 4_c_int64_t, last]), 'ucobounds')
    call expect(all(shape == [2_c_int64_t, 3_c_int64_t, last + 1]), 'coshape')
    call prif_lcobound_with_dim(handle, 2_c_int, one)
    call expect(one == 2, 'lcobound of dim 2')
    call prif_ucobound_with_dim(handle, 3_c_int, one)
    call expect(one == last, 'ucobound of dim 3')
    call prif_this_image_with_coarray(handle, cosubscripts=sub)
    call expect(all(sub == [-1 + mod(this - 1, 2), 2 + mod((this - 1)/2, 3), (this - 1)/6]), &
      'cosubscripts of this image')
    do k = 1, 3
      call prif_this_image_with_dim(handle, k, cosubscript=one)
      call expect(one == sub(k), 'one cosubscript')
    end do
    call prif_image_index(handle, sub, at)
    call expect(at == this, 'image_index')
    call prif_initial_team_index(handle, sub, again, stat)
    call expect(stat == 0 .and. again == this, 'initial_team_index')
    sub(1) = 1
    call prif_image_index(handle, sub, at)
    call expect(at == 0, 'out of the first codimension')
    call prif_image_index(handle, [-1_c_int64_t, 2_c_int64_t, huge(1_c_int64_t)], at)
    call expect(at == 0, 'far beyond the images')
    call prif_initial_team_index(handle, sub, again, stat)
    call expect(stat /= 0, 'initial_team_index of no image')
    call bounds_in_team(handle)
    call prif_deallocate_coarray(handle)
  end subroutine

  ! The last upper cobound and the last coextent follow the current team.
  subroutine bounds_in_team(handle)
    type(prif_coarray_handle), intent(in) :: handle
    type(prif_coarray_handle) :: alias
    type(prif_team_type) :: team
    integer(c_int64_t) :: up(3), shape(3), one
    integer(c_int) :: few
    call prif_form_team(int(merge(1, 2, this == 1), c_int64_t), team)
    call prif_change_team(team)
    call prif_num_images(few)
    call prif_alias_create(handle, [5_c_int64_t], no_bounds, 0_c_size_t, alias)
    call prif_ucobound_no_dim(handle, up)
    call prif_coshape(handle, shape)
    call expect(all(up == [0, 4, (few + 5)/6 - 1]), 'ucobounds in a team')
    call expect(all(shape == [2, 3, (few + 5)/6]), 'coshape in a team')
    call prif_ucobound_with_dim(alias, 1_c_int, one)
    call expect(one == 4 + few, 'ucobound of an alias in a team')
    call prif_end_team()
    call prif_ucobound_with_dim(alias, 1_c_int, one)
    call expect(one == 4 + images, 'ucobound of an alias behind the team')
    call prif_alias_destroy(alias)
  end subroutine

  subroutine corank15()
    type(prif_coarray_handle) :: handle
    type(c_ptr) :: memory
    integer(c_int64_t) :: low(15), up(14), found(15)
    integer(c_int) :: at
    low = 1
    up = 2
    call prif_allocate_coarray(low, up, 8_c_size_t, none, handle, memory)
    call prif_this_image_with_coarray(handle, cosubscripts=found)
    call prif_image_index(handle, found, at)
    call expect(at == this, 'corank 15')
    call prif_ucobound_no_dim(handle, found)
    call expect(all(found(:14) == 2) .and. found(15) == 1, 'ucobounds of corank 15')
    call prif_deallocate_coarray(handle)
  end subroutine

  subroutine aliases()
    type(prif_coarray_handle) :: handle, alias, second
    type(c_ptr) :: memory, local, context
    integer(c_int), target :: mine
    integer(c_int64_t) :: low(1)
    integer(c_int) :: stat
    call allocate(handle, 64, memory, none)
    call prif_alias_create(handle, [5_c_int64_t], no_bounds, 16_c_size_t, alias)
    call prif_alias_create(alias, [6_c_int64_t], [6_c_int64_t + images], 8_c_size_t, second)
    call prif_local_data_pointer(second, local)
    call expect(transfer(local, 0_c_intptr_t) - transfer(memory, 0_c_intptr_t) == 24, 'offsets add')
    call prif_lcobound_no_dim(alias, low)
    call expect(low(1) == 5, 'an alias has own cobounds')
    call prif_set_context_data(second, c_loc(mine))
    call prif_get_context_data(handle, context)
    call expect(c_associated(context, c_loc(mine)), 'context data are shared')
    call prif_deallocate_coarray(alias, stat)
    call expect(stat /= 0, 'an alias is not deallocated')
    call prif_alias_destroy(alias)
    call prif_local_data_pointer(second, local)
    call prif_deallocate_coarray(handle)
    call prif_deallocate_coarray(second, stat)
    call expect(stat /= 0, 'an alias ends with its coarray')
  end subroutine

  subroutine cleanups()
    type(prif_coarray_handle) :: a, b, c
    type(c_ptr) :: memory
    type(prif_team_type) :: team
    integer(c_int), target :: mine
    call allocate(a, 8, memory, cleanup)
    call allocate(b, 16, memory, cleanup)
    call prif_set_context_data(b, c_loc(mine))
    call prif_form_team(int(1 + mod(this, 2), c_int64_t), team)
    call prif_change_team(team)
    call allocate(c, 24, memory, cleanup)
    call allocate(c, 32, memory, none)
    call allocate(c, 40, memory, cleanup)
    call prif_end_team()
    call expect(calls == 2 .and. all(order(:2) == [40, 24]), 'END TEAM cleans up, last first')
    call prif_deallocate_coarrays([b, a])
    call expect(calls == 4 .and. all(order(3:4) == [-16, 8]), 'cleanup in the order of the list')
  end subroutine

  subroutine components()
    type(c_ptr) :: memory, none_here
    integer(c_int) :: stat
    character(len=:), allocatable :: text
    call prif_allocate(100_c_size_t, memory, stat)
    call expect(stat == 0 .and. c_associated(memory), 'memory of one image')
    call prif_deallocate(memory, stat)
    call expect(stat == 0, 'and its end')
    call prif_deallocate(memory, stat, errmsg_alloc=text)
    call expect(stat /= 0, 'memory that was freed is found')
    call expect(index(text, 'prif_deallocate') == 1, 'errmsg_alloc')
    none_here = c_null_ptr
    call prif_deallocate(none_here, stat)
    call expect(stat /= 0, 'no memory')
  end subroutine

  subroutine too_much()
    type(prif_coarray_handle) :: handle
    type(c_ptr) :: memory
    integer(c_int) :: stat
    character(len=:), allocatable :: text
    integer(c_size_t) :: huge_size
    huge_size = 2_c_size_t**60
    call prif_allocate(huge_size, memory, stat, errmsg_alloc=text)
    call expect(stat == PRIF_STAT_OUT_OF_MEMORY, 'too much for one image')
    call expect(index(text, 'out of memory') > 0, 'errmsg of one image')
    if (this == images) huge_size = 8
    call prif_allocate_coarray([1_c_int64_t], no_bounds, huge_size, none, handle, memory, stat, &
      errmsg_alloc=text)
    if (images > 1) call expect(stat == PRIF_STAT_OUT_OF_MEMORY .and. &
      index(text, 'out of memory') > 0, 'all images know that one has no memory')
    if (images == 1) call prif_deallocate_coarray(handle)
  end subroutine

  subroutine wrong_bounds()
    type(prif_coarray_handle) :: handle
    type(c_ptr) :: memory
    integer(c_int) :: stat
    integer(c_int64_t) :: sixteen(16)
    call prif_allocate_coarray([1_c_int64_t, 1_c_int64_t], [0_c_int64_t], 8_c_size_t, none, handle, &
      memory, stat)
    call expect(stat /= 0, 'an empty codimension')
    call prif_allocate_coarray([1_c_int64_t], [int(images - 1, c_int64_t)], 8_c_size_t, none, &
      handle, memory, stat)
    call expect(stat /= 0, 'too few images')
    sixteen = 1
    call prif_allocate_coarray(sixteen, sixteen, 8_c_size_t, none, handle, memory, stat)
    call expect(stat /= 0, 'corank 16')
    call prif_allocate_coarray(no_bounds, no_bounds, 8_c_size_t, none, handle, memory, stat)
    call expect(stat /= 0, 'corank 0')
    ! One image alone is wrong: the others find out, and do not wait.
    call prif_allocate_coarray([1_c_int64_t], [int(merge(0, images, this == 1), c_int64_t)], &
      8_c_size_t, none, handle, memory, stat)
    call expect(stat /= 0, 'too few images by one image')
  end subroutine
end program
