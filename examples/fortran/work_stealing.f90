! SPDX-License-Identifier: BSD-3-Clause
! Images take numbered pieces of work from a counter on image 1, so that fast ones do more.
!   tombolo fc work_stealing.f90 -o work_stealing && tombolo run -n 4 ./work_stealing
program work_stealing
  use iso_fortran_env, only: atomic_int_kind
  implicit none
  integer(atomic_int_kind) :: next[*], piece
  integer, parameter :: pieces = 1000
  integer :: done
  real(8) :: area
  next = 0
  sync all
  done = 0
  area = 0
  do
    call atomic_fetch_add(next[1], 1, piece)
    if (piece >= pieces) exit
    area = area + 4/(1 + ((piece + 0.5d0)/pieces)**2)/pieces ! a strip of the quarter circle
    done = done + 1
  end do
  call co_sum(done, result_image=1)
  call co_sum(area, result_image=1)
  if (this_image() == 1) then
    if (done /= pieces .or. abs(area - acos(-1d0)) > 1e-6) error stop 'pieces were lost'
    print '(i0,a,f8.6)', done, ' pieces, pi is about ', area
  end if
end program
