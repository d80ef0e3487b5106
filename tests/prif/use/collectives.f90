! SPDX-License-Identifier: BSD-3-Clause
! Collective subroutines that flang -fcoarray does not reach: reductions by a procedure, plain memory.
module operations
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: size_of_matrix = 4
contains
  ! Products of 2 x 2 matrices, which do not commute. cdata: counts the calls of this image.
  subroutine multiply(arg1, arg2_and_out, count, cdata) bind(c)
    type(c_ptr), value, intent(in) :: arg1, arg2_and_out
    integer(c_size_t), value, intent(in) :: count
    type(c_ptr), value, intent(in) :: cdata
    integer(c_int64_t), pointer :: a(:, :, :), b(:, :, :)
    integer(c_int), pointer :: calls
    integer(c_size_t) :: i
    call c_f_pointer(arg1, a, [2_c_size_t, 2_c_size_t, count])
    call c_f_pointer(arg2_and_out, b, [2_c_size_t, 2_c_size_t, count])
    call c_f_pointer(cdata, calls)
    calls = calls + 1
    do i = 1, count
      b(:, :, i) = matmul(a(:, :, i), b(:, :, i))
    end do
  end subroutine
end module

program collectives
  use, intrinsic :: iso_c_binding
  use check
  use operations
  use prif
  implicit none
  type, bind(c) :: matrix
    integer(c_int64_t) :: x(2, 2)
  end type
  procedure(prif_operation_wrapper_interface), pointer :: op
  integer(c_int), target :: calls
  integer(c_int64_t) :: product_of_all(2, 2)
  integer :: k
  call begin()
  op => multiply
  product_of_all = reshape([1, 0, 0, 1], [2, 2])
  do k = 1, images
    product_of_all = matmul(product_of_all, of_image(k))
  end do
  call derived()
  call plain()
  call bytes()
  call sections()
  call mistakes()
  call finish()
contains
  function of_image(image) result(x)
    integer, intent(in) :: image
    integer(c_int64_t) :: x(2, 2)
    x = reshape([image, 1, 2, image - 2], [2, 2])
  end function

  subroutine derived()
    type(matrix) :: m(6)
    integer :: i
    do i = 1, 6
      m(i)%x = of_image(this)
    end do
    calls = 0
    call prif_co_reduce(m(1:6:2), op, c_loc(calls))
    do i = 1, 5, 2
      call expect(all(m(i)%x == product_of_all), 'co_reduce in the order of images')
      call expect(all(m(i + 1)%x == of_image(this)), 'co_reduce leaves what is between')
    end do
  end subroutine

  subroutine plain()
    type(matrix), target :: m(2)
    integer(c_int) :: stat
    m(1)%x = of_image(this)
    m(2)%x = of_image(this)
    calls = 0
    stat = 7
    call prif_co_reduce_cptr(c_loc(m), c_sizeof(m(1)), 2_c_size_t, op, c_loc(calls), &
      result_image=images, stat=stat)
    call expect(stat == 0, 'stat of co_reduce_cptr')
    if (this /= images) return
    call expect(all(m(1)%x == product_of_all) .and. all(m(2)%x == product_of_all), 'co_reduce_cptr')
  end subroutine

  subroutine bytes()
    character(len=11), target :: text
    text = 'nothing'
    if (this == images) text = 'from memory'
    call prif_co_broadcast_cptr(c_loc(text), 11_c_size_t, images)
    call expect(text == 'from memory', 'co_broadcast_cptr')
  end subroutine

  subroutine sections()
    real(c_double) :: x(3, 4)
    character(len=3) :: words(2)
    x = this
    call prif_co_sum(x(1:3:2, 2:4))
    call expect(all(x(1:3:2, 2:4) == images * (images + 1) / 2), 'co_sum of a section')
    call expect(all(x(2, :) == this) .and. all(x(:, 1) == this), 'co_sum leaves the rest')
    words = 'abc'
    if (this == images) words(2) = 'abd'
    call prif_co_max_character(words)
    call expect(words(1) == 'abc' .and. words(2) == 'abd', 'co_max_character')
    call prif_co_broadcast(x, source_image=1)
    call expect(all(x(2, :) == 1), 'co_broadcast')
  end subroutine

  subroutine mistakes()
    integer(c_int) :: x, stat
    logical :: l
    character(len=60) :: errmsg
    character(len=:), allocatable :: text
    x = 1
    stat = 0
    errmsg = ''
    call prif_co_sum(x, result_image=0, stat=stat, errmsg=errmsg)
    call expect(stat > 0 .and. index(errmsg, 'result_image is 0') > 0, 'result_image')
    call prif_co_broadcast(x, images + 1, stat=stat, errmsg_alloc=text)
    call expect(stat > 0 .and. index(text, 'source_image') > 0, 'source_image')
    op => null()
    stat = 0
    call prif_co_reduce(x, op, c_null_ptr, stat=stat, errmsg_alloc=text)
    call expect(stat > 0 .and. index(text, 'operation_wrapper') > 0, 'no operation')
    l = .true.
    stat = 0
    call prif_co_sum(l, stat=stat)
    call expect(stat > 0, 'a sum of logicals')
  end subroutine
end program
