! SPDX-License-Identifier: BSD-3-Clause
! Runs statements of coarray Fortran a known number of times, for scripts/count_paths.py under valgrind;
! bench/lib/paths.h has the agreement. Image 2 is near, and has done its part of a statement before image
! 1 runs it. Compiled without inlining, so that each path is a function. No put to an allocatable component
! is counted: under callgrind no trial of its accessor succeeds.
module objects
  use iso_fortran_env, only: atomic_int_kind, compiler_version, event_type, int64, lock_type
  use iso_c_binding, only: c_int
  implicit none
  integer, parameter :: rounds = 16, pause_us = 20000
  type :: list
    real(8), allocatable :: item(:)
  end type
  type :: group
    type(list), allocatable :: inner
  end type
  type :: pair
    integer(int64) :: first, second
  end type
  type :: record
    integer(int64) :: word(12)
  end type
  type :: grouped
    type(list) :: inside(4)
  end type
  type(pair) :: pairs(10)[*]
  type(record) :: records(4)[*], kept
  type(grouped) :: crew[*], crews(3)[*]
  integer(int64) :: word[*], counts[*], got
  real(8) :: block(128)[*], private(128), matrix(16, 16)[*], square(8, 8), x
  character(16) :: text[*], words, texts(8)[*], eight(8)
  type(list) :: lists[*], many(10)[*]
  type(group) :: groups[*]
  type(event_type) :: posted[*], attached_event[*]
  integer(int64) :: attached_word[*]
  type(lock_type) :: guard[*]
  integer(atomic_int_kind) :: counter[*], ready[*], found
  integer :: seen, status, at = 3, second = 2
  integer, volatile :: ends = 0
  logical :: there
  interface
    integer(c_int) function usleep(us) bind(c)
      import :: c_int
      integer(c_int), value :: us
    end function
  end interface
end module

subroutine path_put_scalar()
  use objects
  word[2] = got
end subroutine

subroutine path_put_other_kind()
  use objects
  word[2] = seen
end subroutine

subroutine path_get_scalar()
  use objects
  got = word[2]
end subroutine

subroutine path_put_stat()
  use objects
  word[2, stat=status] = got + 1
end subroutine

subroutine path_get_stat()
  use objects
  got = word[2, stat=status]
end subroutine

subroutine path_put_array()
  use objects
  block(1:64)[2] = private(1:64)
end subroutine

subroutine path_get_array()
  use objects
  private(1:64) = block(1:64)[2]
end subroutine

subroutine path_put_strided()
  use objects
  block(1:127:2)[2] = private(1:64)
end subroutine

subroutine path_get_strided()
  use objects
  private(1:64) = block(1:127:2)[2]
end subroutine

subroutine path_put_block()
  use objects
  matrix(3:10, 5:12)[2] = square
end subroutine

subroutine path_allocated()
  use objects
  there = allocated(lists[2]%item)
end subroutine

subroutine path_get_allocatable()
  use objects
  x = lists[2]%item(5)
end subroutine

subroutine path_put_component()
  use objects
  pairs(at)[2]%second = got
end subroutine

subroutine path_get_component()
  use objects
  got = pairs(at)[2]%second
end subroutine

subroutine path_put_fixed()
  use objects
  pairs(3)[2]%second = got
end subroutine

subroutine path_get_fixed()
  use objects
  got = pairs(3)[2]%second
end subroutine

subroutine path_get_fixed_number()
  use objects
  x = block(5)[2]
end subroutine

subroutine path_get_structure()
  use objects
  kept = records(at)[2]
end subroutine

subroutine path_get_fixed_element()
  use objects
  x = many(3)[2]%item(5)
end subroutine

subroutine path_get_inside()
  use objects
  x = crew[2]%inside(at)%item(5)
end subroutine

subroutine path_get_two()
  use objects
  x = crews(second)[2]%inside(at)%item(5)
end subroutine

subroutine path_get_falling()
  use objects
  x = many(9 - at)[2]%item(5)
end subroutine

subroutine path_image_status()
  use objects
  status = image_status(2)
