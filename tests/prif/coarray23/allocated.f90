! SPDX-License-Identifier: BSD-3-Clause
! What flang 23 lowers beyond flang 22: coarrays that are allocated or saved, and their queries, also
! in a child team.
! ranks: 1 3
program allocated
  use, intrinsic :: iso_fortran_env, only: team_type
  use check, me => this
  implicit none
  integer, allocatable :: a(:)[:]
  integer, save :: kept[*]
  type(team_type) :: team
  integer :: few, l(1), u(1), c(1), t(1), round
  call begin()
  kept = 10*me
  do round = 1, 3
    allocate (a(4)[5:*])
    a = me
    sync all
    l = lcobound(a)
    u = ucobound(a)
    c = coshape(a)
    t = this_image(a)
    call expect(l(1) == 5 .and. u(1) == 4 + images .and. c(1) == images, 'cobounds')
    call expect(t(1) == 4 + me .and. image_index(a, t) == me, 'cosubscripts of this image')
    call expect(image_index(a, [5 + images]) == 0, 'no image')
    form team (merge(1, 2, me == 1), team)
    change team (team)
      few = num_images()
      u = ucobound(a)
      c = coshape(a)
      call expect(u(1) == 4 + few .and. c(1) == few, 'cobounds in a team')
    end team
    call expect(all(a == me) .and. kept == 10*me, 'own elements')
    deallocate (a)
  end do
  call finish()
end program
