! SPDX-License-Identifier: BSD-3-Clause
! Image selectors with TEAM= and TEAM_NUMBER=: of the current team, those around it, its siblings.
! ranks: 1 2 3 4
! again: TOMBOLO_TEST_SHM=0
! since: 15
program selectors
  use iso_fortran_env
  use check
  implicit none
  type(team_type) :: outer, half, like_half
  integer :: x(2)[*], y[*], got, me, images, mine, other, stat, i
  me = this_image()
  images = num_images()
  mine = 1 + mod(me, 2)
  other = 3 - mine
  x = [me, -me]
  y = 0
  form team (1, outer)
  change team (outer)
    form team (mine, half)
    form team (mine, like_half)
    change team (half)
      got = x(1)[1, team=outer]
      call expect(got == 1, 'team around the current one')
      got = x(1)[1, team=half]
      call expect(got == merge(1, 2, mod(me, 2) == 1), 'current team')
      got = x(1)[1, team_number=mine]
      call expect(got == merge(1, 2, mod(me, 2) == 1), 'number of the current team')
      if (images > 1) then
        got = x(2)[1, team_number=other]
        call expect(got == -merge(2, 1, mod(me, 2) == 1), 'number of a sibling')
        y[1, team_number=other] = 100*other
      end if
      do i = 1, 100*images
        got = x(1)[1 + mod(i, images), team=outer]
        call expect(got == 1 + mod(i, images), 'images of the team around, in a loop')
        got = x(2)[1 + mod(i, images), team_number=-1, stat=stat]
        call expect(got == -1 - mod(i, images) .and. stat == 0, 'images of the initial team')
      end do
      stat = 0
      got = x(1)[1, team_number=77, stat=stat]
      call expect(stat /= 0, 'no such number')
      stat = 0
      got = x(1)[1, team=like_half, stat=stat]
      call expect(stat /= 0, 'another team of the same images')
      sync all
    end team
    sync all
    if (images > 1 .and. me <= 2) call expect(y == 100*mine, 'put to a sibling')
    do i = 1, 6 ! teams of FORM TEAM in a loop
      form team (mine, half)
      call expect(half_size(half) == (images + mod(me, 2))/2, 'team of a loop')
    end do
  end team
  call finish()
contains
  integer function half_size(team)
    type(team_type), intent(in) :: team
    change team (team)
      half_size = num_images()
    end team
  end function
end program
