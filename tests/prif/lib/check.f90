! SPDX-License-Identifier: BSD-3-Clause
! What tests of PRIF share: start, checks, end.
module check
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use prif
  implicit none
  private
  public :: begin, expect, failed, finish
  integer(c_int), public, protected :: this = 0, images = 0
  integer :: failures = 0
contains
  subroutine begin()
    integer(c_int) :: stat
    call prif_init(stat)
    ! Programs of flang -fcoarray start it themselves.
    if (stat /= 0 .and. stat /= PRIF_STAT_ALREADY_INIT) error stop 'prif_init'
    call prif_this_image_no_coarray(this_image=this)
    call prif_num_images(images)
  end subroutine

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) return
    failures = failures + 1
    write (error_unit, '(a,i0,2a)') 'image ', this, ': ', what
    flush (error_unit)
  end subroutine

  ! Whether a check has failed on this image.
  logical function failed()
    failed = failures > 0
  end function

  subroutine finish()
    if (failed()) call prif_error_stop(.false._c_bool, 1_c_int)
    call prif_stop(.true._c_bool)
  end subroutine
end module
