! SPDX-License-Identifier: BSD-3-Clause
! The number of images that have failed, as drafts of the standard had it.
! ranks: 3 4
! match: counted
! until: 15
program failed_count
  use check
  implicit none
  integer :: stat
  sync all
  if (this_image() == 2) fail image
  stat = 0
  do while (stat == 0)
    sync all (stat=stat)
  end do
  call expect(num_images(failed=.true.) == 1, 'num_images(failed=.true.)')
  call expect(num_images(failed=.false.) == num_images() - 1, 'num_images(failed=.false.)')
  call finish()
  if (this_image() == 1) print *, 'counted'
end program
