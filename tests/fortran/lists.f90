! SPDX-License-Identifier: BSD-3-Clause
! Pointer and allocatable components that change from image to image.
! ranks: 1 3 8
module d
  type node
    integer :: val = 0
    type(node), pointer :: next => null()
  end type
  type box
    type(node), pointer :: head => null()
    integer, allocatable :: data(:)
    character(:), allocatable :: name
    real, allocatable :: s
  end type
  type(box), save :: b[*]
end module
program lists
  use d
  implicit none
  integer :: me, n, r, i
  type(node), pointer :: p
  integer, allocatable :: c(:)
  real :: z
  me = this_image(); n = num_images(); r = mod(me,n)+1
  b%data = [(i*me,i=1,me+1)]
  allocate(b%s); b%s = me
  do i = 1, 3
    allocate(p); p%val = i*me; p%next => b%head; b%head => p
  end do
  sync all
  c = b[r]%data
  if (size(c) /= r+1 .or. c(2) /= 2*r) error stop 'data'
  if (.not. allocated(b[r]%data)) error stop 'alloc'
  z = b[r]%s
  if (z /= r) error stop 's'
  sync all
  b%data = [b%data, 99]
  sync all
  if (b[r]%data(r+2) /= 99) error stop 'grown'
  sync all
  if (me == 1) deallocate(b%s)
  sync all
  if (allocated(b[1]%s)) error stop 'dealloc'
  if (n > 1) then
    if (.not. allocated(b[2]%s)) error stop 'dealloc 2'
  end if
end program