end subroutine

subroutine path_failed_images()
  use objects
  status = size(failed_images())
end subroutine

subroutine path_atomic_add_stat()
  use objects
  call atomic_add(counter[2], 1, status)
end subroutine

subroutine path_get_array_stat()
  use objects
  private(1:64) = block(1:64)[2, stat=status]
end subroutine

subroutine path_get_element()
  use objects
  x = many(at)[2]%item(5)
end subroutine

subroutine path_get_deep()
  use objects
  x = groups[2]%inner%item(5)
end subroutine

subroutine path_put_text()
  use objects
  text[2] = words
end subroutine

subroutine path_get_text()
  use objects
  words = text[2]
end subroutine

subroutine path_put_texts()
  use objects
  texts(:)[2] = eight
end subroutine

subroutine path_get_texts()
  use objects
  eight = texts(:)[2]
end subroutine

subroutine path_transfer_scalar()
  use objects
  word[2] = counts[2]
end subroutine

subroutine path_transfer_array()
  use objects
  block(65:128)[2] = block(1:64)[2]
end subroutine

subroutine path_put_attached()
  use objects
  counts[2] = got + 1
end subroutine

subroutine path_sync_memory()
  sync memory
end subroutine

subroutine path_event_post()
  use objects
  event post (posted[2])
end subroutine

subroutine path_event_query()
  use objects
  call event_query(posted, seen)
end subroutine

subroutine path_atomic_define()
  use objects
  call atomic_define(counter[2], 1)
end subroutine

subroutine path_atomic_ref()
  use objects
  call atomic_ref(found, counter[2])
end subroutine

subroutine path_lock()
  use objects
  lock (guard[2])
  unlock (guard[2])
end subroutine

subroutine path_sync_all()
  sync all
end subroutine

subroutine path_sync_images()
  sync images (2)
end subroutine

subroutine path_co_sum()
  use objects
  call co_sum(x)
end subroutine

! The script has the counts written before this, and reset.
subroutine paths_end()
  use objects
  ends = ends + 1
end subroutine

