! SPDX-License-Identifier: BSD-3-Clause
! Coindexed objects by accessors, as gfortran 15 and later have them: numbers, structures, components,
! transfers from image to image.
! ranks: 1 2 3 4 6
! again: TOMBOLO_TEST_SHM=0 TOMBOLO_TEST_SHM_MAP=0
! since: 15
program accessors
  use check
  implicit none
  type :: point
    integer :: id
    real(8) :: at(3)
    character(4) :: name
  end type
  type :: holder
    integer, allocatable :: one, list(:)
    real, allocatable :: plane(:, :)
  end type
  integer :: x(6)[*], k[*], cube(3, 4, 2)[*], flat(3, 4)[*], me, images, right, left, i
  integer, allocatable :: grows(:), plane(:, :), alive(:)[:]
  real, allocatable :: reals(:, :)
  type(point) :: p[*], ps(3)[*], q
  type(holder) :: h[*]
  type(holder), allocatable :: hs(:)[:]
  integer :: fixed(6), stat
  call neighbours(me, images, left, right)
  allocate (alive(-1:2)[*], hs(2)[*])
  call numbers()
  call structures()
  call allocated_components()
  call between()
  call errors()
  call finish()
contains
  subroutine numbers()
    x = [(10*me + i, i=1, 6)]
    k = me
    flat = 0
    cube = reshape([(1000*me + i, i=1, 24)], [3, 4, 2])
    alive = [(100*me + i, i=1, 4)]
    sync all
    fixed = x(:)[right]
    call expect(all(fixed == 10*right + [1, 2, 3, 4, 5, 6]), 'whole array')
    grows = x(2:4)[right]
    call expect(size(grows) == 3 .and. all(grows == 10*right + [2, 3, 4]), 'array that is allocated')
    grows = x(5:1:-2)[right]
    call expect(size(grows) == 3 .and. all(grows == 10*right + [5, 3, 1]), 'array of the same size')
    grows = x(1:k)[right]
    call expect(size(grows) == me, 'array of another size')
    plane = cube(1:3:2, 2:4, 2)[right]
    call expect(all(shape(plane) == [2, 3]), 'shape of a plane')
    call expect(all(plane == 1000*right + reshape([16, 18, 19, 21, 22, 24], [2, 3])), 'plane')
    call expect(k[right] == right .and. x(k)[right] == 10*right + me, 'scalars in an expression')
    call expect(sum(alive(:)[right]) == 400*right + 10, 'allocatable coarray')
    call expect(alive(-1)[right] == 100*right + 1, 'its first element')
    sync all
    x(1:3)[right] = [1, 2, 3]*me
    x(6)[right] = me
    flat(:, 2)[right] = me
    flat(1, :)[right] = [1.9, 2.9, 3.9, 4.9]
    cube(1:2, 2:3, 2)[right] = me
    alive(0:2)[right] = -me
    sync all
    call expect(all(x == [left, 2*left, 3*left, 10*me + 4, 10*me + 5, left]), 'puts')
    call expect(all(flat(2:3, 2) == left) .and. flat(2, 3) == 0, 'scalar to a column')
    call expect(all(flat(1, :) == [1, 2, 3, 4]), 'row with conversion')
    call expect(all(cube(1:2, 2:3, 2) == left) .and. cube(1, 1, 2) == 1000*me + 13, 'plane')
    call expect(all(alive == [100*me + 1, -left, -left, -left]), 'put to an allocatable coarray')
    sync all
  end subroutine

  subroutine structures()
    p = point(me, [1, 2, 3]*me, 'abcd')
    ps = [(point(10*me + i, [0, 0, i], 'x'), i=1, 3)]
    sync all
    q = p[right]
    call expect(q%id == right .and. all(q%at == [1, 2, 3]*right), 'structure')
    call expect(q%name == 'abcd', 'name of a structure')
    q = ps(2)[right]
    call expect(q%id == 10*right + 2, 'element')
    call expect(all(ps(:)[right]%id == 10*right + [1, 2, 3]), 'components of a section')
    call expect(p[right]%name == 'abcd' .and. p[right]%at(2) == 2*right, 'components')
    sync all
    ps(1:2)[right] = [point(7, [1, 1, 1], 'pq'), point(8, [2, 2, 2], 'rs')]
    p[right]%at(2:3) = [5, 6]
    sync all
    call expect(all(ps%id == [7, 8, 10*me + 3]) .and. ps(2)%name == 'rs', 'put of structures')
    call expect(all(p%at == [me, 5, 6]), 'put to a component')
    sync all
  end subroutine

  subroutine allocated_components()
    if (me == 1) then
      allocate (h%one, source=4)
      allocate (hs(2)%list(3), source=5)
      allocate (h%plane(2, me), source=1.5)
    end if
    sync all
    call expect(allocated(h[1]%one) .and. allocated(hs(2)[1]%list), 'allocated')
    call expect(.not. allocated(hs(1)[1]%list) .and. .not. allocated(hs(2)[1]%one), 'not allocated')
    if (images > 1) call expect(.not. allocated(h[2]%plane), 'not allocated there')
    call expect(h[1]%one == 4, 'value of a component')
    grows = hs(2)[1]%list
    call expect(size(grows) == 3 .and. all(grows == 5), 'values of a component')
    reals = h[1]%plane
    call expect(all(shape(reals) == [2, 1]) .and. all(reals == 1.5), 'shape of a component')
    sync all
    if (me == images) hs(2)[1]%list(2:3) = [8, 9]
    sync all
    if (me == 1) call expect(all(hs(2)%list == [5, 8, 9]), 'put to a component that is allocated')
    deallocate (alive)
    call expect(.not. allocated(alive), 'a coarray that was deallocated')
    allocate (alive(-1:2)[*])
  end subroutine

  subroutine between()
    x = [(10*me + i, i=1, 6)]
    k = me
    alive = me
    sync all
    if (me == 1) then
      k[images] = x(2)[right]
      x(1:2)[images] = x(5:6)[right]
      alive(0:1)[images] = x(3:4)[right]
      flat(:, 1)[images] = k[right]
    end if
    sync all
    if (me == images) then
      i = mod(1, images) + 1
      call expect(k == 10*i + 2 .and. all(x(1:2) == 10*i + [5, 6]), 'between images')
      call expect(all(alive(0:1) == 10*i + [3, 4]), 'to an allocatable coarray')
    end if
    sync all
  end subroutine

  subroutine errors()
    stat = 0
    k = x(1)[images + 1, stat=stat]
    call expect(stat /= 0, 'stat of a get')
    stat = 0
    x(1:2)[images + 1, stat=stat] = 4
    call expect(stat /= 0, 'stat of a put')
    x(1)[right, stat=stat] = 4
    call expect(stat == 0, 'stat of a put that goes well')
    sync all
  end subroutine
end program
