! SPDX-License-Identifier: BSD-3-Clause
! STAT= in an image selector, and of atomic subroutines, tells that the image has failed.
! ranks: 2 3
! match: told of it
! again: TOMBOLO_TEST_SHM=0
! since: 12
program failed_access
  use iso_fortran_env
  use check
  implicit none
  type :: node
    integer, allocatable :: a(:)
    integer :: k = 4
  end type
  integer :: me, last, stat, got, some(2)
  integer :: x(5)[*]
  integer(atomic_int_kind) :: atom[*], old
  type(node), allocatable :: tree[:]
  me = this_image()
  last = num_images()
  allocate (tree[*])
  allocate (tree%a(3))
  tree%a = me
  x = me
  call atomic_define(atom, 0)
  sync all
  got = x(1)[last, stat=stat]
  call expect(got == last .and. stat == 0, 'an image that is well')
  sync all
  if (me == last) fail image
  stat = 0
  do while (stat == 0) ! ends without image control: each access asks anew
    got = x(1)[last, stat=stat]
  end do
  call expect(stat == stat_failed_image, 'scalar')
  some = x(2:3)[last, stat=stat]
  call expect(stat == stat_failed_image, 'section')
  got = tree[last, stat=stat]%k
  call expect(stat == stat_failed_image, 'component')
  got = tree[last, stat=stat]%a(2)
  call expect(stat == stat_failed_image, 'allocatable component')
  call atomic_add(atom[last], 1, stat)
  call expect(stat == stat_failed_image, 'atomic_add')
  call atomic_ref(old, atom[last], stat)
  call expect(stat == stat_failed_image, 'atomic_ref')
  call atomic_cas(atom[last], old, 0, 1, stat)
  call expect(stat == stat_failed_image, 'atomic_cas')
  got = x(1)[me, stat=stat]
  call expect(got == me .and. stat == 0, 'this image')
  call atomic_ref(old, atom[1], stat)
  call expect(old == 0 .and. stat == 0, 'atomic_ref of image 1')
  sync all (stat=stat)
  if (me == 1) print '(a)', 'told of it'
  call finish()
end program
