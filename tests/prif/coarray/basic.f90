! SPDX-License-Identifier: BSD-3-Clause
! Images and synchronisation, by statements of flang.
! again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2
program basic
  use check, me => this
  use, intrinsic :: iso_fortran_env, only: stat_stopped_image
  implicit none
  integer :: total, n, i, stat, left, right
  character(len=40) :: text
  character(len=1) :: letter
  character(len=:), allocatable :: long
  call begin()
  n = num_images()
  call expect(n == images .and. this_image() == me, 'the numbers of both interfaces')
  total = this_image()
  call co_sum(total)
  call expect(total == n * (n + 1) / 2, 'sum of the images')

  text = 'unchanged'
  letter = 'u'
  stat = 7
  sync all (stat=stat, errmsg=text)
  call expect(stat == 0 .and. text == 'unchanged', 'sync all')
  stat = 7
  sync memory (stat=stat, errmsg=letter)
  call expect(stat == 0 .and. letter == 'u', 'sync memory')
  allocate (character(len=5) :: long)
  long = 'short'
  stat = 7
  sync images (*, stat=stat, errmsg=long)
  call expect(stat == 0 .and. long == 'short', 'sync images (*)')
  sync images (this_image())
  right = merge(1, this_image() + 1, this_image() == n)
  left = merge(n, this_image() - 1, this_image() == 1)
  do i = 1, 300
    call ring()
  end do
  do i = 1, 1000
    sync all
  end do
  if (n > 1) call wrong()
  sync all
  if (failed()) error stop 1
contains
  subroutine ring()
    if (n == 1) then
      sync images (1)
    else if (left == right) then
      sync images (left)
    else
      sync images ([left, right])
    end if
  end subroutine

  ! An image that does not exist.
  subroutine wrong()
    stat = 0
    text = 'unchanged'
    sync images (n + 1, stat=stat, errmsg=text)
    call expect(stat > 0 .and. stat /= stat_stopped_image .and. text /= 'unchanged', 'no such image')
    letter = 'u'
    sync images (n + 1, stat=stat, errmsg=letter)
    call expect(stat > 0 .and. letter /= 'u', 'a message of one letter')
    long = 'short'
    sync images (n + 1, stat=stat, errmsg=long)
    call expect(stat > 0 .and. len(long) == 5 .and. long /= 'short', 'an allocatable message')
  end subroutine
end program
