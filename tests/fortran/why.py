#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# `tombolo why` on coarray programs that hang.
# timeout: 240
"""Compiles one program with `tombolo fc -g` and runs it for each statement in which it hangs.

`tombolo why` must name statement, images, variable and source line, and the circle or the image
that has not come; also where images look at each other's memory over a network again and again.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from asks import Source, hangs  # noqa: E402
from jobs import Job, named, run_cases  # noqa: E402

HANGS = Source("""program hangs
  use iso_fortran_env
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function getpid() bind(c)
      import
    end function
  end interface
  type(event_type) :: ready[*]
  type(lock_type) :: gate[*]
  type(team_type) :: pair
  character(32) :: how
  integer :: me, total
  call get_command_argument(1, how)
  me = this_image()
  sync all
  print '(a,i0,1x,i0)', 'ready ', me, getpid()
  flush (6)
  total = me
  select case (how)
  case ('images')
    call ring()
  case ('event')
    if (me == 2) event wait (ready) ! line event
    sync all ! line event all
  case ('all')
    if (me /= 3) sync all ! line all
    if (me == 3) sync images (1)
  case ('lock')
    if (me == 1) lock (gate[2])
    if (me == 1) event post (ready[2])
    if (me == 1) sync images (2) ! line lock sync
    if (me == 2) event wait (ready)
    if (me == 2) lock (gate[2]) ! line lock
    if (me == 2) sync images (1)
  case ('critical')
    critical ! line critical
      call wait_in()
    end critical
  case ('team')
    form team (merge(1, 2, me < 3), pair)
    change team (pair)
      if (me /= 1) sync all
      if (me == 1) call wait_in()
    end team
  case ('sum')
    if (me == 3) call wait_in()
    call co_sum(total) ! line sum
  end select
contains
  subroutine ring()
    sync images (mod(me, 3) + 1) ! line ring
  end subroutine
  subroutine wait_in()
    event wait (ready) ! line wait_in
  end subroutine
end program
""", "f90", "!")
PROGRAM = HANGS.program
at = HANGS.at

# How, what `why` must say.
CASES = [
    ("images", [rf"image 1 .*waits .* s in SYNC IMAGES with image 2 {at('ring', 'ring')} \[ha",
                r"in a circle: image 1 waits for image 2, which waits for image 3, which waits for "
                r"image 1"]),
    ("event", [rf"image 2 waits in EVENT WAIT of coarray ready \(0 of 1 posts have come\) "
               rf"{at('event')}, which no other",
               rf"images 1, 3 wait in SYNC ALL {at('event all')} \(barrier \d+ of all images\), "
               r"which image 2 has not called"]),
    ("all", [rf"images 1-2 wait in SYNC ALL {at('all')} .*, which image 3 has not called; image 3 "
             r"waits .* in SYNC IMAGES with image 1"]),
    ("lock", [rf"image 2 waits in LOCK of coarray gate on image 2 {at('lock')}, held by image 1; "
              rf"image 1 waits .* in SYNC IMAGES with image 2 {at('lock sync')}",
              r"in a circle: image 1 waits for image 2, which waits for image 1"]),
    ("critical", [rf"waits in CRITICAL on image 1 {at('critical')}, held by image \d; image \d "
                  rf"waits .* EVENT WAIT of coarray ready .* {at('wait_in', 'wait_in')}"]),
    ("team", [r"image 2 waits in SYNC ALL .* \(barrier \d+ of the team of images 1-2\), which "
              r"image 1 has not called; image 1 waits .* in EVENT WAIT"]),
    ("sum", [rf"images 1-2 wait in CO_SUM {at('sum')} \(all-reduce \d+ of all images\), which "
             r"image 3 has not called"]),
]
NETWORK = {"TOMBOLO_TEST_SHM": "0"}
QUIET = "20" if "TMB_EMULATED" in os.environ else "4"  # seconds after which a watchdog barks


def hang(how, patterns, env):
    hangs(Job(3, [PROGRAM, how], env=env), *patterns)


def hosts():
    """A lock that is held on another host, between agents of hosts, over udp."""
    hangs(Job(3, [PROGRAM, "lock"], "agents"),
          r"image 2 on host_\w waits in LOCK of coarray gate on image 2 on host_"
          rf"\w {at('lock')}, held by image 1 on host_a",
          r"in a circle: image 1 waits for image 2, which waits for image 1")


def watchdog():
    """An image that looks at a lock over the network again and again does nothing."""
    job = Job(3, [PROGRAM, "lock"], options=["--watchdog", QUIET], env=NETWORK)
    job.expect(125, rf"image 2 waits in LOCK of coarray gate on image 2 {at('lock')}, held by im")


def main():
    HANGS.compile("fc", "-g")
    cases = [named(how, hang, how, patterns, {}) for how, patterns in CASES]
    cases += [named(f"{how} network", hang, how, patterns, NETWORK) for how, patterns in CASES
              if how in ("images", "lock")]
    run_cases(cases + [hosts, watchdog])


if __name__ == "__main__":
    main()
