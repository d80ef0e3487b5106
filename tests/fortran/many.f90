! SPDX-License-Identifier: BSD-3-Clause
! As many images as one host takes: each statement form once, neighbours and collectives.
! ranks: 64 256
! timeout: 120
program many
  use iso_fortran_env
  use check
  implicit none
  type(event_type) :: went[*]
  type(team_type) :: row
  integer :: x(4)[*], me, images, right, left, total, rows
  integer, allocatable :: a(:)[:]
  call neighbours(me, images, left, right)
  x = me
  sync all
  call expect(all(x(:)[right] == right), 'get')
  sync all
  x(2:4:2)[right] = -me
  event post (went[right])
  event wait (went)
  call expect(all(x == [me, -left, me, -left]), 'put and event')
  sync images ([left, right])
  total = me
  call co_sum(total)
  call expect(total == images*(images + 1)/2, 'co_sum')
  allocate (a(100)[*])
  a = me
  sync all
  call expect(a(100)[mod(me + images/2, images) + 1] == mod(me + images/2, images) + 1, 'allocatable')
  sync all
  deallocate (a)
  rows = 1 + mod(me, 4)
  form team (rows, row)
  change team (row)
    total = 1
    call co_sum(total)
    call expect(total == num_images(), 'co_sum of a team')
  end team
  critical
    total = x(1)[1] ! as one statement gfortran 15 takes the own image's
    x(1)[1] = total + 1
  end critical
  sync all
  if (me == 1) call expect(x(1) == 1 + images, 'critical')
  call finish()
end program
