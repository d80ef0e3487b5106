! SPDX-License-Identifier: BSD-3-Clause
! Pointer components of coindexed objects whose target is no coarray: ordinary memory of the other
! image, read and written by elements, sections and vector subscripts.
! again: TOMBOLO_TEST_SHM=0
! again: TOMBOLO_TEST_SHM_MAP=0
! since: 12
program targets
  use check
  implicit none
  type :: node
    integer :: tag = 0
    real(8), pointer :: v(:) => null()
    integer, pointer :: one => null()
    type(node), pointer :: next => null()
  end type
  type(node), save :: head[*]
  type(node), target :: second
  real(8), target, allocatable :: heap(:)
  real(8), target :: more(6)
  integer, target :: number
  integer :: me, images, right, left, i
  real(8) :: got(20)
  call neighbours(me, images, left, right)
  allocate (heap(1000*me:1000*me + 20))
  heap = [(me*100 + i, i=0, 20)]*1d0
  more = me
  number = me
  second%tag = 7*me
  second%v => more
  head%v => heap
  head%one => number
  head%next => second
  sync all
  ! pointer assignment keeps the bounds of the target
  got(1) = head[right]%v(1000*right + 3)
  call expect(got(1) == right*100 + 3, 'element')
  got(1:10) = head[right]%v(1000*right:1000*right + 19:2)
  call expect(all(got(1:10) == [(right*100 + i, i=0, 18, 2)]), 'section')
  got(1:21 - 1) = head[right]%v(1000*right + 1:)
  call expect(all(got == [(right*100 + i, i=1, 20)]), 'open section')
  call expect(head[right]%one == right, 'scalar target')
  call expect(head[right]%next%tag == 7*right, 'component of a target')
  got(1:6) = head[right]%next%v(:)
  call expect(all(got(1:6) == right), 'target behind a target')
  sync all
  head[right]%v(1000*right + 5) = -me
  head[right]%v(1000*right + 10:1000*right + 14:2) = [1, 2, 3]*1d0
  head[right]%one = 1000 + me
  head[right]%next%v(2:3) = me*0.5d0
  sync all
  call expect(heap(1000*me + 5) == -left, 'element written')
  call expect(all(heap(1000*me + 10:1000*me + 14:2) == [1, 2, 3]), 'section written')
  call expect(heap(1000*me + 11) == me*100 + 11, 'what lies between stays')
  call expect(number == 1000 + left, 'scalar target written')
  call expect(all(more == [me*1d0, left*0.5d0, left*0.5d0, me*1d0, me*1d0, me*1d0]), 'target behind a target written')
  sync all
  call finish()
end program
