! SPDX-License-Identifier: BSD-3-Clause
! Accesses of image 2 that need nothing of it: it makes no coarray statement meanwhile. In the second run
! no thread serves, so an access by a message never ends. Each kind of access is made often before, as
! accessors of structures are tried first.
! ranks: 2 3
! again: TOMBOLO_PROGRESS_SHARE=0
! since: 15
program alone
  use iso_fortran_env, only: event_type
  use tombolo_caf
  use check
  implicit none
  integer, parameter :: often = 80, limit_s = 20
  type :: leaf
    integer :: before
    real(8), allocatable :: e(:)
    integer :: after
  end type
  type :: branch
    type(leaf), allocatable :: one
    integer, allocatable :: other(:)
  end type
  type :: tree
    integer :: id
    type(branch), allocatable :: near
    type(leaf) :: own
  end type
  type(tree) :: trees[*]
  type(leaf) :: leaves(7)[*]
  integer, volatile :: go[*]
  integer(8) :: word[*], number
  real(8) :: block(64)[*], square(16, 16)[*], few(8, 8)
  character(20) :: text[*], texts(4)[*], own, four(4)
  integer :: i, stat, posts
  integer(8) :: before(4)[*], watched[*], between(8)[*], all8(8)[*], after(4)[*], eight(8)
  type(event_type) :: of_watched[*], of_all8[*]
  go = 0
  word = 0
  block = 0
  square = 0
  text = ''
  texts = ''
  watched = 0
  all8 = 0
  call plant()
  sync all
  if (this_image() == 1) then
    do i = 1, often
      call with_stat(i)
      call others(i)
    end do
    do i = 1, 2*often ! puts are tried, then gets
      call components(i)
    end do
  end if
  sync all
  if (this_image() == 1) then
    call with_stat(often + 1)
    call others(often + 1)
    do i = 1, 7
      call components(i)
    end do
    go[2] = 1
  else if (this_image() == 2) then
    call wait_for_go()
    call expect(word == often + 1 .and. all(block(1:8) == often + 1) .and. block(9) == 0, 'STAT=')
    call expect(all(square(3:10, 5:12) == often + 1) .and. sum(square) == 64*(often + 1), 'a block')
    call expect(all(texts == ['ab', 'bc', 'cd', 'de']) .and. text == 'a text', 'texts')
    call expect(all([(leaves(i)%e(2) == i, i=1, 7)]), 'components of elements')
    call expect(trees%near%one%e(3) == 21 .and. trees%near%other(2) == 14, 'components of components')
    call expect(trees%own%e(1) == -7 .and. trees%near%one%after == 5, 'components')
  end if
  sync all
  if (this_image() == 2) then
    call event_attach(loc(of_watched), watched)
    call event_attach(loc(of_all8), all8)
    go = 0
  end if
  sync all
  if (this_image() == 1) then
    do i = 1, often
      call beside_events(i)
    end do
    go[2] = 1
  else if (this_image() == 2) then
    call wait_for_go()
    call expect(watched == often .and. all(all8 == often), 'what posts events')
    call expect(all(before == often) .and. all(between == often) .and. all(after == often), 'others')
    call event_query(of_watched, posts)
    call expect(posts == often, 'posts of a scalar')
    call event_query(of_all8, posts)
    call expect(posts == 2*often, 'posts of an array')
  end if
  sync all
  call finish()
contains
  ! Image 2 has no coarray statement here.
  subroutine wait_for_go()
    integer(8) :: begin, now, rate
    call system_clock(begin, rate)
    now = begin
    do while (go == 0 .and. now - begin < limit_s*rate)
      call system_clock(now)
    end do
    call expect(go == 1, 'image 1 waits for image 2')
  end subroutine

  subroutine plant()
    integer :: k
    allocate (trees%near)
    allocate (trees%near%one)
    allocate (trees%near%one%e(4), source=[1d0, 2d0, 3d0, 4d0])
    allocate (trees%near%other(2), source=6)
    allocate (trees%own%e(2), source=8d0)
    trees%near%one%after = 5
    do k = 1, 7
      allocate (leaves(k)%e(3), source=10d0*k)
    end do
  end subroutine

  ! Components of an element, and of an allocatable component.
  subroutine components(i)
    integer, intent(in) :: i
    integer :: k, n
    real(8) :: x
    k = mod(i - 1, 7) + 1
    leaves(k)[2]%e(2) = k
    x = leaves(k)[2]%e(2)
    call expect(x == k, 'a component of an element')
    x = leaves(k)[2]%e(mod(i, 2)*2 + 1)
    call expect(x == 10*k, 'another component of an element')
    trees[2]%near%one%e(3) = 3*k
    x = trees[2]%near%one%e(3)
    call expect(x == 3*k, 'a component of a component of a component')
    trees[2]%near%other(2) = 2*k
    n = trees[2]%near%other(2)
    call expect(n == 2*k, 'a component of a component')
    trees[2]%own%e(1) = -k
    x = trees[2]%own%e(1)
    call expect(x == -k, 'a component')
    n = trees[2]%near%one%after
    call expect(n == 5, 'a number in a component of a component')
  end subroutine

  subroutine with_stat(i)
    integer, intent(in) :: i
    stat = 7
    word[2, stat=stat] = i
    call expect(stat == 0, 'STAT= of a put')
    stat = 7
    number = word[2, stat=stat]
    call expect(stat == 0 .and. number == i, 'STAT= of a get')
    stat = 7
    few(:, 1) = i
    block(1:8)[2, stat=stat] = few(:, 1)
    call expect(stat == 0, 'STAT= of a put of an array')
    few = 0
    stat = 7
    few(:, 2) = block(1:8)[2, stat=stat]
    call expect(stat == 0 .and. all(few(:, 2) == i), 'STAT= of a get of an array')
  end subroutine

  ! Events are attached to all of a scalar, and to all of an array.
  subroutine beside_events(i)
    integer, intent(in) :: i
    eight = i
    before(:)[2] = eight(1:4)
    watched[2] = i
    between(:)[2] = eight
    all8(:)[2] = eight
    eight(2:8:3) = i
    all8(:)[2] = eight(8:1:-1)
    after(4)[2] = i
    after(1:3)[2] = eight(1:3)
  end subroutine

  subroutine others(i)
    integer, intent(in) :: i
    few = i
    square(3:10, 5:12)[2] = few
    few = 0
    few = square(3:10, 5:12)[2]
    call expect(all(few == i), 'a block that was put')
    four = ['ab', 'bc', 'cd', 'de']
    texts(:)[2] = four
    four = ''
    four = texts(:)[2]
    call expect(all(four == ['ab', 'bc', 'cd', 'de']), 'texts that were put')
    text[2] = 'a text'
    own = 'another'
    own = text[2]
    call expect(own == 'a text', 'a text that was put')
  end subroutine
end program
