! SPDX-License-Identifier: BSD-3-Clause
! Teams: forming, order, nesting, numbers of 64 bits, siblings, coarrays of the parent, errors.
! ranks: 1 2 4 7
program teams
  use, intrinsic :: iso_c_binding
  use prif
  use check
  implicit none
  integer(c_int64_t), parameter :: wide = 5000000000_c_int64_t
  procedure(prif_coarray_cleanup_interface), pointer :: none => null()
  integer(c_int64_t) :: no_bounds(0)
  call begin()
  call initial()
  call halves()
  call reversed()
  call nested()
  call wrong()
  call finish()
contains
  subroutine initial()
    type(prif_team_type) :: current, parent, first
    integer(c_int64_t) :: number
    integer(c_int) :: count, stat
    call prif_team_number(team_number=number)
    call expect(number == -1, 'number of the initial team')
    call prif_get_team(team=current)
    call prif_get_team(PRIF_PARENT_TEAM, parent)
    call prif_get_team(PRIF_INITIAL_TEAM, first)
    call prif_num_images_with_team(current, count)
    call expect(count == images, 'images of the current team')
    call prif_num_images_with_team(parent, count)
    call expect(count == images, 'the initial team is its own parent')
    call prif_num_images_with_team(first, count)
    call expect(count == images, 'images of the initial team')
    call prif_num_images_with_team_number(-1_c_int64_t, count)
    call expect(count == images, 'images of team -1')
    call prif_init(stat)
    call expect(stat == PRIF_STAT_ALREADY_INIT, 'second prif_init')
  end subroutine

  ! Odd and even images; the lower 32 bits of both numbers are the same.
  subroutine halves()
    type(prif_team_type) :: team, copy
    type(prif_coarray_handle) :: handle
    type(c_ptr) :: memory
    integer(c_int64_t) :: number, mine, other
    integer(c_int) :: count, at, stat, expected, k
    mine = wide*(1 + mod(this, 2)) + 4294967296_c_int64_t*mod(this, 2)
    other = wide*(2 - mod(this, 2)) + 4294967296_c_int64_t*(1 - mod(this, 2))
    call prif_allocate_coarray([1_c_int64_t], no_bounds, 8_c_size_t, none, handle, memory)
    call prif_form_team(mine, team)
    copy = team
    call prif_change_team(copy)
    call prif_team_number(team_number=number)
    call expect(number == mine, 'a number of 64 bits')
    call prif_team_number(team, number)
    call expect(number == mine, 'number of a team variable')
    call prif_num_images(count)
    call expect(count == (images + mod(this, 2))/2, 'images of the team')
    call prif_this_image_no_coarray(this_image=at)
    call expect(at == (this + 1)/2, 'image in the team')
    expected = images - count
    if (expected > 0) then
      call prif_num_images_with_team_number(other, at)
      call expect(at == expected, 'images of the other half')
      call prif_initial_team_index_with_team_number(handle, [1_c_int64_t], other, at, stat)
      call expect(stat == 0 .and. at == 1 + mod(this, 2), 'first image of the other half')
    end if
    call prif_num_images_with_team_number(mine, at)
    call expect(at == count, 'images of this half by its number')
    do k = 1, count
      call prif_initial_team_index(handle, [int(k, c_int64_t)], at, stat)
      call expect(stat == 0 .and. at == 2*k - mod(this, 2), 'coarray of the parent')
      call prif_initial_team_index_with_team(handle, [int(k, c_int64_t)], team, at, stat)
      call expect(stat == 0 .and. at == 2*k - mod(this, 2), 'the same by team')
    end do
    call prif_initial_team_index_with_team_number(handle, [int(images, c_int64_t)], -1_c_int64_t, &
      at, stat)
    call expect(stat == 0 .and. at == images, 'the last image of the initial team')
    call prif_image_index_with_team_number(handle, [int(images, c_int64_t)], -1_c_int64_t, at)
    call expect(at == images, 'image_index in the initial team')
    call prif_image_index_with_team(handle, [int(count + 1, c_int64_t)], team, at)
    call expect(at == 0, 'image_index beyond the team')
    call prif_initial_team_index_with_team_number(handle, [1_c_int64_t], 77_c_int64_t, at, stat)
    call expect(stat /= 0, 'no sibling of that number')
    call prif_sync_all()
    call prif_end_team()
    call prif_num_images(count)
    call expect(count == images, 'after end team')
    call prif_num_images_with_team(team, count)
    call expect(count == (images + mod(this, 2))/2, 'a team stays formed')
    call prif_deallocate_coarray(handle)
  end subroutine

  subroutine reversed()
    type(prif_team_type) :: team, parent
    integer(c_int) :: at
    call prif_form_team(3_c_int64_t, team, images + 1 - this)
    call prif_this_image_no_coarray(team, at)
    call expect(at == images + 1 - this, 'new_index')
    call prif_change_team(team)
    call prif_get_team(PRIF_PARENT_TEAM, parent)
    call prif_this_image_no_coarray(parent, at)
    call expect(at == this, 'image in the parent')
    call prif_end_team()
  end subroutine

  subroutine nested()
    type(prif_team_type) :: half, own
    type(prif_coarray_handle) :: handle
    type(c_ptr) :: memory
    integer(c_int64_t) :: up(1)
    integer(c_int) :: count, round
    do round = 1, 3
      call prif_form_team(int(1 + mod(this, 2), c_int64_t), half)
      call prif_change_team(half)
      call prif_num_images(count)
      call prif_allocate_coarray([1_c_int64_t], no_bounds, 1000_c_size_t, none, handle, memory)
      call prif_ucobound_no_dim(handle, up)
      call expect(up(1) == count, 'cobounds of a coarray of the team')
      call prif_form_team(int(this, c_int64_t), own)
      call prif_change_team(own)
      call prif_num_images(count)
      call expect(count == 1, 'a team of one')
      call prif_sync_all()
      call prif_end_team()
      call prif_sync_all()
      call prif_end_team()
    end do
  end subroutine

  subroutine wrong()
    type(prif_team_type) :: unset, team
    integer(c_int) :: stat
    character(len=:), allocatable :: text
    call prif_change_team(unset, stat, errmsg_alloc=text)
    call expect(stat /= 0 .and. len(text) > 0, 'a team that was not formed')
    call prif_end_team(stat)
    call expect(stat /= 0, 'end team without change team')
    call prif_form_team(0_c_int64_t, team, stat=stat)
    call expect(stat /= 0, 'team number 0')
    call prif_form_team(1_c_int64_t, team, images + 1, stat)
    call expect(stat /= 0, 'new_index beyond the team')
    if (images > 1) then
      call prif_form_team(1_c_int64_t, team, 1_c_int, stat)
      call expect(stat /= 0, 'new_index the same on two images')
    end if
    call prif_form_team(1_c_int64_t, team, stat=stat)
    call expect(stat == 0, 'a team after errors')
  end subroutine
end program
