! SPDX-License-Identifier: BSD-3-Clause
! Posts are counted behind SYNC ALL and SYNC IMAGES, also where their messages are lost and sent again while those of
! the synchronisation come over a third image.
! ranks: 3
! since: 12
! again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:3+TOMBOLO_TEST_UDP_FAULT=loss=20
program posted
  use iso_fortran_env, only: event_type
  use check
  implicit none
  integer, parameter :: ROUNDS = 60
  type(event_type) :: ready[*]
  integer :: me, images, right, left, i, k, n
  call neighbours(me, images, left, right)
  do i = 1, ROUNDS
    do k = 1, images
      if (k /= me) event post (ready[k])
    end do
    if (mod(i, 2) == 0) then
      sync all
    else
      sync images (*)
    end if
    call event_query(ready, n)
    call expect(n == images - 1, 'posts of a round')
    if (images > 1) event wait (ready, until_count=images - 1)
    sync all
  end do
  call finish()
end program
