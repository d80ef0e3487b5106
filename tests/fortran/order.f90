! SPDX-License-Identifier: BSD-3-Clause
! Accesses of one image to one variable keep the order of the program, also where puts are in flight.
! again: TOMBOLO_TEST_SHM=0 TOMBOLO_TEST_SHM_MAP=0
program order
  use iso_fortran_env, only: atomic_int_kind, event_type
  use check
  implicit none
  integer, parameter :: n = 4000
  integer :: a(n)[*], m(20, 30)[*], s[*], i, j, me, images, right, left, index(5)
  integer(atomic_int_kind) :: counter(4)[*], was
  integer :: block(10, 15), row(30)
  real(8), allocatable :: big(:)[:]
  type(event_type) :: done[*]
  call neighbours(me, images, left, right)
  a = 0
  m = 0
  counter = 0
  allocate (big(200000)[*])
  sync all
  ! The last of many writes to one variable stays; a read after a write sees it.
  do i = 1, 1000
    s[right] = i
    if (mod(i, 100) == 0) call expect(s[right] == i, 'read after write')
  end do
  event post (done[right])
  event wait (done)
  call expect(s == 1000, 'last write stays')
  sync all
  ! Elements, then a section over them, then elements again.
  do i = 1, n
    a(i)[right] = i
  end do
  a(1:n:2)[right] = -1
  do i = 1, n, 4
    a(i)[right] = i
  end do
  index = [2, 4, 6, 8, 3]
  a(index)[right] = 99
  a(4)[right] = 100
  call expect(a(4)[right] == 100 .and. a(6)[right] == 99 .and. a(7)[right] == -1, 'mixed')
  event post (done[right])
  event wait (done)
  call expect(all(a(index) == [99, 100, 99, 99, 99]), 'vector subscript after section')
  call expect(all(a(13:n:4) == [(i, i=13, n, 4)]) .and. all(a(11:n:4) == -1), 'element after section')
  sync all
  ! The variable that is written may be changed at once, whatever its shape.
  do j = 1, 50
    block = j
    m(1:20:2, 1:30:2)[right] = block
    block = -1
    row = 1000 + j
    m(2, :)[right] = row
    row = -1
    m(4, 30:1:-1)[right] = m(2, :)[right]
  end do
  sync all
  call expect(all(m(1:20:2, 1:30:2) == 50) .and. all(m(2, :) == 1050) .and. all(m(4, :) == 1050), &
              'source may be changed')
  sync all
  ! Atomic subroutines see what this image has written.
  do i = 1, 100
    counter(2)[right] = i
    call atomic_fetch_add(counter(2)[right], 1, was)
    call expect(was == i, 'atomic after write')
    call expect(counter(2)[right] == i + 1, 'read after atomic')
  end do
  sync all
  big = me
  sync all
  do i = 1, 4
    big(1:100000)[right] = i
    big(50001:200000)[right] = big(1:150000)[right]
  end do
  sync all
  call expect(all(big(1:50000) == 4) .and. big(200000) /= 0, 'large sections')
  call finish()
end program
