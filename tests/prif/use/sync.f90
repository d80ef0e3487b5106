! SPDX-License-Identifier: BSD-3-Clause
! Image control of PRIF: sync images, team and memory, events, notify variables, locks, critical.
! ranks: 1 2 4 7
program sync
  use, intrinsic :: iso_c_binding
  use prif
  use check, me => this
  use parts
  implicit none
  integer, parameter :: z = c_size_t, l = c_int64_t
  ! Words of the block, from 1; byte offsets are 8 less than 8 times as much.
  integer, parameter :: event = 1, ack = 2, notify = 3, lock = 4, value = 5, other = 6, words = 64
  type(prif_coarray_handle) :: h, section
  type(c_ptr) :: memory, ignored
  integer(l), pointer :: x(:)
  integer(c_intptr_t), pointer :: base(:)
  integer(c_int) :: right, left, stat
  character(200) :: text

  call begin()
  call coarray(8*(words + images), h, memory)
  call coarray(8, section, ignored)
  call c_f_pointer(memory, x, [words])
  call c_f_pointer(at(words + 1), base, [int(images)])
  right = 1 + mod(me, images)
  left = 1 + mod(me + images - 2, images)
  call publish(h, memory, offset(words + 1))
  call pairs()
  call of_teams()
  call flow_control()
  call hot_spot()
  call locks()
  call critical()
  call wrong_arguments()
  call finish()
