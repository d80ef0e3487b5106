! SPDX-License-Identifier: BSD-3-Clause
! An image fails while the others access it by accessors that get their subscripts from the image that
! asks, and while it asks the others.
! ranks: 2 3 8
! again: TOMBOLO_TEST_SHM=0 TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop
! match: survivor is well
! since: 15
program vectors_failed
  use iso_fortran_env
  implicit none
  type :: pair
    integer :: first, second
  end type
  type(pair) :: pairs(6)[*]
  integer, allocatable :: picked(:)
  integer :: me, images, i, stat, other, found(3)
  me = this_image()
  images = num_images()
  pairs%first = me
  picked = [1, 3, 5]
  sync all
  do i = 1, 1000
    if (me == 2 .and. i == 200) fail image
    other = mod(i + me, images) + 1
    found = pairs(picked)[other, stat=stat]%first
    if (stat == 0 .and. any(found /= other)) error stop 2
    if (stat /= 0 .and. stat /= stat_failed_image) error stop 3
    pairs(1)[other, stat=stat]%second = me
    if (stat /= 0 .and. stat /= stat_failed_image) error stop 4
  end do
  if (me == 1) print *, 'survivor is well'
end program
