! SPDX-License-Identifier: BSD-3-Clause
! Measures coarray statements between two images, each beside its floor, for `tombolo bench fortran`.
! The lines that it prints are described in bench/lib/bench.h. With -DPEER it needs neither the module
! tombolo_caf nor floors.c, so that study/compare/fortran.py can compile it with other libraries.
! Each sample is the mean of enough operations to last about 100 us; a sample of the floor comes before
! each of the figure. Image 1 measures, image 2 answers.

! Measure one figure. The first sample warms up, and is measured again. ALONE: image 1 repeats `work`;
! BESIDE: it does `copy`, the floor, and `work` once; TOGETHER: all images do `first`, meet, and repeat
! `work`, each of which has `parts` operations.
#define ALONE(name, bytes, goal, work) do k = 0, merge(runs, -1, me == 1); r = max(k, 1); \
  start = now_ns(); do i = 1, count; work; end do; figure(r) = (now_ns() - start)/count; end do; \
  call report(name, bytes, '', goal, .false.)
#define BESIDE(name, bytes, floor, goal, copy, work) do k = 0, merge(runs, -1, me == 1); r = max(k, 1); \
  start = now_ns(); copy; floor_of(r) = now_ns() - start; \
  start = now_ns(); work; figure(r) = now_ns() - start; end do; \
  call report(name, bytes, floor, goal, .true.)
#define TOGETHER(name, bytes, floor, goal, first, parts, work) do k = 0, runs; r = max(k, 1); \
  first; sync all; start = now_ns(); do i = 1, count; work; end do; \
  figure(r) = (now_ns() - start)/(parts*count); end do; \
  call report(name, bytes, floor, goal, .false.)
#define EVERY_SECOND 1:n:2, 1:n:2

module measure
  use iso_fortran_env, only: int64
  implicit none
  integer, parameter :: runs_max = 1001
  integer :: runs = 51, figures = 0
  real(8) :: figure(runs_max), floor_of(runs_max)
contains
  real(8) function now_ns()
    integer(int64) :: count, rate
    call system_clock(count, rate)
    now_ns = 1d9*real(count, 8)/real(rate, 8)
  end function

  subroutine options()
    character(32) :: word
    integer :: i
    do i = 1, command_argument_count() - 1
      call get_command_argument(i, word)
      if (word /= '--runs') cycle
      call get_command_argument(i + 1, word)
      read (word, *) runs
    end do
    runs = min(max(runs, 3), runs_max)
  end subroutine

  ! Prints one figure. floor_name: '' for none; target 0: none; bandwidth: more is better.
  subroutine report(name, bytes, floor_name, target, bandwidth)
    character(*), intent(in) :: name, floor_name
    integer, intent(in) :: bytes
    real(8), intent(in) :: target
    logical, intent(in) :: bandwidth
    if (this_image() /= 1) return
    figures = figures + 1
    write (*, '(3a,i0,a)', advance='no') 'figure fortran ', name, ' bytes=', bytes, ' unit=ns'
    if (floor_name /= '') write (*, '(2a)', advance='no') ' floor=', floor_name
    if (target > 0) write (*, '(a,f0.2)', advance='no') ' target=', target
    print '(2a)', ' better=', merge('more', 'less', bandwidth)
    print '(a,*(1x,es13.6))', 'x', figure(1:runs)
    if (floor_name /= '') print '(a,*(1x,es13.6))', 'f', floor_of(1:runs)
  end subroutine
end module

program bench_fortran
  use iso_fortran_env, only: atomic_int_kind, event_type, int64, lock_type, team_type
  use measure
#ifndef PEER
  use iso_c_binding, only: c_double, c_int ! without ONLY gfortran 15 and 16 refuse coindexed arrays
  use tombolo_caf
#endif
  implicit none
#ifndef PEER
  interface
    integer(c_int) function floor_make(fd) bind(c)
      import :: c_int
      integer(c_int), intent(out) :: fd
    end function
    subroutine floor_join(pid, fd) bind(c)
      import :: c_int
      integer(c_int), value :: pid, fd
    end subroutine
    real(c_double) function floor_handoff_ns(first, count) bind(c)
      import :: c_double, c_int
      integer(c_int), value :: first, count
    end function
  end interface
