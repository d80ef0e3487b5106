! SPDX-License-Identifier: BSD-3-Clause
! Notified access for coarray Fortran: events that remote writes, or reads, of a section post.
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
! several sections, and a section several events; at most 64 pairs an image. The event is given as
! LOC(event), since gfortran 12 takes no event as an argument; gfortran 11 cannot pass the sections. docs/FORTRAN.md has more.
module tombolo_caf
  use iso_c_binding, only: c_char, c_int, c_intptr_t
  implicit none
  private
  public :: event_attach, event_attach_read, event_detach

  ! These are C functions, as only such get sections of any variable as they are.
  interface
    ! Posts the event at every remote write that touches the section of this image's coarray.
    ! event: LOC(variable) of type EVENT_TYPE on this image. section: any part of a coarray of this
    ! image. stat: 0, or 1 when event is none of this image, 2 when the section is empty or not
    ! allocated, 3 when it is not part of a coarray of this image, 4 when there are 64 attachments;
    ! without it an error ends the program.
    subroutine event_attach(event, section, stat, errmsg) bind(c, name='tombolo_caf_attach_write')
      import :: c_char, c_int, c_intptr_t
      integer(c_intptr_t), value :: event
      type(*), intent(in) :: section(..)
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine

    ! The same for remote reads: posted once the data have been read and may be overwritten.
    subroutine event_attach_read(event, section, stat, errmsg) &
      bind(c, name='tombolo_caf_attach_read')
      import :: c_char, c_int, c_intptr_t
      integer(c_intptr_t), value :: event
      type(*), intent(in) :: section(..)
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine

    ! Ends all attachments of an event; stat 5: it has none. Writes of images that have not
    ! synchronised since may still post it.
    subroutine event_detach(event, stat, errmsg) bind(c, name='tombolo_caf_detach')
      import :: c_char, c_int, c_intptr_t
      integer(c_intptr_t), value :: event
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine
  end interface
end module
