! SPDX-License-Identifier: BSD-3-Clause
! Each image says which it is; image 1 adds up what the others hold.
!   tombolo fc hello.f90 -o hello && tombolo run -n 4 ./hello
program hello
  implicit none
! book: square
  integer :: square[*], i, total
  square = this_image()**2
  print '(a,i0,a,i0)', 'hello from image ', this_image(), ' of ', num_images()
  sync all
  if (this_image() == 1) then
    total = 0
    do i = 1, num_images()
      total = total + square[i]
    end do
    print '(a,i0)', 'sum of squares: ', total
  end if
! book end
end program
