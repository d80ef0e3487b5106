! SPDX-License-Identifier: BSD-3-Clause
! An image fails; the others find out, make a team of their own, and go on in it.
! ranks: 3 4 7
! match: survivors are well
program failed
  use iso_fortran_env
  use check
  implicit none
  type(team_type) :: survivors
  type(event_type) :: never[*]
  type(lock_type) :: guard[*]
  integer :: me, images, stat, n, i
  integer, allocatable :: list(:), a(:)[:]
  character(60) :: message
  me = this_image()
  images = num_images()
  if (me == 2) then
    lock (guard[1])
  end if
  sync all
  if (me == 2) fail image
  stat = 0
  do while (stat == 0)
    sync all (stat=stat, errmsg=message)
  end do
  call expect(stat == stat_failed_image, 'sync all stat')
  call expect(index(message, 'failed') > 0, 'sync all errmsg')
  list = failed_images()
  call expect(size(list) == 1 .and. all(list == 2), 'failed_images')
  call expect(image_status(2) == stat_failed_image, 'image_status')
  call expect(image_status(me) == 0, 'image_status of this image')
  call expect(size(stopped_images()) == 0, 'stopped_images')
  sync images (*, stat=stat)
  call expect(stat == stat_failed_image, 'sync images stat')
  event wait(never, stat=stat)
  call expect(stat == stat_failed_image, 'event wait stat')
  lock (guard[1])
  unlock (guard[1])
  form team (1, survivors)
  change team (survivors)
    call expect(num_images() == images - 1, 'team of survivors')
    allocate (a(3)[*])
    a = this_image()
    sync all
    n = 0
    do i = 1, num_images()
      n = n + a(2)[i]
    end do
    call expect(n == images*(images - 1)/2, 'coarray of survivors')
    sync all
    n = me
    call co_sum(n)
    call expect(n == images*(images + 1)/2 - 2, 'co_sum of survivors')
    call co_broadcast(a, num_images())
    call expect(all(a == num_images()), 'co_broadcast of survivors')
    deallocate (a)
    if (this_image() == 1) print '(a)', 'survivors are well'
  end team
  call finish()
end program
