! SPDX-License-Identifier: BSD-3-Clause
! Critical constructs in child teams while others are in the parent, aliases
! of aliases, context data, zero sizes, wrong image sets, long reductions, characters, queues.
! ranks: 1 4 7
module wrappers
  use, intrinsic :: iso_c_binding
  implicit none
contains
  ! The longer text wins; of equal ones the first. cdata: the length.
  subroutine longer(arg1, arg2_and_out, count, cdata) bind(c)
    type(c_ptr), value, intent(in) :: arg1, arg2_and_out
    integer(c_size_t), value, intent(in) :: count
    type(c_ptr), value, intent(in) :: cdata
    character(kind=c_char), pointer :: a(:, :), b(:, :)
    integer(c_size_t), pointer :: length
    integer(c_size_t) :: i
    call c_f_pointer(cdata, length)
    call c_f_pointer(arg1, a, [length, count])
    call c_f_pointer(arg2_and_out, b, [length, count])
    do i = 1, count
      if (used(a(:, i)) >= used(b(:, i))) b(:, i) = a(:, i)
    end do
  end subroutine
  integer function used(text)
    character(kind=c_char), intent(in) :: text(:)
    used = count(text /= ' ')
  end function
  subroutine add(arg1, arg2_and_out, count, cdata) bind(c)
    type(c_ptr), value, intent(in) :: arg1, arg2_and_out
    integer(c_size_t), value, intent(in) :: count
    type(c_ptr), value, intent(in) :: cdata
    integer(c_int64_t), pointer :: a(:), b(:)
    if (c_associated(cdata)) error stop 'cdata'
    call c_f_pointer(arg1, a, [count])
    call c_f_pointer(arg2_and_out, b, [count])
    b = a + b
  end subroutine
end module

program clauses
  use, intrinsic :: iso_c_binding
  use prif
  use check, me => this
  use parts
  use wrappers
  implicit none
  integer, parameter :: z = c_size_t, l = c_int64_t
  procedure(prif_coarray_cleanup_interface), pointer :: none
  call begin()
  none => null()
  call criticals()
  call aliases()
  call image_sets()
  call reductions()
  call queue()
  call strides()
  call finish()
