#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Wrong arguments of image control statements and collectives: STAT=, the message, and no hang.
# timeout: 200
"""Generates one program from a table of statements, and runs it with `tombolo fc`'s compiler.

Each row is executed by all images with `stat=` and `errmsg=`, in the initial team and in a child
team: stat, and the words of the message, must be right, and the images go on together. Then each
row is executed without `stat=`, in a job of its own: the job ends with an error and the message.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS = 240 if "TMB_EMULATED" in os.environ else 30  # until a job hangs
IMAGES = 4  # a child team has the odd ones, 1 and 3, or the even ones
NONE = "there is no image"
CRASH = """program crash
  integer, pointer :: p(:)
  nullify(p)
  call work(this_image())
contains
  subroutine work(i)
    integer, intent(in) :: i
    sync all
    p(i) = 3
  end subroutine
end program
"""
# (statement, STAT=, words of the message). `n` is the number of images of the current team, `me`
# this image; {} is where stat= and errmsg= go. The variables keep the compiler from looking.
ROWS = [
    ("sync images (two{})", 3, "image 1 is named twice"),
    ("sync images (own{})", 3, "is named twice"),
    ("sync images (far{})", 3, "image 2 is named twice"),
    ("sync images (many{})", 3, "image 2 is named twice"),
    ("sync images (minus*0{})", 3, NONE + " 0"),
    ("sync images ([1, minus*0]{})", 3, NONE + " 0"),
    ("sync images (minus{})", 3, NONE + " -1"),
    ("sync images (n + 1{})", 3, NONE),
    ("sync images ([n + 1, 1]{})", 3, NONE),
    ("sync images ([me]{})", 0, ""),
    ("sync images ([(i, i = n, 1, minus)]{})", 0, ""),
    ("event post (ev[n + 1]{})", 3, NONE),
    ("event post (ev[minus]{})", 3, NONE + " -1"),
    ("event post (ev{})", 0, ""),
    ("event wait (ev, until_count=minus{})", 0, ""),
    ("lock (lk[n + 1]{})", 3, NONE),
    ("lock (lk[minus]{})", 3, NONE + " -1"),
    ("unlock (lk[n + 1]{})", 3, NONE),
    ("unlock (lk{})", 1, "is not locked"),
    ("lock (held{})", 1, "holds the lock variable already"),
    ("call co_broadcast (value, n + 1{})", 3, ""),
    ("call co_sum (value, n + 1{})", 3, ""),
    ("call co_sum (pairs%first{})", 3, "whole structures for a component"),
]
# Without `stat=` in the compiler; -1 is the number of the initial team, and must be refused.
ENDS = [
    ("form team (minus, team)", "FORM TEAM: team number -1: it must be positive"),
    ("form team (minus*0, team)", "FORM TEAM: team number 0: it must be positive"),
    ("change team (never); end team", "CHANGE TEAM: the team was not formed"),
    ("sync team (never)", "SYNC TEAM: the team was not formed"),
    # Data have no image 0: gfortran passes the number of this image for its own.
    ("value = box(1)[minus*0]", NONE + " 0 for coarray box"),
    ("box(1)[minus*0] = 3", NONE + " 0 for coarray box"),
    ("box(:)[minus*0] = 3", NONE + " 0"),
    # The compiler passes no length.
    ("call co_broadcast (titled, 1)", "CO_BROADCAST of a variable with a CHARACTER component of"),
    # As a variable that the compiler gives no first value.
    ("team = transfer(4242_int64, team); change team (team); end team",
     "CHANGE TEAM: the team was not formed"),
    ("team = transfer(4242_int64, team); sync team (team)", "SYNC TEAM: the team was not formed"),
]
PROGRAM = """
program wrong
  use iso_fortran_env
  implicit none
  type(event_type) :: ev[*]
  type(lock_type) :: lk[*], held[*]
  type(team_type) :: child, team, never
  integer :: minus = -1, failures = 0, n, me, i, value, row
  integer :: box(3)[*]
  character(5) :: label[*]
  integer, allocatable :: two(:), own(:), far(:), many(:)
  type :: pair
    integer :: first = 1, second = 2
  end type
  type(pair) :: pairs(3)
  type :: title
    character(:), allocatable :: text
  end type
  type(title) :: titled
  type :: payload
    integer, allocatable :: raw(:)
  end type
  type(payload) :: holder
  type(payload), allocatable :: slots(:)[:]
  character(12) :: how
  character(100) :: message
  call get_command_argument(1, how)
  read (how, *) row
  titled%text = 'title'
  holder%raw = [1, 2]
  allocate (slots(1)[*])
  slots(1)%raw = [1, 2, 3]
  call rows(row)
  form team (1 + mod(this_image() - 1, 2), child)
  change team (child)
    call rows(merge(row - 100, row, row > 0))
  end team
  sync all
  print '(a)', merge('done  ', 'FAILED', failures == 0)
