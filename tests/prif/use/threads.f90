! SPDX-License-Identifier: BSD-3-Clause
! Threads of one image allocate and deallocate memory of prif_allocate at once.
! ranks: 1 2
module threads_work
  use, intrinsic :: iso_c_binding
  use prif
  implicit none
  integer, parameter :: workers = 4, rounds = 4000
  integer(c_int), target :: wrong(workers) = 0
  interface
    integer(c_int) function pthread_create(thread, attributes, start, argument) bind(c)
      import
      integer(c_intptr_t), intent(out) :: thread
      type(c_ptr), value :: attributes, argument
      type(c_funptr), value :: start
    end function
    integer(c_int) function pthread_join(thread, answer) bind(c)
      import
      integer(c_intptr_t), value :: thread
      type(c_ptr), value :: answer
    end function
  end interface
contains
  recursive function work(argument) result(answer) bind(c)
    type(c_ptr), value :: argument
    type(c_ptr) :: answer, p, q
    integer(c_int), pointer :: bad, a(:), b(:)
    integer :: i
    call c_f_pointer(argument, bad)
    do i = 1, rounds
      call prif_allocate(64_c_size_t, p)
      call prif_allocate(int(64 + 32*mod(i, 5), c_size_t), q)
      call c_f_pointer(p, a, [16])
      call c_f_pointer(q, b, [16])
      a = i
      b = -i
      if (any(a /= i) .or. any(b /= -i)) bad = bad + 1
      call prif_deallocate(p)
      call prif_deallocate(q)
    end do
    answer = c_null_ptr
  end function
end module

program threads
  use check
  use threads_work
  implicit none
  integer(c_intptr_t) :: thread(workers)
  integer :: k
  call begin()
  do k = 1, workers
    call expect(pthread_create(thread(k), c_null_ptr, c_funloc(work), c_loc(wrong(k))) == 0, &
      'a thread begins')
  end do
  do k = 1, workers
    call expect(pthread_join(thread(k), c_null_ptr) == 0, 'a thread ends')
  end do
  call expect(all(wrong == 0), 'blocks of threads are their own')
  call finish()
end program
