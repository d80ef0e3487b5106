! SPDX-License-Identifier: BSD-3-Clause
! SYNC IMAGES in trees, neighbours, stars.
! ranks: 1 3 8
program pairs
  implicit none
  integer :: x[*], me, n, i, s, k
  integer, allocatable :: all(:), nb(:)
  character(30) :: msg
  me = this_image(); n = num_images()
  x = 0
  sync all
  ! binary tree sum
  x = me
  k = 1
  sync all
  do while (k < n)
    if (mod(me-1, 2*k) == 0 .and. me+k <= n) then
      sync images (me+k)
      x = x + x[me+k]
      sync images (me+k)
    else if (mod(me-1, 2*k) == k) then
      sync images (me-k)
      sync images (me-k)
      exit
    end if
    k = 2*k
  end do
  if (me == 1 .and. x /= n*(n+1)/2) error stop 'tree'
  sync images (*)
  all = [(i, i=1,n)]
  sync images (all, stat=s, errmsg=msg)
  if (s /= 0) error stop 's'
  all = pack(all, all /= me)
  sync images (all)
  nb = pack([me-1, me+1], [me > 1, me < n])
  do i = 1, 100
    x = i
    sync images (nb)
    do k = 1, size(nb)
      if (x[nb(k)] /= i) error stop 'nb'
    end do
    sync images (nb)
  end do
  sync images (me)
  sync all ! images that are no neighbours may be some iterations apart
  if (me == 1) then
    x[n] = 77
    sync images (*)
  else
    sync images (1)
  end if
  if (me == n .and. x /= 77) error stop 'star'
end program
