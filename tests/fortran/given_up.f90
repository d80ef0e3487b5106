! SPDX-License-Identifier: BSD-3-Clause
! A collective that ends with STAT_STOPPED_IMAGE is over: images that begin it later do not write to
! the argument. The next collectives, and ALLOCATE, say the same.
! ranks: 3 4
! again: TOMBOLO_TEST_SHM=0 TOMBOLO_PLACES=cyclic:2
program given_up
  use iso_fortran_env
  use check
  implicit none
  integer, parameter :: sizes(4) = [1, 100, 3000, 200000]
  type(event_type) :: go[*], seen[*]
  integer, allocatable :: x(:), y[:]
  integer :: stat, i, image

  sync all
  if (this_image() == num_images()) stop
  do i = 1, size(sizes)
    allocate (x(sizes(i)))
    call try('broadcast')
    call try('sum')
    deallocate (x)
  end do
  sync all (stat=stat)
  call expect(stat == stat_stopped_image, 'sync all')
  allocate (y[*], stat=stat)
  call expect(stat == stat_stopped_image, 'allocate')
  call finish
contains
  ! Image 1 begins first, and gives up; then the others begin.
  subroutine try(what)
    character(*), intent(in) :: what
    x = 5
    if (this_image() > 1) event wait (go)
    if (what == 'sum') then
      call co_sum(x, stat=stat)
    else
      call co_broadcast(x, source_image=2, stat=stat)
    end if
    if (what == 'sum' .or. this_image() == 1) call expect(stat == stat_stopped_image, what)
    if (this_image() > 1) then
      event post (seen[1])
      return
    end if
    x = 7
    do image = 2, num_images() - 1
      event post (go[image])
    end do
    event wait (seen, until_count=num_images() - 2)
    call expect(all(x == 7), what // ' writes after it was given up')
  end subroutine
end program
