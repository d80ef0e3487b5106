! SPDX-License-Identifier: BSD-3-Clause
! Ends as its argument says, by statements of flang; coarray_ends.py runs it.
program statements
  use, intrinsic :: iso_fortran_env, only: stat_stopped_image, stat_failed_image
  implicit none
  character(len=10) :: how
  integer :: stat
  call get_command_argument(1, how)
  print '(a,i0)', 'written ', this_image()
  stat = 0
  select case (how)
  case ('end')
  case ('stop')
    stop
  case ('stop5')
    stop 5
  case ('text')
    stop 'all is well'
  case ('quiet')
    stop 'not shown', quiet=.true.
  case ('error7')
    sync all ! so that the others have written
    if (this_image() == 1) error stop 7
    sync all
  case ('errortext')
    if (this_image() == 1) error stop 'it went wrong'
    sync all
  case ('stopped')
    if (this_image() == 1) stop
    sync all (stat=stat)
    if (stat /= stat_stopped_image) error stop 9
  case ('failed')
    if (this_image() == num_images()) fail image
    sync all (stat=stat)
    if (stat /= stat_failed_image) error stop 9
  end select
end program
