! SPDX-License-Identifier: BSD-3-Clause
! Allocatable components at several depths, of many types, read and written on another image. The
! compiler leaves tokens of components within components (t%one%a) as the stack had them.
! again: TOMBOLO_TEST_SHM=0
! since: 12
program nested
  use check
  implicit none
  type :: leaf
    integer :: n = 0
    real(4), allocatable :: a(:, :)
    character(:), allocatable :: s
    character(5) :: f(2)
  end type
  type :: node
    type(leaf), allocatable :: l(:)
    type(leaf) :: one
    integer, allocatable :: k
    complex(8), allocatable :: z(:)
    logical, allocatable :: m(:, :, :)
  end type
  type(node) :: t[*], alone[*]
  type(node), allocatable :: arr(:, :)[:]
  integer :: me, images, r, left, i, j
  real(8) :: x(3, 2)
  complex(8) :: z(5)
  logical :: m(2, 2)
  real(4), allocatable :: column(:)
  call neighbours(me, images, left, r)
  allocate (t%l(-2:me))
  do i = -2, me
    t%l(i)%n = i*10 + me
    allocate (t%l(i)%a(0:3, 2:4))
    t%l(i)%a = reshape([(me*100 + i*10 + j*1.0, j=1, 12)], [4, 3])
    t%l(i)%f = ['ab   ', 'cde  ']
  end do
  allocate (t%k, t%z(5), t%m(2, 2, 3), t%one%a(2, 2), arr(2, 3)[*])
  t%k = me
  t%z = [(cmplx(j, me, 8), j=1, 5)]
  t%m = .false.
  t%m(1, 2, :) = .true.
  t%one%a = me
  do i = 1, 2
    do j = 1, 3
      allocate (arr(i, j)%z(j), arr(i, j)%l(i), arr(i, j)%one%a(i, j))
      arr(i, j)%z = cmplx(i, j)
      arr(i, j)%l(1)%n = i*j*me
      arr(i, j)%one%a = i*j*me
    end do
  end do
  sync all
  call expect(t[r]%l(0)%n == r, 'scalar of a component')
  call expect(t[r]%l(r)%a(2, 3) == r*100 + r*10 + 7, 'element at depth two')
  x = t[r]%l(-1)%a(1:3, 2:4:2)
  call expect(all(x(:, 1) == [(r*100 - 10 + j, j=2, 4)]), 'section, first column')
  call expect(all(x(:, 2) == [(r*100 - 10 + j, j=10, 12)]), 'section, last column')
  call expect(t[r]%k == r, 'allocatable scalar')
  z = t[r]%z(:)
  call expect(all(z == [(cmplx(j, r, 8), j=1, 5)]), 'complex array')
  z(1:3) = t[r]%z(5:1:-2)
  call expect(z(1) == cmplx(5, r, 8) .and. z(3) == cmplx(1, r, 8), 'downwards')
  m = t[r]%m(:, :, 2)
  call expect(m(1, 2) .and. .not. m(2, 2), 'logical plane')
  column = t[r]%l(-2)%a(:, 3)
  call expect(size(column) == 4 .and. column(1) == r*100 - 20 + 5, 'assignment that allocates')
  call expect(t[r]%l(-2)%f(2) == 'cde', 'characters')
  call expect(arr(2, 3)[r]%l(1)%n == 6*r, 'array of types')
  call expect(arr(2, 3)[r]%one%a(2, 3) == 6*r, 'component within a component')
  call expect(allocated(t[r]%one%a) .and. .not. allocated(t[r]%one%s), 'allocated()')
  sync all
  t[r]%l(0)%a(1, 2:4) = [7., 8., 9.]
  t[r]%l(0)%a(3, :) = 5
  t[r]%one%a(2, :) = -me
  t[r]%k = 1000 + me
  t[r]%z(2:4:2) = [3, 4]
  t[r]%m(2, 2, :) = .true.
  t[r]%l(-1)%f(1) = 'hello world'
  arr(2, 2)[r]%z(2) = (9, 9)
  arr(1, 1)[r]%l(1)%n = t[r]%l(-2)%n
  sync all
  call expect(all(t%l(0)%a(1, :) == [7, 8, 9]) .and. all(t%l(0)%a(3, :) == 5), 'rows written')
  call expect(all(t%one%a(1, :) == me) .and. all(t%one%a(2, :) == -left), 'within a component')
  call expect(t%k == 1000 + left, 'allocatable scalar written')
  call expect(t%z(2) == 3 .and. t%z(4) == 4 .and. t%z(3) == cmplx(3, me), 'section written')
  call expect(all(t%m(2, 2, :)), 'logical section written')
  call expect(t%l(-1)%f(1) == 'hello', 'characters written')
  call expect(arr(2, 2)%z(2) == (9, 9), 'array of types written')
  call expect(arr(1, 1)%l(1)%n == -20 + me, 'from image to image')
  deallocate (t%one%a, arr)
  allocate (t%one%a(3, 3))
  t%one%a = 2*me
  sync all
  call expect(t[r]%one%a(3, 3) == 2*r, 'allocated again')
  ! one image allocates components by assignment, alone
  if (me == 1) then
    alone%z = [(cmplx(j, 7, 8), j=1, 3)]
    alone%one%a = reshape([4., 5.], [1, 2])
    allocate (alone%l(2))
    alone%l(2)%a = reshape([6.], [1, 1])
    alone%z = [(cmplx(j, 8, 8), j=1, 4)]
    deallocate (alone%z)
    alone%z = [(1, 2)]
  end if
  sync all
  z(1:1) = alone[1]%z(:)
  call expect(z(1) == (1, 2), 'allocated by an assignment of one image')
  call expect(alone[1]%one%a(1, 2) == 5, 'a component within a component, too')
  call expect(alone[1]%l(2)%a(1, 1) == 6, 'and one of an array')
  call finish()
end program
