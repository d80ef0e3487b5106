! SPDX-License-Identifier: BSD-3-Clause
! Teams within teams, made by a recursive procedure; accesses, critical and SYNC TEAM in each.
! ranks: 1 3 8
program deep_teams
  use iso_fortran_env
  use check
  implicit none
  type(team_type) :: level_team(6), third
  integer :: x(8)[*], me, i, s
  me = this_image()
  x = me
  sync all
  call down(1)
  sync all
  do i = 1, 50
    form team (mod(me, 3) + 1, third)
    change team (third)
      s = 1
      call co_sum(s)
      call expect(s == num_images(), 'co_sum in a third')
    end team
    sync team (third)
  end do
  call finish
contains
  ! Halves the current team, uses the half, and halves it again.
  recursive subroutine down(level)
    integer, intent(in) :: level
    integer :: n, k, half
    half = (num_images() + 1) / 2
    form team (merge(1, 2, this_image() <= half), level_team(level))
    change team (level_team(level))
      n = num_images()
      k = this_image()
      s = k
      call co_sum(s)
      call expect(s == n*(n + 1)/2, 'co_sum of indices')
      x(level)[mod(k, n) + 1] = 1000*level + k
      sync all
      call expect(x(level) == 1000*level + merge(n, k - 1, k == 1), 'the neighbour wrote')
      critical
        s = x(8)[1] ! as one statement gfortran 15 takes the own image's
        x(8)[1] = s + 1
      end critical
      if (level < 5) call down(level + 1)
      sync team (level_team(level))
    end team
  end subroutine
end program
