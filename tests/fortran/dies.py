#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# An image fails before, in and after each image control statement, by FAIL IMAGE and by SIGKILL.
# timeout: 300
"""Compiles one program with `tombolo fc` and runs it for each statement, moment and kind of death.

The other images must see STAT_FAILED_IMAGE where the statement cannot succeed, at the latest in the
SYNC ALL after it, and then form a team and work in it.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = """
program dies
  use iso_fortran_env
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function getpid() bind(c)
      import
    end function
    integer(c_int) function kill(pid, signal) bind(c)
      import
      integer(c_int), value :: pid, signal
    end function
    integer(c_int) function usleep(us) bind(c)
      import
      integer(c_int), value :: us
    end function
  end interface
  integer, parameter :: victim = 2
  ! Statements that cannot succeed without the victim; those whose STAT= may differ by image.
  character(*), parameter :: tells = 'sync_all sync_images_all event allocate deallocate ' // &
                                     'co_sum co_broadcast co_max_large'
  character(*), parameter :: differs = 'sync_images_all sync_images event lock co_sum ' // &
                                       'co_broadcast co_max_large'
  type(event_type) :: ev[*]
  type(lock_type) :: lk[*]
  type(team_type) :: team
  integer :: pid[*], total[*], s, me, n, i, tries
  integer, allocatable :: a(:)[:]
  character(20) :: statement, moment, how
  character(60) :: message
  call get_command_argument(1, statement)
  call get_command_argument(2, moment)
  call get_command_argument(3, how)
  me = this_image()
  n = num_images()
  pid = getpid()
  total = 0
  if (statement == 'deallocate') allocate (a(1000)[*])
  sync all (stat=s) ! the victim may be through, and dead, before the others are
  s = 0
  if (me == victim .and. moment == 'before') call die()
  if (me == 1 .and. moment == 'in') then
    n = pid[victim]
    i = usleep(50000)           ! the victim waits in the statement meanwhile
    ! The number of a rank that has failed reads as 0, which would name all of this job's group.
    if (n > 1) i = kill(n, 9)
    n = num_images()
  end if
  call execute()
  if (me == victim) call die() ! after
  if (s /= 0 .and. s /= stat_failed_image) call wrong('stat of the statement')
  if (moment == 'before' .and. s /= stat_failed_image .and. index(tells, trim(statement)) > 0) &
    call wrong('the statement succeeded')
  ! Only statements that synchronise all images tell all of them the same.
  if (index(differs, trim(statement)) > 0) s = 0
  tries = 0
  do while (s /= stat_failed_image)
    if (s /= 0) call wrong('unexpected stat')
    sync all (stat=s, errmsg=message)
    tries = tries + 1
    if (tries > 100000) call wrong('the failure was never reported')
  end do
  if (image_status(victim) /= stat_failed_image) call wrong('image_status')
  if (size(failed_images()) /= 1) call wrong('failed_images')
  form team (1, team)
  change team (team)
    i = this_image()
    call co_sum(i)
    if (i /= n*(n - 1)/2) call wrong('co_sum of the survivors')
    sync all (stat=s)
  end team
  print '(a)', 'survived'
contains
  subroutine execute()
    integer :: k
    select case (statement)
    case ('sync_all')
      sync all (stat=s)
    case ('sync_images_all')
      sync images (*, stat=s)
    case ('sync_images')
      if (me == victim) then
        sync images ([1, (k, k=3, n)], stat=s)
      else
        sync images (victim, stat=s)
      end if
    case ('event')
      if (me == victim) then
        event wait (ev, until_count=n - 1, stat=s)
        do k = 1, n
          if (k /= victim) event post (ev[k])
        end do
      else
        event post (ev[victim], stat=s)
        event wait (ev, stat=s)
      end if
    case ('lock')
      if (me == victim) then
        lock (lk[1], stat=s)
        if (moment == 'in') k = usleep(1000000)
        if (moment == 'after') return ! dies with the lock
      else
        if (moment /= 'before') k = usleep(20000)
        lock (lk[1], stat=s)
      end if
      unlock (lk[1])
    case ('critical')
      critical
        if (me == victim .and. moment == 'in') k = usleep(1000000)
        total[1] = total[1] + 1
      end critical
    case ('allocate')
      allocate (a(100)[*], stat=s)
      if (s == 0 .and. me /= victim) a = me
    case ('deallocate')
      deallocate (a, stat=s)
    case ('co_sum')
      k = me
      call co_sum(k, stat=s)
    case ('co_broadcast')
      k = me
      call co_broadcast(k, source_image=victim, stat=s)
    case ('co_max_large')
      block
        real(8), allocatable :: large(:)
        allocate (large(300000))
        large = me
        call co_max(large, stat=s)
      end block
    case ('form_team')
      form team (7, team)
    case ('change_team')
      form team (7, team)
      if (me == victim .and. moment == 'in') call die()
      change team (team)
      end team
    case ('sync_memory')
      sync memory (stat=s)
    end select
  end subroutine

  subroutine die()
    if (how == 'fail') fail image
    i = kill(getpid(), 9)
    i = usleep(1000000)
  end subroutine

  subroutine wrong(what)
    character(*), intent(in) :: what
    print '(a,i0,3a,i0,1x,a)', 'image ', me, ' WRONG: ', what, ', stat ', s, trim(message)
    error stop 99
  end subroutine
end program
"""

STATEMENTS = ("sync_all sync_images_all sync_images event lock critical allocate deallocate co_sum "
              "co_broadcast co_max_large form_team change_team sync_memory").split()
IMAGES = 4
SECONDS = 160 if "TMB_EMULATED" in os.environ else 20  # until a job hangs


def run(command, environment):
    """Runs a command; returns its exit code and all of its output."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=SECONDS, check=False,
                              env=environment)
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace")
    return done.returncode, done.stdout.decode(errors="replace")


def cases():
    """Every statement with every moment and kind of death."""
    for statement in STATEMENTS:
        for moment in ("before", "in", "after"):
            for how in ("kill",) if moment == "in" else ("fail", "kill"):
                yield statement, moment, how


def main():
    tombolo = os.environ["TOMBOLO"]
    wrong = count = 0
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "dies.f90", Path(folder) / "dies"
        source.write_text(SOURCE)
        code, text = run([tombolo, "fc", "-g", str(source), "-o", str(program)], None)
        if code:
            print(text)
            return 1
        for extra in ({}, {"TOMBOLO_TEST_SHM": "0"}):
            for case in cases():
                if extra and case[2] == "fail":
                    continue
                count += 1
                code, text = run([tombolo, "run", "-n", str(IMAGES), str(program), *case],
                                 {**os.environ, **extra})
                survivors = text.count("survived")
                if survivors == IMAGES - 1 and (code == 0) == (case[2] == "fail"):
                    continue
                wrong += 1
                print(f"FAILED: {' '.join(case)} {extra}: exit code {code}, {survivors} survived:\n"
                      f"{text[-1500:]}", flush=True)
    print(f"{count - wrong} of {count} deaths were survived")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
