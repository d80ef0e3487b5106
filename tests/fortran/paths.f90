! SPDX-License-Identifier: BSD-3-Clause
! Subscripts choose which address of another image an accessor follows: up to four of them, in large
! arrays and large structures, by expressions, of 4 and 8 bytes, in arrays of another shape. Then such accesses are
! made while all others compute and serve none, and so need nothing of them: on one host.
! ranks: 2
! env: TOMBOLO_PROGRESS_SHARE=0
! since: 15
program paths
  use check
  implicit none
  integer, parameter :: many = 300
  integer(8), parameter :: seconds = 20
  type :: cell
    integer :: id
    integer, allocatable :: a(:)
  end type
  type :: house
    real(8) :: plan(300)
    type(cell) :: room(8, 3)
  end type
  type :: pointing
    integer :: id
    integer, pointer :: p
  end type
  type :: hand
    type(pointing) :: finger(0:1, 3)
  end type
  type(hand) :: palm[*]
  type(cell) :: row(200)[*], cube(2, 3, 4)[*]
  type(cell), allocatable :: field(:, :)[:]
  type(cell) :: square(-1:1, -1:1)[*]
  type(house) :: town(2, 2)[*], lone[*]
  type(pointing) :: line(1000)[*], long(150000)[*]
  type(pointing), allocatable :: grid(:, :)[:]
  integer, target :: inside(2)[*], outside(1000)
  integer, volatile :: flag[*]
  integer :: me, other, i, j, k, l, m, n, shape, places, checked
  integer(8) :: k8, j8, n8, m8
  integer(8) :: begin, now, rate

  me = this_image()
  other = mod(me, num_images()) + 1
  call get_environment_variable('TOMBOLO_PLACES', length=places)
  call get_environment_variable('ASAN_OPTIONS', length=checked)
  flag = 0
  inside = [5 * me, 6 * me]
  outside = [(1000 * me + k, k=1, 1000)]
  do k = 1, 200
    if (k /= 150) allocate (row(k)%a(3), source=10 * me + k)
  end do
  do k = 0, 23
    allocate (cube(1 + mod(k, 2), 1 + mod(k / 2, 3), 1 + k / 6)%a(2), source=100 * me + k)
  end do
  allocate (field(-2:9, 20)[*])
  do j = 1, 20
    do i = -2, 9
      allocate (field(i, j)%a(2), source=me * 1000 + 20 * i + j)
    end do
  end do
  do j = -1, 1
    do i = -1, 1
      allocate (square(i, j)%a(2), source=me * 100 + 10 * i + j)
    end do
  end do
  do k = 1, size(long)
    long(k)%p => inside(1 + mod(k, 2))
  end do
  lone%plan = 0.5
  town(1, 1)%plan = 0.5
  town(2, 1)%plan = 0.5
  town(1, 2)%plan = 0.5
  town(2, 2)%plan = 0.5
  do l = 1, 3
    do k = 1, 8
      allocate (lone%room(k, l)%a(2), source=me * 50 + 10 * l + k)
      do j = 1, 4
        allocate (town(1 + mod(j, 2), 1 + (j - 1) / 2)%room(k, l)%a(2), source=me * 500 + 100 * j + 10 * l + k)
      end do
    end do
  end do
  do k = 1, 3
    palm%finger(0, k)%p => inside(1)
    palm%finger(1, k)%p => inside(2)
  end do
  palm%finger(0, 1)%p => outside(1)
  do k = 1, 1000
    line(k)%p => inside(1 + mod(k, 2))
    if (k == 777) line(k)%p => outside(k)
  end do
  sync all

  do i = 1, many
    call near(i)
    k = merge(1 + mod(i, 700), 777, mod(i, 10) > 0)
    call expect(line(k)[other]%p == merge(1000 * other + k, (5 + mod(k, 2)) * other, k == 777), 'a target of a line')
    call expect(line(1 + i / 90)[other]%p == (5 + mod(1 + i / 90, 2)) * other, 'a target by a quotient')
    j = merge(1, 1 + mod(i, 5), i < 200)
    k = merge(1, 1 + mod(i, 7), i < 200)
    l = merge(3, 1 + mod(i, 3), i < 200)
    n = merge(1, mod(i, 2), i < 200)
    m = merge(1, mod(i / 2, 2), i < 200)
    call expect(palm[other]%finger(n * m, l)%p == &
                merge(1000 * other + 1, (5 + n * m) * other, n * m == 0 .and. l == 1), 'a target by a product and another')
    n = merge(0, mod(i, 2), i < 200)
    m = merge(0, mod(i / 2, 2), i < 200)
    call expect(palm[other]%finger(1 - n * m, l)%p == &
                merge(1000 * other + 1, (6 - n * m) * other, n * m == 1 .and. l == 1), 'a target by a product that was 0')
    call expect(line(k * j)[other]%p == (5 + mod(k * j, 2)) * other, 'a target by a product')
    k8 = k
    j8 = j
    call expect(line(k8 * j8)[other]%p == (5 + mod(k * j, 2)) * other, 'a target by a product of 8 bytes')
    n8 = n
    m8 = m
    call expect(palm[other]%finger(1 - n8 * m8, l)%p == &
                merge(1000 * other + 1, (6 - n * m) * other, n * m == 1 .and. l == 1), 'a product of 8 bytes that was 0')
    call expect(palm[other]%finger(1 - n8 * m, l)%p == &
                merge(1000 * other + 1, (6 - n * m) * other, n * m == 1 .and. l == 1), 'a product of 8 and 4 bytes')
    k = merge(mod(i, 2) - 1, mod(i, 3) - 1, i < 200)
    j = merge(k, mod(i / 3, 3) - 1, i < 200)
    call expect(square(k, j)[other]%a(2) == 100 * other + 10 * k + j, 'two subscripts that look like one')
    k = merge(1, mod(i, 3) - 1, i < 200)
    j = merge(0, mod(i / 3, 3) - 1, i < 200)
    call expect(square(k, j)[other]%a(1) == 100 * other + 10 * k + j, 'two subscripts, one of them 0')
  end do
  sync all

  ! Two shapes with equal sizes and offsets. An element is elsewhere, and another one in each.
  do shape = 1, 2
    if (shape == 1) allocate (grid(1:4, 1:6)[*])
    if (shape == 2) allocate (grid(-1:4, 1:4)[*])
    do j = 1, 4
      do i = 1, 4
        grid(i, j)%p => inside(1 + mod(i + j, 2))
      end do
    end do
    grid(2, 3)%p => outside(23)
    sync all
    do i = 1, many
      j = merge(1 + mod(i, 4), merge(1, 3, shape == 1), i > 150)
      k = merge(2, 1 + mod(i, 3), mod(i, 5) == 0)
      call expect(grid(k, j)[other]%p == merge(1000 * other + 23, (5 + mod(k + j, 2)) * other, k == 2 .and. j == 3), &
                  'a target of a grid')
    end do
    sync all
    deallocate (grid)
  end do

  ! A message to an image that computes has no answer; AddressSanitizer ends what an accessor is tried with.
  if (places > 0 .or. checked > 0) then
    flag = 1
  else if (me > 1) then
    call system_clock(begin, rate)
    now = begin
    do while (flag == 0 .and. now - begin < seconds * rate)
      call system_clock(now)
    end do
    call expect(flag == 1, 'accesses of an image that computes')
  else
    do i = 1, many
      call near(i)
    end do
    do k = 2, num_images()
      flag[k] = 1
    end do
  end if
  sync all
  call expect(row(3)%a(2) == many, 'what was put')
  call expect(cube(1, 2, 3)%a(2) == many, 'what was put into a cube')
  call finish

