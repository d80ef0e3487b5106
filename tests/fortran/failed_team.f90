! SPDX-License-Identifier: BSD-3-Clause
! FORM TEAM with STAT= after an image has failed: it says so, and makes the team of the others.
! ranks: 3 4
! match: the others have a team
! since: 16
program failed_team
  use iso_fortran_env
  use check
  implicit none
  type(team_type) :: others, half
  integer :: me, images, stat, n
  character(80) :: message
  me = this_image()
  images = num_images()
  form team (1 + mod(me, 2), half, stat=stat)
  call expect(stat == 0, 'form team of all')
  if (me == 2) fail image
  stat = 0
  do while (stat /= stat_failed_image)
    sync all (stat=stat)
  end do
  message = ''
  form team (1, others, stat=stat, errmsg=message)
  call expect(stat == stat_failed_image, 'form team stat')
  call expect(index(message, 'image 2') > 0, 'form team errmsg')
  change team (others, stat=stat)
    call expect(stat == 0, 'change team')
    call expect(num_images() == images - 1, 'num_images')
    n = me
    call co_sum(n)
    call expect(n == images * (images + 1) / 2 - 2, 'co_sum')
    form team (1, half, stat=stat)
    call expect(stat == 0, 'form team of those that are left')
    if (me == 1) print '(a)', 'the others have a team'
  end team
  call finish()
end program
