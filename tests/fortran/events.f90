! SPDX-License-Identifier: BSD-3-Clause
! Events with each method of TOMBOLO_TEST_CAF_EVENTS: many posters, more events than an image has flags for a poster,
! attached sections, notified puts, queries, events that are allocated again.
! ranks: 1 3 4
! since: 12
! again: TOMBOLO_TEST_CAF_EVENTS=queue TOMBOLO_TEST_CAF_EVENTS=flag TOMBOLO_TEST_CAF_EVENTS=atomic
! again: TOMBOLO_TEST_CAF_EVENTS=queue+TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2
! again: TOMBOLO_TEST_CAF_EVENTS=flag+TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2
! again: TOMBOLO_TEST_CAF_EVENTS=atomic+TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2
program events
  use iso_fortran_env, only: event_type
  use tombolo_caf
  use check
  implicit none
  type(event_type) :: ready[*], many(70)[*], notice(3)[*]
  type(event_type), allocatable :: brief(:)[:]
  integer :: box(20)[*], me, images, right, left, i, n, stat
  call neighbours(me, images, left, right)
  box = 0
  call event_attach(loc(notice(1)), box(1:4))
  sync all
  call ring()
  call from_all()
  call many_events()
  call with_data()
  call allocated_again()
  sync all
  call finish()
contains
  ! Data and their event, one behind the other.
  subroutine ring()
    do i = 1, 30
      box(10)[right] = 1000*me + i
      event post (ready[right])
      event wait (ready)
      call expect(box(10) == 1000*left + i, 'data are there when the event is')
      event post (notice(2)[left]) ! it may be written again
      event wait (notice(2))
    end do
    sync all ! from here on others than the left image post, too
  end subroutine

  subroutine from_all()
    do i = 1, images
      event post (ready[i])
      event post (ready[i], stat=stat)
    end do
    call expect(stat == 0, 'stat of event post')
    event wait (ready, until_count=2*images - 1)
    sync all
    call event_query(ready, n)
    call expect(n == 1, 'one post is left')
    event wait (ready)
    call event_query(ready, n)
    call expect(n == 0, 'no post is left')
  end subroutine

  subroutine many_events()
    integer :: k
    do k = 1, 2
      do i = 1, size(many)
        event post (many(i)[right])
      end do
      do i = size(many), 1, -1
        event wait (many(i))
      end do
    end do
    do i = 1, 600
      event post (many(1 + mod(i, 3))[right])
    end do
    do i = 1, 3
      event wait (many(i), until_count=200)
    end do
    sync all
    do i = 1, size(many)
      call event_query(many(i), n)
      call expect(n == 0, 'each post was counted once')
    end do
  end subroutine

  subroutine with_data()
    do i = 1, 20
      box(1:4)[right] = [me, i, me + i, 7]
      event wait (notice(1))
      call expect(all(box(1:4) == [left, i, left + i, 7]), 'attached section')
      call notified_put(box(11:12), right, [me, -i], loc(notice(3)))
      event wait (notice(3))
      call expect(all(box(11:12) == [left, -i]), 'notified put')
      sync images ([left, right], stat=stat)
      if (left == right) sync images (left)
    end do
  end subroutine

  ! Posts for which nobody waited end with their event.
  subroutine allocated_again()
    do i = 1, 5
      allocate (brief(4)[*])
      call event_query(brief(2), n)
      call expect(n == 0, 'a new event has no posts')
      sync all
      event post (brief(2)[right])
      event post (brief(3)[right])
      event wait (brief(3))
      deallocate (brief)
    end do
  end subroutine
end program
