! SPDX-License-Identifier: BSD-3-Clause
! What the applications in coarray Fortran share (pipeline.F90, stencil.F90; the breakdown: hydro.F90): options, refusal,
! the clock, progress, the table, regions in a trace. Standard Fortran 2018 only, so that it compiles for other libraries too,
! with -DPEER: without regions.
! A line of the table is read by study/compare/caf_apps.py. The breakdown is that of one more iteration than
! the timed ones, because a clock read at each step would be part of what is measured. Exit code 2: refused.
module app_caf
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
#ifndef PEER
  use tombolo_caf, only: trace_begin, trace_end
#endif
  implicit none
  private
  integer, parameter, public :: app_compute = 1, app_move = 2, app_send = 3, app_wait = 4, app_phases = 4
  character(12), parameter :: phase_name(app_phases) = [character(12) :: 'computing', 'copying', 'sending', 'waiting']
  real(8), parameter :: quiet_seconds = 2 ! progress is shown after this long, and so often
  integer, public :: me, images, iterations = 10
  ! `--NAME NUMBER`: what it is, the least and the default number.
  type, public :: app_option
    character(8) :: name
    character(48) :: text
    integer :: least, value
  end type
  character(12), public :: only = ''
  character(16), public :: program_name = ''
  logical :: clocked = .false.
  integer :: phase
  real(8) :: since, spent(app_phases), shown, began
  public :: app_start, app_refuse, app_help, app_need, app_now, app_watch, app_enter, app_progress, app_report, app_breakdown
  public :: app_region, app_region_end, app_alone, app_iteration, app_iteration_end
