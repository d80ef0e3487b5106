! SPDX-License-Identifier: BSD-3-Clause
! What the tests of coarray Fortran share: a check that says where it failed, and the end of a test.
module check
  implicit none
  private
  public :: expect, finish, neighbours
  integer :: failures = 0
contains
  ! This image, the number of images, and the neighbours of this image in a ring of all.
  subroutine neighbours(me, images, left, right)
    integer, intent(out) :: me, images, left, right
    me = this_image()
    images = num_images()
    left = mod(me - 2 + images, images) + 1
    right = mod(me, images) + 1
  end subroutine

  ! Records a failure. what: says which check it was.
  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    failures = failures + 1
    if (failures <= 10) print '(a,i0,2a)', 'image ', this_image(), ' FAILED: ', what
  end subroutine

  ! Ends the test: with an error when a check has failed on this image.
  subroutine finish()
    if (failures > 0) error stop 1
  end subroutine
end module
