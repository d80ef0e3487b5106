! SPDX-License-Identifier: BSD-3-Clause
! Vector subscripts that are functions or allocatable: from 15 on gfortran makes an accessor that gets
! the subscripts from the image that asks, while that waits for the answer. All images at once.
! ranks: 1 2 4 8
! again: TOMBOLO_TEST_SHM=0 TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop
! since: 15
program vectors
  use check
  implicit none
  type :: pair
    integer :: first, second
  end type
  integer, allocatable :: x(:)[:], picked(:), large(:)[:]
  type(pair) :: pairs(6)[*]
  integer :: me, images, right, left, i, turn, found(3)
  call neighbours(me, images, left, right)
  allocate (x(4)[*], large(20000)[*])
  x = 100*me + [4, 3, 2, 1]
  pairs = [(pair(100*me + i, i), i=1, 6)]
  large = [(me + i, i=1, size(large))]
  sync all
  call expect(all(x(pick(3))[right] == 100*right + [4, 3, 2]), 'function')
  picked = [6, 1, 3]
  do turn = 1, 10
    do i = 1, images
      call expect(all(pairs(picked)[i]%first == 100*i + picked), 'vector of another image')
      found = pairs(pick(3))[i]%second
      call expect(all(found == [1, 2, 3]), 'function, of another image')
    end do
  end do
  picked = [(i, i=size(large), 1, -1)]
  call expect(all(large(picked)[right] == right + picked), 'more subscripts than a message has')
  sync all
  picked = [5, 2]
  pairs(picked)[right]%second = -me
  x(pick(2))[right] = [7, 8]
  sync all
  call expect(all(pairs%second == [1, -left, 3, 4, -left, 6]), 'put by a vector')
  call expect(all(x(1:2) == [7, 8]) .and. x(3) == 100*me + 2, 'put by a function')
  sync all
  call finish()
contains
  function pick(n)
    integer, intent(in) :: n
    integer :: pick(n), k
    pick = [(k, k = 1, n)]
  end function
end program
