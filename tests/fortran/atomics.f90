! SPDX-License-Identifier: BSD-3-Clause
! Atomic subroutines, contended by all images.
! again: TOMBOLO_TEST_SHM=0
program atomics
  use iso_fortran_env
  use check
  implicit none
  integer(atomic_int_kind) :: n(4)[*], old, taken
  logical(atomic_logical_kind) :: flag[*], seen
  integer :: me, images, i, stat
  me = this_image()
  images = num_images()
  n = 0
  flag = .false.
  sync all
  do i = 1, 100
    call atomic_add(n(1)[1], 1)
    call atomic_fetch_add(n(2)[images], 2, old)
    call expect(old >= 0 .and. old < 200*images .and. mod(old, 2) == 0, 'fetch_add')
  end do
  call atomic_or(n(3)[1], ishft(1, me))
  call atomic_xor(n(4)[1], ishft(1, me))
  sync all
  call atomic_ref(old, n(1)[1], stat)
  call expect(old == 100*images .and. stat == 0, 'add')
  call atomic_ref(old, n(2)[images])
  call expect(old == 200*images, 'fetch_add total')
  call atomic_ref(old, n(3)[1])
  call expect(old == ishft(1, images + 1) - 2, 'or')
  call atomic_ref(old, n(4)[1])
  call expect(old == ishft(1, images + 1) - 2, 'xor')
  sync all
  call atomic_fetch_and(n(3)[1], not(ishft(1, me)), old)
  call expect(iand(old, ishft(1, me)) /= 0, 'fetch_and')
  sync all
  call atomic_ref(old, n(3)[1])
  call expect(old == 0, 'and')
  sync all
  call atomic_cas(n(3)[1], old, 0, me)
  taken = merge(1, 0, old == 0)
  call co_sum(taken)
  call expect(taken == 1, 'one compare and swap succeeds')
  sync all
  if (me == 1) then ! gfortran 16 passes the value of an expression as its address
    call atomic_define(n(3), 7)
    call atomic_cas(n(3)[1], old, i - 94, i - 109)
    call expect(old == 7, 'compare with an expression')
    call atomic_cas(n(3)[1], old, -taken*8, 5)
    call expect(old == -8, 'compare with a negative expression')
    call atomic_ref(old, n(3))
    call expect(old == 5, 'both have swapped')
  end if
  call atomic_define(flag[mod(me, images) + 1], .true.)
  sync all
  call atomic_ref(seen, flag)
  call expect(seen, 'logical')
  call finish()
end program