contains
  subroutine rows(row)
    integer, intent(in) :: row
    integer :: s
    n = num_images()
    me = this_image()
    two = [1, 2, 1]
    own = [me, me]
    far = [2, 1, 2]
    many = [(1 + mod(i, n), i = 1, 20)]
    many(1) = 2 ! named by the next one, too
    many(2) = 2
    value = 1
    lock (held)
    sync all
    select case (row)
ROWS
    end select
    unlock (held)
    sync all
  end subroutine

  subroutine check(text, stat, wanted, words)
    character(*), intent(in) :: text, words
    integer, intent(in) :: stat, wanted
    logical :: good
    good = stat == wanted .and. (words == '' .or. index(message, words) > 0) &
      .and. index(message, 'TMB-') == 0
    if (.not. good) print '(a,3i5,2a)', text, me, stat, wanted, ' ', trim(message)
    if (.not. good) failures = failures + 1
    sync all
  end subroutine
end program
"""


def source():
    """The program: row 0 is all with stat=; rows 1.. one each, and minus 100 in the child team."""
    text = "    case (0)\n"
    for statement, stat, words in ROWS:
        with_stat = statement.format(", stat=s, errmsg=message")
        if "co_" in statement:  # their errmsg= is passed by value
            with_stat = statement.format(", stat=s")
        text += f"      s = -5; message = ''\n      {with_stat}\n"
        name = statement.format("").replace("'", "")
        text += f"      call check('{name}', s, {stat}, '{'' if 'co_' in statement else words}')\n"
    alone = [row[0].format("") for row in ROWS] + [row[0] for row in ends()]
    for number, statement in enumerate(alone, 1):
        text += f"    case ({number})\n      {statement}\n"
    return PROGRAM.replace("ROWS\n", text)


def run(program, row):
    """(exit code, output) of the program in a job of IMAGES images; code 124: it hangs."""
    command = [os.environ["TOMBOLO"], "run", "-n", str(IMAGES), "--timeout", str(SECONDS), "--",
               program]
    done = subprocess.run(
        [*command, str(row)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return done.returncode, done.stdout.decode(errors="replace")


# Mistakes for which gfortran before 15 passes the length of the whole, or does not ask for another
# shape.
OLDER = [
    ("label[1](2:3) = 'xy'", "a substring of coarray label is used with an image index"),
    ("how = label[n](4:5)", "a substring of coarray label is used with an image index"),
    ("holder%raw = slots(1)[1]%raw", "3 values of a coindexed object are assigned to 2 elements"),
]
OTHER = """program other
  use iso_fortran_env, only: team_type
  type(team_type) :: team
  form team (1, team)
  change team (team)
  end team
end program
"""
VALUE = """program expression
  use iso_fortran_env, only: event_type
  use tombolo_caf
  type(event_type) :: came[*]
  integer :: x[*], k
  k = this_image()
  call notified_put(x, 1, 10*k, loc(came))
