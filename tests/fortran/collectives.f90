! SPDX-License-Identifier: BSD-3-Clause
! Collective subroutines: types, kinds, ranks, sections, one result image.
! again: TOMBOLO_TEST_SHM=0
program collectives
  use check
  implicit none
  integer, parameter :: ext = selected_real_kind(18) ! 10, or 16 where the processor lacks that
  type :: pair
    integer :: i
    real(8) :: x(4)
  end type
  type :: triple
    real(8) :: x(3)
  end type
  integer :: me, images, i, total
  me = this_image()
  images = num_images()
  total = images*(images + 1)/2
  call sums()
  call extremes()
  call broadcasts()
  call reductions()
  call finish()
contains
  subroutine sums()
    integer(1) :: i1
    integer(2) :: i2
    integer(8) :: i8(3)
    integer(16) :: i16
    real(4) :: r4(2, 2)
    real(8) :: r8
    real(ext) :: r10(2), r10_bits(2)
    integer(2) :: bits(8, 2)
    equivalence (r10_bits, bits)
    real(16) :: r16
    complex(4) :: c4
    complex(8) :: c8(2)
    complex(ext) :: c10
    complex(16) :: c16
    integer :: section(9), stat
    character(20) :: message
    i1 = int(me, 1)
    call co_sum(i1)
    call expect(i1 == total, 'co_sum integer(1)')
    i2 = int(me, 2)
    call co_sum(i2)
    call expect(i2 == total, 'co_sum integer(2)')
    i8 = [me, 2*me, 3*me]
    call co_sum(i8)
    call expect(all(i8 == total*[1, 2, 3]), 'co_sum integer(8)')
    i16 = me
    call co_sum(i16)
    call expect(i16 == total, 'co_sum integer(16)')
    r4 = me
    call co_sum(r4, stat=stat, errmsg=message)
    call expect(all(r4 == total) .and. stat == 0, 'co_sum real(4)')
    r8 = me
    call co_sum(r8, result_image=images)
    if (me == images) call expect(r8 == total, 'co_sum on one image')
    r10 = me
    call co_sum(r10)
    call expect(all(r10 == total), 'co_sum real(ext)')
    bits = 16256 ! padding behind 10 bytes may be part of another number, as of a 1.0 of kind 4
    r10_bits = me
    call co_sum(r10_bits)
    call expect(all(r10_bits == total), 'co_sum real(ext), padding that looks like an exponent')
    r16 = me + 1/3.0_16
    call co_sum(r16)
    call expect(abs(r16 - total - images/3.0_16) < 1e-25_16, 'co_sum real(16)')
    c4 = cmplx(me, -me)
    call co_sum(c4)
    call expect(c4 == cmplx(total, -total), 'co_sum complex(4)')
    c8 = me
    call co_sum(c8)
    call expect(all(c8 == total), 'co_sum complex(8)')
    c10 = me
    call co_sum(c10)
    call expect(c10 == total, 'co_sum complex(ext)')
    c16 = me/3.0_16
    call co_sum(c16)
    call expect(abs(c16 - total/3.0_16) < 1e-25_16, 'co_sum complex(16)')
    section = me
    call co_sum(section(1:9:2))
    call expect(all(section(1:9:2) == total) .and. all(section(2:8:2) == me), 'co_sum of a section')
  end subroutine

  subroutine extremes()
    character(3) :: text(2)
    character(kind=4, len=2) :: wide
    real(8) :: x
    integer(1) :: small
    text = [character(3) :: char(96 + me)//'zz', 'k'//char(90 - me)//'q']
    call co_min(text)
    call expect(text(1) == 'azz' .and. text(2) == 'k'//char(90 - images)//'q', 'co_min character')
    wide = char(1000 + me, kind=4)//4_'x'
    call co_max(wide)
    call expect(wide == char(1000 + images, kind=4)//4_'x', 'co_max of characters of kind 4')
    x = -me
    call co_max(x)
    call expect(x == -1, 'co_max real')
    small = int(-me, 1)
    call co_min(small)
    call expect(small == -images, 'co_min integer(1)')
  end subroutine

  subroutine broadcasts()
    type(pair) :: p
    integer :: block(4, 4), big(5000)
    character(11) :: text
    p%i = me
    p%x = me*[1, 2, 3, 4]
    call co_broadcast(p, images)
    call expect(p%i == images .and. all(p%x == images*[1, 2, 3, 4]), 'co_broadcast derived type')
    block = me
    call co_broadcast(block(1:4:3, :), 1)
    call expect(all(block(1:4:3, :) == 1) .and. all(block(2:3, :) == me), 'co_broadcast section')
    big = me
    call co_broadcast(big, images)
    call expect(all(big == images), 'co_broadcast long')
    text = 'image '//char(48 + me)
    call co_broadcast(text, 1)
    call expect(text == 'image 1', 'co_broadcast character')
  end subroutine

  subroutine reductions()
    integer :: product, expected
    type(pair) :: p
    type(triple) :: t
    integer :: stat
    character(4) :: text
    logical :: every
    product = me
    expected = 1
    do i = 1, images
      expected = expected*i
    end do
    call co_reduce(product, times)
    call expect(product == expected, 'co_reduce integer')
    p%i = me
    p%x = me
    call co_reduce(p, add_pairs)
    call expect(p%i == total .and. all(p%x == total), 'co_reduce derived type')
    t%x = me
    call co_reduce(t, add_triples, stat=stat) ! ARM returns it in registers: refused
    call expect(stat /= 0 .or. all(t%x == total), 'co_reduce of a type of three reals')
    text = char(64 + me)
    call co_reduce(text, longer)
    call expect(text(1:1) == char(64 + images), 'co_reduce character')
    every = me < images
    call co_reduce(every, both)
    call expect(every .eqv. .false., 'co_reduce logical')
  end subroutine

  pure integer function times(x, y)
    integer, intent(in) :: x, y
    times = x*y
  end function

  pure function add_pairs(x, y) result(z)
    type(pair), intent(in) :: x, y
    type(pair) :: z
    z%i = x%i + y%i
    z%x = x%x + y%x
  end function

  pure function add_triples(x, y) result(z)
    type(triple), intent(in) :: x, y
    type(triple) :: z
    z%x = x%x + y%x
  end function

  pure function longer(x, y) result(z)
    character(4), intent(in) :: x, y
    character(4) :: z
    z = merge(x, y, x > y)
  end function

  pure logical function both(x, y)
    logical, intent(in) :: x, y
    both = x .and. y
  end function
end program