contains
  type(c_ptr) function at(word)
    integer, intent(in) :: word
    at = beyond(memory, offset(word))
  end function

  integer(z) function offset(word)
    integer, intent(in) :: word
    offset = 8*(word - 1)
  end function

  ! Each round writes to the right, and the neighbours meet before and after it is read.
  subroutine pairs()
    integer(c_int) :: set(5)
    integer(l), target :: v
    integer :: round
    set(1:5:2) = [left, right, me]
    set(2:4:2) = 0
    if (left == right) set(3) = me
    do round = 1, 200
      v = 1000*me + round
      call prif_put(right, h, offset(value), c_loc(v), 8_z)
      if (images == 1) then
        call prif_sync_images([me], stat)
      else if (left == right) then
        call prif_sync_images(set(1:3:2), stat)
      else
        call prif_sync_images(set(1:5:2), stat) ! not contiguous; the own image may be named
      end if
      call expect(stat == 0 .and. x(value) == 1000*left + round, 'sync_images')
      call prif_sync_images(stat=stat)
      call expect(stat == 0, 'sync_images of all')
    end do
    call prif_sync_images(set(1:0), stat)
    call expect(stat == 0, 'sync_images of none')
    call prif_sync_memory(stat, text)
    call expect(stat == 0, 'sync_memory')
    if (images == 1) return
    text = ''
    call prif_sync_images([right, right], stat, text)
    call expect_error(stat, text, 120_c_int, 'twice')
    call prif_sync_images([images + 1_c_int], stat, text)
    call expect_error(stat, text, 120_c_int, 'there is no image')
    call prif_sync_all()
  end subroutine

  subroutine of_teams()
    type(prif_team_type) :: team, current, initial
    call prif_get_team(team=initial)
    call prif_form_team(int(1 + mod(me, 2), l), team)
    call prif_sync_team(team, stat) ! a child
    call expect(stat == 0, 'sync_team of a child')
    call prif_change_team(team)
    call prif_get_team(team=current)
    call prif_sync_team(current, stat)
    call expect(stat == 0, 'sync_team of the current team')
    call prif_sync_team(initial, stat)
    call expect(stat == 0, 'sync_team of an ancestor')
    x(other) = 0
    call prif_sync_team(initial)
    call prif_event_post(1_c_int, h, offset(other)) ! image_num is of the initial team
    if (me == 1) call prif_event_wait(at(other), int(images, l))
    call prif_end_team()
  end subroutine

  ! Image 1 writes values to all, each as soon as it has read the one before.
  subroutine flow_control()
    integer(l), target :: v
    integer(c_int) :: k
    integer :: round
    integer(l) :: count
    do round = 1, 100
      if (me == 1) then
        if (round > 1) call prif_event_wait(at(ack), until_count=int(images, l))
        v = 7*round
        do k = 1, images
          if (mod(round, 2) == 0) then
            call prif_put_with_notify(k, h, offset(value), c_loc(v), 8_z, h, offset(notify))
          else
            call prif_put(k, h, offset(value), c_loc(v), 8_z)
            call prif_event_post_indirect(k, base(k) + offset(event), stat)
            call expect(stat == 0, 'event_post_indirect')
          end if
        end do
      end if
      if (mod(round, 2) == 0) then
        call prif_notify_wait(at(notify), stat=stat)
      else if (mod(round, 10) == 1) then ! a loop that tests
        count = 0
        do while (count == 0)
          call prif_event_query(at(event), count, stat)
        end do
        call expect(count == 1, 'event_query')
        call prif_event_wait(at(event), stat=stat)
      else
        call prif_event_wait(at(event), -3_l, stat)
      end if
      call expect(stat == 0 .and. x(value) == 7*round, 'value behind a post')
      call prif_event_post(1_c_int, h, offset(ack))
    end do
    if (me == 1) call prif_event_wait(at(ack), until_count=int(images, l))
    call prif_event_query(at(event), count)
    call expect(count == 0, 'no post is left')
    call prif_sync_all()
  end subroutine

  subroutine hot_spot()
    integer, parameter :: posts = 100
    integer(l) :: count
    integer :: k
    do k = 1, posts
      call prif_event_post(1_c_int, h, offset(other), stat, text)
      call expect(stat == 0, 'event_post')
    end do
    if (me == 1) call prif_event_wait(at(other), int(posts*images - 1, l))
    call prif_sync_all()
    call prif_event_query(at(other), count)
    call expect(count == merge(1, 0, me == 1), 'what a wait leaves')
    x(other) = 0
    call prif_sync_all()
  end subroutine

  ! n = n + 1 on image `home`, in two accesses.
  subroutine increment(home, word)
    integer(c_int), intent(in) :: home
    integer, intent(in) :: word
    integer(l), target :: n
    call prif_get(home, h, offset(word), c_loc(n), 8_z)
    n = n + 1
    call prif_put(home, h, offset(word), c_loc(n), 8_z)
  end subroutine

  subroutine locks()
    integer, parameter :: rounds = 50
    logical(c_bool) :: got
    integer(c_int) :: home
    integer :: k
    home = images
    if (me == home) x(value) = 0
    call prif_sync_all()
    do k = 1, rounds
      if (mod(k, 3) == 0) then
        call prif_lock_indirect(home, base(home) + offset(lock), stat=stat)
      else if (mod(k, 3) == 1) then
        call prif_lock(home, h, offset(lock), stat=stat, errmsg=text)
      else
        got = .false.
        stat = 0
        do while (.not. got .and. stat == 0)
          call prif_lock(home, h, offset(lock), got, stat)
        end do
      end if
      call expect(stat == 0, 'lock')
      call increment(home, value)
      if (mod(k, 2) == 0) call prif_unlock(home, h, offset(lock), stat)
      if (mod(k, 2) == 1) call prif_unlock_indirect(home, base(home) + offset(lock), stat)
      call expect(stat == 0, 'unlock')
    end do
    call prif_sync_all()
    if (me == home) call expect(x(value) == rounds*images, 'count under a lock')
    if (me == 1) then
      text = ''
      call prif_unlock(home, h, offset(lock), stat, text)
      call expect_error(stat, text, PRIF_STAT_UNLOCKED, 'not locked')
      call prif_lock(home, h, offset(lock))
      call prif_lock(home, h, offset(lock), stat=stat, errmsg=text)
      call expect_error(stat, text, PRIF_STAT_LOCKED, 'holds the lock already')
      call prif_lock(home, h, offset(lock), got, stat, text)
      call expect_error(stat, text, PRIF_STAT_LOCKED, 'holds the lock already')
      call expect(.not. logical(got), 'acquired_lock of the own lock')
    end if
    call prif_sync_all()
    if (me /= 1) then
      call prif_lock_indirect(home, base(home) + offset(lock), got, stat)
      call expect(stat == 0 .and. .not. logical(got), 'acquired_lock')
      text = ''
      call prif_unlock_indirect(home, base(home) + offset(lock), stat, text)
      call expect_error(stat, text, PRIF_STAT_LOCKED_OTHER_IMAGE, 'image 1 ')
    end if
    call prif_sync_all()
    if (me == 1) call prif_unlock(home, h, offset(lock))
    call prif_sync_all()
  end subroutine

  subroutine critical()
    integer, parameter :: rounds = 50
    integer :: k
    x(value) = 0
    call prif_sync_all()
    do k = 1, rounds
      call prif_critical(section, stat, text)
      call expect(stat == 0, 'critical')
      call increment(1_c_int, value)
      call prif_end_critical(section)
    end do
    call prif_sync_all()
    if (me == 1) call expect(x(value) == rounds*images, 'count in a critical construct')
  end subroutine

  subroutine wrong_arguments()
    integer(l), target :: here
    integer(l) :: count
    text = ''
    call prif_event_wait(c_loc(here), stat=stat, errmsg=text)
    call expect_error(stat, text, 120_c_int, 'event_var_ptr')
    call prif_notify_wait(c_null_ptr, stat=stat, errmsg=text)
    call expect_error(stat, text, 120_c_int, 'notify_var_ptr')
    call prif_event_query(c_loc(here), count, stat)
    call expect(stat == 120, 'event_query of another variable')
    call prif_event_wait(at(event), huge(0_l), stat, text)
    call expect_error(stat, text, 120_c_int, 'until_count=')
    call prif_event_post(right, h, 4_z, stat, text)
    call expect_error(stat, text, 120_c_int, 'offset=4')
    call prif_event_post(images + 1_c_int, h, 0_z, stat, text)
    call expect_error(stat, text, 120_c_int, 'image_num')
    call prif_sync_all()
    x(lock) = 12345 ! as memory that was not set to zero
    call prif_sync_all()
    call prif_lock(right, h, offset(lock), stat=stat, errmsg=text)
    call expect_error(stat, text, 120_c_int, '12345')
    call prif_sync_all()
  end subroutine
end program
