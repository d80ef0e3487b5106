! SPDX-License-Identifier: BSD-3-Clause
! A farm: image 1 gives tasks to the others, each of which has an event for work and one for results.
! A task is a range of numbers, its result how many of them are prime.
!   tombolo fc -O2 task_farm.f90 -o task_farm && tombolo run -n 4 ./task_farm
program task_farm
  use iso_fortran_env, only: event_type
  implicit none
  integer, parameter :: tasks = 60, width = 500, none = -1
  type(event_type) :: work[*]                ! on a worker: a task has come
  type(event_type), allocatable :: done(:)[:] ! on image 1: worker i has a result
  integer :: task[*], total, given, busy, worker, count
  integer, allocatable :: result(:)[:]
  allocate (done(num_images())[*], result(num_images())[*])
  total = 0
  if (num_images() == 1) then
    do given = 0, tasks - 1
      total = total + primes(given)
    end do
  else if (this_image() == 1) then
    call give_out()
  else
    do
      event wait (work)
      if (task == none) exit
      result(this_image())[1] = primes(task)
      event post (done(this_image())[1])
    end do
  end if
  if (this_image() == 1) then
    if (total /= 3245) error stop 'wrong number of primes'
    print '(i0,a,i0)', total, ' primes below ', tasks*width
  end if
contains
  subroutine give_out()
    given = 0
    busy = 0
    do worker = 2, num_images()
      call next_task()
    end do
    do while (busy > 0)
      do worker = 2, num_images()
        call event_query(done(worker), count)
        if (count == 0) cycle
        event wait (done(worker))
        total = total + result(worker)
        busy = busy - 1
        call next_task()
      end do
    end do
  end subroutine

  subroutine next_task()
    if (given < tasks) then
      task[worker] = given
      given = given + 1
      busy = busy + 1
    else
      task[worker] = none
    end if
    event post (work[worker])
  end subroutine

  integer function primes(number)
    integer, intent(in) :: number
    integer :: i, d
    primes = 0
    do i = number*width, number*width + width - 1
      if (i < 2) cycle
      d = 2
      do while (d*d <= i)
        if (mod(i, d) == 0) exit
        d = d + 1
      end do
      if (d*d > i) primes = primes + 1
    end do
  end function
end program
