! SPDX-License-Identifier: BSD-3-Clause
! Coarrays and an event in a function that main.upc calls on all threads: image i is thread i - 1.

integer(c_int) function ring(turns, give) bind(c)
  use iso_c_binding
  use iso_fortran_env, only: event_type
  implicit none
  integer(c_int), value :: turns, give
  type(event_type), save :: come[*]
  integer, save :: given(1000)[*]
  integer, allocatable :: more(:)[:]
  integer :: i, right, total
  right = mod(this_image(), num_images()) + 1
  allocate (more(100)[*])
  do i = 1, turns
    given(:)[right] = give
    event post (come[right])
    event wait (come)
  end do
  more = this_image()
  sync all
  total = sum(more(:)[right]) + sum(given)
  call co_sum(total)
  ring = total
  sync all
end function
