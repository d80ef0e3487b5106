#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# How coarray programs end: exit codes and output of STOP, ERROR STOP, errors, and lost images.
# timeout: 120
"""Compiles one program with `tombolo fc` and runs its cases; prints what differs."""

import os
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

from command import run

SOURCE = """
program ends
  use iso_fortran_env
  implicit none
  type :: base
    integer :: k = 7
  end type
  type :: holder ! for the memory of c gfortran asks with the token of the coarray
    integer :: n = 0
    class(base), allocatable :: c
  end type
  type(holder), save :: fixed[*]
  type(holder), allocatable, save :: single[:], list(:)[:]
  integer :: a(2)[*], s, i
  integer, allocatable, save :: b(:)[:], c(:)[:]
  character(120) :: text
  type(event_type) :: e[*]
  type(lock_type) :: guard[*]
  character(20) :: what
  type(team_type), save :: unset, half
  call get_command_argument(1, what)
  a = 0
  sync all
  write (text, '(a)') 'began' ! an internal file has a unit for a while
  print '(a)', trim(text)
  select case (what)
  case ('stop')
    if (this_image() == 2) stop 7
  case ('stop_text')
    if (this_image() == 1) stop 'done here'
  case ('error_stop')
    if (this_image() == 2) error stop 9
    sync all
  case ('team_error')
    form team (1 + mod(this_image(), 2), half)
    change team (half)
      allocate (b(4)[*])
      b = this_image()
      sync all
      s = b(1)[num_images()]
      if (this_image() == 2) error stop 6
      sync all
    end team
    sync all
  case ('error_text')
    if (this_image() == 2) error stop 'bad thing'
    event wait (e)
  case ('range')
    a(1)[num_images() + 1] = 1
  case ('unallocated')
    i = 1
    b(i)[1] = 3
  case ('stopped')
    if (this_image() == 2) stop
    sync all (stat=s)
    if (s == stat_stopped_image) print '(a)', 'saw it'
  case ('stopped_bare')
    if (this_image() == 2) stop
    sync all
  case ('failed_bare')
    if (this_image() == 2) fail image
    do
      sync all
    end do
  case ('failed_one')
    if (this_image() == 2) fail image
    sync all (stat=s)
    if (s == stat_failed_image) print '(a)', 'saw it'
  case ('failed_stop')
    if (this_image() == 2) fail image
    if (this_image() == 3) stop 5
  case ('failed_late') ! after the others have come to their ends
    if (this_image() == 2) call short_sleep(100000)
    if (this_image() == 2) fail image
  case ('failed_all')
    fail image
  case ('failed_event')
    if (this_image() == 2) fail image
    event wait (e)
  case ('alone_event') ! also where the wait begins long before the others end
    if (this_image() /= 1) call short_sleep(100000)
    if (this_image() /= 1) stop
    event wait (e, stat=s, errmsg=text)
    if (s == stat_stopped_image) print '(a)', trim(text)
    call count_of(s)
    if (s == 0) print '(a)', 'and the count is 0'
  case ('alone_bare')
    if (this_image() == 1) event wait (e)
  case ('lock_stopped')
    if (this_image() == 2) lock (guard[3])
    sync all
    if (this_image() == 2) stop
    lock (guard[3], stat=s, errmsg=text)
    if (s == stat_stopped_image) print '(a)', trim(text)
  case ('failed_sum')
    if (this_image() == 2) fail image
    do
      call co_sum(i)
    end do
  case ('team_static')
    a(1)[1, team=unset] = 2
  case ('team_local')
    call team_local
  case ('team_number')
    unset = transfer(loc(what), unset)
    print *, team_number(unset)
  case ('index')
    i = 7
    a(1)[i] = 2
  case ('index_printed')
    i = 7
    print *, 'value', a(1)[i]
  case ('stop_printed')
    print *, 'value', stops()
  case ('order')
    allocate (b(3)[*], c(5)[*])
    if (this_image() == 2) then
      deallocate (b)
      deallocate (c)
    else
      deallocate (c)
      deallocate (b)
    end if
  case ('order_stat')
    allocate (b(3)[*], c(5)[*])
    if (this_image() == 2) deallocate (b, stat=s, errmsg=text)
    if (this_image() /= 2) deallocate (c, stat=s, errmsg=text)
    if (s /= 0 .and. index(text, 'DEALLOCATE in different order') == 1) print '(a)', 'reported'
  case ('overflow')
    if (this_image() == 1) then
      call poke(loc(e), huge(i))
      event post (e, stat=s, errmsg=text)
      if (s /= 0 .and. index(text, 'EVENT POST: the event on image') == 1) print '(a)', 'reported'
    end if
  case ('overflow_bare')
    if (this_image() == 1) call poke(loc(e), huge(i))
    if (this_image() == 1) event post (e)
  case ('huge')
    allocate (b(1000000000000_8)[*], stat=s)
    if (s /= 0) print '(a)', 'refused'
  case ('huge_bare')
    allocate (b(1000000000000_8)[*])
  case ('class')
    allocate (single[*])
    allocate (single%c)
  case ('class_element')
    allocate (list(3)[*])
    allocate (list(2)%c)
  case ('class_static')
    allocate (fixed%c)
  case ('run_time_error') ! the others do not synchronise
    if (this_image() == 2) open (newunit=i, file='/proc/nonexistent/file', status='old')
    call until_set()
  case ('exit')
    if (this_image() == 2) call exit(4)
    call until_set()
  case ('exit_0')
    a(2) = this_image()
    sync all
    if (this_image() == 2) call exit(0)
    call short_sleep(100000)
    i = a(2)[2]
    sync images (2, stat=s)
    if (i == 2 .and. s == stat_stopped_image .and. this_image() == 1) print '(a)', 'as by STOP'
  case ('forked')
    call execute_command_line('exit 3', wait=.false.)
    call execute_command_line('exit 3', exitstat=i)
    call forked_exit()
    sync all
    if (this_image() == 1) print '(a)', 'goes on'
  case ('written') ! an image that waits, and one that computes
    write (text, '(a,i0)') 'written-', this_image()
    open (newunit=i, file=trim(text))
    write (i, '(a)') 'a line'
    sync all
    if (this_image() == 2) error stop 9
    if (this_image() == 3) call until_set()
    sync all
  case ('moved')
    call moved()
    call moved()
    if (this_image() == 1) print '(a)', 'both there'
  end select
contains
  integer function stops()
    stops = 1
    error stop 11
  end function

  subroutine team_local() ! holds any word
    type(team_type) :: any
    any = transfer(loc(what), any)
    a(1:2)[1, team=any] = 3
  end subroutine

  subroutine moved() ! MOVE_ALLOC leaves the token in x behind
    integer, allocatable :: x(:)[:], y(:)[:]
    allocate (x(4)[*])
    x = this_image()
    call move_alloc(x, y)
    allocate (x(6)[*])
    x = 10*this_image()
    sync all
    i = 1 + mod(this_image(), num_images())
    if (x(6)[i] /= 10*i .or. y(4)[i] /= i) error stop 5
    sync all
  end subroutine

  subroutine short_sleep(us)
    use iso_c_binding
    integer, intent(in) :: us
    interface
      subroutine usleep(us) bind(c)
        import c_int
        integer(c_int), value :: us
      end subroutine
    end interface
    call usleep(us)
  end subroutine

  subroutine until_set() ! which nobody does
    integer(atomic_int_kind), save :: flag[*] = 0
    integer(atomic_int_kind) :: value
    do
      call atomic_ref(value, flag)
      if (value == 1) exit
    end do
  end subroutine

  subroutine forked_exit() ! of a child process
    use iso_c_binding
    interface
      integer(c_int) function fork() bind(c)
        import c_int
      end function
      subroutine leave(code) bind(c, name='exit')
        import c_int
        integer(c_int), value :: code
      end subroutine
    end interface
    if (fork() == 0) call leave(6)
  end subroutine

  subroutine count_of(n)
    integer, intent(out) :: n
    call event_query(e, n)
  end subroutine

  subroutine poke(at, value)  ! the count of an event
    use iso_c_binding
    integer(c_intptr_t), intent(in) :: at
    integer, intent(in) :: value
    integer(c_int64_t), pointer :: word
    call c_f_pointer(transfer(at, c_null_ptr), word)
    word = value
  end subroutine
end program
"""