contains
  ! Three constructs, whose words lie on different images; odd images enter them from a child team.
  subroutine criticals()
    integer, parameter :: rounds = 40
    type(prif_coarray_handle) :: section(3), data
    type(c_ptr) :: ignored, memory
    type(prif_team_type) :: team
    integer(l), target :: value
    integer :: i, k
    do i = 1, 3
      call coarray(8, section(i), ignored)
    end do
    call coarray(24, data, memory)
    call prif_form_team(int(1 + mod(me, 2), l), team)
    if (mod(me, 2) == 1) call prif_change_team(team)
    do i = 1, rounds
      k = 1 + mod(i + me, 3)
      call prif_critical(section(k))
      call prif_get(1_c_int, data, int(8*(k - 1), z), c_loc(value), 8_z)
      value = value + 1
      call prif_put(1_c_int, data, int(8*(k - 1), z), c_loc(value), 8_z)
      call prif_end_critical(section(k))
    end do
    if (mod(me, 2) == 1) call prif_end_team()
    call prif_sync_all()
    block
      integer(l), pointer :: counts(:)
      call c_f_pointer(memory, counts, [3])
      if (me == 1) call expect(sum(counts) == rounds*images, 'counts of critical constructs')
    end block
    call prif_sync_all()
    call prif_deallocate_coarrays([section, data])
  end subroutine

  subroutine aliases()
    type(prif_coarray_handle) :: whole, half, quarter, empty
    type(c_ptr) :: memory, at, context, nothing
    integer(c_int), target :: mark
    integer(z) :: bytes
    integer(c_int) :: next
    integer(l), target :: sent, got
    integer(l), pointer :: words(:)
    call coarray(64, whole, memory)
    call prif_alias_create(whole, [0_l], [int(images - 1, l)], 32_z, half)
    call prif_alias_create(half, [1_l, 1_l], [1_l], 16_z, quarter)
    call prif_local_data_pointer(quarter, at)
    call expect(address_of(at) == address_of(memory) + 48, 'offset of an alias of an alias')
    call prif_set_context_data(quarter, c_loc(mark))
    call prif_alias_destroy(half)
    call prif_get_context_data(whole, context)
    call expect(c_associated(context, c_loc(mark)), 'context data of all aliases')
    call prif_size_bytes(quarter, bytes)
    call expect(bytes == 64, 'size of an alias')
    next = 1 + mod(me, images)
    sent = 100 + me
    call prif_put(next, quarter, 8_z, c_loc(sent), 8_z)
    call prif_get(next, whole, 56_z, c_loc(got), 8_z)
    call expect(got == sent, 'get after put by an alias')
    call prif_sync_all()
    call c_f_pointer(memory, words, [8])
    call expect(words(8) == 100 + merge(images, me - 1, me == 1), 'put by an alias')
    call prif_allocate_coarray([1_l], [int(images, l)], 0_z, none, empty, nothing)
    call prif_size_bytes(empty, bytes)
    call expect(bytes == 0, 'size 0')
    call prif_put(next, empty, 0_z, c_loc(sent), 0_z)
    call prif_deallocate_coarrays([empty, whole])
  end subroutine

  subroutine image_sets()
    integer(c_int) :: stat
    character(12) :: text
    character(:), allocatable :: long
    text = 'unchanged'
    call prif_sync_images([me], stat, text)
    call expect(stat == 0 .and. text == 'unchanged', 'own image alone')
    call prif_sync_images([integer(c_int) ::], stat, text)
    call expect(stat == 0, 'no image')
    call prif_sync_images([me, me], stat, text)
    call expect(stat /= 0 .and. text(:5) == 'SYNC ' .or. text(:5) == 'prif_', 'image twice: '//text)
    long = 'x'
    call prif_sync_images([images + 1_c_int], stat, errmsg_alloc=long)
    call expect(stat /= 0 .and. len(long) > 20, 'image that is none: '//long)
    call prif_sync_images([0_c_int], stat, text)
    call expect(stat /= 0 .and. text(12:) /= '', 'image 0: '//text)
    call prif_sync_images(stat=stat)
    call expect(stat == 0, 'all images afterwards')
  end subroutine

  subroutine reductions()
    integer, parameter :: many = 300000
    procedure(prif_operation_wrapper_interface), pointer :: op
    integer(l), allocatable, target :: x(:)
    real(c_double), allocatable :: y(:, :)
    character(9), target :: text(3)
    character(5) :: word(2, 2)
    integer(z), target :: length
    integer :: i
    allocate (x(many))
    x = [(int(i, l)*me, i=1, many)]
    op => add
    call prif_co_reduce_cptr(c_loc(x), 8_z, int(many, z), op, c_null_ptr)
    call expect(all(x == [(int(i, l)*images*(images + 1)/2, i=1, many)]), 'long co_reduce_cptr')
    allocate (y(1000, 300))
    y = me
    call prif_co_sum(y(1000:1:-3, ::2))
    call expect(all(abs(y(1000:1:-3, ::2) - images*(images + 1)/2d0) < 1e-9), 'long section')
    call expect(all(y(999::-3, :) == me) .and. all(y(:, 2::2) == me), 'the rest of it')
    length = len(text)
    text = repeat('a', min(me, 7))
    op => longer
    call prif_co_reduce(text, op, c_loc(length))
    call expect(all(text == repeat('a', min(images, 7))), 'co_reduce of characters')
    word = achar(iachar('a') + me)//'x'
    call prif_co_max_character(word)
    call expect(all(word == achar(iachar('a') + images)//'x'), 'co_max_character')
    word(:, 1:0) = ''
    call prif_co_min_character(word(:, 1:0))
  end subroutine

  ! Image 1 hands out tasks in a queue under a lock; an event says that there is one more.
  subroutine queue()
    integer, parameter :: tasks = 30
    type(prif_coarray_handle) :: h
    type(c_ptr) :: memory
    integer(l), target :: place
    integer(l) :: done, total
    integer(c_int) :: i
    logical(c_bool) :: mine
    call coarray(32, h, memory) ! lock, next task, events, done
    if (me == 1) then
      do i = 1, tasks
        call prif_event_post(1_c_int, h, 16_z)
      end do
    end if
    call prif_sync_all()
    done = 0
    do
      mine = .false.
      do while (.not. mine)
        call prif_lock(1_c_int, h, 0_z, mine)
      end do
      call prif_get(1_c_int, h, 8_z, c_loc(place), 8_z)
      place = place + 1
      call prif_put(1_c_int, h, 8_z, c_loc(place), 8_z)
      call prif_unlock(1_c_int, h, 0_z)
      if (place > tasks) exit
      done = done + 1
      call prif_atomic_add(1_c_int, h, 24_z, place)
    end do
    call prif_sync_all()
    call prif_atomic_ref_int(1_c_int, h, 24_z, total)
    call expect(total == tasks*(tasks + 1)/2, 'tasks of a queue')
    if (me == 1) then
      call prif_event_wait(transfer(address_of(memory) + 16, memory), int(tasks, l))
      call prif_event_query(transfer(address_of(memory) + 16, memory), done)
      call expect(done == 0, 'events of a queue')
    end if
    call prif_deallocate_coarray(h)
  end subroutine

  ! A matrix arrives upside down, with a notification; then nothing arrives, with another one.
  subroutine strides()
    integer, parameter :: n = 5
    type(prif_coarray_handle) :: h
    type(c_ptr) :: memory
    integer(l), target :: a(n, n)
    integer(l), pointer :: b(:, :)
    integer(c_int) :: next
    integer :: i
    call coarray(8*(n*n + 1), h, memory)
    a = reshape([(int(i, l)*me, i=1, n*n)], [n, n])
    next = 1 + mod(me, images)
    call prif_put_strided_with_notify(next, h, int(8*(n*n - 1), z), [-8_c_ptrdiff_t, &
      -int(8*n, c_ptrdiff_t)], c_loc(a), [8_c_ptrdiff_t, int(8*n, c_ptrdiff_t)], 8_z, [int(n, z), &
      int(n, z)], h, int(8*n*n, z))
    call prif_put_strided_with_notify(next, h, 0_z, [8_c_ptrdiff_t], c_loc(a), [8_c_ptrdiff_t], &
      8_z, [0_z], h, int(8*n*n, z))
    call prif_notify_wait(transfer(address_of(memory) + 8*n*n, memory), 2_l)
    call c_f_pointer(memory, b, [n, n])
    call expect(all(b(n:1:-1, n:1:-1) == a/me*merge(images, me - 1, me == 1)), 'upside down')
    call prif_sync_all()
    call prif_deallocate_coarray(h)
  end subroutine
end program
