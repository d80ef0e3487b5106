! SPDX-License-Identifier: BSD-3-Clause
! Put and get of PRIF: all 16 procedures, to this image and others, with notification; strided ones
! of rank 0 to 15 with strides of any sign, and wrong arguments.
! ranks: 1 2 4
program access
  use, intrinsic :: iso_c_binding
  use prif
  use check, me => this
  use parts
  implicit none
  integer, parameter :: elements = 4096, notify_at = 8*elements, table_at = notify_at + 16
  integer, parameter :: z = c_size_t, d = c_ptrdiff_t, l = c_int64_t
  type(prif_coarray_handle) :: h
  type(c_ptr) :: memory
  integer(l), pointer :: x(:)
  integer(c_intptr_t), pointer :: base(:) ! of each image
  integer(l), target :: buffer(elements)
  integer(c_int) :: right, left, stat
  character(200) :: text
  integer :: i

  call begin()
  call coarray(table_at + 8*images, h, memory)
  call c_f_pointer(memory, x, [elements])
  call c_f_pointer(beyond(memory, int(table_at, z)), base, [int(images)])
  right = 1 + mod(me, images)
  left = 1 + mod(me + images - 2, images)
  call publish(h, memory, int(table_at, z))
  call expect(base(me) == address_of(memory), 'address of this image')
  call contiguous()
  call notified()
  do i = 0, 15
    call strided(i)
  end do
  call last_value_stays()
  call wrong_arguments()
  call finish()
