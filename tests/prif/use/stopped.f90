! SPDX-License-Identifier: BSD-3-Clause
! Images stop: what the waits of those that are left give, last of all those of image 1 alone.
! ranks: 2 3 5
! match: nothing waits for ever
program stopped
  use, intrinsic :: iso_c_binding
  use prif
  use check, me => this
  use parts
  implicit none
  integer, parameter :: z = c_size_t, l = c_int64_t
  type(prif_coarray_handle) :: h, section, other
  type(prif_team_type) :: team
  procedure(prif_coarray_cleanup_interface), pointer :: none
  type(c_ptr) :: memory, ignored
  integer(l), target :: value
  integer(l) :: count
  integer(c_int) :: stat
  character(200) :: text
  none => null()
  call begin()
  call coarray(64, h, memory)
  call coarray(8, section, ignored)
  if (me == images) call prif_lock(1_c_int, h, 0_z)
  value = me
  call prif_put(1_c_int, h, int(24 + 8*mod(me, 4), z), c_loc(value), 8_z)
  call prif_event_post(1_c_int, h, 8_z)
  call prif_sync_all()
  if (me == images) call prif_stop(quiet=.true._c_bool)
  text = ''
  call prif_sync_images([images], stat, text)
  call expect_error(stat, text, PRIF_STAT_STOPPED_IMAGE, 'ended normally')
  call prif_lock(1_c_int, h, 0_z, stat=stat, errmsg=text)
  call expect_error(stat, text, PRIF_STAT_STOPPED_IMAGE, 'holds the lock and has ended')
  call prif_get(images, h, 16_z, c_loc(value), 8_z, stat) ! its memory is still there
  call expect(stat == 0 .and. value == 0, 'get from a stopped image')
  call prif_sync_all(stat)
  call expect(stat == PRIF_STAT_STOPPED_IMAGE, 'sync_all')
  call prif_allocate_coarray([1_l], [int(images, l)], 8_z, none, other, ignored, stat, text)
  call expect_error(stat, text, PRIF_STAT_STOPPED_IMAGE, 'ALLOCATE')
  call prif_co_sum(value, stat=stat)
  call expect(stat == PRIF_STAT_STOPPED_IMAGE, 'co_sum')
  call prif_form_team(1_l, team, stat=stat)
  call expect(stat == PRIF_STAT_STOPPED_IMAGE, 'form_team')
  call prif_critical(section, stat) ! its word is on image 2, which may be the stopped one
  call expect(stat == 0, 'critical')
  call prif_end_critical(section)
  if (me /= 1) call prif_stop(quiet=.true._c_bool)
  call prif_event_wait(beyond(memory, 8_z), until_count=int(images + 1, l), stat=stat, errmsg=text)
  call expect_error(stat, text, PRIF_STAT_STOPPED_IMAGE, 'no other image is left to post')
  call prif_event_query(beyond(memory, 8_z), count)
  call expect(count == images, 'what a wait that fails leaves')
  call prif_event_wait(beyond(memory, 8_z), until_count=int(images, l), stat=stat)
  call expect(stat == 0, 'event_wait of posts that have come')
  call prif_notify_wait(beyond(memory, 16_z), stat=stat, errmsg=text)
  call expect_error(stat, text, PRIF_STAT_STOPPED_IMAGE, 'no other image is left to post')
  print '(a)', 'nothing waits for ever'
  call finish()
end program
