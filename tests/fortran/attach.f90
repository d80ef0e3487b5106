! SPDX-License-Identifier: BSD-3-Clause
! Attached events: scalars, columns, rows, components, several sections, reads, errors.
! again: TOMBOLO_TEST_SHM=0 TOMBOLO_TEST_SHM_MAP=0
! since: 12
program attached
  use iso_fortran_env, only: event_type
  use tombolo_caf
  use check
  implicit none
  type :: cell
    integer :: id
    real(8) :: value
  end type
  type(event_type) :: ev(5)[*]
  integer :: a(6, 8)[*], s[*], me, images, right, left, i, n, stat, local(3)
  type(cell) :: cells(5)[*], one[*]
  character(60) :: message
  call neighbours(me, images, left, right)
  a = 0
  s = 0
  cells%id = 0
  call event_attach(loc(ev(1)), s)
  call event_attach(loc(ev(2)), a(:, 3))
  call event_attach(loc(ev(2)), a(2, 5:7))
  call event_attach(loc(ev(3)), cells(:)%id)
  call event_attach_read(loc(ev(4)), a(:, 8))
  sync all
  ! A scalar, many times: as many posts, and the data are there.
  do i = 1, 50
    s[right] = 100*me + i
    event wait (ev(1))
    call expect(s == 100*left + i, 'scalar')
    sync all
  end do
  ! Sections: what touches posts once, what does not touch does not.
  a(:, 3)[right] = me
  a(1:6:5, 3)[right] = me
  a(4, 1:8)[right] = me
  a(2, 5:6)[right] = me
  a(2:3, 3:5)[right] = me
  a(:, 1:2)[right] = me
  a(3:6, 4:7)[right] = me
  a(1, 4:8)[right] = me
  sync all
  call event_query(ev(2), n)
  call expect(n == 5, 'posts of sections')
  if (n /= 5) print *, 'posts', n
  event wait (ev(2), until_count=5)
  call expect(all(a(:, 3) == left) .and. a(2, 6) == left, 'data of sections')
  cells(2:4)[right]%id = me
  cells(1)[right] = cell(me, 2d0)
  sync all
  call event_query(ev(3), n)
  call expect(n == 2, 'posts of components')
  ! A component beside that which has an event; then that one, and the whole.
  call event_attach(loc(ev(5)), one%value)
  sync all
  do i = 1, 50
    one[right]%id = me
  end do
  sync all
  call event_query(ev(5), n)
  call expect(n == 0 .and. one%id == left, 'no posts of another component')
  sync all
  one[right]%value = me
  one[right] = cell(me, 1d0)
  event wait (ev(5), until_count=2)
  sync all
  call event_query(ev(5), n)
  call expect(n == 0, 'posts of a component of a scalar')
  local = a(2:4, 8)[right]
  local(1) = a(1, 8)[right]
  local(1) = a(1, 7)[right]
  sync all
  call event_query(ev(4), n)
  call expect(n == 2, 'posts of reads')
  event post (ev(1)[right])
  event wait (ev(1))
  call event_detach(loc(ev(1)))
  sync all
  s[right] = 5
  sync all
  call event_query(ev(1), n)
  call expect(n == 0, 'detached')
  call event_attach(loc(ev(1)), local, stat, message)
  call expect(stat == 3 .and. index(message, 'not part of a coarray') > 0, 'no coarray')
  call event_attach(loc(local), s, stat)
  call expect(stat == 1, 'no event')
  call event_attach(loc(ev(1)), a(3:2, 1), stat)
  call expect(stat == 2, 'empty section')
  call event_detach(loc(ev(1)), stat)
  call expect(stat == 5, 'nothing to detach')
  sync all
  call finish()
end program
