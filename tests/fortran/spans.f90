! SPDX-License-Identifier: BSD-3-Clause
! Arrays whose descriptor has no true span: gfortran 12 leaves that of an allocatable array unset which the
! assignment of a function's result allocates; and pointers to components, whose span is true.
! ranks: 1 3
! until: 14
module lists
  implicit none
  type pair
    integer :: first = 1, second = 2
  end type
contains
  ! Leaves bytes on the stack where descriptors of the next call will lie.
  subroutine soil(word)
    integer(8), intent(in) :: word
    integer(8), volatile :: stack(4000)
    stack = word
  end subroutine

  function counted(n) result(list)
    integer, intent(in) :: n
    integer :: list(n), i
    list = [(i, i = 1, n)]
  end function

  ! The largest value of a sum of what came over and what was summed in place.
  integer function sent(n, x, other)
    integer, intent(in) :: n, other
    integer, intent(inout) :: x(:)[*]
    integer, allocatable :: picked(:), back(:), sums(:)
    picked = pack(counted(n), counted(n) > 0)
    back = cshift(counted(n), 0)
    sums = counted(n)
    x(1:n)[other] = picked
    sync all
    back = x(1:n)[other]
    call co_max(sums)
    sent = maxval(abs(x(1:n) - back)) + sum(sums) - n*(n + 1)/2
    if (any(x(1:n) /= picked)) sent = -1
    sync all
  end function
end module

program spans
  use check
  use lists
  implicit none
  integer, parameter :: sizes(7) = [7, 8, 20, 100, 1000, 33000, 100000]
  integer(8), parameter :: dirt(8) = [8_8, 12_8, 100000_8, 64_8, -4_8, 3_8, 140737353709288_8, 400_8]
  integer, save :: x(100000)[*]
  type(pair), allocatable, target :: pairs(:)
  complex(8), target :: z(50)
  integer, pointer :: p(:)
  real(8), pointer :: part(:)
  real(8), save :: y(50)[*]
  integer :: i, j, n, other
  other = mod(this_image(), num_images()) + 1
  do i = 1, size(sizes)
    do j = 1, size(dirt)
      x = -1
      sync all
      call soil(dirt(j))
      n = sent(sizes(i), x, other)
      call expect(n == 0, 'a list that a function made')
    end do
  end do
  do i = 1, size(sizes)
    allocate (pairs(sizes(i)))
    pairs%first = counted(sizes(i))
    pairs%second = -pairs%first
    p => pairs%first
    sync all
    x(1:sizes(i))[other] = p
    sync all
    call expect(all(x(1:sizes(i)) == counted(sizes(i))), 'first components')
    p => pairs%second
    sync all
    x(1:sizes(i))[other] = p
    sync all
    call expect(all(x(1:sizes(i)) == -counted(sizes(i))), 'second components')
    p = x(1:sizes(i))[other]
    call expect(all(pairs%first + pairs%second == 0), 'into components')
    sync all
    deallocate (pairs)
  end do
  z = [(cmplx(i, -i, 8), i = 1, 50)]
  part => z%im
  y(:)[other] = part
  sync all
  call expect(all(y == [(-i, i = 1, 50)]), 'parts of complex numbers')
  call finish()
end program
