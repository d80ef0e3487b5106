! SPDX-License-Identifier: BSD-3-Clause
! Star stencil of radius R in coarray Fortran: the kernel of study/apps/stencil/stencil.c, whose head says what is
! computed. An iteration hands the outermost R lines of a block to up to four neighbours, in one of five ways:
!   sync_all     all images meet after the assignments
!   sync_images  neighbours meet
!   events       a post behind each assignment
!   attached     the assignment is the post: event_attach (not with -DPEER: other libraries lack it)
!   notified     notified_put, which counts a notification at the target (not with -DPEER)
! Halos are kept twice, by parity of the iteration: a neighbour can be one iteration ahead, not two, because it
! needs this image's halos. Options: --points --radius --iterations NUMBER, --way WAY, --help. Exit code 0: verified; 1: not;
! 2: refused.
module block
  use iso_fortran_env, only: event_type, int64
  use app_caf
#ifndef PEER
  use tombolo_caf
#endif
  implicit none
  integer, parameter :: left = 1, right = 2, down = 3, up = 4, sides = 4
  integer, parameter :: opposite(sides) = [right, left, up, down]
  integer, parameter :: by_all = 1, by_images = 2, by_events = 3, by_attached = 4, by_notified = 5
  character(12), parameter :: ways(5) = [character(12) :: 'sync_all', 'sync_images', 'events', 'attached', 'notified']
  character(48), parameter :: means(5) = [character(48) :: 'all images meet after the assignments', 'neighbours meet', &
    'a post behind each assignment', 'the assignment is the post: event_attach', 'notified_put counts a notification']
  integer :: points, radius, px, py, x0, y0, nx, ny
  integer :: peer(sides), count(sides), neighbours(sides), number_of_neighbours
  real(8), allocatable :: in(:, :), out(:, :), weight(:), pack(:)
  real(8), allocatable :: halo(:, :, :)[:] ! values, parity, side
  type(event_type) :: come(sides)[*]
#ifndef PEER
  type(notify_type) :: notice(sides)[*]
#endif
contains
  ! Images as square as they come; this image's block.
  subroutine divide()
    integer :: d, x, y, least
    integer(int64) :: need
    character(80) :: text
    do d = 1, images
      if (d*d > images) exit
      if (mod(images, d) == 0) py = d
    end do
    px = images/py
    x = mod(me - 1, px)
    y = (me - 1)/px
    x0 = share(x, px)
    nx = share(x + 1, px) - x0
    y0 = share(y, py)
    ny = share(y + 1, py) - y0
    least = points/px ! px >= py
    need = max(2_int64*radius + 1, int(radius, int64)*px)
    write (text, '(3(a,i0))') '--points ', points, ': too few for ', images, ' images; take at least ', need
    if (least < radius .or. points < need) call app_refuse(trim(text))
    peer = [merge(me - 1, 0, x > 0), merge(me + 1, 0, x + 1 < px), &
            merge(me - px, 0, y > 0), merge(me + px, 0, y + 1 < py)]
    count = merge([ny, ny, nx, nx]*radius, 0, peer > 0)
    number_of_neighbours = 0
    do d = 1, sides
      if (peer(d) == 0) cycle
      number_of_neighbours = number_of_neighbours + 1
      neighbours(number_of_neighbours) = peer(d)
    end do
  end subroutine

  integer function share(at, parts)
    integer, intent(in) :: at, parts
    share = int(int(points, 8)*at/parts)
  end function

  subroutine reserve()
    integer :: longest, k
    real(8) :: line
    line = radius*((points - 1)/py + 1d0)
    call app_need(8*((nx + 2d0*radius)*(ny + 2d0*radius) + real(nx, 8)*ny + (2*sides + 1)*line))
    longest = ((points - 1)/py + 1)*radius
    allocate (halo(longest, 0:1, sides)[*])
    allocate (in(1 - radius:nx + radius, 1 - radius:ny + radius), out(nx, ny), weight(radius), pack(longest))
    weight = [(1d0/(2d0*k*radius), k=1, radius)]
  end subroutine

  subroutine fill()
    integer :: x, y
    in = 0
    out = 0
    do y = 1, ny
      in(1:nx, y) = [(real(x0 + x - 1, 8) + (y0 + y - 1), x=1, nx)]
    end do
  end subroutine

  ! The outermost own lines of a side, one after the other.
  subroutine take(side)
    integer, intent(in) :: side
    integer :: y, at, width, first, from
    first = merge(1, nx - radius + 1, side == left)
    from = merge(1, ny - radius + 1, side == down)
    if (side <= right) then
      do y = 1, ny
        pack((y - 1)*radius + 1:y*radius) = in(first:first + radius - 1, y)
      end do
    else
      width = nx
      do y = 1, radius
        at = (y - 1)*width
        pack(at + 1:at + width) = in(1:nx, from + y - 1)
      end do
    end if
  end subroutine

  ! What has come for a side, into the ghost points beyond it.
  subroutine give(side, parity)
    integer, intent(in) :: side, parity
    integer :: y, first, from
    first = merge(1 - radius, nx + 1, side == left)
    from = merge(1 - radius, ny + 1, side == down)
    if (side <= right) then
      do y = 1, ny
        in(first:first + radius - 1, y) = halo((y - 1)*radius + 1:y*radius, parity, side)
      end do
    else
      do y = 1, radius
        in(1:nx, from + y - 1) = halo((y - 1)*nx + 1:y*nx, parity, side)
      end do
    end if
  end subroutine

  subroutine send(side, parity, way)
    integer, intent(in) :: side, parity, way
    integer :: n, there, to
    n = count(side)
    there = opposite(side)
    to = peer(side)
