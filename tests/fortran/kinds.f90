! SPDX-License-Identifier: BSD-3-Clause
! Assignments between kinds and types, read and written.
! ranks: 1 3 8
program kinds
  use iso_fortran_env
  implicit none
  integer, parameter :: ext = selected_real_kind(18) ! 10, or 16 where the processor lacks that
  integer(int8) :: i1(3)[*]
  integer(int16) :: i2[*]
  integer(int64) :: i8(3)[*], j8
  integer(int32) :: i4(2)[*], j4
  real(real32) :: r4(3)[*]
  real(real64) :: r8(3)[*]
  real(real128) :: r16(2)[*]
  real(ext) :: r10(2)[*]
  complex(real64) :: c8(2)[*]
  logical(1) :: l1(2)[*]
  logical :: l4(2)
  character(kind=4,len=4) :: u4[*]
  integer :: me, n, r, k(3), l
  real :: f(3), x4
  real(real64) :: x8
  complex :: c(2)
  me = this_image(); n = num_images(); r = mod(me,n)+1; l = mod(me-2+n,n)+1
  i1 = int(me,int8); i2 = 300_int16; i8 = 2_int64**40+me; r4 = me+0.25; r8 = me+0.125d0
  r16 = me+0.5_real128; r10 = me+0.75_ext; c8 = cmplx(me,2*me,real64); l1 = me==1
  u4 = 4_'abc'
  sync all
  k = i1(:)[r]; if (any(k /= r)) error stop 'i1'
  k(1) = i2[r]; if (k(1) /= 300) error stop 'i2'
  f = i8(:)[r]; if (any(f /= real(2_int64**40+r))) error stop 'i8'
  k = r8(:)[r]; if (any(k /= r)) error stop 'r8 int'
  f = r8(3:1:-1)[r]; if (any(f /= r+0.125)) error stop 'r8 r4'
  f(1:2) = real(r16(:)[r]); if (any(f(1:2) /= r+0.5)) error stop 'r16'
  f(1:2) = r10(:)[r]; if (any(f(1:2) /= r+0.75)) error stop 'r10'
  c = c8(:)[r]; if (any(c /= cmplx(r,2*r))) error stop 'c8'
  f(1:2) = c8(:)[r]; if (any(f(1:2) /= r)) error stop 'c8 real'
  l4 = l1(:)[r]; if (l4(1) .neqv. r==1) error stop 'l1'
  if (u4[r] /= 4_'abc ') error stop 'u4'
  sync all
  i1(:)[r] = [1000,2,3]*0 + me
  i2[r] = 7.9
  i8(:)[r] = r4
  sync all
  r4(2)[r] = me
  r8(:)[r] = [1,2,3]
  c8(:)[r] = me
  l1(:)[r] = .true.
  r16(1)[r] = 1.5
  r10(2)[r] = 3
  sync all
  if (any(i1 /= l)) error stop 'p i1'
  if (i2 /= 7) error stop 'p i2'
  if (any(i8 /= l)) error stop 'p i8'
  if (r4(2) /= l .or. r4(1) /= me+0.25) error stop 'p r4'
  if (any(r8 /= [1,2,3])) error stop 'p r8'
  if (any(c8 /= l)) error stop 'p c8'
  if (.not. all(l1)) error stop 'p l1'
  if (r16(1) /= 1.5) error stop 'p r16'
  if (r10(2) /= 3) error stop 'p r10'
  sync all
  ! one number of 4 or 8 bytes, from a variable: signs and rounding
  j4 = -16777217; j8 = -2_int64**53-1; x4 = -0.1; x8 = -1/3d0
  i4(1)[r] = j8+2_int64**53-4
  i8(1)[r] = j4
  r4(1)[r] = j4
  r8(1)[r] = j4
  r4(2)[r] = j8
  r8(2)[r] = j8
  r4(3)[r] = x8
  r8(3)[r] = x4
  i4(2)[r] = x8*10
  sync all
  if (i4(1) /= -5) error stop 's i4'
  if (i8(1) /= -16777217) error stop 's i8'
  if (r4(1) /= -16777216) error stop 's i4 r4'
  if (r8(1) /= -16777217) error stop 's i4 r8'
  if (r4(2) /= -2.0**53) error stop 's i8 r4'
  if (r8(2) /= -2d0**53) error stop 's i8 r8'
  if (r4(3) /= real(x8,real32)) error stop 's r8 r4'
  if (r8(3) /= real(x4,real64)) error stop 's r4 r8'
  if (i4(2) /= -3) error stop 's r8 i4'
  j8 = i4(1)[r]; if (j8 /= -5) error stop 'g i4'
  j4 = i8(1)[r]; if (j4 /= -16777217) error stop 'g i8'
  x8 = r4(3)[r]; if (x8 /= r4(3)) error stop 'g r4'
  x4 = r8(3)[r]; if (x4 /= -0.1) error stop 'g r8'
end program
