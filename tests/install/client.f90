! SPDX-License-Identifier: BSD-3-Clause
! A coarray program as a user writes it: each image puts its number into its right neighbour.
program client
  implicit none
  integer :: from[*], total
  from[mod(this_image(), num_images()) + 1] = this_image()
  sync all
  total = from
  call co_sum(total, result_image=1)
  if (this_image() == 1 .and. total == num_images()*(num_images() + 1)/2) then
    print '(a,i0,a)', 'fortran client: ', num_images(), ' images ok'
  end if
end program
