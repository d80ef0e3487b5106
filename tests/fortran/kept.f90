! SPDX-License-Identifier: BSD-3-Clause
! What a statement has got stays as it was when the object there changes after the statement; many
! times, so that short forms serve some.
! ranks: 1 2 3
! again: TOMBOLO_TEST_SHM=0
program kept
  use check
  implicit none
  type :: big
    integer(8) :: w(12)
  end type
  type(big) :: s[*], got, before
  integer(8) :: number[*], n
  integer :: me, images, left, right, i
  character(64) :: text[*], words

  call neighbours(me, images, left, right)
  s%w = me
  number = me
  text = 'first'
  sync all
  do i = 1, 200
    before = s[right]
    got = before
    got%w(12) = i
    s[right] = got
    call expect(before%w(12) == merge(right, i - 1, i == 1), 'a structure that was got before')
    got = s[right]
    s%w(1) = s%w(1) + 0*me
    call expect(got%w(12) == i .and. got%w(1) == right, 'a structure')
    n = number[right]
    number[right] = n + 1
    call expect(n == right + i - 1, 'a number that was got before')
    call expect(sum_of(s[right], number[right]) == 11*right + i + right + i, 'arguments')
    words = text[right]
    text = 'later'
    call expect(right /= me .or. i > 1 .or. words == 'first', 'a text')
  end do
  sync all
  call finish()
contains
  integer(8) function sum_of(object, value)
    type(big), intent(in) :: object
    integer(8), intent(in) :: value
    sum_of = sum(object%w) + value
  end function
end program
