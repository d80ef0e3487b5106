! SPDX-License-Identifier: BSD-3-Clause
! Random sections, written, read and moved between images, against a serial model on each image.
! The seed is the argument, else the time; it is printed when a check fails.
! again: TOMBOLO_TEST_SHM=0 TOMBOLO_TEST_SHM_MAP=0
program random
  use check
  implicit none
  integer, parameter :: n1 = 17, n2 = 11, n3 = 5, steps = 120
  integer :: a(n1, n2, n3)[*], model(n1, n2, n3), box(n1, n2, n3), seed, step, kind, me, images, next
  real(8) :: r(n1, n2)[*], rmodel(n1, n2), rbox(n1, n2)
  integer(2) :: narrow(n1, n2)
  integer :: lo(3), hi(3), st(3), c(3), i, j, k, pick(6), np, word, target, source
  character(12) :: argument
  character(40) :: what
  integer :: list(8)
  integer, allocatable :: picked(:)
  seed = 0
  call get_command_argument(1, argument)
  if (argument /= '') then
    read (argument, *) seed
  else
    call system_clock(seed)
  end if
  call co_broadcast(seed, 1)
  seed = iand(seed, 2147483647)
  me = this_image()
  images = num_images()
  next = mod(me, images) + 1
  do step = 1, steps
    ! All images draw the same numbers, so each knows what the others do.
    call draw_shape()
    kind = draw(0, 9)
    target = draw(1, images)
    source = draw(1, images)
    a = value_of(me)
    model = value_of(me)
    r = me
    rmodel = me
    sync all
    write (what, '(a,i0,a,i0,a,i0)') 'seed ', seed, ' step ', step, ' kind ', kind
    call one_step()
    sync all
    call expect(all(a == model) .and. all(r == rmodel), trim(what))
    sync all
  end do
  call finish()
contains
  ! Linear congruential numbers (D. Knuth, The Art of Computer Programming, volume 2, 3.3.4).
  integer function draw(least, most)
    integer, intent(in) :: least, most
    integer(8), save :: state = -1
    if (state < 0) state = seed
    state = iand(state*6364136223846793005_8 + 1442695040888963407_8, 9223372036854775807_8)
    draw = least + int(mod(ishft(state, -33), int(most - least + 1, 8)))
  end function

  elemental function value_of(image) result(v)
    integer, intent(in) :: image
    integer :: v
    v = 1000*image
  end function

  subroutine draw_shape()
    integer :: d, size_of(3)
    size_of = [n1, n2, n3]
    do d = 1, 3
      lo(d) = draw(1, size_of(d))
      hi(d) = draw(1, size_of(d))
      st(d) = draw(1, 4)
      if (hi(d) < lo(d)) st(d) = -st(d)
      c(d) = (hi(d) - lo(d))/st(d) + 1
    end do
    np = draw(1, 6)
    do d = 1, np
      pick(d) = mod(draw(0, n1 - 1) + 3*d, n1) + 1
    end do
  end subroutine

  ! Whether the elements that pick names are different: only such may be assigned to.
  logical function distinct()
    integer :: d
    distinct = .true.
    do d = 2, np
      distinct = distinct .and. all(pick(1:d - 1) /= pick(d))
    end do
  end function

  subroutine fill(b, image)
    integer, intent(out) :: b(n1, n2, n3)
    integer, intent(in) :: image
    do k = 1, n3
      do j = 1, n2
        do i = 1, n1
          b(i, j, k) = image*100000 + i + 20*j + 300*k
        end do
      end do
    end do
  end subroutine

  subroutine one_step()
    integer :: left
    left = mod(me - 2 + images, images) + 1
    select case (kind)
    case (0) ! a section of three dimensions to the next image
      call fill(box, me)
      a(lo(1):hi(1):st(1), lo(2):hi(2):st(2), lo(3):hi(3):st(3))[next] = box(1:c(1), 1:c(2), 1:c(3))
      call fill(box, left)
      model(lo(1):hi(1):st(1), lo(2):hi(2):st(2), lo(3):hi(3):st(3)) = box(1:c(1), 1:c(2), 1:c(3))
    case (1) ! from a section of the next image
      call fill(box, me)
      a = box
      sync all
      box = -1
      box(1:c(1), 1:c(2), 1:c(3)) = a(lo(1):hi(1):st(1), lo(2):hi(2):st(2), lo(3):hi(3):st(3))[next]
      call fill(model, next)
      call expect(all(box(1:c(1), 1:c(2), 1:c(3)) == &
                      model(lo(1):hi(1):st(1), lo(2):hi(2):st(2), lo(3):hi(3):st(3))), trim(what))
      call fill(model, me)
    case (2) ! a scalar to all elements of a section
      a(lo(1):hi(1):st(1), lo(2), lo(3):hi(3):st(3))[next] = me
      model(lo(1):hi(1):st(1), lo(2), lo(3):hi(3):st(3)) = left
    case (3) ! with conversion
      narrow = int(me + 7, 2)
      r(lo(1):hi(1):st(1), lo(2):hi(2):st(2))[next] = narrow(1:c(1), 1:c(2))
      rmodel(lo(1):hi(1):st(1), lo(2):hi(2):st(2)) = left + 7
    case (4) ! vector subscripts on the left
      if (distinct()) then
        list = [(10*me + i, i=1, 8)]
        picked = pick(1:np)
        a(picked, lo(2), lo(3))[next] = list(1:np)
        model(pick(1:np), lo(2), lo(3)) = [(10*left + i, i=1, np)]
      end if
    case (5) ! vector subscripts on the right, which may repeat
      call fill(box, me)
      a = box
      sync all
      list = -1
      picked = pick(1:np)
      list(1:np) = a(picked, lo(2), lo(3))[next]
      call fill(model, next)
      call expect(all(list(1:np) == model(pick(1:np), lo(2), lo(3))), trim(what))
      call fill(model, me)
    case (6) ! one image moves a section between two others
      if (source /= target) then
        if (me == 1) a(lo(1):hi(1):st(1), 1:c(2), lo(3))[target] = &
          a(1:c(1), lo(2):hi(2):st(2), 1)[source]
        if (me == target) model(lo(1):hi(1):st(1), 1:c(2), lo(3)) = value_of(source)
      end if
    case (7) ! an image moves a section within itself, overlapping
      call fill(box, me)
      a = box
      a(2:n1, :, lo(3))[me] = a(1:n1 - 1, :, lo(3))[me]
      model = box
      model(2:n1, :, lo(3)) = box(1:n1 - 1, :, lo(3))
    case (8) ! the contiguous front, and single elements over it
      call fill(box, me)
      a(:, :, 1:c(3))[next] = box(:, :, 1:c(3))
      a(lo(1), lo(2), 1)[next] = -me
      call fill(box, left)
      model(:, :, 1:c(3)) = box(:, :, 1:c(3))
      model(lo(1), lo(2), 1) = -left
    case (9) ! reals from integers of the next image, transposed ways through memory
      rbox = -1
      rbox(c(1):1:-1, 1:c(2)) = a(lo(1):hi(1):st(1), lo(2):hi(2):st(2), 1)[next]
      call expect(all(rbox(1:c(1), 1:c(2)) == value_of(next)), trim(what))
    end select
    word = 0
  end subroutine
end program