#endif
  integer, parameter :: n = 1024, words = 131072, large = 1048576
  integer(int64) :: word[*], got
  real(8) :: block(words)[*], matrix(n, n)[*], half(n/2, n/2), private(words), local(n, n)
  real(8), allocatable :: many(:)
  integer(int64) :: attached_word[*]
  type(event_type) :: there[*], back[*], attached_event[*]
  type :: pair
    integer(int64) :: first, second
  end type
  type(pair) :: both[*]
  type :: list
    real(8), allocatable :: item(:)
  end type
  type(list) :: lists[*]
  character(16) :: text[*], words_here
  type(event_type) :: posted[*]
  type(lock_type) :: guard[*]
  integer(atomic_int_kind) :: counter[*]
  integer :: me, other, i, k, r, pid[*], fd[*]
  real(8) :: start
  me = this_image()
  if (num_images() /= 2) error stop 'tombolo-bench-fortran: two images are needed'
  other = 3 - me
  call options()
  call set_up()
  if (me == 1) print '(a,i0,a)', 'tombolo-bench 1 fortran ranks=2 runs=', runs, ' sample_us=100 quick=0'
  call accesses()
  call components()
  call sections()
  call arrays()
  call events()
  call exclusion()
  call atomics()
  call collectives()
  call teams()
  if (me == 1) print '(a,i0)', 'end ', figures
  sync all
contains
  subroutine set_up()
    block = me
    matrix = me
    local = me
    private = 0
    half = 0
    word = 0
    both = pair(me, me)
    counter = 0
    text = 'a text'
    allocate (lists%item(64), source=1d0)
#ifndef PEER
    if (me == 1) pid = floor_make(fd)
    sync all
    if (me == 2) then
      i = pid[1]
      r = fd[1]
      call floor_join(i, r)
    end if
    call event_attach(loc(attached_event), attached_word)
#endif
    sync all
  end subroutine

  real(8) function handoff(count)
    integer, intent(in) :: count
#ifdef PEER
    handoff = 0*count
#else
    handoff = floor_handoff_ns(merge(1, 0, me == 1), count)
#endif
  end function

  ! One number, one of a structure, eight side by side, and one from image 2 to image 2.
  subroutine accesses()
    integer, parameter :: count = 4000
    ALONE('put_scalar', 8, 25d0, word[2] = i)
    ALONE('get_scalar', 8, 25d0, got = word[2])
    sync all
    ALONE('put_component', 8, 0d0, both[2]%second = i)
    ALONE('get_component', 8, 0d0, got = both[2]%second)
    sync all
    ALONE('put_section', 64, 0d0, block(1:8)[2] = private(1:8))
    ALONE('get_section', 64, 0d0, private(1:8) = block(1:8)[2])
    ALONE('send_get', 8, 0d0, word[2] = attached_word[2])
    sync all
  end subroutine

  ! Allocatable components, numbers of another kind, and texts.
  subroutine components()
    integer, parameter :: count = 4000
    integer :: small
    small = 0
    ALONE('put_allocatable', 8, 0d0, lists[2]%item(5) = i)
    ALONE('get_allocatable', 8, 0d0, private(i) = lists[2]%item(5))
    ALONE('allocated', 0, 0d0, if (.not. allocated(lists[2]%item)) error stop)
    sync all
    ALONE('put_converted', 8, 0d0, word[2] = small)
    ALONE('get_converted', 8, 0d0, small = int(word[2]))
    ALONE('put_text', 16, 0d0, text[2] = words_here)
    ALONE('get_text', 16, 0d0, words_here = text[2])
    sync all
  end subroutine

  ! 64 numbers side by side, with gaps there, or with gaps here; eight of a vector subscript.
  subroutine sections()
    integer, parameter :: count = 4000
    integer :: at(8) = [1, 9, 3, 11, 5, 13, 7, 15]
    ALONE('put_section', 512, 0d0, block(1:64)[2] = private(1:64))
    ALONE('get_section', 512, 0d0, private(1:64) = block(1:64)[2])
    ALONE('put_strided', 512, 0d0, block(1:127:2)[2] = private(1:64))
    ALONE('get_strided', 512, 0d0, private(1:64) = block(1:127:2)[2])
    sync all
    ALONE('put_gather', 512, 0d0, block(1:64)[2] = private(1:127:2))
    ALONE('get_scatter', 512, 0d0, private(1:127:2) = block(1:64)[2])
    ALONE('send_get', 512, 0d0, block(65:128)[2] = block(1:64)[2])
    ALONE('put_vector', 64, 0d0, block(at)[2] = private(1:8))
    ALONE('get_vector', 64, 0d0, private(1:8) = block(at)[2])
    sync all
  end subroutine

  ! A contiguous array, and every second element in both dimensions.
  subroutine arrays()
    BESIDE('put_contiguous', 8*words, 'memcpy', 0.95d0, call copy(private, local),
           block(:)[2] = private)
    BESIDE('get_contiguous', 8*words, 'memcpy', 0.95d0, call copy(local, private),
           private = block(:)[2])
    sync all
    BESIDE('put_strided_2d', 2*n*n, 'loop_nest', 0.7d0, call loop_put(half, local),
           matrix(EVERY_SECOND)[2] = half)
    BESIDE('get_strided_2d', 2*n*n, 'loop_nest', 0.7d0, call loop_get(half, local),
           half(:, :) = matrix(EVERY_SECOND)[2])
    sync all
  end subroutine

  subroutine copy(from, to)
    real(8), intent(in) :: from(words)
    real(8), intent(inout) :: to(words)
    to = from
  end subroutine

  subroutine loop_put(from, to)
    real(8), intent(in) :: from(n/2, n/2)
    real(8), intent(inout) :: to(n, n)
    to(EVERY_SECOND) = from
  end subroutine

  subroutine loop_get(to, from)
    real(8), intent(inout) :: to(n/2, n/2)
    real(8), intent(in) :: from(n, n)
    to = from(EVERY_SECOND)
  end subroutine

  ! Put and event there and back; one way is half of it.
  subroutine events()
    integer, parameter :: count = 500
    integer :: seen
    TOGETHER('put_event_post', 8, 'handoff', 1.1d0, floor_of(r) = handoff(count), 2, call there_and_back())
