! SPDX-License-Identifier: BSD-3-Clause
! Image control beside the calls of C that do the same (pair.h), for study/compare/waits.py.
module waits
  use iso_c_binding
  use iso_fortran_env, only: event_type, lock_type
  implicit none
  enum, bind(c)
    enumerator :: barrier, neighbours, ring, mutex, total
  end enum
  interface
    subroutine pair_begin() bind(c)
    end subroutine
    integer(c_int) function pair_samples() bind(c)
      import :: c_int
    end function
    integer(c_int) function pair_count() bind(c)
      import :: c_int
    end function
    subroutine pair_measure(kind) bind(c)
      import :: c_int
      integer(c_int), value :: kind
    end subroutine
    subroutine pair_start() bind(c)
    end subroutine
    subroutine pair_stop() bind(c)
    end subroutine
    subroutine pair_report(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
  end interface
end module

program waits_of_fortran
  use waits
  implicit none
  type(event_type) :: event[*]
  type(lock_type) :: guard[*]
  integer :: counter[*]
  integer :: me, left, right, i, k, x
  me = this_image()
  left = merge(num_images(), me - 1, me == 1)
  right = merge(1, me + 1, me == num_images())
  counter = 0
  call pair_begin()
  call measure(barrier, 'sync_all')
  call measure(neighbours, 'sync_images')
  call measure(ring, 'event_wait')
  call measure(mutex, 'lock')
  call measure(total, 'co_sum')
contains
  subroutine measure(kind, name)
    integer, value :: kind
    character(*), intent(in) :: name
    do k = 0, pair_samples()
      call pair_measure(kind)
      call pair_start()
      do i = 1, pair_count()
        select case (kind)
        case (barrier)
          sync all
        case (neighbours)
          if (left == right) then
            sync images (left)
          else
            sync images ([left, right])
          end if
        case (ring)
          if (me > 1) event wait (event)
          event post (event[right])
          if (me == 1) event wait (event)
        case (mutex)
          lock (guard[1])
          counter[1] = counter[1] + 1
          unlock (guard[1])
        case default
          x = 1
          call co_sum(x)
        end select
      end do
      call pair_stop()
    end do
    call pair_report(name // c_null_char)
  end subroutine
end program
