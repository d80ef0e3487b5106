! SPDX-License-Identifier: BSD-3-Clause
! Associate names of coarrays: of CHANGE TEAM and ASSOCIATE.
! ranks: 1 2 3 4
! again: TOMBOLO_TEST_SHM=0
! since: 16
program associations
  use iso_fortran_env
  use check
  implicit none
  type :: holder
    integer, allocatable :: list(:)
  end type
  type(team_type) :: half
  type(holder), allocatable :: hs(:)[:]
  integer :: a(3)[*], s[*], me, images, right, left, i, turn
  integer, allocatable :: q(:)[:], list(:)
  call neighbours(me, images, left, right)
  allocate (q(5)[*], hs(2)[*])
  allocate (hs(2)%list(me))
  do turn = 1, 3
    a = turn*(10*me + [1, 2, 3])
    q = [(100*me + i, i=1, 5)]
    sync all
    associate (x => a, y => q)
      call expect(all(x(:)[right] == turn*(10*right + [1, 2, 3])), 'ASSOCIATE')
      call expect(x(2)[right] == turn*(10*right + 2), 'ASSOCIATE, element')
      call expect(all(y(2:4)[right] == 100*right + [2, 3, 4]), 'ASSOCIATE, allocatable')
    end associate
    sync all
  end do
  form team (1 + (me - 1)/2, half)
  a = me
  s = 7*me
  sync all
  change team (half, b[*] => a, t[*] => s, c[*] => q, d[*] => hs)
    i = me - mod(me - 1, 2) ! first of the team
    call expect(all(b(:)[1] == i) .and. t[1] == 7*i, 'CHANGE TEAM')
    call expect(c(3)[1] == 100*i + 3, 'CHANGE TEAM, allocatable')
    list = d(2)[1]%list
    call expect(size(list) == i, 'component')
    sync all
    c(4)[num_images()] = -me
    b(1:2)[this_image()] = 3
    sync all
  end team
  call expect(all(a == [3, 3, me]), 'put to a name')
  call finish()
end program
