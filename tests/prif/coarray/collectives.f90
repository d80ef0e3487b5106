! SPDX-License-Identifier: BSD-3-Clause
! Collective subroutines of flang: types, kinds, shapes, sections, one result image.
! again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2
program collectives
  use check, me => this
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  implicit none
  type :: pair
    integer :: i
    real(8) :: x(3)
  end type
  integer :: n, sum_of
  call begin()
  n = num_images()
  sum_of = n * (n + 1) / 2
  call integers()
  call reals()
  call complexes()
  call shapes()
  call extremes()
  call characters()
  call broadcasts()
  sync all
  if (failed()) error stop 1
contains
  subroutine integers()
    integer(int8) :: a
    integer(int16) :: b
    integer(int32) :: c
    integer(int64) :: d
    integer(16) :: e
    a = int(me, int8); b = int(me, int16); c = me; d = me * 10_int64**12; e = me * 10_16**24
    call co_sum(a); call co_sum(b); call co_sum(c); call co_sum(d); call co_sum(e)
    call expect(a == sum_of .and. b == sum_of .and. c == sum_of, 'co_sum of kinds 1, 2, 4')
    call expect(d == sum_of * 10_int64**12 .and. e == sum_of * 10_16**24, 'co_sum of kinds 8, 16')
  end subroutine

  subroutine reals()
    real(real32) :: a
    real(real64) :: b
    real(10) :: c
    a = me; b = me; c = me
    call co_sum(a); call co_sum(b); call co_sum(c)
    call expect(a == sum_of .and. b == sum_of .and. c == sum_of, 'co_sum of reals')
    c = me
    call co_max(c)
    call expect(c == n, 'co_max of kind 10')
    call small_reals()
    call brains()
  end subroutine

  ! Kind 2 is IEEE binary16: exact where the numbers are small.
  subroutine small_reals()
    real(2) :: a(3), c, d
    complex(2) :: e
    a = real([me, -me, 2*me], 2)
    call co_sum(a)
    call expect(all(int(a) == [sum_of, -sum_of, 2*sum_of]), 'co_sum of kind 2')
    a = real([me, -me, 2*me], 2)
    call co_max(a)
    call expect(all(int(a) == [n, -1, 2*n]), 'co_max of kind 2')
    c = 6.0e-8_2*me; d = 65504.0_2
    call co_sum(c); call co_sum(d)
    call expect(nint(real(c, 4)*2.0**24) == sum_of, 'co_sum of numbers below the normal ones')
    call expect(n == 1 .or. real(d, 4) > huge(1.0), 'co_sum beyond the greatest of kind 2')
    e = cmplx(me, -me, 2)
    call co_sum(e)
    call expect(int(real(e)) == sum_of .and. int(aimag(e)) == -sum_of, 'complex of kind 2')
  end subroutine

  ! Kind 3 is bfloat16, the first half of kind 4. libgcc 12 cannot convert it.
  subroutine brains()
    real(3) :: b(3)
    complex(3) :: f
    b = brain([me, -me, 2*me])
    call co_sum(b)
    call expect(all(bits(b) == bits(brain([sum_of, -sum_of, 2*sum_of]))), 'co_sum of kind 3')
    b = brain([me, -me, 2*me])
    call co_min(b(1:3:2))
    call expect(all(bits(b) == bits(brain([1, -me, 2]))), 'co_min of kind 3')
    f = transfer(brain([me, 1]), f)
    call co_sum(f)
    call expect(all(transfer(f, [0_int16]) == bits(brain([sum_of, n]))), 'complex of kind 3')
  end subroutine

  function brain(values) result(b)
    integer, intent(in) :: values(:)
    real(3) :: b(size(values))
    b = transfer(int(shiftr(transfer(real(values), [0]), 16), int16), b)
  end function

  function bits(b)
    real(3), intent(in) :: b(:)
    integer(int16) :: bits(size(b))
    bits = transfer(b, bits)
  end function

  subroutine complexes()
    complex(real32) :: a
    complex(real64) :: b(2)
    complex(10) :: c
    a = cmplx(me, -me); b = cmplx(me, 2 * me); c = cmplx(me, 1)
    call co_sum(a); call co_sum(b); call co_sum(c)
    call expect(a == cmplx(sum_of, -sum_of) .and. all(b == cmplx(sum_of, 2 * sum_of)), 'complex')
    call expect(real(c) == sum_of .and. aimag(c) == n, 'complex of kind 10')
  end subroutine

  subroutine shapes()
    integer :: a(4, 5), b(2, 2, 2, 2), empty(0), result, stat
    integer, allocatable :: c(:)
    character(len=30) :: text
    a = me
    call co_sum(a(1:4:3, :))
    call expect(all(a(1:4:3, :) == sum_of) .and. all(a(2:3, :) == me), 'a section')
    a = me
    call co_sum(a(4:1:-1, 2))
    call expect(all(a(:, 2) == sum_of) .and. all(a(:, 1) == me), 'a section backwards')
    b = me
    stat = 7
    call co_sum(b, stat=stat, errmsg=text)
    call expect(stat == 0 .and. all(b == sum_of), 'rank 4')
    call co_sum(empty)
    allocate (c(3), source=me)
    call co_sum(c)
    call expect(all(c == sum_of), 'allocatable')
    result = me
    call co_sum(result, result_image=n)
    if (me == n) call expect(result == sum_of, 'result_image')
    stat = 0
    text = 'unchanged'
    call co_sum(result, result_image=n + 1, stat=stat, errmsg=text)
    call expect(stat /= 0 .and. text /= 'unchanged', 'a result image that does not exist')
  end subroutine

  subroutine extremes()
    integer :: a(3)
    real :: b
    a = [me, -me, 5]
    call co_max(a)
    call expect(all(a == [n, -1, 5]), 'co_max')
    b = real(me) / 2
    call co_min(b)
    call expect(b == 0.5, 'co_min')
  end subroutine

  subroutine characters()
    character(len=1) :: a
    character(len=7) :: b(2)
    a = achar(iachar('a') + me)
    b(1) = 'image ' // achar(iachar('0') + me)
    b(2) = 'same'
    call co_max(a)
    call co_min(b)
    call expect(a == achar(iachar('a') + n), 'co_max of a character')
    call expect(b(1) == 'image 1' .and. b(2) == 'same', 'co_min of characters')
  end subroutine

  subroutine broadcasts()
    logical :: l(3)
    character(len=5) :: c
    type(pair) :: p(2)
    integer :: i
    l = me == 1
    call co_broadcast(l, source_image=1)
    call expect(all(l), 'co_broadcast of logicals')
    c = 'other'
    if (me == n) c = 'given'
    call co_broadcast(c, source_image=n)
    call expect(c == 'given', 'co_broadcast of characters')
    p = [(pair(me, [real(8) :: me, me + i, 3]), i=1, 2)]
    call co_broadcast(p, source_image=n)
    call expect(all(p%i == n) .and. p(2)%x(2) == n + 2, 'co_broadcast of a derived type')
  end subroutine
end program
