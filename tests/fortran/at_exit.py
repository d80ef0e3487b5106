#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Normal termination of coarray programs: the C library's exit handlers run, and units are written,
# however libgfortran is linked; coverage, profiles and checks for leaks therefore work.
# timeout: 120
"""Compiles one program with `tombolo fc` in several ways and runs it; prints what differs."""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

from command import run

SOURCE = """
module handler
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function c_atexit(f) bind(c, name="atexit")
      import :: c_int, c_funptr
      type(c_funptr), value :: f
    end function
    integer(c_int) function c_puts(s) bind(c, name="puts")
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: s(*)
    end function
    type(c_ptr) function c_malloc(bytes) bind(c, name="malloc")
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: bytes
    end function
  end interface
contains
  subroutine bye() bind(c)
    integer(c_int) :: r
    r = c_puts("the handler ran" // c_null_char)
  end subroutine
end module
program at_exit
  use handler
  implicit none
  integer :: x[*]
  real :: r
  character(20) :: what, name
  type(c_ptr) :: lost
  call get_command_argument(1, what)
  call random_init(.true., .true.)
  call random_number(r)
  if (c_atexit(c_funloc(bye)) /= 0) error stop 1
  x = this_image()
  write (name, '(a,i0,a)') 'unit.', this_image(), '.txt'
  open (unit=20, file=name, status='replace', action='write')
  sync all
  write (20, *) 'data of image', this_image()
  print *, 'last words', r
  select case (what)
  case ('stop')
    stop
  case ('stop_code')
    stop 5
  case ('exit')
    call exit(0)
  case ('error')
    if (this_image() == 1) error stop 9
    sync all
  case ('leak')
    lost = c_malloc(1000_c_size_t)
    lost = c_null_ptr
  end select
end program
"""

# options of the compiler; case, exit code, files that must be there afterwards; handlers run?
WAYS = (
    (
        "--coverage -static-libgfortran",
        (
            ("end", 0, True),
            ("stop", 0, True),
            ("stop_code", 5, True),
            ("exit", 0, True),
            ("error", 9, False),
        ),
    ),
    ("-pg", (("end", 0, True),)),
    ("-static", (("end", 0, True), ("error", 9, False))),
)
WRITTEN = {"--coverage": "*.gcda", "-pg": "gmon.out*"}


def compiles(options, folder):
    """Compiles the program. Returns what the compiler says, "" when all is well."""
    source = folder / "at_exit.f90"
    source.write_text(SOURCE)
    command = [os.environ["TOMBOLO"], "fc", "-g", *options, source.name, "-o", "at_exit"]
    code, text = run(command, folder)
    return text if code else ""


def wrongs(folder, options, case, code, handlers):
    """Runs a case on two images; returns a list of what is wrong."""
    for old in [*folder.glob("*.gcda"), *folder.glob("gmon*"), *folder.glob("unit.*")]:
        old.unlink()
    got, text = run([os.environ["TOMBOLO"], "run", "-n", "2", "./at_exit", case], folder)
    found = []
    if got != code:
        found.append(f"exit code {got}, not {code}")
    if text.count("the handler ran") != (2 if handlers else 0):
        found.append("handlers")
    words = [line for line in text.splitlines() if "last words" in line]
    if len(set(words)) != 2 and case != "error":  # RANDOM_INIT gives each image its own numbers
        found.append("units, or equal random numbers")
    if "last words" not in text:
        found.append("the output of the image that ends all")
    sizes = [f.stat().st_size for f in folder.glob("unit.*")]
    if case != "error" and (len(sizes) != 2 or 0 in sizes):
        found.append(f"files of {sizes} bytes")
    for option, pattern in WRITTEN.items():
        if option in options and handlers and not list(folder.glob(pattern)):
            found.append(f"no file {pattern}")
    return [f"{' '.join(options)}, {case}: {', '.join(found)}:\n{text}"] if found else []


def leak(folder):
    """LeakSanitizer finds memory that the program has lost, and none that the library has."""
    if compiles(["-fsanitize=leak"], folder):
        return []  # this compiler has no LeakSanitizer
    got, text = run([os.environ["TOMBOLO"], "run", "-n", "2", "./at_exit", "end"], folder)
    if "LeakSanitizer has encountered a fatal error" in text:
        return []  # it may not look at threads here
    found = [f"leak check without a leak: exit code {got}:\n{text}"] if got else []
    got, text = run([os.environ["TOMBOLO"], "run", "-n", "2", "./at_exit", "leak"], folder)
    if got == 0 or text.count("1000 byte(s) leaked in 1 allocation") != 2:
        found.append(f"leak check: exit code {got}:\n{text}")
    return found


def main():
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for options, cases in WAYS:
            text = compiles(options.split(), folder)
            if text and "-static" in options:
                print(f"not tried: {options}: {text.splitlines()[-1]}")
                continue
            if text:
                found.append(f"{options}: {text}")
                continue
            for case, code, handlers in cases:
                found += wrongs(folder, options.split(), case, code, handlers)
        found += leak(folder)
    for line in found:
        print("FAILED:", line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
