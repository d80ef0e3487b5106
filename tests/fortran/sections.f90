! SPDX-License-Identifier: BSD-3-Clause
! Sections with negative strides and vector subscripts, of one to seven dimensions.
! ranks: 1 3 8
! until: 14
program sections
  implicit none
  integer :: a(10)[*], b(5,6)[*], c(2,2,2,2,2,2,2)[*]
  integer :: me, n, r, i, l
  integer :: v(4) = [7,2,9,2], loc(10), m(3,2), idx(3) = [5,1,3]
  integer(8) :: v8(2) = [3_8,6_8]
  integer(2) :: v2(2) = [1_2,4_2]
  integer :: d(2,2,2,2,2,2,2)
  me = this_image(); n = num_images(); r = mod(me,n)+1; l = mod(me-2+n,n)+1
  a = [(100*me+i,i=1,10)]
  b = reshape([(1000*me+i,i=1,30)],[5,6])
  c = reshape([(i+me,i=1,128)],shape(c))
  sync all
  loc(1:4) = a(v)[r]; if (any(loc(1:4) /= 100*r+v)) error stop 'vec get'
  if (any(a(10:1:-3)[r] /= 100*r+[10,7,4,1])) error stop 'neg'
  loc(1:4) = a(v(4:1:-1))[r]
  if (any(loc(1:4) /= 100*r+v(4:1:-1))) error stop 'vec rev'
  loc(1:2) = a(v8)[r]; if (any(loc(1:2) /= 100*r+[3,6])) error stop 'v8'
  loc(1:2) = a(v2)[r]; if (any(loc(1:2) /= 100*r+[1,4])) error stop 'v2'
  m = b(idx, [2,6])[r]
  if (any(m /= reshape([1000*r+10,1000*r+6,1000*r+8,1000*r+30,1000*r+26,1000*r+28],[3,2]))) error stop 'm'
  m = b(5:1:-2, v8)[r]
  if (m(1,2) /= 1000*r+30 .or. m(3,1) /= 1000*r+11) error stop 'mixed'
  if (any(b(3,:)[r] /= 1000*r+[3,8,13,18,23,28])) error stop 'row'
  loc(1:3) = b(idx,3)[r]; if (any(loc(1:3) /= 1000*r+10+idx)) error stop 'col vec'
  d = c(:,:,:,:,:,:,:)[r]
  if (any(d /= reshape([(i+r,i=1,128)],shape(d)))) error stop '7d'
  if (sum(c(1,:,2,:,1,:,2)[r]) /= sum(d(1,:,2,:,1,:,2))) error stop '7d sec'
  sync all
  a([8,1,5])[r] = [-8,-1,-5]
  b(4:2:-1, 6:1:-5)[r] = reshape([1,2,3,4,5,6],[3,2])
  c(2:1:-1,1,1,1,1,1,:)[r] = reshape([-1,-2,-3,-4],[2,2])
  sync all
  if (a(8) /= -8 .or. a(1)/=-1 .or. a(5) /= -5 .or. a(2) /= 100*me+2) error stop 'vec put'
  if (b(4,6)/=1 .or. b(3,6) /= 2 .or. b(2,6) /= 3 .or. b(4,1) /= 4 .or. b(2,1) /= 6) error stop 'neg put'
  if (c(2,1,1,1,1,1,1) /= -1 .or. c(1,1,1,1,1,1,2) /= -4) error stop '7d put'
  sync all
  ! remote to remote
  a(1:5)[r] = a(6:10)[l]
  sync all
  a(:)[me] = a(10:1:-1)[me]
  sync all
  b(:,1)[r] = b(:,2)[me]
  sync all
  b(1,:)[r] = 7; b(3,:)[r] = 7
  sync all
  if (any(b([1,3],:) /= 7)) error stop 'broadcast vec'
  ! zero-size
  a(5:4)[r] = 3
  loc(1:0) = a(5:4)[r]
  ! expression
  a(2) = maxval(a(:)[r]) - minval(a(1:10:2)[r])
end program
