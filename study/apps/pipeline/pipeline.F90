! SPDX-License-Identifier: BSD-3-Clause
! Synchronised pipeline in coarray Fortran: the wavefront of study/apps/pipeline/pipeline.c, whose head
! says what is computed. A value of the last column goes into the right neighbour's halo with the notification that
! it has come, in one of four ways:
!   sync_all     all images meet after every step of the wavefront
!   sync_images  neighbours meet
!   events       a post behind the assignment
!   attached     the assignment is the post: event_attach (not with -DPEER: other libraries lack it)
! Options: --rows --columns --group --iterations NUMBER, --way WAY, --help. Exit code 0: verified; 1: not; 2: refused.
module grid
  use iso_fortran_env, only: event_type, int64
  use app_caf
  implicit none
  integer :: rows, columns, group
  character(12), parameter :: ways(4) = [character(12) :: 'sync_all', 'sync_images', 'events', 'attached']
  character(48), parameter :: means(4) = [character(48) :: 'all images meet after every step', &
    'neighbours meet', 'a post behind the assignment', 'the assignment is the post: event_attach']
  integer :: first, count
  real(8), allocatable :: value(:, :)
  real(8), allocatable :: halo(:)[:], corner[:]
  type(event_type) :: come[*], home[*]
contains
  subroutine fill()
    integer :: i, j
    value = 0
    do i = 1, count
      value(i, 1) = first + i - 1
    end do
    if (first == 0) value(1, :) = [(real(j - 1, 8), j = 1, rows)]
    halo = 0
    halo(1) = first - 1
  end subroutine

  ! Rows from..to of this image's columns.
  subroutine compute(from, to)
    integer, intent(in) :: from, to
    integer :: j
    do j = from, to
      if (me > 1) value(1, j) = value(1, j - 1) + halo(j) - halo(j - 1)
      call compute_row(value(:, j), value(:, j - 1))
    end do
  end subroutine

  ! What an iteration computes.
  subroutine compute_all()
    call compute(2, rows)
  end subroutine

  ! The points of a row behind the first one. Each is its left neighbour plus what the row before gains
  ! there; the gains of four points are summed beside the chain from point to point, which then has one
  ! addition for four points.
  pure subroutine compute_row(row, before)
    real(8), contiguous, intent(inout) :: row(:)
    real(8), contiguous, intent(in) :: before(:)
    real(8) :: at, one, two, more, last
    integer :: i, rest
    at = row(1)
    rest = 2
    do i = 2, size(row) - 3, 4
      one = before(i) - before(i - 1)
      two = one + (before(i + 1) - before(i))
      more = before(i + 2) - before(i + 1)
      last = before(i + 3) - before(i + 2)
      row(i) = at + one
      row(i + 1) = at + two
      row(i + 2) = at + (two + more)
      at = at + (two + (more + last))
      row(i + 3) = at
      rest = i + 4
    end do
    do i = rest, size(row)
      at = at + (before(i) - before(i - 1))
      row(i) = at
    end do
  end subroutine

  subroutine await(way)
    integer, intent(in) :: way
    if (me == 1) return
    if (way == 2) sync images (me - 1)
    if (way > 2) event wait (come)
  end subroutine

  subroutine send(from, to, way)
    integer, intent(in) :: from, to, way
    if (me == images) return
    if (from == to) then
      halo(from)[me + 1] = value(count, from)
    else
      halo(from:to)[me + 1] = value(count, from:to)
    end if
    if (way == 2) sync images (me + 1)
    if (way == 3) event post (come[me + 1])
  end subroutine

  ! The last image's corner is the first image's next origin.
  subroutine close_iteration(way)
    integer, intent(in) :: way
    if (me == images) corner[1] = -value(count, rows)
    select case (way)
    case (1)
      sync all
    case (2)
      if (images > 1 .and. me == 1) sync images (images)
      if (images > 1 .and. me == images) sync images (1)
    case (3)
      if (me == images) event post (home[1])
      if (me == 1) event wait (home)
    case (4)
      if (me == 1) event wait (home)
    end select
    if (me == 1) value(1, 1) = corner
  end subroutine

  subroutine iterate(way)
    integer, intent(in) :: way
    integer :: step, block, blocks, from, to
    blocks = (rows - 2)/group + 1
    do step = 1, blocks + merge(images - 1, 0, way == 1)
      block = merge(step - me + 1, step, way == 1)
      if (block >= 1 .and. block <= blocks) then
        from = 2 + (block - 1)*group
        to = from + min(group - 1, rows - from)
        call app_enter(app_wait)
        call await(way)
        call app_enter(app_compute)
        call compute(from, to)
        call app_enter(app_send)
        call send(from, to, way)
      end if
      call app_enter(app_wait)
      if (way == 1) sync all
    end do
    call close_iteration(way)
  end subroutine
end module

program pipeline
  use grid
#ifndef PEER
  use tombolo_caf
#endif
  implicit none
  integer :: way, wrong, last_way
  type(app_option) :: options(3)
  options = [app_option('rows', 'Rows of the grid', 2, 1000), &
             app_option('columns', 'Columns of the grid, divided among the images', 2, 1000), &
             app_option('group', 'Rows whose boundary values travel together', 1, 1)]
#ifdef PEER
  last_way = 3
#else
  last_way = 4
#endif
  call app_start('pipeline-caf', 'Wavefront over a grid, synchronised point to point', options, ways(:last_way), means)
  rows = options(1)%value
  columns = options(2)%value
  group = options(3)%value
  if (columns/2 < images) call app_refuse('--columns: each image needs two')
  first = int(int(columns, int64)*(me - 1)/images)
  count = int(int(columns, int64)*me/images) - first
  call app_need(8*(count + 1d0)*rows)
  allocate (value(count, rows))
  allocate (halo(rows)[*], corner[*])
  call fill()
  call app_alone(compute_all)
  wrong = 0
  do way = 1, last_way
    if (only == '' .or. only == ways(way)) call run(way)
  end do
  if (wrong > 0) error stop 1
contains
  subroutine run(way)
    integer, intent(in) :: way
    real(8) :: seconds, expected
    integer :: k, bad
    call fill()
#ifndef PEER
    if (way == 4 .and. me > 1) call event_attach(loc(come), halo)
    if (way == 4 .and. me == 1) call event_attach(loc(home), corner)
#endif
    sync all
    seconds = 0
    do k = 0, iterations + 1
      call app_iteration(ways(way), k, seconds)
      call iterate(way)
      call app_iteration_end(ways(way), k)
    end do
    call co_max(seconds)
    expected = (iterations + 2d0)*(rows + columns - 2)
    bad = 0
    if (me == images) bad = merge(1, 0, abs(value(count, rows) - expected) > 1d-8*expected)
    call co_sum(bad)
    wrong = wrong + bad
    call app_report(ways(way), seconds, 2d0*(rows - 1)*(columns - 1), bad == 0)
    sync all
#ifndef PEER
    if (way == 4 .and. me > 1) call event_detach(loc(come))
    if (way == 4 .and. me == 1) call event_detach(loc(home))
    sync all
#endif
  end subroutine
end program
