! SPDX-License-Identifier: BSD-3-Clause
! Images count themselves on image 1 by an atomic operation, then odd and even images form teams.
!
! Compile: tombolo fc --prif odd_even.f90 -o odd_even
! Run:     tombolo run -n 4 ./odd_even
! ranks: 1 4
program odd_even
  use, intrinsic :: iso_c_binding
  use prif
  implicit none
  integer(c_int) :: me, images, stat, first
  integer(c_int64_t) :: before
  type(prif_coarray_handle) :: handle
  type(prif_team_type) :: team
  type(c_ptr) :: memory
  procedure(prif_coarray_cleanup_interface), pointer :: no_cleanup => null()
  integer(c_int64_t), pointer :: counter

  call prif_init(stat)
  call prif_this_image_no_coarray(this_image=me)
  call prif_num_images(images)
  call prif_allocate_coarray([1_c_int64_t], [int(images, c_int64_t)], c_sizeof(before), &
    no_cleanup, handle, memory)
  call c_f_pointer(memory, counter)
  counter = 0
  call prif_sync_all()

  call prif_image_index(handle, [1_c_int64_t], first)
  call prif_atomic_fetch_add(first, handle, 0_c_size_t, 1_c_int64_t, before)
  call prif_sync_all()
  if (me == 1 .and. counter /= images) call prif_error_stop(quiet=.false._c_bool)

  call prif_form_team(int(mod(me, 2) + 1, c_int64_t), team)
  call prif_change_team(team)
  call prif_num_images(images)
  call prif_sync_all()
  call prif_end_team()
  print '(a,i0,a,i0)', 'image ', me, ' was in a team of ', images
  call prif_stop(quiet=.true._c_bool)
end program
