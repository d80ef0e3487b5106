! SPDX-License-Identifier: BSD-3-Clause
! Whole programs of coarray Fortran, as far as flang compiles it: pi, heat equation in teams, sort
! by sampling, matrix multiply, all moved by collectives.
program programs
  use check, me => this
  use, intrinsic :: iso_fortran_env, only: int64, real64, team_type
  implicit none
  integer :: n
  call begin()
  n = num_images()
  call pi()
  call heat()
  call sort()
  call multiply()
  call nested()
  sync all
  if (failed()) error stop 1
contains
  ! The midpoint rule, with the strips dealt out in turn.
  subroutine pi()
    integer, parameter :: strips = 20000
    real(real64) :: area, x
    integer :: i
    area = 0
    do i = me, strips, n
      x = (i - 0.5_real64)/strips
      area = area + 4/(1 + x*x)
    end do
    call co_sum(area)
    call expect(abs(area/strips - acos(-1._real64)) < 1e-8_real64, 'pi')
  end subroutine

  ! Odd and even images heat a rod of their own; each has a part, and sends its ends by co_sum.
  subroutine heat()
    integer, parameter :: cells = 8, steps = 400
    type(team_type) :: half
    real(real64) :: rod(0:cells + 1), next(cells), ends(2, 0:64), change
    integer :: i, mine, members, step
    form team (1 + mod(me, 2), half)
    change team (half)
      mine = this_image()
      members = num_images()
      rod = 0
      do step = 1, steps*members*members
        ends = 0
        ends(:, mine) = [rod(1), rod(cells)]
        call co_sum(ends(:, 1:members))
        rod(0) = merge(1._real64, ends(2, max(mine - 1, 0)), mine == 1)
        rod(cells + 1) = merge(0._real64, ends(1, min(mine + 1, members)), mine == members)
        do i = 1, cells
          next(i) = (rod(i - 1) + rod(i + 1))/2
        end do
        change = maxval(abs(next - rod(1:cells)))
        rod(1:cells) = next
        call co_max(change)
        if (change < 1e-9_real64) exit
      end do
      do i = 1, cells
        call expect(abs(rod(i) - (1 - ((mine - 1)*cells + i)/(members*cells + 1._real64))) &
          < 1e-4_real64, 'heat')
      end do
    end team
  end subroutine

  ! Each image gets the numbers of its range: counts and places are agreed by sums.
  subroutine sort()
    integer, parameter :: each = 50
    integer(int64) :: numbers(each), all_of(each*n), checksum
    integer :: i, counts(n), low, place
    do i = 1, each
      numbers(i) = mod(int(i, int64)*1103515245_int64 + me*12345_int64, 1000_int64)
    end do
    checksum = sum(numbers)
    all_of = 0
    all_of((me - 1)*each + 1:me*each) = numbers
    call co_sum(all_of)
    counts = 0
    do i = 1, n
      counts(i) = count(all_of >= 1000*(i - 1)/n .and. all_of < 1000*i/n)
    end do
    low = 1000*(me - 1)/n
    place = sum(counts(1:me - 1))
    call co_sum(checksum)
    block
      integer(int64) :: sorted(each*n), mine(counts(me))
      integer(int64) :: t
      integer :: k
      mine = pack(all_of, all_of >= low .and. all_of < 1000*me/n)
      do i = 2, counts(me)
        t = mine(i)
        k = i - 1
        do while (k >= 1)
          if (mine(k) <= t) exit
          mine(k + 1) = mine(k)
          k = k - 1
        end do
        mine(k + 1) = t
      end do
      sorted = 0
      sorted(place + 1:place + counts(me)) = mine
      call co_sum(sorted, result_image=n)
      if (me == n) then
        call expect(all(sorted(2:) >= sorted(:size(sorted) - 1)), 'order')
        call expect(sum(sorted) == checksum, 'sum of the sorted')
      end if
    end block
  end subroutine

  ! Columns in turn: each owner sends its column to all.
  subroutine multiply()
    integer, parameter :: m = 9
    real(real64) :: a(m, m), b(m, m), c(m, m), column(m)
    integer :: i, k
    a = reshape([(mod(i*7, 11), i=1, m*m)], [m, m])
    b = reshape([(mod(i*5, 13), i=1, m*m)], [m, m])
    c = 0
    do k = 1, m
      if (mod(k - 1, n) + 1 == me) column = a(:, k)
      call co_broadcast(column, mod(k - 1, n) + 1)
      do i = me, m, n
        c(:, i) = c(:, i) + column*b(k, i)
      end do
    end do
    call co_sum(c(:, m:1:-1))
    call expect(all(abs(c - matmul(a, b)) < 1e-9_real64), 'product')
  end subroutine

  ! Teams of teams, while the others stay where they are.
  recursive subroutine halves(depth)
    integer, intent(in) :: depth
    type(team_type) :: half
    integer :: total, members
    members = num_images()
    total = 1
    call co_sum(total)
    call expect(total == members, 'members')
    if (members == 1 .or. depth == 0) return
    form team (merge(1, 2, this_image() <= (members + 1)/2), half)
    if (team_number(half) == 1) then
      change team (half)
        call halves(depth - 1)
        call halves(depth - 1)
      end team
    end if
    sync all
  end subroutine
  subroutine nested()
    call halves(4)
  end subroutine
end program