# case or NAME=VALUE of a setting, exit code, what the output has
CASES = (
    ("end", 0, "began"),
    ("stop", 7, "STOP 7"),
    ("stop_text", 0, "STOP done here"),
    ("error_stop", 9, "ERROR STOP 9"),
    ("team_error", 6, "ERROR STOP 6"),
    ("error_text", 1, "ERROR STOP bad thing"),
    ("range", 3, "there is no image 4 for coarray a: the current team has images 1 to 3"),
    ("index", 3, "there is no image 7 for coarray a"),
    ("index_printed", 3, "there is no image 7 for coarray a"),
    ("stop_printed", 11, "ERROR STOP 11"),
    ("order", 3, "this image deallocates coarray c (number 7 of its team, 20 bytes), image 2"),
    ("order_stat", 0, "reported"),
    ("overflow", 0, "reported"),
    ("overflow_bare", 3, "the event on image 1 has been posted 2147483647 times more"),
    ("unallocated", 3, "is not allocated"),
    ("stopped", 0, "saw it"),
    ("stopped_bare", None, "SYNC ALL: image 2 of the initial team has ended normally"),
    ("failed_bare", None, "SYNC ALL: image 2 of the initial team has failed"),
    ("failed_one", 0, "saw it"),
    ("failed_stop", 5, "STOP 5"),
    ("failed_late", 0, "began"),
    ("failed_all", 0, "began"),
    ("failed_event", None, "1 posts have not come, and image 2 of the initial team has failed"),
    ("alone_event", 0, "EVENT WAIT: 1 posts have not come, and no other image is left to post"),
    ("alone_event", 0, "and the count is 0"),
    ("alone_bare", None, "and no other image is left to post"),
    ("lock_stopped", 0, "LOCK: image 2 of the initial team holds the lock and has ended"),
    ("failed_sum", None, "CO_SUM: image 2 of the initial team has failed"),
    ("team_static", 1, "TEAM= of an image selector: the team was not formed by FORM TEAM"),
    ("team_local", 1, "TEAM= of an image selector: the team was not formed by FORM TEAM"),
    ("team_number", 3, "TEAM_NUMBER: the team was not formed by FORM TEAM"),
    ("huge", 0, "refused"),
    ("huge_bare", None, "set GASNET_MAX_SEGSIZE"),
    ("class", 3, "polymorphic component (CLASS) of coarray single: gfortran asks"),
    ("class_element", 3, "polymorphic component (CLASS) of coarray list: gfortran asks"),
    ("class_static", 3, "polymorphic component (CLASS) of coarray fixed: gfortran asks"),
    ("run_time_error", 2, "Cannot open file '/proc/nonexistent/file'"),
    ("exit", 4, "ending the other 2 ranks"),
    ("exit_0", 0, "as by STOP"),
    ("forked", 0, "goes on"),
    ("moved", 0, "both there"),
    ("TOMBOLO_TEST_CAF_EVENTS=bell", 2,
     'TOMBOLO_TEST_CAF_EVENTS="bell" is not valid: expected one of '
     "signal|queue|flag|atomic"),
    ("TOMBOLO_TEST_CAF_EVENTS=FLAG", 0, "began"),
    ("GASNET_CATCH_EXIT=0", 0, "began"),
)