#ifndef PEER
    TOGETHER('put_attached', 8, 'handoff', 0.8d0, floor_of(r) = handoff(count), 2, call attached())
#endif
    TOGETHER('sync_all', 0, 'handoff', 1.2d0, floor_of(r) = handoff(count), 1, sync all)
    ALONE('event_post', 0, 0d0, event post (posted[2]))
    ALONE('event_query', 0, 0d0, call event_query(posted, seen))
    sync all
  end subroutine

  subroutine there_and_back()
    if (me == 1) then
      word[2] = i
      event post (there[2])
      event wait (back)
    else
      event wait (there)
      word[1] = i
      event post (back[1])
    end if
  end subroutine

  subroutine attached()
    if (me == 1) attached_word[2] = i
    event wait (attached_event)
    if (me /= 1) attached_word[1] = i
  end subroutine

  ! A pair of images, and locks nobody else wants.
  subroutine exclusion()
    integer, parameter :: count = 1000
    TOGETHER('sync_images', 0, '', 0d0, continue, 1, sync images (other))
    ALONE('lock', 0, 0d0, lock (guard[2]); unlock (guard[2]))
    ALONE('critical', 0, 0d0, critical; private(1) = i; end critical)
    ALONE('sync_memory', 0, 0d0, sync memory)
    sync all
  end subroutine

  subroutine atomics()
    integer, parameter :: count = 4000
    integer(atomic_int_kind) :: found
    ALONE('atomic_add', 4, 0d0, call atomic_add(counter[2], 1))
    ALONE('atomic_fetch_add', 4, 0d0, call atomic_fetch_add(counter[2], 1, found))
    ALONE('atomic_define', 4, 0d0, call atomic_define(counter[2], i))
    ALONE('atomic_ref', 4, 0d0, call atomic_ref(found, counter[2]))
    ALONE('atomic_cas', 4, 0d0, call atomic_cas(counter[2], found, i, i + 1))
    sync all
  end subroutine

  subroutine collectives()
    integer, parameter :: count = 500
    real(8) :: x
    TOGETHER('co_sum', 8, '', 0d0, x = 1, 1, call co_sum(x); x = 1)
    TOGETHER('co_broadcast', 8, '', 0d0, continue, 1, call co_broadcast(x, 1))
    TOGETHER('co_max', 8, '', 0d0, continue, 1, call co_max(x))
    TOGETHER('co_reduce', 8, '', 0d0, continue, 1, call co_reduce(x, product_of))
    call of_64_kib()
    call long_sum()
  end subroutine

  pure real(8) function product_of(a, b)
    real(8), intent(in) :: a, b
    product_of = a*b
  end function

  subroutine of_64_kib()
    integer, parameter :: count = 20, few = 8192
    TOGETHER('co_broadcast', 8*few, '', 0d0, continue, 1, call co_broadcast(private(1:few), 1))
    TOGETHER('co_max', 8*few, '', 0d0, continue, 1, call co_max(private(1:few)))
  end subroutine

  subroutine teams()
    integer, parameter :: count = 20
    type(team_type) :: row
    real(8), allocatable :: fresh(:)[:]
    form team (1, row)
    TOGETHER('sync_team', 0, '', 0d0, continue, 1, sync team (row))
    TOGETHER('change_team', 0, '', 0d0, continue, 1, call there_and_home(row))
    TOGETHER('allocate', 800, '', 0d0, continue, 1, allocate (fresh(100)[*]); deallocate (fresh))
  end subroutine

  ! gfortran 16 refuses END TEAM with a statement behind it on the line.
  subroutine there_and_home(row)
    type(team_type), intent(in) :: row
    change team (row)
    end team
  end subroutine

  subroutine long_sum()
    integer, parameter :: count = 1
    integer :: few
    allocate (many(large))
    few = runs
    runs = min(runs, 11)
    TOGETHER('co_sum', 8*large, '', 0d0, many = 1, 1, call co_sum(many))
    runs = few
  end subroutine
end program
