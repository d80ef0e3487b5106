! SPDX-License-Identifier: BSD-3-Clause
! Loops of one statement each, which the short form serves, end when an image has failed, and let it
! read targets of pointers before.
! ranks: 7
! match: told of it
! again: TOMBOLO_TEST_SHM=0 TOMBOLO_PROGRESS_SHARE=0
! since: 12
program failed_loops
  use iso_fortran_env
  use check
  implicit none
  integer :: me, last, stat, times
  integer(atomic_int_kind) :: atom[*], old
  type(event_type) :: told[*]
  type holder
    integer, pointer :: p(:)
  end type
  type(holder) :: h[*]
  integer :: y(100)
  me = this_image()
  last = num_images()
  call atomic_define(atom, 0)
  call atomic_define(atom, 0)
  allocate (h%p(100), source=me)
  sync all
  do times = 1, 100
    call atomic_add(atom[last], 1, stat)
    call expect(stat == 0, 'atomic_add of an image that is well')
    event post (told[last], stat=stat)
    call expect(stat == 0, 'event post to an image that is well')
    call expect(image_status(last) == 0, 'image_status of an image that is well')
    call expect(size(failed_images()) == 0, 'failed_images')
  end do
  sync all
  call atomic_ref(old, atom)
  call expect(old == merge(100*last, 0, me == last), 'number of atomic_add')
  sync all
  if (me == last) then
    event wait (told, until_count=100*last)
    do times = 1, last - 1
      y = h[times]%p(:)
      call expect(all(y == times), 'target of a pointer of an image in a loop')
    end do
    fail image
  end if
  stat = 0
  select case (me)
  case (1)
    do while (stat == 0)
      call atomic_add(atom[last], 1, stat)
    end do
  case (2)
    do while (stat == 0)
      call atomic_ref(old, atom[last], stat)
    end do
  case (3)
    do while (stat == 0)
      call atomic_define(atom[last], 1, stat)
    end do
  case (4)
    do while (stat == 0)
      event post (told[last], stat=stat)
    end do
  case (5)
    do while (stat == 0)
      stat = image_status(last)
    end do
  case default
    do while (size(failed_images()) == 0)
    end do
    stat = stat_failed_image
  end select
  call expect(stat == stat_failed_image, 'loop')
  sync all (stat=stat)
  if (me == 1) print '(a)', 'told of it'
  call finish()
end program