contains
  ! Read these options, --iterations, --way and --help; every image reads the same. about: what the program does.
  subroutine app_start(name, about, options, ways, means)
    character(*), intent(in) :: name, about, ways(:), means(:)
    type(app_option), intent(inout) :: options(:)
    character(32) :: word, number
    integer :: i, at
    me = this_image()
    images = num_images()
    program_name = name
    do i = 1, command_argument_count(), 2
      call get_command_argument(i, word)
      call get_command_argument(i + 1, number)
      at = findloc(options%name, word(3:), dim=1)
      if (word(:2) /= '--') at = 0
      if (word == '--help' .or. word == '-h') then
        call app_help(usage(about, options, ways, means))
      else if (at > 0) then
        options(at)%value = whole(word, number, options(at)%least)
      else if (word == '--iterations') then
        iterations = whole(word, number, 1)
      else if (word == '--way') then
        only = number(:12)
        if (all(ways /= only)) call app_refuse('--way ' // trim(number) // ': expected one of ' // listed(ways))
      else
        call app_refuse('option ' // trim(word) // ': expected --help, --iterations, --way, --' // listed(options%name))
      end if
    end do
  end subroutine

  function usage(about, options, ways, means) result(text)
    character(*), intent(in) :: about, ways(:), means(:)
    type(app_option), intent(in) :: options(:)
    character(:), allocatable :: text
    character(100) :: line
    character(*), parameter :: form = '(2x,a,t24,2a,i0,a,i0,a)'
    integer :: i
    text = about // new_line('a') // new_line('a')
    do i = 1, size(options)
      write (line, form) '--' // trim(options(i)%name) // ' NUMBER', trim(options(i)%text), ' (default ', &
        options(i)%value, ', at least ', options(i)%least, ')'
      text = text // trim(line) // new_line('a')
    end do
    write (line, form) '--iterations NUMBER', 'Timed iterations', ' (default ', iterations, ', at least ', 1, ')'
    text = text // trim(line) // new_line('a')
    write (line, '(2x,a,t24,a)') '--way WAY', 'Run one variant only, of those below (default all)'
    text = text // trim(line) // new_line('a') // new_line('a') // 'Variants of --way:'
    do i = 1, size(ways)
      text = text // new_line('a') // '  ' // ways(i) // ' ' // trim(means(i))
    end do
  end function

  ! Show a text, and end; all images call it.
  subroutine app_help(text)
    character(*), intent(in) :: text
    if (this_image() == 1) print '(a/a)', text, 'Exit code: 0 verified, 1 verification failed, 2 refused.'
    sync all
    stop
  end subroutine

  ! Refuse a problem for which an image needs about so many bytes, where an image's host does not have them for each of its
  ! images; collective.
  subroutine app_need(bytes)
    real(8), intent(in) :: bytes
    real(8) :: most, least, lacks
    character(200) :: text
    least = memory_left()
    if (least < 0) least = huge(least)
    least = least/neighbours()
    lacks = bytes - least
    most = bytes
    call co_max(lacks)
    if (lacks <= 0) return
    call co_max(most)
    call co_min(least)
    write (text, '(2(a,i0),a)') 'this problem needs about ', int(most/2d0**20, int64), ' MiB an image, and an image can have ', &
      int(least/2d0**20, int64), ' MiB; take a smaller problem or more hosts'
    call app_refuse(trim(text))
  end subroutine

  ! Bytes that this host can still give; -1: it does not say.
  real(8) function memory_left()
    character(128) :: line
    integer :: unit, failed
    memory_left = -1
    open (newunit=unit, file='/proc/meminfo', status='old', action='read', iostat=failed)
    if (failed /= 0) return
    do while (memory_left < 0)
      read (unit, '(a)', iostat=failed) line
      if (failed /= 0) exit
      if (line(:13) /= 'MemAvailable:') cycle
      read (line(14:), *, iostat=failed) memory_left
      memory_left = 1024*memory_left
    end do
    close (unit)
  end function

  ! Images on this one's host; collective.
  integer function neighbours()
    integer(int64) :: name
    integer(int64), allocatable :: host[:]
    character(128) :: line
    integer :: unit, failed, i
    line = ''
    open (newunit=unit, file='/proc/sys/kernel/hostname', status='old', action='read', iostat=failed)
    if (failed == 0) read (unit, '(a)', iostat=failed) line
    if (failed == 0) close (unit)
    name = 0
    do i = 1, len_trim(line)
      name = mod(31*name + iachar(line(i:i)), 2_int64**48)
    end do
    allocate (host[*])
    host = name
    sync all
    neighbours = 0
    do i = 1, num_images()
      if (host[i] == name) neighbours = neighbours + 1
    end do
    deallocate (host)
  end function

  function listed(words) result(text)
    character(*), intent(in) :: words(:)
    character(:), allocatable :: text
    integer :: i
    text = trim(words(1))
    do i = 2, size(words)
      text = text // ', ' // trim(words(i))
    end do
  end function

  integer function whole(word, number, least)
    character(*), intent(in) :: word, number
    integer, intent(in) :: least
    integer :: failed
    character(12) :: text
    read (number, '(i32)', iostat=failed) whole
    write (text, '(i0)') least
    if (failed /= 0 .or. number == '' .or. whole < least) &
      call app_refuse(trim(word) // ' ' // trim(number) // ': expected a whole number, at least ' // trim(text))
  end function

  ! All images call it with the same reason.
  subroutine app_refuse(text)
    character(*), intent(in) :: text
    if (this_image() == 1) write (error_unit, '(3a)') trim(program_name), ': ', text
    sync all
    stop 2, quiet=.true.
  end subroutine

  real(8) function app_now()
    integer(int64) :: ticks, rate
    call system_clock(ticks, rate)
    app_now = real(ticks, 8)/real(rate, 8)
  end function

  ! Say what computing takes by itself, on the slowest image: processor time of an iteration; where images share processors, the
  ! time until all have had their turn. The median of samples that all take at once, see app.h. what: computes an iteration.
  ! Collective.
  subroutine app_alone(what)
    interface
      subroutine what()
      end subroutine
    end interface
    integer, parameter :: samples = 9 ! an odd number
    real(8), parameter :: long_enough = 1d-3 ! of a sample, so that reading the clock counts little
    real(8) :: begun, ended, alone, sample(samples)
    integer :: i, k, calls
    calls = 1
    do i = 1, samples
      sync all
      do
        call cpu_time(begun)
        do k = 1, calls
          call what()
        end do
        call cpu_time(ended)
        if (ended - begun >= long_enough) exit
        calls = 2*calls
      end do
      sample(i) = (ended - begun)/calls
    end do
    alone = median(sample)
    call co_max(alone)
    alone = alone*max(1d0, real(neighbours(), 8)/processors())
    if (this_image() == 1) print '(2x,a,f12.5,a)', 'computing alone', 1d3*alone, ' ms an iteration'
  end subroutine

  ! Of an odd number of values: as many are less as are more.
  pure real(8) function median(values)
    real(8), intent(in) :: values(:)
    integer :: i
    median = values(1)
    do i = 1, size(values)
      median = values(i)
      if (count(values < median) <= size(values)/2 .and. count(values <= median) > size(values)/2) return
    end do
  end function

  ! Processors of this host; as many as images can be: it does not say.
  integer function processors()
    character(128) :: line
    integer :: unit, failed
    processors = 0
    open (newunit=unit, file='/proc/cpuinfo', status='old', action='read', iostat=failed)
    do while (failed == 0)
      read (unit, '(a)', iostat=failed) line
      if (failed == 0 .and. line(:9) == 'processor') processors = processors + 1
    end do
    close (unit, iostat=failed)
    if (processors == 0) processors = huge(processors)
  end function

  ! Marks what happens from here to the matching end, for `tombolo run --trace`; regions nest.
  subroutine app_region(name)
    character(*), intent(in) :: name
#ifdef PEER
    if (len(name) < 0) return ! there is no trace
#else
    call trace_begin(name)
#endif
  end subroutine

  subroutine app_region_end()
#ifndef PEER
    call trace_end()
#endif
  end subroutine

  ! From here to app_watch(.false.) time is charged to phases, `app_compute` first.
  subroutine app_watch(on)
    logical, intent(in) :: on
    if (on) then
      spent = 0
      phase = app_compute
      call app_region(phase_name(phase))
      since = app_now()
    else
      call app_enter(app_compute)
      if (clocked) call app_region_end()
    end if
    clocked = on
  end subroutine

  subroutine app_enter(next)
    integer, intent(in) :: next
    real(8) :: t
    if (.not. clocked) return
    t = app_now()
    spent(phase) = spent(phase) + t - since
    since = t
    phase = next
    call app_region_end()
    call app_region(phase_name(phase))
  end subroutine

  ! Begins iteration k of a variant: 0 warms up, iterations + 1 is watched. seconds: of one of those in between, known
  ! from the watched one on; collective.
  subroutine app_iteration(way, k, seconds)
    character(*), intent(in) :: way
    integer, intent(in) :: k
    real(8), intent(inout) :: seconds
    if (k == 1) then
      sync all
      began = app_now()
    else if (k == iterations + 1) then
      seconds = (app_now() - began)/iterations
    end if
    call app_region(way)
    if (k > iterations) call app_watch(.true.)
  end subroutine

  subroutine app_iteration_end(way, k)
    character(*), intent(in) :: way
    integer, intent(in) :: k
    if (k > iterations) call app_watch(.false.)
    call app_region_end()
    call app_progress(way, k)
  end subroutine

  ! After iteration `done` (0: the one that warms up); seldom more than a read of the clock of image 1.
  subroutine app_progress(way, done)
    character(*), intent(in) :: way
    integer, intent(in) :: done
    if (me /= 1) return
    if (done == 0) shown = app_now()
    if (app_now() - shown < quiet_seconds) return
    shown = app_now()
    write (error_unit, '(4a,2(i0,a))') trim(program_name), ': ', trim(way), ': ', min(done, iterations), ' of ', &
      iterations, ' iterations'
  end subroutine

  ! One way's line, and where the time of the watched iteration went, over all images; collective.
  subroutine app_report(way, seconds, work, good)
    character(*), intent(in) :: way
    real(8), intent(in) :: seconds, work
    logical, intent(in) :: good
    if (me == 1) print '(2x,a,f12.5,a,f10.1,2a)', way, 1d3*seconds, ' ms an iteration ', 1d-6*work/seconds, &
      ' MFlop/s  ', merge('VERIFIED', 'FAILED  ', good)
    call app_breakdown()
  end subroutine

  ! Where the time of the watched iteration went; collective.
  subroutine app_breakdown()
    real(8) :: mean(app_phases), most(app_phases)
    integer :: i
    mean = spent
    most = spent
    call co_sum(mean)
    call co_max(most)
    if (this_image() /= 1) return
    print '(6x,4(a,:,", "))', (trim(phase_name(i)) // ' ' // text_ms(mean(i)/num_images()) // ' ms (slowest ' // &
      text_ms(most(i)) // ')', i=1, app_phases)
  end subroutine

  ! A time in ms as the C programs print it, as 0.057.
  function text_ms(seconds) result(text)
    real(8), intent(in) :: seconds
    character(:), allocatable :: text
    character(24) :: room
    write(room, '(f20.3)') 1d3*seconds
    text = trim(adjustl(room))
  end function
end module
