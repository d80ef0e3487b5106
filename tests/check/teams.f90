! SPDX-License-Identifier: BSD-3-Clause
! Seeded races of coarray Fortran with teams, chains of events, locks, critical constructs and
! collectives: one case each, for tests/check/findings.py, compiled with `tombolo fc --check`. Lines
! that race end with a comment, `race: CASE`; those of correct cases have none. Run with 3 images;
! the argument is the case.
program teams
  use iso_fortran_env, only: event_type, lock_type, atomic_int_kind, team_type
  implicit none
  integer :: a(64)[*], b[*], c[*], mine
  type(event_type) :: done[*], more[*]
  type(lock_type) :: lock[*], other[*]
  integer(atomic_int_kind) :: flag[*], old
  type(team_type) :: pair
  integer, allocatable :: d(:)[:]
  character(len=32) :: name
  integer :: me, i, v

  me = this_image()
  call get_command_argument(1, name)
  a = 0
  b = 0
  c = 0
  v = 0
  call atomic_define(flag, 0)
  sync all
  select case (name)
  case ('event_chain_early') ! CASE(event_chain_early)
    if (me == 1) then
      b[3] = 7 ! race: event_chain_early
      event post (done[2])
    else if (me == 2) then
      event post (done[3])
      event wait (done)
    else
      event wait (done)
      v = b ! race: event_chain_early
    end if
  case ('other_event') ! CASE(other_event)
    if (me == 1) then
      b[3] = 7 ! race: other_event
      event post (done[3])
    else if (me == 2) then
      event post (more[3])
    else
      event wait (more)
      v = b ! race: other_event
    end if
  case ('other_lock') ! CASE(other_lock)
    if (me == 1) then
      lock (lock[2])
      b[2] = 7 ! race: other_lock
      unlock (lock[2])
    else if (me == 3) then
      lock (other[2])
      b[2] = 8 ! race: other_lock
      unlock (other[2])
    end if
  case ('lock_of_other') ! CASE(lock_of_other)
    if (me > 1) then
      lock (lock[me])
      b[1] = me ! race: lock_of_other
      unlock (lock[me])
    end if
  case ('two_criticals') ! CASE(two_criticals)
    if (me == 1) then
      critical
        b[2] = 7 ! race: two_criticals
      end critical
    else if (me == 3) then
      critical
        b[2] = 8 ! race: two_criticals
      end critical
    end if
  case ('behind_critical') ! CASE(behind_critical)
    critical
      c[1] = c[1] + 1
    end critical
    if (me == 2) b[1] = 7 ! race: behind_critical
    if (me == 3) v = b[1] ! race: behind_critical
  case ('team_of_others') ! CASE(team_of_others)
    form team (min(me, 2), pair)
    if (me == 1) b[3] = 7 ! race: team_of_others
    change team (pair)
      sync all
    end team
    if (me == 3) v = b ! race: team_of_others
  case ('sum_to_one') ! CASE(sum_to_one)
    mine = me
    if (me == 2) b[3] = 7 ! race: sum_to_one
    call co_sum(mine, 1)
    if (me == 3) v = b ! race: sum_to_one
  case ('sections') ! CASE(sections)
    if (me == 2) a(1:13:3)[1] = 7 ! race: sections
    if (me == 3) a(2:12:5)[1] = 8 ! race: sections
  case ('atomic_without_sync') ! CASE(atomic_without_sync)
    if (me == 2) then
      call atomic_add(flag[1], 1)
      b[1] = 7 ! race: atomic_without_sync
    else if (me == 1) then
      do
        call atomic_ref(v, flag)
        if (v == 1) exit
      end do
      sync memory
      v = b ! race: atomic_without_sync
    end if
  case ('images_not_all') ! CASE(images_not_all)
    if (me == 1) b[3] = 7 ! race: images_not_all
    if (me == 2) sync images (3)
    if (me == 3) sync images (2)
    if (me == 3) v = b ! race: images_not_all
    if (me == 1) sync images (2)
    if (me == 2) sync images (1)
  case ('ok_event_chain') ! CASE_OK(ok_event_chain)
    do i = 1, 10
      if (me == 1) then
        if (i > 1) event wait (done)
        b[3] = i
        event post (done[2])
      else if (me == 2) then
        event wait (done)
        c[2] = c[2] + 1
        event post (done[3])
      else
        event wait (done)
        b = b + c[2]
        event post (done[1])
      end if
    end do
  case ('ok_posters') ! CASE_OK(ok_posters)
    do i = 1, 10
      if (me == 3) then
        event wait (done, until_count=4)
        v = a(1) + a(2)
        a(1:2) = 0
        event post (more[1])
        event post (more[2])
      else
        a(me)[3] = i
        event post (done[3])
        event post (done[3])
        event wait (more)
      end if
    end do
  case ('ok_locks') ! CASE_OK(ok_locks)
    do i = 1, 10
      lock (lock[1])
      lock (other[2])
      b[3] = b[3] + 1
      unlock (lock[1])
      c[1] = c[1] + 1
      unlock (other[2])
      critical
        a(5)[2] = a(5)[2] + 1
      end critical
    end do
  case ('ok_teams') ! CASE_OK(ok_teams)
    form team (min(me, 2), pair)
    change team (pair)
      do i = 1, 5
        if (this_image() == 1) b[num_images()] = i
        sync all
        v = b
        sync all
      end do
    end team
    sync all
    if (me == 2) b[1] = 9
  case ('ok_sums') ! CASE_OK(ok_sums)
    do i = 1, 5
      mine = me
      if (me /= 2) a(me)[2] = i
      call co_max(mine, 2)
      if (me == 2) a(1:3) = a(1:3) + mine
      if (me == 2) b[1] = i
      call co_broadcast(mine, 2)
      if (me == 1) v = b
      call co_sum(mine)
    end do
  case ('ok_sections') ! CASE_OK(ok_sections)
    if (me == 2) a(1:64:2)[1] = 7
    if (me == 3) a(2:64:2)[1] = 8
    sync all
    a(me:64:3)[1] = a(me:64:3)[2]
  case ('ok_atomics') ! CASE_OK(ok_atomics)
    if (me > 1) then
      a(me)[1] = 7
      sync memory
      call atomic_fetch_add(flag[1], 1, old)
    else
      do
        call atomic_ref(v, flag)
        if (v == 2) exit
      end do
      sync memory
      a = a + 1
    end if
  case ('ok_allocated') ! CASE_OK(ok_allocated)
    do i = 1, 3
      allocate (d(8)[*])
      d(me)[mod(me, 3) + 1] = i
      sync all
      v = sum(d)
      deallocate (d)
    end do
  case ('ok_image_ring') ! CASE_OK(ok_image_ring)
    do i = 1, 10
      b[mod(me, 3) + 1] = i
      sync images ([mod(me, 3) + 1, mod(me + 1, 3) + 1])
      b = b + 1
      sync images (*)
    end do
  end select
  sync all
  if (v == -1) print *, v
end program
