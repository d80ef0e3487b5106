! SPDX-License-Identifier: BSD-3-Clause
! Teams of flang: split, new indices, two levels, copies of team variables, queries.
program teams
  use check, me => this
  use, intrinsic :: iso_fortran_env, only: team_type, initial_team, parent_team, current_team
  implicit none
  type(team_type) :: half, copy, inner, first, parent
  integer :: n, members, index, total, stat
  character(len=30) :: text
  call begin()
  n = num_images()
  members = count([(mod(index, 2) == mod(me, 2), index=1, n)])
  text = 'unchanged'
  stat = 7
  form team (1 + mod(me, 2), half, stat=stat, errmsg=text)
  call expect(stat == 0 .and. text == 'unchanged', 'form team')
  call expect(team_number() == -1, 'number of the initial team')
  copy = half
  call in_team(copy)
  call backwards()
  call nested()
  sync all
  if (failed()) error stop 1
contains
  subroutine in_team(team)
    type(team_type), intent(in) :: team
    first = get_team(initial_team)
    change team (team)
      call expect(num_images() == members, 'size of the team')
      call expect(this_image() == (me + 1) / 2, 'index in the team')
      call expect(team_number() == 1 + mod(me, 2), 'number of the team')
      parent = get_team(parent_team)
      call expect(this_image(parent) == me .and. this_image(first) == me, 'index in the parent')
      call expect(team_number(first) == -1, 'number of another team')
      call expect(num_images(team_number=-1) == n, 'size of the initial team')
      call expect(num_images(team_number=1 + mod(me, 2)) == members, 'size by number')
      if (n > 1) call expect(num_images(team_number=2 - mod(me, 2)) == n - members, 'the sibling')
      total = me
      call co_sum(total)
      call expect(total == sum_of_half(), 'co_sum of a team')
      sync team (parent)
      sync all
    end team
    call expect(num_images() == n .and. this_image() == me, 'back in the parent')
    sync team (team)
  end subroutine

  integer function sum_of_half()
    integer :: i
    sum_of_half = sum([(merge(i, 0, mod(i, 2) == mod(me, 2)), i=1, n)])
  end function

  subroutine backwards()
    type(team_type) :: all_of_them
    form team (7, all_of_them, new_index=n + 1 - me)
    reversed: change team (all_of_them)
      call expect(this_image() == n + 1 - me, 'new_index')
      total = 0
      if (this_image() == 1) total = me
      call co_broadcast(total, source_image=1)
      call expect(total == n, 'the first image of the team')
      if (total == n) exit reversed
      call expect(.false., 'exit from a team')
    end team reversed
    call expect(this_image() == me, 'after a team')
  end subroutine

  subroutine nested()
    integer :: i, mine
    change team (half)
      mine = this_image()
      form team (1 + (mine - 1) / 2, inner)
      do i = 1, 3
        change team (inner, stat=stat)
          call expect(stat == 0 .and. this_image() == 1 + mod(mine - 1, 2), 'the second level')
          total = 1
          call co_sum(total)
          call expect(total == num_images(), 'co_sum of the second level')
          sync team (half)
        end team
      end do
      call expect(this_image() == mine, 'back in the first level')
    end team
  end subroutine
end program
