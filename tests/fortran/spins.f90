! SPDX-License-Identifier: BSD-3-Clause
! Images that wait in loops of their own: they look at a variable of their image until another image
! changes it, and let messages in meanwhile, also those that reach targets of pointers.
! ranks: 2 3 8
! again: TOMBOLO_TEST_SHM=0 TOMBOLO_PLACES=cyclic:2
program spins
  use iso_fortran_env
  use check
  implicit none
  type holder
    integer, pointer :: p(:)
  end type
  integer, parameter :: turns = 20
  type(holder) :: h[*]
  type(event_type) :: came[*]
  integer(atomic_int_kind) :: atom[*], guard[*]
  integer :: x(4)[*], count[*], y(100), me, next, i
  integer, volatile :: v[*]
  me = this_image()
  next = mod(me, num_images()) + 1
  allocate (h%p(100))
  h%p = me
  atom = 0
  guard = 0
  x = 0
  v = 0
  count = 0
  sync all
  call ring_of_atoms()
  call ring_of_events()
  call ring_of_sections()
  call ring_with_sync_memory()
  call pointer_targets()
  call own_lock()
  call finish()
contains
  ! Each ring: image 1 begins a turn, and each image passes it on once it has seen it.
  subroutine ring_of_atoms()
    integer :: turn, seen
    do turn = 1, turns
      if (me == 1) call atomic_define(atom[next], turn)
      do
        call atomic_ref(seen, atom)
        if (seen == turn) exit
      end do
      if (me /= 1) call atomic_define(atom[next], turn)
    end do
    sync all
  end subroutine

  subroutine ring_of_events()
    integer :: turn, seen
    do turn = 1, turns
      if (me == 1) event post (came[next])
      do
        call event_query(came, seen)
        if (seen == turn) exit
      end do
      if (me /= 1) event post (came[next])
    end do
    sync all
  end subroutine

  subroutine ring_of_sections()
    integer :: turn
    do turn = 1, turns
      if (me == 1) x(1:4:3)[next] = turn
      sync memory
      do while (x(1)[me] /= turn .or. x(4)[me] /= turn)
      end do
      if (me /= 1) x(1:4:3)[next] = turn
      sync memory
    end do
    sync all
  end subroutine

  subroutine ring_with_sync_memory()
    integer :: turn
    do turn = 1, turns
      if (me == 1) v[next] = turn
      sync memory
      do while (v /= turn)
        sync memory
      end do
      if (me /= 1) v[next] = turn
      sync memory
    end do
    sync all
  end subroutine

  subroutine pointer_targets()
    integer :: seen
    atom = 0
    sync all
    y = h[next]%p(:)
    call expect(all(y == next), 'target of a pointer of the next image')
    call atomic_add(atom[next], 1)
    do
      call atomic_ref(seen, atom)
      if (seen == 1) exit
    end do
    sync all
  end subroutine

  subroutine own_lock()
    integer :: old, seen
    do i = 1, turns
      do
        call atomic_cas(guard[1], old, 0, me)
        if (old == 0) exit
      end do
      seen = count[1]
      count[1] = seen + 1
      sync memory
      call atomic_define(guard[1], 0)
    end do
    sync all
    if (me == 1) call expect(count == turns*num_images(), 'a lock made of atomic_cas')
  end subroutine
end program
