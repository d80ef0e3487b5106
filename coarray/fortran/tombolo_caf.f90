! SPDX-License-Identifier: BSD-3-Clause
! Notified access and asynchronous transfers for coarray Fortran.
!
!   use tombolo_caf
!   type(event_type) :: arrived[*]
!   real :: halo(100)[*]
!   call event_attach(loc(arrived), halo)     ! from now on each remote write into halo posts arrived
!   sync all
!   halo(:)[right] = edge                     ! data and post in one message
!   event wait(arrived)
!
! Attaching is local and does not wait. Images that synchronise with this one afterwards (SYNC ALL,
! SYNC IMAGES, an event) post; a statement posts an event once, however many elements of however
! many of its sections it touches. EVENT POST on the same event works as ever. An event may have
! several sections, and a section several events; at most 64 pairs an image.
!
! In all procedures an event is given as LOC(event), since gfortran 12 takes no event as an argument,
! or it is a variable of type NOTIFY_TYPE of this module: a coarray or a component of one. gfortran
! 11 cannot pass the sections. docs/FORTRAN.md has more.
module tombolo_caf
  use iso_c_binding, only: c_bool, c_char, c_int, c_int64_t, c_intptr_t
  implicit none
  private
  public :: notify_type, async_handle
  public :: event_attach, event_attach_read, event_detach
  public :: notified_put, notified_get, notify_wait, put_async, get_async, async_wait, async_test
  public :: trace_begin, trace_end

  ! Counts notifications, as NOTIFY_TYPE of Fortran 2023 does: declare it as a coarray.
  type, bind(c) :: notify_type
    private
    integer(c_int64_t) :: count = 0
  end type

  ! A transfer in progress, or none.
  type, bind(c) :: async_handle
    private
    integer(c_int64_t) :: id = 0
  end type

  ! C functions are needed here: only they get sections of any variable uncopied.

  ! Posts the event at every remote write that touches the section of this image's coarray.
  ! event: LOC(variable) of type EVENT_TYPE on this image, or a notify variable. section: any part of
  ! a coarray of this image. stat: 0, or 1 when event is none of this image, 2 when the section is
  ! empty or not allocated, 3 when it is not part of a coarray of this image, 4 when there are 64
  ! attachments; without it an error ends the program.
  interface event_attach
    subroutine attach_write_event(event, section, stat, errmsg) &
      bind(c, name='tombolo_caf_attach_write')
      import :: c_char, c_int, c_intptr_t
      integer(c_intptr_t), value :: event
      type(*), intent(in) :: section(..)
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine
    subroutine attach_write_notify(event, section, stat, errmsg) &
      bind(c, name='tombolo_caf_attach_write_notify')
      import :: c_char, c_int, notify_type
      type(notify_type), intent(in) :: event
      type(*), intent(in) :: section(..)
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine
  end interface

  ! For remote reads: posted once the data have been read and may be overwritten.
  interface event_attach_read
    subroutine attach_read_event(event, section, stat, errmsg) &
      bind(c, name='tombolo_caf_attach_read')
      import :: c_char, c_int, c_intptr_t
      integer(c_intptr_t), value :: event
      type(*), intent(in) :: section(..)
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine
    subroutine attach_read_notify(event, section, stat, errmsg) &
      bind(c, name='tombolo_caf_attach_read_notify')
      import :: c_char, c_int, notify_type
      type(notify_type), intent(in) :: event
      type(*), intent(in) :: section(..)
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine
  end interface

  ! Ends all attachments of an event; stat 5: it has none. Writes of images that have not
  ! synchronised since may still post it.
  interface event_detach
    subroutine event_detach_event(event, stat, errmsg) bind(c, name='tombolo_caf_detach')
      import :: c_char, c_int, c_intptr_t
      integer(c_intptr_t), value :: event
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine
    subroutine event_detach_notify(event, stat, errmsg) bind(c, name='tombolo_caf_detach_notify')
      import :: c_char, c_int, notify_type
      type(notify_type), intent(in) :: event
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine
  end interface

  ! section on image = value, and then one post of the event there, in one message where both are
  ! contiguous. section: a part of a coarray of this image, which stands for that part on the other.
  ! value: conformable, or a scalar; converted as by an assignment; may be changed after the return.
  ! event: of this image, standing for the one on the other. stat: 0, 3 when an argument is wrong,
  ! STAT_FAILED_IMAGE; without it an error ends the program.
  interface notified_put
    subroutine notified_put_event(section, image, value, event, stat, errmsg) &
      bind(c, name='tombolo_caf_put_event')
      import :: c_char, c_int, c_intptr_t
      type(*), intent(in) :: section(..)
      integer(c_int), value :: image
      type(*), intent(in) :: value(..)
      integer(c_intptr_t), value :: event
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine
    subroutine notified_put_notify(section, image, value, notify, stat, errmsg) &
      bind(c, name='tombolo_caf_put_notify')
      import :: c_char, c_int, notify_type
      type(*), intent(in) :: section(..)
      integer(c_int), value :: image
      type(*), intent(in) :: value(..)
      type(notify_type), intent(in) :: notify
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine
  end interface

  ! into = section on image, and then one post of the event there: the data have been read.
  interface notified_get
    subroutine notified_get_event(section, image, into, event, stat, errmsg) &
      bind(c, name='tombolo_caf_get_event')
      import :: c_char, c_int, c_intptr_t
      type(*), intent(in) :: section(..)
      integer(c_int), value :: image
      type(*) :: into(..)
      integer(c_intptr_t), value :: event
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine
    subroutine notified_get_notify(section, image, into, notify, stat, errmsg) &
      bind(c, name='tombolo_caf_get_notify')
      import :: c_char, c_int, notify_type
      type(*), intent(in) :: section(..)
      integer(c_int), value :: image
      type(*) :: into(..)
      type(notify_type), intent(in) :: notify
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine
  end interface

  ! Waits for until_count (1) notifications, and takes them.
  interface
    subroutine notify_wait(notify, until_count, stat, errmsg) &
      bind(c, name='tombolo_caf_notify_wait')
      import :: c_char, c_int, notify_type
      type(notify_type), intent(inout) :: notify
      integer(c_int), intent(in), optional :: until_count
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine

    ! Begins section on image = value. value: a variable, not an expression, which keeps its value
    ! until the transfer is done: async_wait, or any image control statement (SYNC MEMORY).
    ! The transfer has no order with other accesses of this image.
    subroutine put_async(section, image, value, handle, stat, errmsg) &
      bind(c, name='tombolo_caf_put_async')
      import :: async_handle, c_char, c_int
      type(*), intent(in) :: section(..)
      integer(c_int), value :: image
      type(*), intent(in), asynchronous :: value(..)
      type(async_handle), intent(out) :: handle
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine

    ! Begins into = section on image. into: give it the attribute ASYNCHRONOUS.
    subroutine get_async(section, image, into, handle, stat, errmsg) &
      bind(c, name='tombolo_caf_get_async')
      import :: async_handle, c_char, c_int
      type(*), intent(in) :: section(..)
      integer(c_int), value :: image
      type(*), asynchronous :: into(..)
      type(async_handle), intent(out) :: handle
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine

    ! Waits for a transfer; at once when it is done.
    subroutine async_wait(handle) bind(c, name='tombolo_caf_async_wait')
      import :: async_handle
      type(async_handle), intent(inout) :: handle
    end subroutine

    ! Whether a transfer is done.
    function async_test(handle) result(done) bind(c, name='tombolo_caf_async_test')
      import :: async_handle, c_bool
      type(async_handle), intent(inout) :: handle
      logical(c_bool) :: done
    end function

    ! Marks the begin and the end of a region of this image, for `tombolo run --trace`; regions
    ! nest. name: 63 characters of it are kept. Without a trace nothing happens.
    subroutine trace_begin(name) bind(c, name='tombolo_caf_trace_begin')
      import :: c_char
      character(kind=c_char, len=*), intent(in) :: name
    end subroutine
    subroutine trace_end() bind(c, name='tombolo_caf_trace_end')
    end subroutine
  end interface
end module
