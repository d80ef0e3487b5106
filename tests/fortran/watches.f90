! SPDX-License-Identifier: BSD-3-Clause
! Images that ask in loops whether another one has failed: they learn it without an image control
! statement.
! ranks: 2 3
! again: TOMBOLO_TEST_SHM=0 TOMBOLO_PLACES=cyclic:2
! match: seen by image 1
program watches
  use iso_fortran_env
  implicit none
  integer :: last
  integer, allocatable :: failed(:)
  last = num_images()
  sync all
  if (this_image() == last) fail image
  if (this_image() == 1) then
    do while (image_status(last) /= stat_failed_image)
    end do
  else
    do
      failed = failed_images()
      if (size(failed) == 1) exit
    end do
  end if
  if (this_image() == 1) print '(a)', 'seen by image 1'
end program
