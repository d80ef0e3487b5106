! SPDX-License-Identifier: BSD-3-Clause
! Scalars and array sections, in both directions, with conversion of type and kind.
! again: TOMBOLO_TEST_SHM=0 TOMBOLO_TEST_SHM_MAP=0
program transfer
  use check
  implicit none
  integer, parameter :: ext = selected_real_kind(18) ! 10, or 16 where the processor lacks that
  integer :: s[*], v(10)[*], w(-2:8)[*], m(4, 5)[*], index(3), rows(3), got(10), block(2, 3)
  integer, allocatable :: a(:, :)[:], none(:)[:]
  character(5) :: text[*]
  character(kind=4, len=4) :: wide[*]
  character(3) :: short
  character(7) :: long
  character(kind=4, len=3) :: wide_short
  real(8) :: real8
  real(4) :: real4[*]
  real(ext) :: real10[*]
  real(16) :: real16
  complex(8) :: z(1)[*] ! gfortran 12 breaks on complex scalars
  complex(4) :: z4
  logical(1) :: flag[*]
  logical(4) :: flag4
  integer(1) :: byte(3)[*]
  integer(8) :: large(3)
  integer :: me, images, right, left, i, j
  call neighbours(me, images, left, right)
  allocate (a(3, 4)[*], none(0)[*])
  call fill()
  sync all
  call reads()
  sync all
  call writes()
  sync all
  call written()
  sync all
  call between_images()
  sync all
  call finish()
contains
  subroutine fill()
    s = me
    v = [(100*me + i, i=1, 10)]
    w = [(1000*me + i, i=-2, 8)]
    do j = 1, 5
      do i = 1, 4
        m(i, j) = 1000*me + 10*i + j
      end do
    end do
    a = me
    text = 'abcde'
    wide = 4_'wxyz'
    real4 = 1.25*me
    real10 = 2.5_ext*me
    z = cmplx(me, -me, 8)
    flag = mod(me, 2) == 0
    byte = [1_1, -2_1, 3_1]
  end subroutine

  subroutine reads()
    index = [3, 1, 7]
    call expect(s[right] == right, 'scalar')
    got(1:3) = v(2:8:3)[right]
    call expect(all(got(1:3) == 100*right + [2, 5, 8]), 'stride')
    got(1:3) = v(8:2:-3)[right]
    call expect(all(got(1:3) == 100*right + [8, 5, 2]), 'negative stride')
    got(1:3) = v(index)[right]
    call expect(all(got(1:3) == 100*right + index), 'vector subscript')
    got(1:3) = w(index)[right]
    call expect(all(got(1:3) == 1000*right + index), 'vector subscript with a lower bound')
    block = m(2:4:2, 1:5:2)[right]
    call expect(all(block == 1000*right + reshape([21, 41, 23, 43, 25, 45], [2, 3])), '2-D section')
    rows = index - [0, 0, 4]
    got(1:3) = m(rows, 2)[right]
    call expect(all(got(1:3) == 1000*right + [32, 12, 32]), 'vector subscript in 2-D')
    got(1:10:3) = m(:, 2)[right]
    call expect(all(got(1:10:3) == 1000*right + [12, 22, 32, 42]), 'into a section')
    got = 7
    got(1:size(none)) = none(:)[right]
    call expect(all(got == 7), 'empty section')
    short = text[right]
    long = text[right]
    call expect(short == 'abc' .and. long == 'abcde  ', 'characters are cut and padded')
    wide_short = text[right]
    call expect(wide_short == 4_'abc', 'characters to another kind')
    short = wide[right]
    call expect(short == 'wxy', 'characters from another kind')
    real8 = real4[right]
    call expect(real8 == 1.25d0*right, 'real kinds')
    real16 = real10[right]
    call expect(real16 == 2.5_16*right, 'wide real kinds')
    i = int(real4[right])
    got(1) = real4[right]
    call expect(got(1) == int(1.25*right) .and. i == got(1), 'real to integer')
    z4 = z(1)[right]
    call expect(z4 == cmplx(right, -right), 'complex kinds')
    real8 = z(1)[right]
    call expect(real8 == right, 'complex to real')
    flag4 = flag[right]
    call expect(flag4 .eqv. (mod(right, 2) == 0), 'logical kinds')
    large = byte(:)[right]
    call expect(all(large == [1, -2, 3]), 'integer kinds')
    large = byte(2)[right]
    call expect(all(large == -2), 'scalar to array')
  end subroutine

  subroutine writes()
    v(2:8:3)[right] = [1, 2, 3]
    v(index)[right] = 9
    m(:, 3)[right] = 7
    m(1, 1:2)[right] = [1.9, 2.9]
    m(4:2:-2, 5)[right] = [5, 6]
    text[right] = 'xy'
    wide[right] = 'kl'
    real4[right] = 12
    z(1)[right] = 3
    a(2, :)[right] = -me
    a(3, 1:4:2)[right] = got(1)*0 + me
    byte(1:3:2)[right] = large(1:3:2)
    flag[right] = .true.
  end subroutine

  subroutine written()
    call expect(all(v([2, 5, 8]) == [1, 2, 3]), 'put stride')
    call expect(all(v(index) == 9), 'put vector subscript')
    call expect(v(4) == 100*me + 4 .and. v(10) == 100*me + 10, 'put touches nothing else')
    call expect(all(m(:, 3) == 7), 'put scalar to section')
    call expect(all(m(1, 1:2) == [1, 2]), 'put with conversion')
    call expect(m(4, 5) == 5 .and. m(2, 5) == 6, 'put negative stride')
    call expect(text == 'xy   ' .and. wide == 4_'kl  ', 'put characters')
    call expect(real4 == 12. .and. z(1) == (3d0, 0d0), 'put numbers')
    call expect(all(a(2, :) == -left) .and. all(a(3, 1:4:2) == left), 'put allocatable')
    call expect(all(byte == -2), 'put bytes')
    call expect(logical(flag), 'put logical')
  end subroutine

  subroutine between_images()
    integer :: third
    third = mod(right, images) + 1
    v = [(100*me + i, i=1, 10)]
    sync all
    if (me == 1) v(1:3)[right] = v(4:6)[third]
    sync all
    if (left == 1 .and. images > 1) then
      call expect(all(v(1:3) == 100*(mod(me, images) + 1) + [4, 5, 6]), 'between two images')
    end if
    sync all
    v = [(i, i=1, 10)]
    v(2:10)[me] = v(1:9)[me]
    call expect(all(v == [1, (i, i=1, 9)]), 'overlapping sections of one image')
  end subroutine
end program
