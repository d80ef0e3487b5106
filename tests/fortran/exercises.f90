! SPDX-License-Identifier: BSD-3-Clause
! Course exercises: odd-even sort, prefix sum, game of life.
! ranks: 1 3 8
program exercises
  implicit none
  integer, parameter :: m = 16
  integer :: v(m)[*], tmp(2*m), me, n, ph, partner, i, j, k, t
  integer :: scan[*], old
  logical :: life(0:9,0:9)[*], nxt(8,8)
  me = this_image(); n = num_images()
  do i = 1, m
    v(i) = mod((i*7+me*13)*31, 101)
  end do
  call sort(v)
  sync all
  do ph = 1, n
    partner = me + merge(1,-1, mod(me+ph,2)==0)
    if (partner >= 1 .and. partner <= n) then
      tmp(1:m) = v
      tmp(m+1:) = v(:)[partner]
    end if
    sync all
    if (partner >= 1 .and. partner <= n) then
      call sort(tmp)
      if (partner > me) then
        v = tmp(1:m)
      else
        v = tmp(m+1:)
      end if
    end if
    sync all
  end do
  do i = 2, m
    if (v(i) < v(i-1)) error stop 'local order'
  end do
  if (me < n) then
    if (v(m) > v(1)[me+1]) error stop 'global order'
  end if
  ! prefix sum
  scan = me
  k = 1
  do while (k < n)
    sync all
    old = 0
    if (me > k) old = scan[me-k]
    sync all
    scan = scan + old
    k = 2*k
  end do
  if (scan /= me*(me+1)/2) error stop 'scan'
  ! life, ring of images in the second dimension
  life = .false.
  if (me == 1) life(3:5,4) = .true.
  do t = 1, 4
    sync all
    life(:,0) = life(:,8)[mod(me-2+n,n)+1]
    life(:,9) = life(:,1)[mod(me,n)+1]
    do j = 1, 8
      do i = 1, 8
        k = count(life(i-1:i+1,j-1:j+1)) - merge(1,0,life(i,j))
        nxt(i,j) = k == 3 .or. (life(i,j) .and. k == 2)
      end do
    end do
    sync all
    life(1:8,1:8) = nxt
  end do
  k = count(life(1:8,1:8))
  call co_sum(k)
  if (k /= 3) error stop 'life'
contains
  subroutine sort(a)
    integer, intent(inout) :: a(:)
    integer :: i, j, x
    do i = 2, size(a)
      x = a(i); j = i-1
      do while (j >= 1)
        if (a(j) <= x) exit
        a(j+1) = a(j); j = j-1
      end do
      a(j+1) = x
    end do
  end subroutine
end program
