! SPDX-License-Identifier: BSD-3-Clause
! Images that come to their ends together do not find each other stopped; one that stays behind does
! find the others.
! ranks: 2 5
program late_look
  use iso_fortran_env
  use check
  implicit none
  integer, parameter :: wide = int64
  integer(wide) :: begin
  integer :: me, image, stat

  me = this_image()
  sync all
  if (me /= num_images()) stop
  begin = now()
  do while (now() - begin < 2000)
  end do
  image = size(stopped_images())
  stat = image_status(1)
  if (now() - begin < 50000) then ! else this image had no processor meanwhile
    call expect(image == 0, 'stopped_images at the end')
    call expect(stat == 0, 'image_status at the end')
  end if
  do image = 1, num_images() - 1
    do while (image_status(image) /= stat_stopped_image)
    end do
  end do
  call expect(size(stopped_images()) == num_images() - 1, 'stopped_images')
  sync all (stat=stat)
  call expect(stat == stat_stopped_image, 'sync all')
  call finish()
contains
  integer(wide) function now()
    integer(wide) :: count, rate
    call system_clock(count, rate)
    now = count * 1000000 / rate
  end function
end program
