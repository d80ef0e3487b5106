! SPDX-License-Identifier: BSD-3-Clause
! The same halo exchange of a bar that cools, four ways, which must give the same numbers:
!   1. SYNC ALL: everybody waits for everybody.
!   2. SYNC IMAGES: neighbours wait for each other.
!   3. EVENT POST after the write: only the one that needs the data waits.
!   4. An attached event: the write itself shows that it has arrived.
! In 3 and 4 two halo cells are used in turn: what comes in one step does not overwrite that of the
! step before, and a neighbour is never two steps ahead, as it needs this image's cells, too.
!   tombolo fc -O2 halo_four_ways.f90 -o halo_four_ways && tombolo run -n 4 ./halo_four_ways
program halo_four_ways
  use iso_fortran_env, only: event_type, int64
  use tombolo_caf
  implicit none
  integer, parameter :: cells = 256, steps = 400
  character(*), parameter :: names(4) = ['sync all      ', 'sync images   ', 'event post    ', &
                                         'attached event']
  type(event_type) :: posted(2)[*], came(2)[*]
  real(8) :: halo(2, 0:1)[*], arrived(2, 0:1)[*], t(0:cells + 1), mean(4)
  integer :: me, images, step, way, turn
  integer, allocatable :: neighbours(:)
  integer(int64) :: start, finish, rate
  me = this_image()
  images = num_images()
  neighbours = pack([me - 1, me + 1], [me > 1, me < images])
  call event_attach(loc(came(1)), arrived(1, :))
  call event_attach(loc(came(2)), arrived(2, :))
  do way = 1, 4
    t = 100
    t(0) = 0
    t(cells + 1) = 0
    sync all
    call system_clock(start, rate)
    do step = 1, steps
      turn = mod(step, 2)
      call exchange()
      t(1:cells) = t(1:cells) + 0.25d0*(t(0:cells - 1) - 2*t(1:cells) + t(2:cells + 1))
    end do
    call system_clock(finish)
    mean(way) = sum(t(1:cells))/cells
    call co_sum(mean(way))
    if (me == 1) print '(2a,f8.2,a)', names(way), ':', &
      1d6*(finish - start)/rate/steps, ' us a step'
    sync all
  end do
  if (any(mean /= mean(1))) error stop 'the four ways differ'
  if (me == 1) print '(a,f9.5)', 'mean temperature: ', mean(1)/images
contains
  subroutine exchange()
    select case (way)
    case (1)
      call write_to(.false.)
      sync all
      call take(halo)
    case (2)
      call write_to(.false.)
      sync images (neighbours)
      call take(halo)
    case (3)
      call write_to(.false.)
      if (me > 1) event post (posted(2)[me - 1])
      if (me < images) event post (posted(1)[me + 1])
      if (me > 1) event wait (posted(1))
      if (me < images) event wait (posted(2))
      call take(halo)
    case (4)
      call write_to(.true.)
      if (me > 1) event wait (came(1))
      if (me < images) event wait (came(2))
      call take(arrived)
    end select
  end subroutine

  subroutine write_to(attached)
    logical, intent(in) :: attached
    if (attached) then
      if (me > 1) arrived(2, turn)[me - 1] = t(1)
      if (me < images) arrived(1, turn)[me + 1] = t(cells)
    else
      if (me > 1) halo(2, turn)[me - 1] = t(1)
      if (me < images) halo(1, turn)[me + 1] = t(cells)
    end if
  end subroutine

  subroutine take(from)
    real(8), intent(in) :: from(2, 0:1)
    if (me > 1) t(0) = from(1, turn)
    if (me < images) t(cells + 1) = from(2, turn)
  end subroutine
end program
