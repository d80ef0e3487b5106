! SPDX-License-Identifier: BSD-3-Clause
! Explicit notified puts and gets, NOTIFY_TYPE, asynchronous transfers with a handle.
! ranks: 1 2 3 4 8
! since: 12
! again: TOMBOLO_TEST_SHM=0 TOMBOLO_TEST_SHM_MAP=0
program notified
  use iso_fortran_env
  use tombolo_caf
  use check
  implicit none
  type holder
    integer :: first
    real(8) :: values(6)
    type(notify_type) :: notice
  end type
  type(event_type) :: arrived[*], taken[*]
  type(notify_type) :: notice[*]
  type(notify_type), allocatable :: many(:)[:]
  type(holder) :: held[*]
  integer :: a(10)[*], m(4, 6)[*], scalar[*], got(10), block(2, 3)
  character(8) :: text[*]
  integer :: me, images, right, left, i, stat, posted
  character(80) :: message
  call neighbours(me, images, left, right)
  allocate (many(0:3)[*])
  a = 0
  m = 0
  sync all
  call puts()
  call gets()
  call attached()
  call asynchronous_ones()
  call errors()
  sync all
  call finish()
contains
  subroutine puts()
    call notified_put(a(2:4), right, [me, me + 1, me + 2], loc(arrived))
    event wait (arrived)
    call expect(all(a(2:4) == left + [0, 1, 2]) .and. a(1) == 0 .and. a(5) == 0, 'notified put')
    i = 10*me ! gfortran 16 passes an expression by value
    call notified_put(scalar, right, i, notice)
    call notify_wait(notice)
    call expect(scalar == 10*left, 'notified put of a scalar')
    call notified_put(m(1:4:2, 2:6:2), right, reshape([(me + i, i=0, 5)], [2, 3]), many(2))
    call notify_wait(many(2), stat=stat)
    call expect(all(m(1:4:2, 2:6:2) == left + reshape([(i, i=0, 5)], [2, 3])) .and. stat == 0, &
                'notified put of a section')
    call notified_put(m(:, 1), right, 7, many(0))
    call notified_put(m(:, 3), right, 8.9, many(0), stat=stat)
    call expect(stat == 0, 'stat of notified_put')
    call notify_wait(many(0), until_count=2)
    call expect(all(m(:, 1) == 7) .and. all(m(:, 3) == 8), 'scalar to a section, with conversion')
    call notified_put(held%values(2:3), right, [1.5d0, 2.5d0], held%notice)
    call notify_wait(held%notice)
    call expect(all(held%values(2:3) == [1.5d0, 2.5d0]), 'component')
    call notified_put(text, right, 'abc', notice)
    call notify_wait(notice)
    call expect(text == 'abc', 'characters')
    call notified_put(a(1:0), right, a(1:0), notice)
    call notify_wait(notice)
    a = [(i, i=1, 10)]
    got = [(100*me + i, i=1, 10)]
    call notified_put(a(10:1:-1), me, got, notice)
    call notify_wait(notice)
    call expect(all(a(10:1:-1) == got), 'to this image, negative stride')
    sync all
    do i = 1, 200 ! the value may be changed at once
      got(1) = i
      call notified_put(a(mod(i, 10) + 1), right, got(1), notice)
    end do
    call notify_wait(notice, until_count=200)
    call expect(all(a == [200, (i, i=191, 199)]), 'many at once')
    sync all
  end subroutine

  subroutine gets()
    a = [(100*me + i, i=1, 10)]
    m = me
    sync all
    call notified_get(a(1:10:3), right, got(1:4), loc(taken))
    event wait (taken) ! the left image has read
    call expect(all(got(1:4) == 100*right + [1, 4, 7, 10]), 'notified get')
    call notified_get(m(2:3, 1:3), right, block, notice)
    call notify_wait(notice)
    call expect(all(block == right), 'notified get with a notify variable')
    sync all
  end subroutine

  ! Attached notify variables; both kinds of notification of one write.
  subroutine attached()
    call event_attach(notice, a(1:5))
    sync all
    a(2)[right] = 5
    call notify_wait(notice)
    call expect(a(2) == 5, 'attached notify variable')
    sync all
    call notified_put(a(1:2), right, [1, 2], loc(arrived))
    event wait (arrived)
    call notify_wait(notice)
    call expect(all(a(1:2) == [1, 2]), 'attached and explicit')
    call event_detach(notice)
    sync all
    a(2)[right] = 6
    call event_query(arrived, posted)
    call expect(posted == 0, 'no post is left')
    sync all
  end subroutine

  subroutine asynchronous_ones()
    integer, asynchronous :: from(10, 8), into(10, 8)
    type(async_handle) :: put(8), get(8)
    integer, allocatable :: wall(:, :)[:]
    allocate (wall(10, 8)[*])
    from = 1000*me + reshape([(i, i=1, 80)], [10, 8])
    wall = 0
    sync all
    do i = 1, 8
      call put_async(wall(:, i), right, from(:, i), put(i))
    end do
    do i = 8, 1, -1
      call async_wait(put(i))
    end do
    sync all
    call expect(all(wall == 1000*left + reshape([(i, i=1, 80)], [10, 8])), 'put_async')
    sync all
    call put_async(wall(2, :), right, from(1, :), put(1))
    sync memory
    call expect(logical(async_test(put(1))), 'a handle is done after sync memory')
    call async_wait(put(1))
    sync all
    call expect(all(wall(2, :) == 1000*left + [(10*i + 1, i=0, 7)]), 'put_async of a row')
    do i = 1, 8
      call get_async(wall(:, i), right, into(:, i), get(i), stat=stat)
    end do
    do while (.not. async_test(get(5)))
    end do
    do i = 1, 8
      call async_wait(get(i))
    end do
    from = 1000*me + reshape([(i, i=1, 80)], [10, 8])
    from(2, :) = from(1, :)
    call expect(all(into == from), 'get_async')
    sync all
    deallocate (wall)
  end subroutine

  subroutine errors()
    integer :: local
    real :: shape_of(3)
    call notified_put(a(1:2), images + 1, [1, 2], loc(arrived), stat, message)
    call expect(stat /= 0 .and. index(message, 'there is no image') > 0, 'image out of range')
    call notified_put(local, 1, 1, loc(arrived), stat, message)
    call expect(stat /= 0 .and. index(message, 'argument section') > 0, 'section is no coarray')
    call notified_put(a(1), 1, 1, loc(local), stat, message)
    call expect(stat /= 0 .and. index(message, 'event') > 0, 'event is no coarray')
    call notified_put(a(1:2), 1, shape_of, loc(arrived), stat, message)
    call expect(stat /= 0 .and. index(message, 'shapes') > 0, 'shapes differ')
    call notified_put(a(1:2), 1, 'x', loc(arrived), stat, message)
    call expect(stat /= 0 .and. index(message, 'types') > 0, 'types differ')
  end subroutine
end program