# of these: with the checkers of `tombolo run`, which find nothing
CHECKED = ("end", "stop", "error_stop", "team_error", "failed_one", "alone_event", "exit")


def check_finds(tombolo, program, case):
    """What is wrong with a case under the checkers, or an empty text."""
    expected = next(code for name, code, _ in CASES if name == case)
    code, text = run([tombolo, "run", "--check", "races,leaks,misuse", "-n", "3", str(program),
                      case])
    return "" if code == expected and "tombolo: found" not in text else f"code {code}: {text}"


def unwritten(tombolo, program, folder):
    """Images whose file is not there after ERROR STOP of another one."""
    run([tombolo, "run", "-n", "3", str(program), "written"], folder)
    files = [Path(folder) / f"written-{image}" for image in (1, 2, 3)]
    return [file.name for file in files if not file.exists() or file.read_text() != "a line\n"]


def blocked(tombolo, program):
    """A normal end of images that block SIGSEGV, as what started the job did."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGSEGV})
    code, text = run([tombolo, "run", "-n", "2", str(program), "end"])
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return f"exit code {code}: {text}" if code else ""


def main():
    tombolo = os.environ["TOMBOLO"]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "ends.f90", Path(folder) / "ends"
        source.write_text(SOURCE)
        code, text = run([tombolo, "fc", "-g", str(source), "-o", str(program)])
        if code:
            print(text)
            return 1
        for case, expected, match in CASES:
            setting = ["--env", case] if "=" in case else []
            code, text = run([tombolo, "run", *setting, "-n", "3", str(program), case])
            ok = match in text and (code == expected if expected is not None else code != 0)
            ok = ok and (case == "run_time_error" or "Backtrace" not in text)
            if not ok:
                wrong += 1
                print(f"FAILED: {case}: exit code {code}, not {expected}, or no {match!r}:\n{text}")
        for case in CHECKED:
            found = check_finds(tombolo, program, case)
            if found:
                wrong += 1
                print(f"FAILED: {case} with --check: {found}")
        lost = unwritten(tombolo, program, folder)
        if lost:
            wrong += 1
            print(f"FAILED: written: without the line: {lost}")
        died = blocked(tombolo, program)
        if died:
            wrong += 1
            print(f"FAILED: blocked: {died}")
        code, text = run([tombolo, "fc", "-static", str(source), "-o", str(program)])
        if not code:
            code, text = run([tombolo, "run", "-n", "2", str(program), "end"])
        if code:
            wrong += 1
            print(f"FAILED: -static: exit code {code}:\n{text}")
    print(f"{len(CASES) - wrong} of {len(CASES)} cases ended as they should")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
