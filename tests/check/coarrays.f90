! SPDX-License-Identifier: BSD-3-Clause
! Seeded races of coarray Fortran, one case each, for tests/check/findings.py: compiled with
! `tombolo fc --check`. Lines that race end with a comment, `race: CASE`; those of correct cases
! have none. Run with 3 images; the argument is the case.
program coarrays
  use iso_fortran_env, only: event_type, lock_type, atomic_int_kind
  implicit none
  integer :: a(1024)[*], b[*], mine
  type(event_type) :: done[*]
  type(lock_type) :: lock[*]
  integer(atomic_int_kind) :: flag[*]
  character(len=32) :: name
  integer :: me, i, v
  logical :: got

  me = this_image()
  call get_command_argument(1, name)
  a = 0
  b = 0
  v = 0
  call atomic_define(flag, 0)
  sync all
  select case (name)
  case ('put_load') ! CASE(put_load)
    if (me == 2) a(5)[1] = 7 ! race: put_load
    if (me == 1) v = a(5) ! race: put_load
  case ('put_put') ! CASE(put_put)
    if (me == 2) b[1] = 7 ! race: put_put
    if (me == 3) b[1] = 8 ! race: put_put
  case ('get_store') ! CASE(get_store)
    if (me == 2) v = a(9)[1] ! race: get_store
    if (me == 1) a(9) = 3 ! race: get_store
  case ('section') ! CASE(section)
    if (me == 2) a(1:100:2)[1] = 7 ! race: section
    if (me == 1) v = sum(a(1:4)) ! race: section
  case ('sync_images_of_others') ! CASE(sync_images_of_others)
    if (me == 2) b[1] = 7 ! race: sync_images_of_others
    if (me == 2) sync images (3)
    if (me == 3) sync images (2)
    if (me == 1) v = b ! race: sync_images_of_others
  case ('event_too_early') ! CASE(event_too_early)
    if (me == 2) then
      event post (done[1])
      b[1] = 7 ! race: event_too_early
    else if (me == 1) then
      event wait (done)
      v = b ! race: event_too_early
    end if
  case ('outside_critical') ! CASE(outside_critical)
    if (me == 2) then
      lock (lock[1])
      b[1] = 7 ! race: outside_critical
      unlock (lock[1])
    else if (me == 3) then
      v = b[1] ! race: outside_critical
    end if
  case ('broadcast') ! CASE(broadcast)
    mine = me
    if (me == 2) b[3] = 7 ! race: broadcast
    call co_broadcast(mine, 1)
    if (me == 3) v = b ! race: broadcast
  case ('ok_sync') ! CASE_OK(ok_sync)
    do i = 1, 10
      a = i
      sync all
      v = a(3)[mod(me, 3) + 1]
      sync all
      a(4:6)[mod(me, 3) + 1] = i
      sync all
    end do
  case ('ok_images') ! CASE_OK(ok_images)
    if (me == 2) b[1] = 7
    if (me == 2) sync images (1)
    if (me == 1) sync images (2)
    if (me == 1) v = b
  case ('ok_event') ! CASE_OK(ok_event)
    if (me == 2) then
      b[1] = 7
      event post (done[1])
    else if (me == 1) then
      event wait (done)
      v = b
    end if
  case ('leak_lock') ! CASE(leak_lock)
    if (me == 2) lock (lock[1]) ! leak: leak_lock
  case ('leak_tried_lock') ! CASE(leak_tried_lock)
    if (me == 3) lock (lock[1], acquired_lock=got) ! leak: leak_tried_lock
  case ('ok_leak') ! CASE_OK(ok_leak)
    lock (lock[1])
    unlock (lock[1])
    lock (lock[2], acquired_lock=got)
    if (got) unlock (lock[2])
    critical
      a(1)[2] = 1
    end critical
    event post (done[1])
  case ('ok_lock') ! CASE_OK(ok_lock)
    do i = 1, 10
      lock (lock[1])
      b[1] = b[1] + 1
      unlock (lock[1])
      critical
        a(1)[2] = a(1)[2] + 1
      end critical
    end do
  case ('ok_atomic') ! CASE_OK(ok_atomic)
    if (me == 2) then
      b[1] = 7
      sync memory
      call atomic_define(flag[1], 1)
    else if (me == 1) then
      do
        call atomic_ref(v, flag)
        if (v == 1) exit
      end do
      sync memory
      v = b
    end if
  case ('ok_reduce') ! CASE_OK(ok_reduce)
    if (me == 2) b[3] = 7
    mine = me
    call co_sum(mine)
    if (me == 3) v = b
  case ('ok_survivors') ! CASE_OK(ok_survivors)
    if (me == 2) fail image
    i = 0
    do while (i == 0)
      sync all (stat=i)
    end do
    do i = 1, 5
      a = i
      sync all (stat=v)
      v = a(3)[4 - me]
      sync all (stat=v)
    end do
  end select
  sync all (stat=i)
  if (v == -1) print *, v
end program
