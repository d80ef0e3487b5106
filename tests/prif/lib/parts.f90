! SPDX-License-Identifier: BSD-3-Clause
! What tests of PRIF share beside check.f90: coarrays of zeros, addresses, wrong arguments, numbers
! that are the same on all images.
module parts
  use, intrinsic :: iso_c_binding
  use prif
  use check
  implicit none
  private
  public :: expect_error, coarray, address_of, publish, beyond, next_random, swap
  integer(c_int64_t) :: seed = 1
contains
  ! A call has to give `wanted`, and a message that has the word. stat becomes 0 again.
  subroutine expect_error(stat, errmsg, wanted, word)
    integer(c_int), intent(inout) :: stat
    character(*), intent(inout) :: errmsg
    integer(c_int), intent(in) :: wanted
    character(*), intent(in) :: word
    if (stat /= wanted) print '(3(a,i0),3a)', 'image ', this, ': stat ', stat, ', not ', wanted, ' (', word, ')'
    call expect(stat == wanted, 'code for '//word)
    call expect(index(errmsg, word) > 0, 'message for '//word//': '//trim(errmsg))
    stat = 0
    errmsg = ''
  end subroutine

  ! A coarray of zeros, of `bytes` on each image of the current team.
  subroutine coarray(bytes, handle, memory)
    integer, intent(in) :: bytes
    type(prif_coarray_handle), intent(out) :: handle
    type(c_ptr), intent(out) :: memory
    procedure(prif_coarray_cleanup_interface), pointer :: none
    integer(c_int8_t), pointer :: zero(:)
    integer(c_int) :: members
    none => null()
    call prif_num_images(members)
    call prif_allocate_coarray([1_c_int64_t], [int(members, c_int64_t)], int(bytes, c_size_t), &
      none, handle, memory)
    call c_f_pointer(memory, zero, [bytes])
    zero = 0
    call prif_sync_all()
  end subroutine

  integer(c_intptr_t) function address_of(memory)
    type(c_ptr), intent(in) :: memory
    address_of = transfer(memory, address_of)
  end function

  ! Gives the address of this image's block to all images: element `this` of an array that begins at
  ! `offset` in the block of each.
  subroutine publish(handle, memory, offset)
    type(prif_coarray_handle), intent(in) :: handle
    type(c_ptr), intent(in) :: memory
    integer(c_size_t), intent(in) :: offset
    integer(c_intptr_t), target :: mine
    integer(c_int) :: k
    mine = address_of(memory)
    do k = 1, images
      call prif_put(k, handle, offset + 8*(this - 1), c_loc(mine), 8_c_size_t)
    end do
    call prif_sync_all()
  end subroutine

  ! The address `offset` bytes behind one.
  type(c_ptr) function beyond(memory, offset)
    type(c_ptr), intent(in) :: memory
    integer(c_size_t), intent(in) :: offset
    beyond = transfer(address_of(memory) + offset, memory)
  end function

  ! The same numbers on all images: 0 .. below - 1.
  integer function next_random(below)
    integer, intent(in) :: below
    seed = iand(seed*6364136223846793005_c_int64_t + 1442695040888963407_c_int64_t, huge(seed))
    next_random = int(mod(seed/65536, int(below, c_int64_t)))
  end function

  subroutine swap(a, b)
    integer, intent(inout) :: a, b
    integer :: t
    t = a
    a = b
    b = t
  end subroutine
end module
