! SPDX-License-Identifier: BSD-3-Clause
! A pipeline: each image takes a block from the one before it, works on it, and puts it into the next
! one, data and notification in one operation. Each has room for a few blocks; that a block has been
! taken goes back as a notification without data.
!   tombolo fc -O2 notified_pipeline.f90 -o notified_pipeline && tombolo run -n 4 ./notified_pipeline
program notified_pipeline
  use tombolo_caf
  implicit none
  integer, parameter :: blocks = 200, room = 4, words = 1000
  type(notify_type) :: came[*], taken[*]
  integer :: slot(words, room)[*], nothing(0)[*], block(words), i, at, me, last
  me = this_image()
  last = num_images()
  sync all
  do i = 1, blocks
    at = mod(i - 1, room) + 1
    if (me == 1) then
      block = i
    else
      call notify_wait(came)
      block = slot(:, at)
      call notified_put(nothing, me - 1, nothing, taken)
    end if
    block = block + 1
    if (me < last) then
      if (i > room) call notify_wait(taken) ! the slot is free again
      call notified_put(slot(:, at), me + 1, block, came)
    else if (any(block /= i + last)) then
      error stop 'a block has not come as it was sent'
    end if
  end do
  if (me == last) print '(i0,a,i0,a)', blocks, ' blocks went through ', last, ' images'
end program
