! SPDX-License-Identifier: BSD-3-Clause
! Called by late.cc: a query before prif_init, prif_init, a sum, the end.
module late
  use, intrinsic :: iso_c_binding
  use prif
  implicit none
contains
  integer(c_int32_t) function work_of(data, count) bind(c)
    integer(c_int32_t), intent(in), value :: count
    integer(c_int32_t), intent(inout) :: data(count)
    integer(c_int) :: images, stat(2)
    call prif_num_images(images)
    call prif_init(stat(1))
    call prif_init(stat(2))
    call prif_co_sum(data)
    work_of = sum(data)/images
    if (any(stat /= [0_c_int, PRIF_STAT_ALREADY_INIT])) work_of = -1
  end function

  subroutine leave(code) bind(c)
    integer(c_int), intent(in), value :: code
    call prif_stop(.true._c_bool, stop_code_int=code)
  end subroutine
end module
