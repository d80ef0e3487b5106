! SPDX-License-Identifier: BSD-3-Clause
! A bar of metal, one piece an image, cools at its ends. The neighbours' edge cells arrive in two halo
! cells; an event is attached to each, so that the write itself shows that it has arrived: there is
! no other synchronisation in the loop.
!   tombolo fc -O2 halo_attached.f90 -o halo_attached && tombolo run -n 4 ./halo_attached
program halo_attached
  use iso_fortran_env, only: event_type
  use tombolo_caf
  implicit none
  integer, parameter :: cells = 64, steps = 500
  type(event_type) :: from_left[*], from_right[*], free_left[*], free_right[*]
  real(8) :: halo(2)[*], t(0:cells + 1), mean
  integer :: me, images, step
  me = this_image()
  images = num_images()
  call event_attach(loc(from_left), halo(1))
  call event_attach(loc(from_right), halo(2))
  t = 100
  t(0) = 0
  t(cells + 1) = 0
  sync all
  do step = 1, steps
    if (me > 1) then
      if (step > 1) event wait (free_left) ! the neighbour has read what was written before
      halo(2)[me - 1] = t(1)
    end if
    if (me < images) then
      if (step > 1) event wait (free_right)
      halo(1)[me + 1] = t(cells)
    end if
    if (me > 1) then
      event wait (from_left)
      t(0) = halo(1)
      event post (free_right[me - 1])
    end if
    if (me < images) then
      event wait (from_right)
      t(cells + 1) = halo(2)
      event post (free_left[me + 1])
    end if
    t(1:cells) = t(1:cells) + 0.25d0*(t(0:cells - 1) - 2*t(1:cells) + t(2:cells + 1))
  end do
  mean = sum(t(1:cells))/cells
  call co_sum(mean)
  mean = mean/images
  if (.not. (mean > 0 .and. mean < 100)) error stop 'the temperature left its range'
  if (me == 1) print '(a,f9.5)', 'mean temperature: ', mean
end program
