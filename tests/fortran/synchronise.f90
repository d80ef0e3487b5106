! SPDX-License-Identifier: BSD-3-Clause
! SYNC ALL, SYNC IMAGES, SYNC MEMORY, events, locks, critical sections.
! again: TOMBOLO_TEST_SHM=0
program synchronise
  use iso_fortran_env
  use check
  implicit none
  type(event_type) :: go[*], many(3)[*]
  type(lock_type) :: guard[*], guards(2)[*]
  integer :: token[*], count[*], sum[*], me, images, left, right, i, stat, posted
  logical :: mine
  character(40) :: message
  call neighbours(me, images, left, right)
  count = 0
  sum = 0
  token = 0
  sync all (stat=stat, errmsg=message)
  call expect(stat == 0, 'sync all')
  call ring()
  call events()
  call locks()
  call attempts()
  call critical_sections()
  sync memory
  sync all
  call finish()
contains
  ! Each image in turn writes what the one before it has written, and one more.
  subroutine ring()
    do i = 1, 20
      if (me == 1) then
        if (images > 1) then
          token[right] = token + 1
          sync images (right)
          sync images (left)
        end if
      else
        sync images (left)
        token[right] = token + 1
        sync images (right)
      end if
    end do
    if (me == 1 .and. images > 1) call expect(token == 20*images, 'ring of sync images')
    sync images (*)
    if (me == 1) then
      sync images (*)
    else
      sync images (1)
    end if
    sync images ([integer ::])
  end subroutine

  subroutine events()
    event post(go[right])
    event wait(go)
    do i = 1, 3
      event post(many(i)[right])
      event post(many(i)[right], stat=stat)
    end do
    event wait(many(2), until_count=2)
    call event_query(many(2), posted, stat)
    call expect(posted == 0 .and. stat == 0, 'event query after wait')
    event wait(many(1))
    event wait(many(1))
    event wait(many(3), until_count=2, stat=stat)
    call expect(stat == 0, 'event wait stat')
    sync all
    ! What is written before a post is there after the wait.
    do i = 1, 100
      token[right] = 1000*me + i
      event post(go[right])
      event wait(go)
      call expect(token == 1000*left + i, 'data before event')
      sync all
    end do
  end subroutine

  subroutine add_and_unlock()
    integer :: seen
    seen = count[1]
    count[1] = seen + 1
    unlock (guard[1])
  end subroutine

  ! Locks that are tried until they are free, the own image's among them: the others' UNLOCK comes in.
  subroutine attempts()
    logical :: got
    if (me == 1) count = 0
    sync all
    do i = 1, 10
      got = .false.
      do while (.not. got)
        lock (guard[1], acquired_lock=got)
      end do
      call add_and_unlock()
    end do
    sync all
    if (me == 1) call expect(count == 10*images, 'lock, tried')
    sync all
  end subroutine

  subroutine locks()
    do i = 1, 100
      lock (guard[1])
      call add_and_unlock()
    end do
    sync all
    if (me == 1) call expect(count == 100*images, 'lock')
    lock (guards(2)[me])
    lock (guards(2)[me], stat=stat)
    call expect(stat == stat_locked, 'lock twice')
    mine = .true.
    stat = 0
    lock (guards(2)[me], acquired_lock=mine, stat=stat) ! F2018 11.6.10, paragraph 7
    call expect(stat == stat_locked .and. .not. mine, 'lock held by this image')
    sync all
    if (images > 1) then
      lock (guards(2)[right], acquired_lock=mine)
      call expect(.not. mine, 'lock held by another image')
      unlock (guards(2)[right], stat=stat)
      call expect(stat == stat_locked_other_image, 'unlock of another')
    end if
    sync all
    unlock (guards(2)[me])
    lock (guards(2)[me], acquired_lock=mine)
    call expect(mine, 'lock that is free')
    unlock (guards(2)[me])
  end subroutine

  subroutine critical_sections()
    integer :: seen
    do i = 1, 100
      critical
        seen = sum[1]
        sum[1] = seen + me
      end critical
    end do
    sync all
    if (me == 1) call expect(sum == 100*images*(images + 1)/2, 'critical')
  end subroutine
end program
