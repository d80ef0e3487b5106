! SPDX-License-Identifier: BSD-3-Clause
! Extended types and type-bound procedures with coarrays.
! ranks: 1 3 8
! until: 14
module shapes
  implicit none
  type :: base
    integer :: id = 0
  contains
    procedure :: show => show_base
  end type
  type, extends(base) :: circle
    real :: r = 1
  contains
    procedure :: area
    procedure :: show => show_circle
  end type
contains
  integer function show_base(self)
    class(base), intent(in) :: self
    show_base = self%id
  end function
  integer function show_circle(self)
    class(circle), intent(in) :: self
    show_circle = self%id*1000 + int(self%r)
  end function
  real function area(self)
    class(circle), intent(in) :: self
    area = 3*self%r**2
  end function
end module
program objects
  use shapes
  implicit none
  type(circle) :: c[*], d
  type(circle), allocatable :: cs(:)[:]
  integer :: me, n, r
  me = this_image(); n = num_images(); r = mod(me,n)+1
  c%id = me; c%r = me
  allocate(cs(3)[*])
  cs(2) = circle(7, me)
  sync all
  d = c[r]
  if (d%area() /= 3*r**2) error stop 'area'
  if (c%show() /= me*1001) error stop 'show'
  if (c[r]%id /= r) error stop 'id'
  if (c[r]%r /= r) error stop 'r'
  d = cs(2)[r]
  if (d%r /= r .or. d%id /= 7) error stop 'cs'
  if (cs(2)[r]%r /= r) error stop 'cs2'
  sync all
  c[r]%id = 10*me
  cs(1)[r]%r = me
  cs(3)[r] = d
  sync all
  if (c%id /= 10*(mod(me-2+n,n)+1)) error stop 'put'
  if (cs(3)%id /= 7) error stop 'put cs'
end program
