! SPDX-License-Identifier: BSD-3-Clause
! Vector subscripts that are sections themselves: gfortran 11 and 12 lose their strides.
! ranks: 1 3 8
! until: 14
program subscripts
  integer :: a(10)[*], v(4)=[7,2,9,2], m(2,4), loc(4), b(4,5)[*], none(0), i
  integer :: me, n, r, l
  me = this_image(); n = num_images(); r = mod(me,n)+1; l = mod(me-2+n,n)+1
  a = [(100*me+i,i=1,10)]; m(1,:) = [3,4,5,6]; m(2,:) = [10,1,8,2]
  b = me
  sync all
  loc = a(v(4:1:-1))[r]
  if (any(loc /= 100*r+v(4:1:-1))) error stop 'rev'
  loc(1:2) = a(v(1:4:2))[r]
  if (any(loc(1:2) /= 100*r+[7,9])) error stop '1:4:2'
  loc = a(m(2,:))[r]
  if (any(loc /= 100*r+m(2,:))) error stop 'm(2,:)'
  loc = a(m(1,:))[r]
  if (any(loc /= 100*r+m(1,:))) error stop 'm(1,:)'
  loc(1:0) = a(none)[r]
  b(v([4,2]), 3)[r] = 5
  sync all
  a(m(2,4:1:-1))[r] = [1,2,3,4]
  a(none)[r] = 7
  sync all
  if (any(a([2,8,1,10]) /= [1,2,3,4])) error stop 'put'
  if (a(3) /= 100*me+3) error stop 'other'
  if (b(2,3) /= 5 .or. b(1,3) /= me) error stop 'b'
end program
