! SPDX-License-Identifier: BSD-3-Clause
! A token goes round the images: each writes it into its neighbour and posts an event there.
!   tombolo fc event_ring.f90 -o event_ring && tombolo run -n 4 ./event_ring
program event_ring
  use iso_fortran_env, only: event_type
  implicit none
  type(event_type) :: arrived[*]
  integer :: token[*], next, round
  integer, parameter :: rounds = 100
  next = mod(this_image(), num_images()) + 1
  token = 0
  sync all
! book: ring
  do round = 1, rounds
    if (this_image() > 1) event wait(arrived)
    token[next] = token + 1
    event post(arrived[next])
    if (this_image() == 1) event wait(arrived)
  end do
! book end
  sync all
  if (this_image() == 1) then
    if (token /= rounds*num_images()) error stop 'the token was lost'
    print '(a,i0,a)', 'the token has visited ', token, ' images'
  end if
end program