contains

  ! Accesses that this image makes itself, once it has tried them.
  subroutine near(i)
    integer, intent(in) :: i
    integer :: k, l, m, n
    integer :: two(2)
    do m = 1, 5 ! a large coarray: the trial comes after 1024 accesses
      k = 1 + mod(7919 * i * m, size(long))
      call expect(long(k)[other]%p == (5 + mod(k, 2)) * other, 'a target of a long line')
    end do
    k = 1 + mod(7 * i, 149)
    call expect(row(k)[other]%a(1) == 10 * other + k, 'an element of a row')
    call expect(row(150 - k)[other]%a(1) == 10 * other + 150 - k, 'an element from the end')
    call expect(row(1 + mod(i, 64))[other]%a(3) == 10 * other + 1 + mod(i, 64), 'an element by a function')
    k = 1 + mod(i, 2)
    l = 1 + mod(i, 3)
    m = 1 + mod(i, 4)
    n = 1 + mod(i, 8)
    call expect(cube(k, l, m)[other]%a(1) == 100 * other + k - 1 + 2 * (l - 1) + 6 * (m - 1), 'an element of a cube')
    call expect(cube(3 - k, l, 1 + mod(i + 1, 4))[other]%a(1) == &
                100 * other + 2 - k + 2 * (l - 1) + 6 * mod(i + 1, 4), 'an element of a cube by expressions')
    two = field(mod(i, 12) - 2, 2 * m)[other]%a
    call expect(all(two == other * 1000 + 20 * (mod(i, 12) - 2) + 2 * m), 'a component of a field')
    call expect(lone[other]%room(n, l)%a(2) == other * 50 + 10 * l + n, 'a room of a large structure')
    call expect(town(k, 3 - k)[other]%room(n, l)%a(2) == &
                other * 500 + 100 * merge(4, 1, k == 1) + 10 * l + n, 'a room of a town')
    call near8(int(i, 8))
    row(3)[other]%a(2) = i
    cube(1, 2, 3)[other]%a(2) = i
    row(2 + k)[other]%a(2) = i
  end subroutine

  ! The same with subscripts of 8 bytes, also negative ones and beside others of 4.
  subroutine near8(i)
    integer(8), intent(in) :: i
    integer(8) :: k, l, m, n
    integer :: l4
    k = 1 + mod(7 * i, 149_8)
    n = 1 + 2 * mod(i, 2_8)
    call expect(row(k)[other]%a(n) == 10 * other + k, 'an element of a row, 8 bytes')
    call expect(row(150 - k)[other]%a(1) == 10 * other + 150 - k, 'an element from the end, 8 bytes')
    k = 1 + mod(i, 2_8)
    l = 1 + mod(i, 3_8)
    l4 = int(l)
    m = 1 + mod(i, 4_8)
    n = 1 + mod(i, 8_8)
    call expect(cube(k, l4, m)[other]%a(k) == 100 * other + k - 1 + 2 * (l - 1) + 6 * (m - 1), &
                'an element of a cube, 8 and 4 bytes')
    k = mod(i, 12_8) - 2
    call expect(field(k, 2 * m)[other]%a(2) == other * 1000 + 20 * k + 2 * m, 'a component of a field, 8 bytes')
    k = mod(i, 3_8) - 1
    l4 = int(mod(i / 3, 3_8)) - 1
    call expect(square(k, l4)[other]%a(1) == 100 * other + 10 * k + l4, 'an element of a square, 8 and 4 bytes')
    call expect(square(l4, -k)[other]%a(2) == 100 * other + 10 * l4 - k, 'an element of a square, 4 and 8 bytes')
    call expect(lone[other]%room(n, l)%a(2) == other * 50 + 10 * l + n, 'a room of a large structure, 8 bytes')
    row(4 + l)[other]%a(n - n + 2) = int(i)
  end subroutine
end program