#ifndef PEER
    if (way == by_notified) then
      call notified_put(halo(1:n, parity, there), to, pack(1:n), notice(there))
      return
    end if
#endif
    halo(1:n, parity, there)[to] = pack(1:n)
    if (way == by_events) event post (come(there)[to])
  end subroutine

  subroutine await(side, way)
    integer, intent(in) :: side, way
    if (way == by_events .or. way == by_attached) event wait (come(side))
#ifndef PEER
    if (way == by_notified) call notify_wait(notice(side))
#endif
  end subroutine

  subroutine exchange(parity, way)
    integer, intent(in) :: parity, way
    integer :: side
    do side = 1, sides
      if (peer(side) == 0) cycle
      call app_enter(app_move)
      call take(side)
      call app_enter(app_send)
      call send(side, parity, way)
    end do
    call app_enter(app_wait)
    if (way == by_all) sync all
    if (way == by_images) sync images (neighbours(1:number_of_neighbours))
    do side = 1, sides
      if (peer(side) == 0) cycle
      call app_enter(app_wait)
      call await(side, way)
      call app_enter(app_move)
      call give(side, parity)
    end do
    call app_enter(app_compute)
  end subroutine

  ! Points that lie R from the edges of the whole grid, then one more for all.
  subroutine update()
    integer :: y, from, to
    from = max(1, radius - x0 + 1)
    to = min(nx, points - radius - x0)
    do y = max(1, radius - y0 + 1), min(ny, points - radius - y0)
      if (radius == 2) then
        call two_line(out(:, y), in(:, y - 2:y + 2), from, to)
      else
        call any_line(y, from, to)
      end if
    end do
    in(1:nx, 1:ny) = in(1:nx, 1:ny) + 1
  end subroutine

  ! A line with the usual radius, whose terms the compiler knows and takes for several points at once.
  subroutine two_line(line, around, from, to)
    real(8), intent(inout) :: line(nx)
    real(8), intent(in) :: around(-1:nx + 2, -2:2)
    integer, intent(in) :: from, to
    real(8) :: w1, w2
    integer :: x
    w1 = weight(1)
    w2 = weight(2)
    do x = from, to
      line(x) = line(x) + (w1*(around(x + 1, 0) - around(x - 1, 0) + around(x, 1) - around(x, -1)) &
                           + w2*(around(x + 2, 0) - around(x - 2, 0) + around(x, 2) - around(x, -2)))
    end do
  end subroutine

  subroutine any_line(y, from, to)
    integer, intent(in) :: y, from, to
    integer :: x, k
    real(8) :: total
    do x = from, to
      total = 0
      do k = 1, radius
        total = total + weight(k)*(in(x + k, y) - in(x - k, y) + in(x, y + k) - in(x, y - k))
      end do
      out(x, y) = out(x, y) + total
    end do
  end subroutine

  ! Largest deviation of a point that the stencil has touched.
  real(8) function deviation(expected)
    real(8), intent(in) :: expected
    integer :: y, from, to
    deviation = 0
    from = max(1, radius - x0 + 1)
    to = min(nx, points - radius - x0)
    do y = max(1, radius - y0 + 1), min(ny, points - radius - y0)
      if (from <= to) deviation = max(deviation, maxval(abs(out(from:to, y) - expected)))
    end do
  end function
end module

program stencil
  use block
  implicit none
  integer :: way, last_way
  logical :: good
  type(app_option) :: options(2)
  options = [app_option('points', 'Points of a side of the grid', 3, 1000), app_option('radius', 'Radius of the star', 1, 2)]
#ifdef PEER
  last_way = by_events
#else
  last_way = by_notified
#endif
  call app_start('stencil-caf', 'Star stencil with exchange of halos', options, ways(:last_way), means)
  points = options(1)%value
  radius = options(2)%value
  call divide()
  call reserve()
  call fill()
  call app_alone(update)
  good = .true.
  do way = 1, last_way
    if (only == '' .or. only == ways(way)) call run(way)
  end do
  if (.not. good) error stop 1
contains
  subroutine attach(way, on)
    integer, intent(in) :: way
    logical, intent(in) :: on
#ifndef PEER
    integer :: side
    do side = 1, sides
      if (way /= by_attached .or. peer(side) == 0) cycle
      if (on) call event_attach(loc(come(side)), halo(:, :, side))
      if (.not. on) call event_detach(loc(come(side)))
    end do
#endif
    sync all
  end subroutine

  subroutine run(way)
    integer, intent(in) :: way
    real(8) :: seconds, expected, off, inner
    integer :: k
    call fill()
    call attach(way, .true.)
    seconds = 0
    do k = 0, iterations + 1
      call app_iteration(ways(way), k, seconds)
      call exchange(mod(k, 2), way)
      call update()
      call app_iteration_end(ways(way), k)
    end do
    call co_max(seconds)
    expected = 2d0*(iterations + 2)
    off = deviation(expected)
    call co_max(off)
    good = good .and. off <= 1d-8*expected
    inner = real(points - 2*radius, 8)**2
    call app_report(ways(way), seconds, inner*(2*(4*radius) + 1), off <= 1d-8*expected)
    call attach(way, .false.)
  end subroutine
end program
