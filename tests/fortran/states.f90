! SPDX-License-Identifier: BSD-3-Clause
! States of images by team: IMAGE_STATUS, FAILED_IMAGES, STOPPED_IMAGES with TEAM.
! ranks: 2 3 5
! match: counted
! since: 16
program states
  use iso_fortran_env
  use check
  implicit none
  type(team_type) :: all_images, half
  integer, allocatable :: list(:)
  integer :: me, images, stat
  me = this_image()
  images = num_images()
  form team (1, all_images, new_index=images + 1 - me)
  form team (1 + mod(me, 2), half)
  list = failed_images()
  call expect(size(list) == 0 .and. .not. allocated(list), 'no failed image')
  call expect(image_status(images + 1) == stat_stopped_image, 'no such image')
  call expect(image_status(1, half) == 0, 'an image of a team')
  sync all
  if (me == 2) fail image
  stat = 0
  do while (stat == 0)
    sync all (stat=stat)
  end do
  call expect(image_status(2) == stat_failed_image, 'image_status')
  call expect(image_status(images - 1, all_images) == stat_failed_image, 'image_status of a team')
  list = failed_images(all_images)
  call expect(size(list) == 1 .and. list(1) == images - 1, 'failed_images of a team')
  list = failed_images(half)
  call expect(size(list) == merge(0, 1, mod(me, 2) == 1), 'failed_images of the halves')
  list = stopped_images(half) ! others may have ended already
  call expect(all(list /= this_image(half)), 'stopped_images of a team')
  call finish()
  if (me == 1) print *, 'counted'
end program