end program
"""


def version():
    """The compiler's."""
    command = [os.environ["TOMBOLO_FC"], "-dumpversion"]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    return int(done.stdout.split(".")[0])


def ends():
    """Statements that end the program, as this compiler compiles them."""
    return ENDS + (OLDER if version() < 15 else [])


def newer(expect, work):
    """What gfortran 16 compiles in another way: the wrong library; a value without address."""
    compiler, command = os.environ["TOMBOLO_FC"], os.environ["TOMBOLO"]
    if version() < 16:
        return
    path, program = Path(work) / "newer.f90", Path(work) / "newer"
    libraries = Path(command).resolve().parent.parent / "lib"
    link = ["-L", str(libraries), f"-Wl,-rpath,{libraries}", "-lcaf_tombolo"]
    path.write_text(OTHER, encoding="utf-8")
    by_hand = [compiler, "-fcoarray=lib", str(path), "-o", str(program), *link]
    subprocess.run(by_hand, check=True, cwd=work)
    code, output = run(program, "")
    expect(code not in (0, 124) and "-lcaf_tombolo16" in output, "the wrong library", output)
    path.write_text(VALUE, encoding="utf-8")
    arguments = [command, "fc", f"--compiler={compiler}", "-w", str(path), "-o", str(program)]
    subprocess.run(arguments, check=True, cwd=work)
    code, output = run(program, "")
    expect(code not in (0, 124) and "is an expression" in output, "a value", output)


def crash(expect, work):
    """A crash is reported once for all images, by places of the program."""
    command = os.environ["TOMBOLO"]
    if "-fsanitize" in subprocess.run([command, "info"], capture_output=True, text=True).stdout:
        return
    path, program = Path(work) / "crash.f90", Path(work) / "crash"
    path.write_text(CRASH, encoding="utf-8")
    compiler = f"--compiler={os.environ['TOMBOLO_FC']}"
    subprocess.run([command, "fc", compiler, "-g", str(path), "-o", str(program)], check=True)
    code, output = run(program, "")
    wanted = r"failed in\n  work \(\S*crash.f90:9\)\n  main program \(\S*crash.f90:4\)\n(?!  )"
    expect(code == 139 and re.search(wanted, output), "a crash", output)
    expect("Program received signal" not in output, "a crash is reported once", output)


def main():
    failures = []

    def expect(passed, what, output):
        if not passed:
            failures.append(what)
            print(f"FAILED: {what}\n{output[-1500:]}")

    with tempfile.TemporaryDirectory() as work:
        path, program = Path(work) / "wrong.f90", Path(work) / "wrong"
        path.write_text(source(), encoding="utf-8")
        compiler = f"--compiler={os.environ['TOMBOLO_FC']}"
        command = [os.environ["TOMBOLO"], "fc", compiler, "-w", str(path), "-o", str(program)]
        subprocess.run(command, check=True, cwd=work)
        code, output = run(program, 0)
        expect(code == 0 and output.split() == ["done"] * IMAGES, "with stat=", output)
        rows = [(row[0].format(""), row[2]) for row in ROWS if row[1]] + ends()
        numbers = [i for i, row in enumerate(ROWS, 1) if row[1]]
        numbers += range(len(ROWS) + 1, len(ROWS) + len(ends()) + 1)
        for number, (statement, words) in zip(numbers, rows):
            for row in {number, number + 100 if "n + 1" in statement else number}:
                code, output = run(program, row)
                what = f"row {row}, {statement}: exit code {code}, '{words}'"
                expect(code not in (0, 124) and words in output, what, output)
                expect("Error on image" in output, f"row {row} names the image", output)
                has_number = re.search(r"Error on image .* \[TMB-(20\d\d|0001)\]", output)
                expect(has_number, f"row {row}: the message has a number", output)
        newer(expect, work)
        if shutil.which("addr2line"):
            crash(expect, work)
    counts = f"{len(ROWS)} statements with stat=, {len(rows)} without, {len(failures)} failures"
    print(f"wrong: {counts}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
