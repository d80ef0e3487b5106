! SPDX-License-Identifier: BSD-3-Clause
! Image 2 fails with a lock and in a critical construct: what the others' accesses and waits give.
! ranks: 3 4
! match: the others are well
program lost
  use, intrinsic :: iso_c_binding
  use prif
  use check, me => this
  use parts
  implicit none
  integer, parameter :: z = c_size_t, l = c_int64_t
  type(prif_coarray_handle) :: h, section, gone
  type(prif_team_type) :: team
  type(c_ptr) :: memory, ignored
  integer(l), target :: value
  integer(c_int) :: stat
  character(200) :: text
  logical(c_bool) :: got
  call begin()
  call coarray(64, h, memory)
  call coarray(8, gone, ignored) ! the second one: its word is on image 2
  call coarray(8, section, ignored)
  if (me == 2) then
    call prif_lock(1_c_int, h, 0_z)
    call prif_lock(3_c_int, h, 0_z)
    call prif_critical(section)
  end if
  if (me == 3) call prif_critical(gone)
  call prif_sync_all()
  if (me == 2) call prif_fail_image()
  stat = 0
  do while (stat == 0)
    call prif_sync_all(stat)
  end do
  call expect(stat == PRIF_STAT_FAILED_IMAGE, 'sync_all')
  text = ''
  call prif_get(2_c_int, h, 8_z, c_loc(value), 8_z, stat, text)
  call expect_error(stat, text, PRIF_STAT_FAILED_IMAGE, 'prif_get: image 2')
  call prif_put(2_c_int, h, 8_z, c_loc(value), 8_z, stat, text)
  call expect_error(stat, text, PRIF_STAT_FAILED_IMAGE, 'prif_put: image 2')
  call prif_put_with_notify(2_c_int, h, 8_z, c_loc(value), 8_z, h, 40_z, stat, text)
  call expect_error(stat, text, PRIF_STAT_FAILED_IMAGE, 'prif_put_with_notify: image 2')
  call prif_event_post(2_c_int, h, 24_z, stat, text)
  call expect_error(stat, text, PRIF_STAT_FAILED_IMAGE, 'prif_event_post: image 2')
  call prif_atomic_add(2_c_int, h, 16_z, 1_l, stat)
  call expect(stat == PRIF_STAT_FAILED_IMAGE, 'atomic_add')
  call prif_sync_images(stat=stat, errmsg=text)
  call expect_error(stat, text, PRIF_STAT_FAILED_IMAGE, 'image 2')
  call prif_event_wait(beyond(memory, 24_z), stat=stat, errmsg=text)
  call expect_error(stat, text, PRIF_STAT_FAILED_IMAGE, 'prif_event_wait: until_count=1')
  call prif_notify_wait(beyond(memory, 24_z), stat=stat, errmsg=text)
  call expect_error(stat, text, PRIF_STAT_FAILED_IMAGE, 'prif_notify_wait: until_count=1')
  call prif_lock(2_c_int, h, 32_z, stat=stat, errmsg=text)
  call expect_error(stat, text, PRIF_STAT_FAILED_IMAGE, 'has the lock variable')
  if (me == 3) call prif_end_critical(gone)
  call prif_critical(gone, stat, text)
  call expect_error(stat, text, PRIF_STAT_FAILED_IMAGE, 'prif_critical: image 2')
  if (me == 1) then
    call prif_lock(1_c_int, h, 0_z, stat=stat, errmsg=text)
    call expect_error(stat, text, PRIF_STAT_UNLOCKED_FAILED_IMAGE, 'holds it now')
    call prif_unlock(1_c_int, h, 0_z, stat)
    call expect(stat == 0, 'unlock of what the failed image held')
    call prif_lock(3_c_int, h, 0_z, got, stat, text)
    call expect(logical(got), 'acquired_lock of what the failed image held')
    call expect_error(stat, text, PRIF_STAT_UNLOCKED_FAILED_IMAGE, 'holds it now')
    call prif_unlock(3_c_int, h, 0_z, stat)
    call expect(stat == 0, 'unlock of that')
    call prif_critical(section, stat, text)
    call expect_error(stat, text, PRIF_STAT_FAILED_IMAGE, 'holds it now')
    call prif_end_critical(section)
    call prif_critical(section, stat)
    call expect(stat == 0, 'critical after that')
    call prif_end_critical(section)
  end if
  call prif_sync_all(stat)
  call expect(stat == PRIF_STAT_FAILED_IMAGE, 'sync_all again')
  call prif_form_team(1_l, team, stat=stat, errmsg=text)
  call expect_error(stat, text, PRIF_STAT_FAILED_IMAGE, 'FORM TEAM: image 2')
  call prif_change_team(team, stat)
  call expect(stat == 0, 'change_team of the others')
  call prif_end_team(stat)
  call expect(stat == 0, 'end_team of the others')
  if (me == 1) print '(a)', 'the others are well'
  call finish()
end program
