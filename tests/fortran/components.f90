! SPDX-License-Identifier: BSD-3-Clause
! Components of coindexed objects: nested, arrays, allocatable ones, and arrays of them. In one
! program unit, since gfortran 12 breaks on components of host-associated coarrays.
! again: TOMBOLO_TEST_SHM=0
! since: 12
program components
  use check
  implicit none
  type :: inner
    integer :: a(4, 3), b
    real, allocatable :: z
  end type
  type :: outer
    integer :: i
    real(8) :: x
    integer, allocatable :: c(:, :)
    type(inner) :: w(-1:5)
    type(inner), allocatable :: u(:)
  end type
  type(outer) :: d(2:6)[*]
  type(outer), allocatable :: q[:], list(:)[:]
  integer :: got(10), me, images, right, i, j
  integer, allocatable :: copy(:, :)
  type(outer) :: mine
  me = this_image()
  images = num_images()
  right = mod(me, images) + 1
  allocate (q[*], list(-1:2)[*])
  do i = 2, 6
    d(i)%i = me*10 + i
    d(i)%x = me + i*0.5d0
    do j = -1, 5
      d(i)%w(j)%b = 100*i + j
      d(i)%w(j)%a = j
      d(i)%w(j)%a(2, 3) = 77 + j
    end do
    allocate (d(i)%c(0:3, 2))
    d(i)%c = i
    d(i)%c(1, 2) = 55 + i
  end do
  allocate (q%u(3))
  q%u(2)%a = reshape([(i, i=1, 12)], [4, 3])
  q%u(:)%b = [7, 8, 9]
  allocate (q%u(3)%z, source=2.5)
  list(:)%i = [(100*me + i, i=-1, 2)]
  sync all
  got(1:5) = d(:)[right]%i
  call expect(all(got(1:5) == right*10 + [2, 3, 4, 5, 6]), 'component of an array')
  got(1:3) = d(3)[right]%w(1:3)%b
  call expect(all(got(1:3) == 300 + [1, 2, 3]), 'component of an array component')
  got(1:2) = d(3)[right]%w(2)%a(2:4:2, 1)
  call expect(all(got(1:2) == 2), 'section of an array component')
  got(1:3) = d(3)[right]%w(2)%a(2, 1:3)
  call expect(all(got(1:3) == [2, 2, 79]), 'row of an array component')
  got(1:3) = d(2)[right]%w(5:1:-2)%b
  call expect(all(got(1:3) == 200 + [5, 3, 1]), 'negative stride')
  call expect(d(3)[right]%c(1, 2) == 58, 'element of an allocatable component')
  got(1:4) = d(4)[right]%c(:, 2)
  call expect(all(got(1:4) == [4, 59, 4, 4]), 'column of an allocatable component')
  got(1:2) = d(4)[right]%c(2:3, 2)
  call expect(all(got(1:2) == 4), 'section of an allocatable component')
  got(1:3) = q[right]%u(2)%a(:3, 2)
  call expect(all(got(1:3) == [5, 6, 7]), 'open section')
  got(1:2) = q[right]%u(2:)%b
  call expect(all(got(1:2) == [8, 9]), 'component of an allocatable array component')
  call expect(q[right]%u(3)%z == 2.5, 'allocatable scalar')
  call expect(allocated(q[right]%u), 'is allocated')
  call expect(.not. allocated(q[right]%u(2)%z), 'is not allocated')
  got(1:4) = list(:)[right]%i
  call expect(all(got(1:4) == 100*right + [-1, 0, 1, 2]), 'component of an allocatable coarray')
  copy = d(4)[right]%c
  call expect(all(shape(copy) == [4, 2]), 'allocation on assignment')
  call expect(copy(2, 2) == 59, 'values after allocation on assignment')
  mine%c = d(5)[right]%c
  call expect(all(shape(mine%c) == [4, 2]), 'allocation of a component on assignment')
  call expect(all(mine%c(:, 1) == [5, 5, 5, 5]) .and. mine%c(2, 2) == 60, 'its values')
  sync all
  d(2:3)[right]%i = 4
  d(5)[right]%c(:, 1) = [5, 6, 7, 8]
  d(6)[right]%w(2:4)%b = [1, 2, 3]
  q[right]%u(1)%b = 44
  q[right]%u(3)%z = 8.5
  list(0:1)[right]%i = -3
  sync all
  call expect(all(d(2:3)%i == 4), 'put component of a section')
  call expect(all(d(5)%c(:, 1) == [5, 6, 7, 8]), 'put allocatable component')
  call expect(all(d(6)%w(2:4)%b == [1, 2, 3]), 'put nested component')
  call expect(q%u(1)%b == 44 .and. q%u(3)%z == 8.5, 'put through two allocatables')
  call expect(all(list(:)%i == [100*me - 1, -3, -3, 100*me + 2]), 'put into an allocatable coarray')
  sync all
  deallocate (q, list)
  call finish()
end program
