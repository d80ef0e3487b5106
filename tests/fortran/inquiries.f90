! SPDX-License-Identifier: BSD-3-Clause
! Inquiries about teams: GET_TEAM, TEAM_NUMBER, THIS_IMAGE and NUM_IMAGES with a team or its number.
! ranks: 2 4 5
! since: 16
program inquiries
  use iso_fortran_env
  use check
  implicit none
  type(team_type) :: half, child, parent, initial
  integer :: cell[*], me, n, number
  me = this_image()
  n = num_images()
  form team (1 + mod(me, 2), half)
  change team (half)
    do number = 1, 2 ! the even images, the odd ones
      call expect(num_images(number) == (n + number - 1)/2, 'size of a sibling')
    end do
    call expect(num_images(-1) == n, 'size of the initial team by its number')
    form team (7, child)
    change team (child)
      parent = get_team(parent_team)
      initial = get_team(initial_team)
      call expect(team_number(parent) == 1 + mod(me, 2), 'number of the parent')
      call expect(team_number(initial) == -1, 'number of the initial team')
      call expect(team_number(get_team()) == 7, 'number of the current team')
      call expect(this_image(initial) == me, 'image in the initial team')
      call expect(num_images(initial) == n, 'size of the initial team')
      call expect(num_images(parent) == num_images(), 'size of the parent')
    end team
  end team
  initial = get_team()
  call expect(this_image(cell, 1, initial) == me, 'cosubscript in a team')
  call expect(all(this_image(cell, initial) == me), 'cosubscripts in a team')
  call finish
end program
