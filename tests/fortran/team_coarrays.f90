! SPDX-License-Identifier: BSD-3-Clause
! Coarrays allocated in a team: deallocated, for the program too, at its end.
! ranks: 1 3 8
program team_coarrays
  use iso_fortran_env
  implicit none
  type(team_type) :: row, col, sub
  integer :: me, n, rows, cols, i, j, s, w
  integer, allocatable :: a(:)[:], b[:], outer(:)[:]
  integer :: g[*]
  me = this_image(); n = num_images()
  cols = 2; rows = (n+1)/2
  i = (me-1)/cols + 1; j = mod(me-1,cols)+1
  g = 10*me
  allocate(outer(2)[*]); outer = me
  form team (i, row)
  form team (j, col)
  sync all
  change team (row)
    if (team_number() /= i) error stop 'tn'
    allocate(a(3)[*], b[*])
    a = me; b = -me
    sync all
    s = sum([(a(2)[w], w=1,num_images())])
    w = me
    call co_sum(w)
    if (w /= s) error stop 'sum'
    if (-b[1] /= (i-1)*2+1) error stop 'b'
    form team (this_image(), sub)
    change team (sub)
      if (num_images() /= 1) error stop 'sub'
      call inner()
    end team
    deallocate(b)
    sync team (row)
    if (outer(1)[num_images()] /= min(2*i,n)) error stop 'outer'
  end team
  if (allocated(a)) error stop 'a still allocated'
  change team (col)
    if (this_image() /= i) error stop 'col image'
    w = 1
    call co_sum(w, result_image=1)
    if (this_image() == 1 .and. w /= num_images()) error stop 'col sum'
    w = me
    call co_broadcast(w, num_images())
    if (mod(w-1,2)+1 /= j) error stop 'bcast'
    if (g[1] /= 10*j) error stop 'g'
  end team
  sync all
contains
  subroutine inner()
    integer, allocatable :: x(:)[:]
    integer :: k
    do k = 1, 3
      allocate(x(k)[*])
      x = k
      if (x(k)[1] /= k) error stop 'x'
      deallocate(x)
    end do
  end subroutine
end program
