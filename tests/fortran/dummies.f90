! SPDX-License-Identifier: BSD-3-Clause
! Coarray dummy arguments of every form, passed on, and sequence association.
! ranks: 1 3 8
! until: 14
module sub
  implicit none
contains
  subroutine explicit_shape(a, n)
    integer, intent(in) :: n
    real, intent(inout) :: a(n,n)[*]
    integer :: r
    r = mod(this_image(), num_images())+1
    a(1,:)[r] = [real(this_image()), spread(2.0,1,n-1)]
    sync all
  end subroutine
  subroutine assumed(a)
    real, intent(inout) :: a(:,:)[*]
    integer :: r
    r = mod(this_image(), num_images())+1
    a(2,:)[r] = this_image()
    sync all
    a(:,size(a,2))[r] = -1
    sync all
  end subroutine
  subroutine assumed_size(a, n)
    integer, intent(in) :: n
    integer, intent(inout) :: a(*)
    codimension :: a[2,*]
    integer :: co(2), r
    r = mod(this_image(), num_images())+1
    co = [mod(r-1,2)+1, (r-1)/2+1]
    a(n)[co(1),co(2)] = this_image()
    sync all
  end subroutine
  subroutine alloc(a, n)
    integer, intent(in) :: n
    integer, allocatable, intent(inout) :: a(:)[:]
    if (allocated(a)) deallocate(a)
    allocate(a(n)[*])
    a = this_image()
  end subroutine
  subroutine lower(a)
    integer, intent(inout) :: a(0:,-1:)[0:*]
    integer :: r
    r = mod(this_image(), num_images())
    a(0,-1)[r] = 42
    a(ubound(a,1),ubound(a,2))[r] = 43
    sync all
  end subroutine
  recursive subroutine rec(a, d)
    integer, intent(inout) :: a[*]
    integer, intent(in) :: d
    if (d == 0) return
    if (this_image() == 1) a[num_images()] = a[num_images()] + 1
    sync all
    call rec(a, d-1)
  end subroutine
  subroutine scal(s)
    character(*), intent(inout) :: s[*]
    if (this_image() == num_images()) s[1] = 'hello'
    sync all
  end subroutine
  function elem(a, i, img) result(v)
    integer, intent(in) :: a(:)[*], i, img
    integer :: v
    v = a(i)[img]
  end function
end module
program dummies
  use sub
  implicit none
  real :: x(4,4)[*], y(6,8)[*]
  integer :: z(0:9)[*], w(4,4)[*], k[*]
  integer, allocatable :: al(:)[:]
  character(9) :: c[*]
  integer :: me, n, l, r
  me = this_image(); n = num_images(); l = mod(me-2+n,n)+1; r = mod(me,n)+1
  x = 0; y = 0; z = 0; w = 0; k = 0; c = ' '
  sync all
  call explicit_shape(x,4)
  if (any(x(1,:) /= [real(l),2.,2.,2.]) .or. any(x(2:,:) /= 0)) error stop 'explicit'
  call explicit_shape(y(1,1), 3)
  if (y(1,1) /= l .or. y(4,1) /= 2) error stop 'seq assoc'
  y = 0
  sync all
  call assumed(y(2:6:2,::3))
  if (any(y(4,::3) /= [real(l),real(l),-1.])) error stop 'assumed'
  if (any(y(2:6:2,7) /= -1)) error stop 'assumed col'
  if (count(y /= 0) /= 5) error stop 'assumed others'
  sync all
  call assumed_size(z(3), 2)
  if (z(4) /= l .or. count(z/=0) /= 1) error stop 'assumed size'
  call alloc(al, 5)
  sync all
  if (al(5)[r] /= r) error stop 'alloc'
  if (elem(al(2:4), 3, r) /= r) error stop 'elem'
  sync all
  call alloc(al, 7)
  if (size(al) /= 7) error stop 'alloc 2'
  call lower(w(2:3,:))
  if (w(2,1) /= 42 .or. w(3,4) /= 43 .or. count(w/=0) /= 2) error stop 'lower'
  call rec(k, 5)
  if (me == n .and. k /= 5) error stop 'rec'
  call scal(c)
  if (me==1 .and. c /= 'hello') error stop 'scal'
  c = ' '
  sync all
end program
