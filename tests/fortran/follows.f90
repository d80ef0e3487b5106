! SPDX-License-Identifier: BSD-3-Clause
! Many accesses of allocatable and pointer components of another image: the library finds out which
! addresses in a structure they follow, and makes those here that lead to a coarray's memory. Values,
! shapes, targets and subscripts change between them.
! ranks: 2 3
! again: TOMBOLO_TEST_SHM=0 TOMBOLO_PLACES=cyclic:2
! since: 15
program follows
  use check
  implicit none
  integer, parameter :: many = 300
  type :: leaf
    integer, allocatable :: e(:)
  end type
  type :: holder
    integer :: a
    integer, allocatable :: d(:)
    real(8), allocatable :: one
    integer, pointer :: p
    type(leaf) :: list(3)
    type(leaf), allocatable :: deep(:)
  end type
  type :: pointing
    integer :: id
    integer, pointer :: p
  end type
  type :: hand
    integer :: id
    type(pointing) :: finger(0:4)
    integer :: last
  end type
  type :: far
    type(pointing), pointer :: in
  end type
  type(pointing) :: row(5)[*]
  type(pointing), allocatable :: band(:)[:]
  type(hand) :: both(2)[*], single[*]
  type(leaf) :: grid(2, 3)[*]
  type(far) :: deep(4)[*], lone[*]
  type(pointing), target :: room(4)[*], elsewhere(4)
  type(holder) :: h[*]
  type(leaf) :: few(4)[*]
  integer, target :: outside(many), inside(2)[*]
  integer :: me, images, right, left, i, k, low, got(8)
  real(8) :: number

  me = this_image()
  images = num_images()
  right = mod(me, images) + 1
  left = mod(me - 2 + images, images) + 1
  h%a = me
  allocate (h%d(8), h%one, h%deep(2))
  do k = 1, 3
    allocate (h%list(k)%e(k))
    h%list(k)%e = 10 * me + k
  end do
  do k = 1, 4
    allocate (few(k)%e(2))
    few(k)%e = 100 * me + k
  end do
  do k = 1, 2
    allocate (h%deep(k)%e(3))
    h%deep(k)%e = 1000 * me + k
  end do
  h%d = [(me * k, k=1, 8)]
  h%one = me
  outside = [(7 * me + k, k=1, many)]
  inside = [5 * me, 6 * me]
  do k = 1, 5
    row(k)%p => outside(k)
    if (mod(k, 2) == 1) row(k)%p => inside(1)
  end do
  do k = 1, 6
    allocate (grid(2 - mod(k, 2), (k + 1) / 2)%e(2), source=50 * me + k)
  end do
  lone%in => room(4)
  lone%in%p => inside(2)
  do k = 1, 4
    deep(k)%in => elsewhere(k)
    if (k /= 3) deep(k)%in => room(k)
    deep(k)%in%id = k
    deep(k)%in%p => outside(k)
    if (k < 3) deep(k)%in%p => inside(k)
  end do
  lone%in%p => inside(2)
  h%p => outside(1)
  do k = 0, 4
    single%finger(k)%p => inside(1 + mod(k, 2))
    both(1)%finger(k)%p => inside(1 + mod(k, 2))
    both(2)%finger(k)%p => outside(k + 1)
  end do
  single%finger(3)%p => outside(1)
  sync all

  do i = 1, many
    k = mod(i, 8) + 1
    call expect(h[right]%d(k) == right * k, 'an element')
    got = h[right]%d
    call expect(all(got == [(right * k, k=1, 8)]), 'an array')
    got(1:4) = h[right]%d(2:8:2)
    call expect(all(got(1:4) == [(right * k, k=2, 8, 2)]), 'a section')
    number = h[right]%one
    call expect(number == right, 'a scalar')
    call expect(h[right]%p == 7 * right + 1, 'a target elsewhere')
    call expect(h[right]%deep(2)%e(3) == 1000 * right + 2, 'a component of a component')
    k = merge(1, mod(i, 5) + 1, i < 100)
    call expect(row(k)[right]%p == merge(5 * right, 7 * right + k, mod(k, 2) == 1), 'a target of a row')
    k = mod(i, 6) + 1
    call expect(grid(2 - mod(k, 2), (k + 1) / 2)[right]%e(1) == 50 * right + k, 'an element of a grid')
    k = mod(i, 3) + 1
    call expect(grid(2, k)[right]%e(2) == 50 * right + 2 * k, 'an element of a row of a grid')
    k = merge(mod(i, 2), mod(i, 4), i < 200) + 1
    number = deep(k)[right]%in%p
    call expect(number == merge((4 + k) * right, merge(6, 7, k == 4) * right + mod(k, 4), k < 3), 'a target behind a component')
    call expect(deep(k)[right]%in%id == k, 'a number behind a component')
    call expect(lone[right]%in%p == 6 * right, 'the only target behind a component')
    k = merge(1, 2 + mod(i, 2), i < 200)
    call expect(h[right]%list(k)%e(k) == 10 * right + k, 'another component by its subscript')
    k = mod(i, 4) + 1
    call expect(few(k)[right]%e(2) == 100 * right + k, 'an element of an array')
  end do

  ! Always the same element, whose target moves, and elements that look so for long.
  do low = 1, 2
    if (low == 2) row(3)%p => outside(3)
    sync all
    do i = 1, many
      k = mod(i, 2) + 1
      call expect(row(2)[right]%p == 7 * right + 2, 'a fixed target elsewhere')
      call expect(row(3)[right]%p == merge(5 * right, 7 * right + 3, low == 1), 'a fixed target')
      call expect(few(3)[right]%e(k) == 100 * right + 3, 'an element of a fixed element')
      call expect(grid(2, 1)[right]%e(k) == 50 * right + 2, 'an element of a fixed one of a grid')
      call expect(row(1 + i / 200)[right]%p == merge(5, 7, i < 200) * right + merge(0, 2, i < 200), &
                  'a target by a quotient')
    end do
    sync all
  end do

  row(3)%p => inside(1)
  sync all
  ! Two subscripts; a product, whose factors look like two while both are 1.
  do i = 1, many
    k = merge(2, mod(i, 2) + 1, i < 150)
    low = merge(1, mod(i/2, 3) + 1, i < 150)
    call expect(grid(k, low)[right]%e(1) == 50*right + 2*low + k - 2, 'an element of a grid by two')
    number = both(k)[right]%finger(low)%p
    call expect(number == merge((5 + mod(low, 2))*right, 7*right + low + 1, k == 1), &
                'a component of an element by two')
    k = merge(1, mod(i, 2) + 1, i < 150)
    low = merge(1, mod(i/2, 2) + 1, i < 150)
    call expect(row(k*low)[right]%p == merge(5*right, 7*right + k*low, mod(k*low, 2) == 1), &
                'a target by a product')
  end do

  ! An array of components, of which one points elsewhere; of elements, too.
  do i = 1, many
    k = merge(1 + mod(i, 2), mod(i, 5), i < 100)
    call expect(single[right]%finger(k)%p == merge(7 * right + 1, (5 + mod(k, 2)) * right, k == 3), &
                'a target of a component')
    call expect(single[right]%finger(4 - k)%p == merge(7 * right + 1, (5 + mod(k, 2)) * right, k == 1), &
                'a target of a component from the end')
    call expect(single[right]%finger(i / 61)%p == &
                merge(7 * right + 1, (5 + mod(i / 61, 2)) * right, i / 61 == 3), &
                'a target of a component by a quotient')
    call expect(both(1)[right]%finger(k)%p == (5 + mod(k, 2)) * right, 'a component of a fixed element')
    call expect(both(2 - mod(i, 2))[right]%finger(k)%p == &
                merge((5 + mod(k, 2)) * right, 7 * right + k + 1, mod(i, 2) == 1), &
                'a component of an element')
    k = 1 + mod(i, 3)
    call expect(h[right]%list(k)%e(1) == 10 * right + k, 'a component of a component by its subscript')
  end do

  ! The bounds of an array change, and so the elements that a number and a subscript name.
  do low = 1, -1, -2
    allocate (band(low:low + 4)[*])
    do k = low, low + 4
      band(k)%p => outside(k - low + 1)
    end do
    band(low + 2)%p => inside(1)
    sync all
    do i = 1, many
      call expect(band(3)[right]%p == merge(5 * right, 7 * right + 5, low == 1), 'a fixed target of a band')
      k = merge(3, low + mod(i, 5), i < 100 .or. low < 1)
      call expect(band(k)[right]%p == merge(5 * right, 7 * right + k - low + 1, k == low + 2), &
                  'a target of a band')
    end do
    sync all
    deallocate (band)
  end do

  ! The target is in a coarray, and then elsewhere again.
  sync all
  lone%in%p => outside(3)
  inside = 3 * me
  h%p => inside(2)
  sync all
  do i = 1, many
    call expect(h[right]%p == 3 * right, 'a target in a coarray')
    call expect(lone[right]%in%p == 7 * right + 3, 'the only target elsewhere')
  end do

  ! The memory of a component moves, its shape changes.
  sync all
  deallocate (h%d)
  allocate (h%d(-1:4))
  h%d = [(50 * me + k, k=-1, 4)]
  h%p => outside(2)
  sync all
  do i = 1, many
    k = mod(i, 6) - 1
    call expect(h[right]%d(k) == 50 * right + k, 'an element after the move')
    call expect(h[right]%p == 7 * right + 2, 'the next target')
  end do
  sync all

  do i = 1, many
    k = mod(i, 6) - 1
    h[right]%d(k) = i
    h[right]%one = i
    h[right]%p = -i
    h[right]%d(3:4) = [2 * i, 3 * i]
    call expect(h[right]%d(3) == 2 * i, 'what was put')
  end do
  sync all
  call expect(h%one == many .and. outside(2) == -many, 'scalars that were put')
  call expect(h%d(4) == 3 * many .and. h%d(-1) == many, 'elements that were put')
  call expect(outside(1) == 7 * me + 1, 'a target that was not')
  call expect(.not. allocated(h[left]%d) .eqv. .false., 'allocated')
  call finish
end program
