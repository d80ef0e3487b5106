! SPDX-License-Identifier: BSD-3-Clause
! Programs whose output depends on the order in which images meet, one case each, for
! tests/replay/orders.py. Run with 4 images; the argument is the case. Delays are random.
program orders
  use iso_fortran_env
  implicit none
  integer, parameter :: rounds = 6
  type :: boxed
    integer, allocatable :: at(:)
  end type
  type(event_type) :: work[*], done(4)[*]
  type(lock_type) :: guard[*]
  type(team_type) :: half
  type(boxed) :: box[*]
  integer(atomic_int_kind) :: ticket[*], flag[*]
  integer :: order(64)[*], count[*], plain[*]
  integer :: me, n, i, k, old, looks, code
  logical :: got
  integer, allocatable :: lost(:)
  character(32) :: which
  character(400) :: seen
  me = this_image()
  n = num_images()
  order = 0
  count = 0
  plain = 0
  ticket = 0
  flag = 0
  looks = 0
  seen = ''
  allocate (box%at(4), source=0)
  call random_init(.false., .true.)
  call get_command_argument(1, which)
  sync all
  select case (which)
  case ('farm') ! the order of results; a worker may be quick
    call farm()
  case ('posts') ! how many posts are there at each look
    if (me > 1) then
      do i = 1, rounds
        call delay()
        event post (work[1])
      end do
    else
      k = 0
      do while (k < rounds*(n - 1))
        call event_query(work, i)
        call note(i)
        if (i == 0) cycle
        event wait (work)
        k = k + 1
      end do
    end if
  case ('locks') ! who has the lock when
    do i = 1, rounds
      call delay()
      lock (guard[1])
      call append()
      unlock (guard[1])
    end do
  case ('try_lock') ! how often the lock is not free
    do i = 1, rounds
      do
        lock (guard[2], acquired_lock=got)
        if (got) exit
        looks = looks + 1
      end do
      call append()
      call delay()
      unlock (guard[2])
      call note(looks)
    end do
  case ('critical')
    do i = 1, rounds
      call delay()
      critical
        call append()
      end critical
    end do
  case ('tickets') ! who draws which number
    do i = 1, rounds
      call delay()
      call atomic_fetch_add(ticket[1], 1, old)
      call note(old)
    end do
  case ('spin') ! a lock of the program's own
    do i = 1, rounds
      do
        call atomic_cas(flag[n], old, 0, me)
        if (old == 0) exit
        looks = looks + 1
      end do
      call append()
      call atomic_define(flag[n], 0)
    end do
    call note(looks)
  case ('flags') ! looks until a value has come, by an atomic subroutine and by a coindexed object
    call delay()
    if (me == 2) plain[1] = 7
    if (me == 3) call atomic_define(flag[1], 7)
    do while (me == 4)
      call atomic_ref(old, flag[1])
      looks = looks + 1
      if (old == 7 .and. plain[1] == 7) exit
    end do
    call note(looks)
  case ('collectives') ! of values that depend on the order
    do i = 1, rounds
      call delay()
      call atomic_fetch_add(ticket[1], 1, old)
      k = old*me
      call co_sum(k)
      call note(k)
      k = mod(old, 7)*10 + me
      call co_max(k)
      call note(k)
      call co_broadcast(old, 2)
      call note(old)
    end do
  case ('teams') ! the order in each team, and in the job
    form team (1 + mod(me, 2), half)
    change team (half)
      do i = 1, rounds
        call delay()
        call atomic_fetch_add(ticket[1], 1, old)
        call note(old)
        sync team (half)
      end do
    end team
    lock (guard[1])
    call append()
    unlock (guard[1])
  case ('pairs') ! SYNC IMAGES with some, in the order of tickets
    call delay()
    call atomic_fetch_add(ticket[1], 1, old)
    order(old + 1)[1] = me
    sync images (*)
    call note(order(1)[1])
    if (me == order(1)[1]) then
      sync images ([order(2)[1]])
    else if (me == order(2)[1]) then
      sync images ([order(1)[1]])
    end if
    call note(old)
  case ('components') ! an allocatable component, which accessors reach
    do i = 1, rounds
      call delay()
      lock (guard[1])
      k = box[1]%at(2)
      box[1]%at(2) = mod(k*5 + me, 100003)
      unlock (guard[1])
      call note(k)
    end do
  case ('failed') ! how long until a failure is seen
    if (me == 3) then
      call delay()
      fail image
    end if
    do
      call atomic_fetch_add(ticket[1], 1, old)
      looks = looks + 1
      lost = failed_images()
      if (size(lost) > 0) exit
    end do
    call note(looks)
    call note(lost(1))
    sync all (stat=code)
    call note(merge(1, 0, code == stat_failed_image))
  case default
    error stop 'there is no such case'
  end select
  sync all (stat=code)
  if (me == 1) call note_order()
  print '(a,i0,1x,a)', 'image ', me, trim(seen)
contains
  ! Up to 200 microseconds.
  subroutine delay()
    integer(int64) :: now, end, rate
    real :: part
    call random_number(part)
    call system_clock(now, rate)
    end = now + int(part*real(rate)*2e-4, int64)
    do while (now < end)
      call system_clock(now)
    end do
  end subroutine

  subroutine note(number)
    integer, intent(in) :: number
    character(12) :: text
    write (text, '(i0)') number
    if (len_trim(seen) < len(seen) - 12) seen = trim(seen)//' '//text
  end subroutine

  ! Within a lock: this image is the next of the list of image 1.
  subroutine append()
    integer :: at
    at = count[1] + 1
    order(at)[1] = me
    count[1] = at
  end subroutine

  subroutine note_order()
    do i = 1, count
      call note(order(i))
    end do
  end subroutine

  subroutine farm()
    integer :: given, busy, c
    given = 0
    busy = 0
    if (me > 1) then
      do
        event wait (work)
        if (plain < 0) exit
        call delay()
        event post (done(me)[1])
      end do
      return
    end if
    do k = 2, n
      call give(k, given, busy)
    end do
    do while (busy > 0)
      do k = 2, n
        call event_query(done(k), c)
        if (c == 0) cycle
        event wait (done(k))
        busy = busy - 1
        call note(k)
        call give(k, given, busy)
      end do
    end do
  end subroutine

  subroutine give(worker, given, busy)
    integer, intent(in) :: worker
    integer, intent(inout) :: given, busy
    plain[worker] = merge(given, -1, given < 4*rounds)
    if (given < 4*rounds) busy = busy + 1
    given = given + 1
    event post (work[worker])
  end subroutine
end program