contains
  subroutine contiguous()
    integer :: k
    buffer(1:100) = [(1000*me + k, k=1, 100)]
    call prif_put(right, h, 80_z, c_loc(buffer), 800_z)
    buffer(1:100) = 0 ! the source may change
    call prif_get(right, h, 80_z, c_loc(buffer), 800_z, stat)
    call expect(stat == 0 .and. all(buffer(1:100) == [(1000*me + k, k=1, 100)]), 'get after put')
    call prif_put_indirect(right, base(right) + 880, c_loc(buffer), 40_z, stat=stat, errmsg=text)
    call expect(stat == 0, 'put_indirect')
    do k = 1, 50 ! to one place: the last one stays
      buffer(1) = k
      call prif_put(right, h, 0_z, c_loc(buffer), 8_z)
    end do
    call prif_sync_all()
    call expect(all(x(11:110) == [(1000*left + k, k=1, 100)]), 'put')
    call expect(all(x(111:115) == x(11:15)) .and. x(116) == 0, 'put_indirect arrived')
    call expect(x(1) == 50, 'puts in order')
    call prif_get_indirect(left, base(left) + 88, c_loc(buffer), 16_z)
    call expect(all(buffer(1:2) == 1000*(1 + mod(left + images - 2, images)) + [2, 3]), 'get_indirect')
    call prif_put(me, h, int(8*elements, z), c_loc(buffer), 0_z, stat)
    call expect(stat == 0, 'put of no bytes')
    call prif_get(right, h, 0_z, c_null_ptr, 0_z, stat)
    call expect(stat == 0, 'get of no bytes')
    call prif_sync_all()
    x = 0
    call prif_sync_all()
  end subroutine

  ! Eight forms, each with a value of its own at word k, and one that moves nothing.
  subroutine notified()
    integer(l), target :: value(2, 8)
    integer(c_intptr_t) :: there, count_there
    integer(d) :: rs(1), ls(1)
    integer(z) :: extent(1), n_at
    integer :: k, round
    n_at = notify_at
    there = base(right)
    count_there = base(right) + notify_at
    rs = 16
    ls = 8
    extent = 2
    do round = 1, 20
      value = reshape([(100000*me + 100*round + k, k=1, 16)], [2, 8])
      call prif_put_with_notify(right, h, 0_z, c_loc(value), 8_z, h, n_at)
      call prif_put_with_notify_indirect(right, h, 16_z, c_loc(value(1, 2)), 8_z, count_there)
      call prif_put_indirect_with_notify(right, there + 32, c_loc(value(1, 3)), 8_z, h, n_at)
      call prif_put_indirect_with_notify_indirect(right, there + 48, c_loc(value(1, 4)), 8_z, &
        count_there)
      call prif_put_strided_with_notify(right, h, 64_z, rs, c_loc(value(1, 5)), ls, 8_z, extent, h, &
        n_at)
      call prif_put_strided_with_notify_indirect(right, h, 96_z, rs, c_loc(value(1, 6)), ls, 8_z, &
        extent, count_there)
      call prif_put_strided_indirect_with_notify(right, there + 128, rs, c_loc(value(1, 7)), ls, 8_z, &
        extent, h, n_at)
      call prif_put_strided_indirect_with_notify_indirect(right, there + 160, rs, c_loc(value(1, 8)), &
        ls, 8_z, extent, count_there)
      extent = 0
      call prif_put_strided_with_notify(right, h, 0_z, rs, c_loc(value), ls, 8_z, extent, h, n_at)
      extent = 2
      call prif_put_with_notify(right, h, 0_z, c_null_ptr, 0_z, h, n_at)
      call prif_notify_wait(beyond(memory, n_at), until_count=10_l, stat=stat)
      value = value - 100000*me + 100000*left
      call expect(stat == 0, 'notify_wait')
      call expect(all(x(1:7:2) == value(1, 1:4)), 'data of notified puts')
      call expect(all(x(9:23:2) == reshape(value(:, 5:8), [8])), 'data of strided notified puts')
      call expect(all(x(2:24:2) == 0), 'gaps')
      call prif_sync_all()
    end do
    x = 0
    call prif_sync_all()
  end subroutine

  ! Strides of `rank` dimensions in an order of their own, of any sign. [out] first: word of the
  ! element with all indices 0.
  subroutine random_strides(rank, extent, stride, first)
    integer, intent(in) :: rank
    integer(z), intent(in) :: extent(rank)
    integer(d), intent(out) :: stride(rank)
    integer, intent(out) :: first
    integer :: order(rank), k, words
    order = [(k, k=1, rank)]
    do k = rank, 2, -1
      call swap(order(k), order(1 + next_random(k)))
    end do
    words = 1 + next_random(2)
    first = next_random(5)
    do k = 1, rank
      stride(order(k)) = 8*words
      words = words*int(extent(order(k)))
      if (k < 3) words = words + next_random(2)
      if (next_random(2) == 0) cycle
      first = first + int(stride(order(k))/8)*int(extent(order(k)) - 1)
      stride(order(k)) = -stride(order(k))
    end do
  end subroutine

  ! to(place of the elements) = from(place of the elements), one by one.
  subroutine model(rank, extent, to, to_first, to_stride, from, from_first, from_stride)
    integer, intent(in) :: rank, to_first, from_first
    integer(z), intent(in) :: extent(rank)
    integer(d), intent(in) :: to_stride(rank), from_stride(rank)
    integer(l), intent(inout) :: to(0:)
    integer(l), intent(in) :: from(0:)
    integer :: k, e
    integer(z) :: i(rank)
    i = 0
    do e = 1, int(product(extent))
      to(to_first + sum(i*to_stride)/8) = from(from_first + sum(i*from_stride)/8)
      do k = 1, rank
        i(k) = i(k) + 1
        if (i(k) < extent(k)) exit
        i(k) = 0
      end do
    end do
  end subroutine

  subroutine strided(rank)
    integer, intent(in) :: rank
    integer(z) :: extent(rank)
    integer(d) :: rs(rank), ls(rank)
    integer(l), allocatable :: mine(:), wanted(:)
    integer :: k, case, rf, lf, most
    do case = 1, 6
      most = 8 ! more than one element in at most so many dimensions
      do k = 1, rank
        extent(k) = merge(1 + next_random(merge(2, 4, rank > 4)), 1, most > 0)
        if (extent(k) > 1) most = most - 1
      end do
      call random_strides(rank, extent, rs, rf)
      call random_strides(rank, extent, ls, lf)
      if (case == 5 .and. rank > 1) ls(2) = 0 ! the source reads one element again
      if (case == 6 .and. rank > 0) extent(1 + next_random(rank)) = 0
      x = 0
      call prif_sync_all()
      mine = [(me*1000000_l + k, k=1, elements)]
      buffer = mine
      if (mod(case, 2) == 1) then
        call prif_put_strided(right, h, int(8*rf, z), rs, c_loc(buffer(lf + 1)), ls, 8_z, extent)
      else
        call prif_put_strided_indirect(right, base(right) + 8*rf, rs, c_loc(buffer(lf + 1)), ls, 8_z, &
          extent, stat)
        call expect(stat == 0, 'put_strided_indirect')
      end if
      call prif_sync_all()
      wanted = 0*mine
      mine = [(left*1000000_l + k, k=1, elements)]
      call model(rank, extent, wanted, rf, rs, mine, lf, ls)
      call expect(all(x == wanted), 'put_strided, rank '//char(rank + 48))
      call prif_sync_all()
      x = [(me*2000000_l + k, k=1, elements)]
      call prif_sync_all()
      call random_strides(rank, extent, rs, rf)
      call random_strides(rank, extent, ls, lf)
      if (case == 5 .and. rank > 1) rs(2) = 0
      buffer = -1
      if (mod(case, 2) == 1) then
        call prif_get_strided(right, h, int(8*rf, z), rs, c_loc(buffer(lf + 1)), ls, 8_z, extent)
      else
        call prif_get_strided_indirect(right, base(right) + 8*rf, rs, c_loc(buffer(lf + 1)), ls, 8_z, &
          extent, stat)
        call expect(stat == 0, 'get_strided_indirect')
      end if
      wanted = 0*wanted - 1
      mine = [(right*2000000_l + k, k=1, elements)]
      call model(rank, extent, wanted, lf, ls, mine, rf, rs)
      call expect(all(buffer == wanted), 'get_strided, rank '//char(rank + 48))
      call prif_sync_all()
    end do
  end subroutine

  ! A stride of 0 where it is written.
  subroutine last_value_stays()
    integer(l), target :: list(3, 2), one(2)
    list = reshape([1, 2, 3, 4, 5, 6] + 10*me, [3, 2])
    x = 0
    call prif_sync_all()
    call prif_put_strided(right, h, 0_z, [0_d, 8_d], c_loc(list), [8_d, 24_d], 8_z, [3_z, 2_z])
    call prif_sync_all()
    call expect(all(x(1:2) == [3, 6] + 10*left) .and. x(3) == 0, 'put with a stride of 0')
    x(1:6) = reshape(list, [6])
    call prif_sync_all()
    call prif_get_strided(right, h, 0_z, [8_d, 24_d], c_loc(one), [0_d, 8_d], 8_z, [3_z, 2_z])
    call expect(all(one == [3, 6] + 10*right), 'get with a stride of 0')
    call prif_sync_all()
  end subroutine

  subroutine wrong_arguments()
    integer(z) :: block
    block = table_at + 8*images
    x = 7
    buffer = 8
    text = ''
    call prif_sync_all()
    call prif_put(0_c_int, h, 0_z, c_loc(buffer), 8_z, stat, text)
    call expect_error(stat, text, 120_c_int, 'image_num')
    call prif_get(images + 1_c_int, h, 0_z, c_loc(buffer), 8_z, stat, text)
    call expect_error(stat, text, 120_c_int, 'image_num')
    call prif_put(right, h, block - 4, c_loc(buffer), 8_z, stat, text)
    call expect_error(stat, text, 120_c_int, 'offset=')
    call prif_put(right, h, huge(0_z), c_loc(buffer), 8_z, stat, text)
    call expect_error(stat, text, 120_c_int, 'offset=')
    call prif_get(right, h, 0_z, c_loc(buffer), block + 1, stat, text)
    call expect_error(stat, text, 120_c_int, 'offset=0')
    call prif_get(right, h, 0_z, c_null_ptr, 8_z, stat, text)
    call expect_error(stat, text, 120_c_int, 'current_image_buffer is null')
    call prif_put_indirect(right, 4096_c_intptr_t, c_loc(buffer), 8_z, stat, text)
    call expect_error(stat, text, 120_c_int, 'remote_ptr=0x1000')
    call prif_put_with_notify(right, h, 0_z, c_loc(buffer), 8_z, h, 12_z, stat, text)
    call expect_error(stat, text, 120_c_int, 'notify_offset=12')
    call prif_put_with_notify_indirect(right, h, 0_z, c_loc(buffer), 8_z, 64_c_intptr_t, stat, text)
    call expect_error(stat, text, 120_c_int, 'notify_ptr=')
    call prif_put_strided(right, h, 0_z, [8_d], c_loc(buffer), [8_d, 8_d], 8_z, [2_z], stat, text)
    call expect_error(stat, text, 120_c_int, 'current_image_stride')
    call prif_put_strided(right, h, 0_z, [-8_d], c_loc(buffer), [8_d], 8_z, [2_z], stat, text)
    call expect_error(stat, text, 120_c_int, 'bytes -8 to 7')
    call prif_put_strided(right, h, 8_z, [huge(0_d)], c_loc(buffer), [8_d], 8_z, [5_z], stat, text)
    call expect_error(stat, text, 120_c_int, 'remote_stride(1)=')
    call prif_sync_all()
    call expect(all(x == 7) .and. all(buffer == 8), 'nothing moved')
    call prif_sync_all()
  end subroutine
end program