program count_fortran
  use objects
  use tombolo_caf, only: event_attach
  implicit none
  external :: path_put_scalar, path_put_other_kind, path_get_scalar, path_put_stat, path_get_stat, &
              path_put_array, path_get_array, path_put_strided, path_get_strided, path_put_block, &
              path_allocated, path_get_allocatable, path_get_element, path_get_deep, path_put_text, &
              path_get_text, path_put_texts, path_get_texts, path_transfer_scalar, &
              path_transfer_array, path_event_post, path_event_query, path_atomic_define, &
              path_atomic_ref, path_lock, path_sync_memory, path_put_attached, path_sync_all, &
              path_sync_images, path_co_sum, path_get_array_stat, path_put_component, &
              path_get_component, path_put_fixed, path_get_fixed, path_get_fixed_number, &
              path_get_structure, path_get_fixed_element, path_get_inside, path_get_two, path_get_falling, path_image_status, &
              path_failed_images, path_atomic_add_stat
  if (num_images() /= 2) error stop 'tombolo-bench-count-fortran: two images are needed'
  if (this_image() == 1) print '(2a)', 'compiler ', compiler_version()
  word = 0
  got = 1
  block = 1
  private = 1
  square = 1
  eight = 'eight'
  text = 'a text'
  texts = text
  words = 'another'
  counts = 1
  x = 1
  counter = 0
  ready = 0
  seen = 1
  allocate (lists%item(8), source=1d0)
  do seen = 1, 10
    allocate (many(seen)%item(8), source=1d0)
  end do
  do seen = 1, 4
    records(seen)%word = seen
    allocate (crew%inside(seen)%item(8), source=1d0)
    do at = 1, 3
      allocate (crews(at)%inside(seen)%item(8), source=1d0)
    end do
  end do
  at = 3
  allocate (groups%inner)
  allocate (groups%inner%item(8), source=1d0)
  seen = 1
  sync all
  call alone('put of a scalar', path_put_scalar)
  call alone('put of a scalar, another kind', path_put_other_kind)
  call alone('get of a scalar', path_get_scalar)
  call alone('put of a scalar with STAT=', path_put_stat)
  call alone('get of a scalar with STAT=', path_get_stat)
  call alone('put of 64 elements', path_put_array)
  call alone('get of 64 elements', path_get_array)
  call alone('put of 64 elements with gaps', path_put_strided)
  call alone('get of 64 elements with gaps', path_get_strided)
  call alone('put of a block of 8 by 8', path_put_block)
  call alone('ALLOCATED of a component', path_allocated)
  call alone('get of an allocatable component', path_get_allocatable)
  call alone('get of a component of an element', path_get_element)
  call alone('get of a component of a component', path_get_deep)
  call alone('put of a component of a structure of an array', path_put_component)
  call alone('get of a component of a structure of an array', path_get_component)
  call alone('put of a text of 16 characters', path_put_text)
  call alone('get of a text of 16 characters', path_get_text)
  call alone('put of 8 texts', path_put_texts)
  call alone('get of 8 texts', path_get_texts)
  call alone('scalar from image to image', path_transfer_scalar)
  call alone('64 elements from image to image', path_transfer_array)
  call alone('EVENT POST', path_event_post)
  call alone('EVENT_QUERY', path_event_query)
  call alone('ATOMIC_DEFINE', path_atomic_define)
  call alone('ATOMIC_REF', path_atomic_ref)
  call alone('ATOMIC_ADD with STAT=', path_atomic_add_stat)
  call alone('IMAGE_STATUS', path_image_status)
  call alone('FAILED_IMAGES', path_failed_images)
  call alone('LOCK and UNLOCK', path_lock)
  call alone('SYNC MEMORY', path_sync_memory)
  call alone('get of 64 elements with STAT=', path_get_array_stat)
  call alone('put of a component of a fixed element', path_put_fixed)
  call alone('get of a component of a fixed element', path_get_fixed)
  call alone('get of a fixed element', path_get_fixed_number)
  call alone('get of a structure of 96 B', path_get_structure)
  call alone('get of an allocatable component of a fixed element', path_get_fixed_element)
  call alone('get of an allocatable component of an inner array', path_get_inside)
  call alone('get of an allocatable component by two subscripts', path_get_two)
  call alone('get of an allocatable component by a falling subscript', path_get_falling)
  call event_attach(loc(attached_event), attached_word)
  call alone('put beside an attached event', path_put_attached)
  call together('SYNC ALL', path_sync_all)
  call together('SYNC IMAGES', path_sync_images)
  call together('CO_SUM of 8 B', path_co_sum)
contains
  ! The first half of the rounds warms up: an accessor is tried after some accesses.
  subroutine alone(name, path)
    character(*), intent(in) :: name
    external :: path
    integer :: round
    sync all
    if (this_image() == 1) then
      do round = 1, 8*rounds
        call path()
      end do
      call paths_end()
      do round = 1, rounds
        call path()
      end do
    end if
    call done(name)
  end subroutine

  ! Image 2 waits in the statement when image 1 begins it.
  subroutine together(name, path)
    character(*), intent(in) :: name
    external :: path
    integer :: round
    do round = 1, 2*rounds
      if (this_image() == 1 .and. round == rounds + 1) call paths_end()
      if (this_image() == 2) then
        call atomic_define(ready[1], round)
        call counterpart(name)
      else
        do while (found /= round)
          call atomic_ref(found, ready)
        end do
        if (usleep(int(pause_us, c_int)) /= 0) error stop
        call path()
      end if
    end do
    call done(name)
  end subroutine

  subroutine counterpart(name)
    character(*), intent(in) :: name
    select case (name)
    case ('SYNC ALL')
      sync all
    case ('SYNC IMAGES')
      sync images (1)
    case default
      call co_sum(x)
    end select
  end subroutine

  subroutine done(name)
    character(*), intent(in) :: name
    if (this_image() == 1) then
      call paths_end()
      print '(a,i0,1x,a)', 'path ', rounds, name
    end if
    sync all
  end subroutine
end program
