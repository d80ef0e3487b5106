! SPDX-License-Identifier: BSD-3-Clause
! Each image puts its number into the memory of the next one, then all form the sum.
!
! Compile: tombolo fc --prif ring.f90 -o ring
! Run:     tombolo run -n 4 ./ring
! ranks: 1 4
program ring
  use, intrinsic :: iso_c_binding
  use prif
  implicit none
  integer(c_int) :: me, images, stat, right, left
  integer(c_int), target :: number
  integer(c_int) :: sum
  type(prif_coarray_handle) :: handle
  type(c_ptr) :: memory
  procedure(prif_coarray_cleanup_interface), pointer :: no_cleanup => null()
  integer(c_int), pointer :: here

  call prif_init(stat)
  call prif_this_image_no_coarray(this_image=me)
  call prif_num_images(images)
  right = mod(me, images) + 1
  left = mod(me + images - 2, images) + 1

  call prif_allocate_coarray([1_c_int64_t], [int(images, c_int64_t)], c_sizeof(number), &
    no_cleanup, handle, memory)
  call c_f_pointer(memory, here)
  number = me
  call prif_put(right, handle, 0_c_size_t, c_loc(number), c_sizeof(number))
  call prif_sync_all()
  if (here /= left) call prif_error_stop(quiet=.false._c_bool)

  sum = me
  call prif_co_sum(sum)
  print '(a,i0,a,i0,a,i0)', 'image ', me, ' got ', here, '; the sum is ', sum
  call prif_deallocate_coarray(handle)
  call prif_stop(quiet=.true._c_bool)
end program
