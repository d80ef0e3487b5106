! SPDX-License-Identifier: BSD-3-Clause
! Atomic subroutines of PRIF: all 28, by all images on one word.
! ranks: 1 2 4
program atomics
  use, intrinsic :: iso_c_binding
  use prif
  use check, me => this
  use parts
  implicit none
  integer, parameter :: z = c_size_t, l = PRIF_ATOMIC_INT_KIND, b = PRIF_ATOMIC_LOGICAL_KIND
  integer, parameter :: rounds = 100
  integer(l), parameter :: large = ishft(1_l, 40)
  type(prif_coarray_handle) :: h
  type(c_ptr) :: memory
  integer(l), pointer :: x(:)
  integer(c_intptr_t), pointer :: base(:)
  integer(c_int) :: home, stat
  integer(c_intptr_t) :: there

  call begin()
  call coarray(64 + 8*images, h, memory)
  call c_f_pointer(memory, x, [8])
  call c_f_pointer(transfer(transfer(memory, 0_c_intptr_t) + 64, memory), base, [int(images)])
  base(me) = address_of(memory)
  home = images
  call fetch_address()
  call additions()
  call bits()
  call definitions()
  call swaps()
  call logicals()
  call wrong_arguments()
  call finish()
contains
  subroutine fetch_address()
    integer(c_intptr_t), target :: found
    call prif_sync_all()
    call prif_get(home, h, int(64 + 8*(home - 1), z), c_loc(found), 8_z)
    there = found
    call prif_sync_all()
  end subroutine

  subroutine additions()
    integer(l) :: old, least
    integer :: k
    least = -1
    do k = 1, rounds
      call prif_atomic_add(home, h, 0_z, large, stat)
      call expect(stat == 0, 'atomic_add')
      call prif_atomic_add_indirect(home, there, 1_l)
      call prif_atomic_fetch_add(home, h, 8_z, 1_l, old, stat)
      call expect(stat == 0 .and. old > least, 'atomic_fetch_add')
      least = old
      call prif_atomic_fetch_add_indirect(home, there + 8, 1_l, old)
      call expect(old > least, 'atomic_fetch_add_indirect')
      least = old
    end do
    call prif_sync_all()
    if (me == home) call expect(x(1) == images*rounds*(large + 1), 'sum of additions')
    if (me == home) call expect(x(2) == 2*images*rounds, 'sum of fetching additions')
    call prif_sync_all()
  end subroutine

  ! Each image has two bits of its own, bits 2*me and 2*me + 32.
  subroutine bits()
    integer(l) :: mine, high, old, all_bits
    integer :: k
    mine = ishft(1_l, 2*me)
    high = ishft(mine, 32)
    if (me == home) x(3) = 0
    call prif_sync_all()
    call prif_atomic_or(home, h, 16_z, mine)
    call prif_atomic_or_indirect(home, there + 16, high, stat)
    call expect(stat == 0, 'atomic_or_indirect')
    call prif_atomic_fetch_or(home, h, 16_z, mine, old)
    call expect(iand(old, mine + high) == mine + high, 'atomic_fetch_or')
    call prif_atomic_fetch_or_indirect(home, there + 16, 0_l, old)
    call expect(iand(old, mine) /= 0, 'atomic_fetch_or_indirect')
    call prif_sync_all()
    all_bits = 0
    do k = 1, images
      all_bits = all_bits + ishft(1_l, 2*k) + ishft(1_l, 2*k + 32)
    end do
    if (me == home) call expect(x(3) == all_bits, 'all bits are set')
    call prif_sync_all()
    call prif_atomic_xor(home, h, 16_z, mine)
    call prif_atomic_fetch_xor(home, h, 16_z, mine, old)
    call expect(iand(old, mine) == 0, 'atomic_fetch_xor of a bit that is off')
    call prif_atomic_fetch_xor(home, h, 16_z, mine, old)
    call expect(iand(old, mine) == mine, 'atomic_fetch_xor of a bit that is on')
    call prif_atomic_fetch_xor(home, h, 16_z, mine, old)
    call expect(iand(old, mine) == 0, 'atomic_fetch_xor has turned it off')
    call prif_atomic_xor_indirect(home, there + 16, high)
    call prif_atomic_fetch_xor_indirect(home, there + 16, high, old)
    call expect(iand(old, mine + high) == mine, 'atomic_fetch_xor_indirect')
    call prif_atomic_fetch_and(home, h, 16_z, not(mine), old)
    call expect(iand(old, mine + high) == mine + high, 'atomic_fetch_and')
    call prif_atomic_fetch_and_indirect(home, there + 16, -1_l, old)
    call expect(iand(old, mine) == 0, 'atomic_fetch_and_indirect')
    call prif_sync_all()
    call prif_atomic_and(home, h, 16_z, not(high))
    call prif_atomic_and_indirect(home, there + 16, not(mine), stat)
    call expect(stat == 0, 'atomic_and_indirect')
    call prif_sync_all()
    if (me == home) call expect(x(3) == 0, 'no bit is left')
    call prif_sync_all()
  end subroutine

  subroutine definitions()
    integer(l) :: value
    call prif_atomic_define_int(me, h, 24_z, -large - me)
    call prif_atomic_ref_int(me, h, 24_z, value, stat)
    call expect(stat == 0 .and. value == -large - me, 'atomic_ref_int')
    call prif_sync_all()
    if (me == 1) call prif_atomic_define_int_indirect(home, there + 24, large + 3)
    value = 0
    do while (value /= large + 3) ! a loop that waits
      call prif_atomic_ref_int_indirect(home, there + 24, value)
    end do
    call prif_sync_all()
  end subroutine

  subroutine swaps()
    integer(l) :: old, want
    integer :: k
    if (me == home) x(5) = 0
    call prif_sync_all()
    do k = 1, rounds
      want = 0
      do
        if (mod(k, 2) == 0) call prif_atomic_cas_int(home, h, 32_z, old, want, want + large)
        if (mod(k, 2) == 1) &
          call prif_atomic_cas_int_indirect(home, there + 32, old, want, want + large, stat)
        if (old == want) exit
        want = old
      end do
    end do
    call prif_sync_all()
    if (me == home) call expect(x(5) == images*rounds*large, 'sum by atomic_cas_int')
    call prif_sync_all()
  end subroutine

  ! A lock of a logical word; the counter beside it is not atomic.
  subroutine logicals()
    integer(l), target :: n
    logical(b) :: old, held
    integer :: k
    if (me == home) x(6:7) = 0
    call prif_sync_all()
    do k = 1, rounds/4
      do
        if (mod(k, 2) == 0) call prif_atomic_cas_logical(home, h, 40_z, old, .false._b, .true._b)
        if (mod(k, 2) == 1) &
          call prif_atomic_cas_logical_indirect(home, there + 40, old, .false._b, .true._b, stat)
        if (.not. old) exit
      end do
      call prif_atomic_ref_logical(home, h, 40_z, held, stat)
      call expect(stat == 0 .and. logical(held), 'atomic_ref_logical')
      call prif_get(home, h, 48_z, c_loc(n), 8_z)
      n = n + 1
      call prif_put(home, h, 48_z, c_loc(n), 8_z)
      call prif_sync_memory()
      if (mod(k, 2) == 0) call prif_atomic_define_logical(home, h, 40_z, .false._b)
      if (mod(k, 2) == 1) call prif_atomic_define_logical_indirect(home, there + 40, .false._b, stat)
    end do
    call prif_sync_all()
    if (me == home) call expect(x(7) == images*(rounds/4), 'count under atomic_cas_logical')
    call prif_atomic_ref_logical_indirect(home, there + 40, held)
    call expect(.not. logical(held), 'atomic_ref_logical_indirect')
    call prif_sync_all()
    if (me == 1) then ! what is not 0 is true
      call prif_atomic_define_int(home, h, 40_z, 6_l)
      call prif_atomic_ref_logical(home, h, 40_z, held)
      call expect(logical(held), 'atomic_ref_logical of 6')
      call prif_atomic_cas_logical(home, h, 40_z, old, .false._b, .true._b)
      call expect(logical(old), 'atomic_cas_logical that changes nothing')
      call prif_atomic_cas_logical(home, h, 40_z, old, .true._b, .false._b)
      call expect(logical(old), 'atomic_cas_logical of 6')
      call prif_atomic_ref_int(home, h, 40_z, n)
      call expect(n == 0, 'false is 0')
      call prif_atomic_define_logical(home, h, 40_z, .true._b)
      call prif_atomic_ref_int(home, h, 40_z, n)
      call expect(n == 1, 'true is 1')
    end if
    call prif_sync_all()
  end subroutine

  subroutine wrong_arguments()
    integer(l) :: value
    call prif_atomic_add(home, h, 4_z, 1_l, stat)
    call expect(stat == 120, 'offset that is no multiple of 8')
    call prif_atomic_ref_int(images + 1_c_int, h, 0_z, value, stat)
    call expect(stat == 120, 'image_num that does not exist')
    call prif_atomic_ref_int_indirect(home, 64_c_intptr_t, value, stat)
    call expect(stat == 120, 'address that is no coarray')
    call prif_atomic_ref_int(home, h, int(64 + 8*images, z), value, stat)
    call expect(stat == 120, 'offset behind the coarray')
  end subroutine
end program
