! SPDX-License-Identifier: BSD-3-Clause
! Teams: forming, nesting, coarrays allocated in them, collectives, numbers.
! again: TOMBOLO_TEST_SHM=0
program teams
  use iso_fortran_env
  use check
  implicit none
  type(team_type) :: half, quarter, again
  integer, allocatable :: a(:)[:]
  integer :: fixed[*], me, images, i, n, first
  me = this_image()
  images = num_images()
  fixed = me
  call expect(team_number() == -1, 'number of the initial team')
  sync all
  form team (2 - mod(me, 2), half)
  change team (half)
    call expect(team_number() == 2 - mod(me, 2), 'team number')
    call expect(this_image() == (me + 1)/2, 'image in the team')
    call expect(num_images() == (images + mod(me, 2))/2, 'images of the team')
    allocate (a(5)[*])
    a = me
    sync all
    do i = 1, num_images()
      call expect(a(3)[i] == 2*i - mod(me, 2), 'coarray of the team')
    end do
    ! Images of the current team are meant for older coarrays, too.
    call expect(fixed[num_images()] == 2*num_images() - mod(me, 2), 'older coarray')
    n = me
    call co_sum(n)
    first = 2 - mod(me, 2)
    call expect(n == sum([(i, i=first, images, 2)]), 'co_sum in the team')
    form team (this_image(), quarter)
    change team (quarter)
      call expect(num_images() == 1 .and. this_image() == 1, 'team of one')
    end team
    sync team (half)
  end team
  call expect(num_images() == images .and. this_image() == me, 'after end team')
  sync all
  do i = 1, 30
    form team (1, again)
    change team (again)
      n = 1
      call co_sum(n)
      call expect(n == images, 'team again')
    end team
  end do
  call memory
  sync all
  call finish()
contains
  ! Teams formed alike again and again take no more memory, and are as good as others.
  subroutine memory()
    type(team_type) :: one, two
    integer :: before
    form team (1 + me/2, one)
    form team (1 + me/2, two)
    call alike(one)
    call alike(two)
    before = pages()
    do i = 1, 300
      form team (1, again)
    end do
    call expect(pages() - before < 32, 'memory of repeated teams')
  end subroutine

  subroutine alike(team)
    type(team_type), intent(in) :: team
    change team (team)
      allocate (a(2)[*])
      a = me
      sync all
      call expect(a(2)[num_images()] == min(images, me + 1 - mod(me, 2)), 'coarray of a pair')
      deallocate (a)
    end team
  end subroutine

  integer function pages() ! of this process, in memory
    integer :: unit
    integer(8) :: virtual
    open (newunit=unit, file='/proc/self/statm')
    read (unit, *) virtual, pages
    close (unit)
    if (virtual > huge(pages)) pages = 0 ! a sanitizer, which keeps what is freed
  end function
end program
