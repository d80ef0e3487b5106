#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Random programs of coarray assignments, beside the same assignments to variables of the image.
# nightly: yes
# timeout: 3600
"""Writes random programs of coarray assignments, compiles and runs them on two images.

Usage: generated.py [--compiler COMMAND] [--programs N] [--seed FIRST] [--keep FOLDER]

Image 1 reads and writes objects of image 2: scalars, elements and sections of several kinds, texts,
components, also allocatable ones and components of these, and moves sections within image 2. Both
images make the same assignments to variables of their own. Image 1 compares what it reads with
these, and image 2 at the end its coarrays. Statements that a version of gfortran compiles wrongly
(docs/FORTRAN_COMPILERS.md) are left out. A program of seed S is written again by --seed S.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

from command import run

KINDS = {"h": "integer(2)", "i": "integer(4)", "l": "integer(8)", "s": "real(4)", "d": "real(8)"}
TEXTS = {"c": 7, "t": 20}
ROWS, COLUMNS, LENGTH, ELEMENTS = 7, 5, 11, 4
ROUNDS, STATEMENTS, LIMIT_S = 75, 24, 120
SUBSCRIPTS = sorted({3, 4, ROWS, COLUMNS, LENGTH})
SKIP, OLDEST = 77, 14  # older ones compile too many of the statements wrongly


# Objects of structures, and what all programs have.
MODULE = f"""\
  implicit none
  type :: plain
    integer :: a
    real(8) :: b
    integer(8) :: c
  end type
  type :: inner
    integer(8) :: n
    real(8), allocatable :: d(:)
  end type
  type :: object
    integer :: id
    real(8) :: x
    character(7) :: word
    integer :: list(3)
    real(8), allocatable :: d(:)
    type(inner), allocatable :: in
  end type
  type(object) :: o[*], m_o, e({ELEMENTS})[*], m_e({ELEMENTS})
  type(plain) :: p0[*], m_p0, own_p
  integer :: round, stat, wrong = 0, places(4)
  logical :: acts""".split("\n")


def declarations():
    """Those of coarrays, and of the variables beside them."""
    lines = ["  integer :: " + ", ".join(f"at{n}" for n in SUBSCRIPTS)]
    for k, name in {**KINDS, **{k: f"character({n})" for k, n in TEXTS.items()}}.items():
        n = LENGTH if k in KINDS else ELEMENTS
        lines.append(f"  {name} :: {k}0[*], m_{k}0, own_{k}")
        lines.append(f"  {name} :: {k}1({n})[*], m_{k}1({n}), own_{k}1({n})")
    for k, name in KINDS.items():
        shape = f"({ROWS}, {COLUMNS})"
        lines += [f"  {name} :: {k}2{shape}[*], m_{k}2{shape}, own_{k}2{shape}",
                  f"  {name}, allocatable :: {k}a(:)[:]", f"  {name} :: m_{k}a({LENGTH})"]
    return lines


def procedures():
    """Those that fill variables, and that say what is wrong."""
    lines = ["contains", "  subroutine right(asked, is, line)",
             "    logical, intent(in) :: asked, is",
             "    integer, intent(in) :: line", "    if (.not. asked .or. is) return",
             "    wrong = wrong + 1",
             "    if (wrong < 5) print *, 'image', this_image(), 'round', round, 'line', line",
             "  end subroutine"]
    for k in KINDS:
        lines += [f"  subroutine fill_{k}(from)", "    integer, intent(in) :: from",
                  "    integer :: i, j", f"    own_{k}1 = [(from + i, i=1, {LENGTH})]",
                  f"    own_{k}2 = reshape([((from + 3*i - j, i=1, {ROWS}), j=1, {COLUMNS})], &",
                  f"                     [{ROWS}, {COLUMNS}])", "  end subroutine"]
    return lines


def first_values():
    """Statements that give each object its first value."""
    lines = ["  allocate (" + ", ".join(f"{k}a({LENGTH})[*]" for k in KINDS) + ")"]
    for k in KINDS:
        lines += [f"  {name} = 1" for x in "012a" for name in (f"{k}{x}", f"m_{k}{x}")]
        lines += [f"  own_{k}{x} = 1" for x in ("", "1", "2")]
    for k in TEXTS:
        lines += [f"  {name}{x} = 'a'" for x in "01" for name in (k, f"m_{k}")]
        lines += [f"  own_{k}{x} = 'a'" for x in ("", "1")]
    lines += ["  p0 = plain(1, 2d0, 3)", "  m_p0 = p0", "  own_p = p0", *plant("o"), *plant("m_o")]
    return [*lines, f"  do k = 1, {ELEMENTS}", *plant("e(k)"), *plant("m_e(k)"), "  end do"]


def plant(name):
    """Statements that give a structure its first value."""
    return [f"    allocate ({name}%d(4), source=1d0)", f"    allocate ({name}%in)",
            f"    allocate ({name}%in%d(4), source=2d0)", f"    {name}%in%n = 3",
            f"    {name}%id = 4", f"    {name}%x = 5", f"    {name}%word = 'word'",
            f"    {name}%list = 6"]


def comparisons():
    """Statements that compare the coarrays of an image with the variables."""
    lines = []
    for k in [*KINDS, *TEXTS]:
        lines.append(f"    call right(.true., {k}0 == m_{k}0, -1)")
        lines += [f"    call right(.true., all({k}{x} == m_{k}{x}), -2)"
                  for x in ("12a" if k in KINDS else "1")]
    for name in ["o", *(f"e({i})" for i in range(1, ELEMENTS + 1))]:
        lines += [f"    call right(.true., all({name}%{c} == m_{name}%{c}), -9)"
                  for c in ("list", "d", "in%d")]
        lines += [f"    call right(.true., {name}%{c} == m_{name}%{c}, -10)"
                  for c in ("id", "x", "word", "in%n")]
    return [*lines, "    call right(.true., p0%a == m_p0%a .and. p0%b == m_p0%b, -11)"]


class Program:
    """A random program. `of` names a variable of the image for each coarray: x and m_x."""

    def __init__(self, seed, version):
        self.random = random.Random(seed)
        self.accessors = version >= 15
        self.seed, self.body, self.count = seed, [], 0

    def one(self, *choices):
        return self.random.choice(choices)

    def kind(self):
        return self.random.choice(list(KINDS))

    def number(self, most):
        """An integer expression from 1 to most, which changes from round to round or not."""
        fixed = self.random.randint(1, most)
        return self.one(str(fixed), f"mod(round + {fixed}, {most}) + 1", f"at{most}")

    def triplet(self, size, count):
        """A section of `count` elements of `size`."""
        step = self.random.randint(1, max(1, (size - 1) // max(1, count - 1)))
        first = self.random.randint(1, size - step * (count - 1))
        last = first + step * (count - 1)
        if step == 1 and count == size and self.random.random() < 0.5:
            return ":"
        if self.random.random() < 0.25:
            return f"{last}:{first}:-{step}"
        return f"{first}:{last}:{step}" if step > 1 else f"{first}:{last}"

    def selector(self):
        return self.one("[2]", "[2]", "[2, stat=stat]")

    def assign(self, form, value):
        """An assignment to an object of image 2, and to the variable."""
        chosen = self.selector()
        self.body.append(f"if (acts) {form.format('', chosen)} = {value}")
        self.body.append(f"{form.format('m_', '')} = {value}")
        if "stat" in chosen:
            self.body.append("call right(acts, stat == 0, LINE)")

    def read(self, form, target, every=True):
        """Reads an object of image 2, and compares it."""
        test = f"{target} == {form.format('m_', '')}"
        self.body.append(f"if (acts) {target} = {form.format('', self.selector())}")
        self.body.append(f"call right(acts, {f'all({test})' if every else test}, LINE)")

    def scalar(self):
        kind, other = self.kind(), self.kind()
        form = self.one(f"{{}}{kind}0{{}}", f"{{}}{kind}1({self.number(LENGTH)}){{}}",
                        f"{{}}{kind}2({self.number(ROWS)}, {self.number(COLUMNS)}){{}}",
                        f"{{}}{kind}a({self.number(LENGTH)}){{}}")
        if self.random.random() < 0.5:
            self.body.append(f"own_{other} = {self.random.randint(1, 90)} + mod(round, 9)")
            self.assign(form, f"own_{other}")
        else:
            self.read(form, f"own_{other}", every=False)

    def section(self):
        kind, other = self.kind(), self.kind()
        if self.random.random() < 0.5:
            count = self.random.randint(1, LENGTH)
            form = f"{{}}{kind}{self.one('1', 'a')}({self.triplet(LENGTH, count)}){{}}"
            local = f"own_{other}1({self.triplet(LENGTH, count)})"
        else:
            rows, columns = self.random.randint(1, ROWS), self.random.randint(1, COLUMNS)
            form = f"{{}}{kind}2({self.triplet(ROWS, rows)}, {self.triplet(COLUMNS, columns)}){{}}"
            local = f"own_{other}2({self.triplet(ROWS, rows)}, {self.triplet(COLUMNS, columns)})"
        way = self.random.random()
        if way < 0.45:
            self.body.append(f"call fill_{other}({self.random.randint(1, 50)})")
            self.assign(form, local)
        elif way < 0.55:
            self.assign(form, str(self.random.randint(1, 90)))
        else:
            self.read(form, local)

    def vector(self):
        kind = self.kind()
        form = f"{{}}{kind}1(places){{}}"
        if self.random.random() < 0.5:
            self.body.append(f"call fill_{kind}({self.random.randint(1, 50)})")
            self.assign(form, f"own_{kind}1(1:4)")
        else:
            self.read(form, f"own_{kind}1(3:6)")

    def text(self):
        kind, other = self.one(*TEXTS), self.one(*TEXTS)
        word = "".join(self.random.choices("abcdefg ", k=self.random.randint(1, 9)))
        if not self.accessors:
            other = kind
        if self.random.random() < 0.5:
            form = f"{{}}{kind}0{{}}"
            if self.random.random() < 0.5:
                self.body.append(f"own_{other} = '{word}'")
                self.assign(form, f"own_{other}")
            else:
                self.read(form, f"own_{kind}", every=False)
            return
        count = self.random.randint(1, ELEMENTS)
        form = f"{{}}{kind}1({self.triplet(ELEMENTS, count)}){{}}"
        local = f"({self.triplet(ELEMENTS, count)})"
        if self.random.random() < 0.5:
            texts = f"[character({TEXTS[other]}) :: '{word}', 'x', 'yz', 'w']"
            self.body.append(f"own_{other}1 = {texts}")
            self.assign(form, f"own_{other}1{local}")
        else:
            self.read(form, f"own_{kind}1{local}")

    def component(self):
        """A component of a structure, or of an element of an array of structures."""
        element = self.accessors and self.random.random() < 0.5
        prefix = f"{{}}e({self.number(ELEMENTS)}){{}}" if element else "{}o{}"
        name, local, every = self.one(
            ("id", "own_i", False), ("x", "own_d", False), ("word", "own_c", False),
            (f"list({self.number(3)})", "own_i", False), ("list", "own_i1(2:4)", True),
            (f"d({self.number(4)})", "own_d", False), ("d(2:4)", "own_d1(1:5:2)", True),
            ("in%n", "own_l", False), (f"in%d({self.number(4)})", "own_d", False),
            ("in%d(1:3:2)", "own_d1(4:5)", True))
        if not self.accessors and (":" in name or name == "list" or name == "word"):
            name, local, every = "id", "own_i", False
        form = f"{prefix}%{name}"
        if self.random.random() < 0.5 and not (element and name == "word"):
            if local == "own_c":
                self.body.append("own_c = 'w' // achar(97 + mod(round, 20))")
            else:
                self.body.append(f"call fill_{local[4]}({self.random.randint(1, 50)})")
                value = f"{self.random.randint(1, 90)} + mod(round, 5)"
                self.body.append(f"own_{local[4]} = {value}")
            self.assign(form, local)
        else:
            self.read(form, local, every)

    def structure(self):
        if self.random.random() < 0.5:
            value = f"{self.random.randint(1, 99)} + mod(round, 3)"
            self.body.append(f"own_p = plain({value}, 2.5d0, 7)")
            self.assign("{}p0{}", "own_p")
        else:
            self.body.append("if (acts) own_p = p0[2]")
            self.body.append("call right(acts, own_p%a == m_p0%a .and. own_p%c == m_p0%c, LINE)")

    def transfer(self):
        """From image 2 to image 2. The variables are two of the image."""
        one, two, count = self.kind(), self.kind(), self.random.randint(1, LENGTH)
        if one == two:
            return
        if not self.accessors:
            count = 1
        first, second = self.triplet(LENGTH, count), self.triplet(LENGTH, count)
        if count == 1:
            first, second = self.number(LENGTH), self.number(LENGTH)
        self.body.append(f"if (acts) {one}1({first})[2] = {two}1({second})[2]")
        self.body.append(f"m_{one}1({first}) = m_{two}1({second})")

    def text_of(self):
        """The program."""
        ways = [self.scalar, self.section, self.text, self.component, self.structure, self.transfer]
        if self.accessors:
            ways.append(self.vector)
        while len(self.body) < 3 * STATEMENTS:
            self.random.choice(ways)()
        lines = [f"! seed {self.seed}", "module objects", *MODULE, *declarations(), *procedures(),
                 "end module", "subroutine statements()", "  use objects", "  implicit none"]
        for line in self.body:
            lines.append("  " + line.replace("LINE", str(len(lines) + 1)))
        lines += ["end subroutine", "program generated", "  use objects", "  implicit none",
                  "  integer :: k", "  external :: statements", "  acts = this_image() == 1",
                  *first_values(), f"  do round = 1, {ROUNDS}"]
        lines += [f"    at{n} = mod(round, {n}) + 1" for n in SUBSCRIPTS]
        lines += ["    places = [1 + mod(round, 3), 4 + mod(round, 3), 9, 7 + mod(round, 2)]",
                  "    sync all", "    call statements()", "  end do", "  sync all",
                  "  if (this_image() == 2) then", *comparisons(), "  end if", "  sync all",
                  "  if (wrong > 0) error stop 1", "end program", ""]
        return "\n".join(lines)


def try_program(seed, compiler, version, folder):
    """Returns "", or what is wrong."""
    source, program = folder / f"s{seed}.f90", folder / f"s{seed}"
    source.write_text(Program(seed, version).text_of())
    level = ("-O0", "-O1", "-O0", "-O2")[seed % 4]
    check = "-fcheck=all,no-bounds" if seed % 3 == 0 else "-g"
    command = [os.environ["TOMBOLO"], "fc", f"--compiler={compiler}", level, check, "-w",
               "-ffree-line-length-none", "-J", str(folder), str(source), "-o", str(program)]
    code, text = run(command, folder, LIMIT_S)
    if code:
        return f"not compiled: {text[-1500:]}"
    command = [os.environ["TOMBOLO"], "run", "-n", "2", "--timeout", str(LIMIT_S), str(program)]
    if seed % 5 == 0:
        command = ["env", "TOMBOLO_CONDUIT=udp", "TOMBOLO_PLACES=2", *command]
    code, text = run(command, folder, 2 * LIMIT_S)
    if code:
        return f"exit code {code}: {text[-1500:]}"
    source.unlink()
    program.unlink()
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--compiler", default=os.environ.get("TOMBOLO_FC"))
    parser.add_argument("--programs", type=int, default=40)
    parser.add_argument("--seed", type=int, help="of the first program; default: by chance")
    parser.add_argument("--keep", type=Path, help="folder for the programs that fail")
    args = parser.parse_args()
    version = 0
    if args.compiler and shutil.which(args.compiler):
        version = int(run([args.compiler, "-dumpversion"], Path.cwd(), LIMIT_S)[1].split(".")[0])
    if version < OLDEST:
        print(f"skipped: no gfortran {OLDEST} or newer")
        return SKIP
    first = random.SystemRandom().randrange(10**6) if args.seed is None else args.seed
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = args.keep or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        for seed in range(first, first + args.programs):
            wrong = try_program(seed, args.compiler, version, folder)
            if wrong:
                failed += 1
                print(f"seed {seed}: {wrong}", flush=True)
    print(f"{args.programs} programs from seed {first} on with {args.compiler}: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
