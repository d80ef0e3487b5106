! SPDX-License-Identifier: BSD-3-Clause
! ERRMSG= of collective subroutines, which gfortran 11 and 12 pass by value.
! ranks: 1 3 8
program collective_errmsg
  character(6) :: c
  character(1) :: k1
  character(40) :: msg
  character(8) :: m8
  character(12) :: m12
  character(:), allocatable :: md
  character(kind=4,len=3) :: u
  integer :: s, me, n, k, guard(32)
  integer(8) :: w(2)
  me = this_image(); n = num_images()
  c = 'b'//achar(96+me)//'x'
  call co_max(c, stat=s, errmsg=msg); if (c /= 'b'//achar(96+n)//'x') error stop 'a'
  c = 'b'//achar(96+me)//'x'
  call co_min(c, stat=s, errmsg=m8); if (c /= 'bax') error stop 'b'
  c = 'b'//achar(96+me)//'x'
  call co_max(c, stat=s, errmsg=m12); if (c /= 'b'//achar(96+n)//'x') error stop 'c'
  u = char(1000+me,4)//4_'ab'
  call co_max(u, stat=s, errmsg=msg); if (u /= char(1000+n,4)//4_'ab') error stop 'u'
  u = char(1000+me,4)//4_'ab'
  call co_max(u); if (u /= char(1000+n,4)//4_'ab') error stop 'u2'
  k1 = achar(64+me)
  call co_max(k1); if (k1 /= achar(64+n)) error stop 'k1'
  c = repeat('x', min(me,6))
  call co_reduce(c, longer, stat=s, errmsg=msg); if (c /= repeat('x',min(n,6))) error stop 'r'
  if (s /= 0) error stop 's'
  c = repeat('x', min(me,6))
  call co_reduce(c, longer, stat=s, errmsg=m8); if (c /= repeat('x',min(n,6))) error stop 'r8'
  allocate(character(50)::md)
  k = me
  call co_sum(k, result_image=n+1, stat=s, errmsg=msg); if (s == 0) error stop 'ri'
  call co_sum(k, result_image=n+1, stat=s, errmsg=m8); if (s == 0) error stop 'ri'
  call co_sum(k, result_image=n+1, stat=s, errmsg=m12); if (s == 0) error stop 'ri'
  call co_sum(k, result_image=n+1, stat=s, errmsg=md); if (s == 0 .or. index(md,'RESULT_IMAGE') == 0) error stop 'ri'
  call co_broadcast(k, n+1, stat=s, errmsg=msg); if (s == 0) error stop 'bc'
  ! What an undefined text holds may look like an address: nothing is written there.
  guard = 7
  w = [loc(guard), 40_8]
  m8 = transfer(w, m8); m12 = transfer(w, m12)
  call co_sum(k, result_image=n+1, stat=s, errmsg=m8); if (s == 0) error stop 'g8'
  call co_sum(k, result_image=n+1, stat=s, errmsg=m12); if (s == 0) error stop 'g12'
  call co_max(c, result_image=n+1, stat=s, errmsg=m8); if (s == 0) error stop 'gx8'
  call co_max(c, result_image=n+1, stat=s, errmsg=m12); if (s == 0) error stop 'gx12'
  if (any(guard /= 7)) error stop 'written where an undefined text points'
  w(1) = int(z'7000000000', 8)
  m12 = transfer(w, m12)
  call co_sum(k, result_image=n+1, stat=s, errmsg=m12); if (s == 0) error stop 'no memory there'
contains
  pure function longer(a,b) result(r)
    character(6), intent(in) :: a,b
    character(6) :: r
    r = merge(a,b,len_trim(a) >= len_trim(b))
  end function
end program
