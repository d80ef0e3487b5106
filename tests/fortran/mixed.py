#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Programs of several languages and libraries: C with coarray Fortran, and coarrays beside MPI.
# timeout: 180
"""Compiles programs with `tombolo fc` and each MPI compiler that is installed, and runs them."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

from command import run

os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
CC = os.environ.get("TMB_CC", "cc")  # of the processor that the tests run for

FORTRAN_MAIN = """
program mixed
  use iso_c_binding
  implicit none
  interface
    subroutine c_double_all(a, n) bind(c)
      import
      integer(c_int) :: a(*)
      integer(c_int), value :: n
    end subroutine
    integer(c_int) function c_calls_back(image) bind(c)
      import
      integer(c_int), value :: image
    end function
  end interface
  integer(c_int) :: a(5)[*], b(5)
  common /shared_with_c/ b
  integer :: me, right, i
  me = this_image()
  right = mod(me, num_images()) + 1
  a = me
  sync all
  call c_double_all(a, 5)            ! C works on this image's part
  sync all
  do i = 1, 5 ! not a section: gfortran 15 and 16 break on it where ISO_C_BINDING is used
    if (a(i)[right] /= 2*right) error stop 'a(i)[right]'
  end do
  if (c_calls_back(right) /= 2*right) error stop 'C calls Fortran'
  sync all
  if (me == 1) print '(a)', 'Fortran with C is well'
contains
end program

function read_there(image) result(value) bind(c)
  use iso_c_binding
  implicit none
  integer(c_int), value :: image
  integer(c_int) :: value
  integer(c_int), save :: there[*]
  there = 2*this_image()
  sync all
  value = there[image]
  sync all
end function
"""

C_PART = """
int read_there(int image);
void c_double_all(int *a, int n) { for (int i = 0; i < n; i++) a[i] *= 2; }
int c_calls_back(int image) { return read_there(image); }
"""

C_MAIN = """
#include <stdio.h>
void _gfortran_caf_init(int *, char ***);
void _gfortran_caf_finalize(void);
int ring(int turns);
int main(int argc, char **argv) {
  _gfortran_caf_init(&argc, &argv);
  if (ring(10) != 10) return 1;
  puts("C with Fortran is well");
  _gfortran_caf_finalize();
  return 0;
}
"""

RING = """
integer(c_int) function ring(turns) bind(c)
  use iso_c_binding
  use iso_fortran_env, only: event_type
  implicit none
  integer(c_int), value :: turns
  type(event_type), save :: come[*]
  integer, save :: count[*]
  integer :: i, right
  right = mod(this_image(), num_images()) + 1
  count = 0
  sync all
  do i = 1, turns
    count[right] = i
    event post (come[right])
    event wait (come)
  end do
  ring = count
  sync all
end function
"""

MPI = """
program with_mpi
  use mpi
  implicit none
  integer :: x[*], ierr, rank, ranks, total, me, images
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  me = this_image()
  images = num_images()
  x = me
  sync all
  total = x[mod(me, images) + 1]
  call co_sum(total)
  if (total /= images*(images + 1)/2) error stop 'co_sum'
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (total /= ranks*images*(images + 1)/2) error stop 'MPI_Allreduce'
  sync all
  call MPI_Finalize(ierr)
  if (me == 1) print '(a,i0,a)', 'coarrays of ', images, ' images beside MPI are well'
end program
"""


def build(folder, name, sources, *options):
    """Writes the sources (suffix, text), compiles them together. Returns the program or None."""
    files = []
    for i, (suffix, text) in enumerate(sources):
        files.append(folder / f"{name}{i}{suffix}")
        files[-1].write_text(text)
    objects = [f for f in files if f.suffix != ".c"]
    for c in (f for f in files if f.suffix == ".c"):
        subprocess.run([CC, "-c", c, "-o", c.with_suffix(".o")], check=True)
        objects.append(c.with_suffix(".o"))
    program = folder / name
    code, text = run([os.environ["TOMBOLO"], "fc", *options, "-J", folder, *objects, "-o", program])
    if code:
        print(text)
    return None if code else program


def expect(program, match):
    """Runs a program as three images; returns 1 when it does not say what it should."""
    code, text = run([os.environ["TOMBOLO"], "run", "-n", "3", program]) if program else (1, "")
    if code == 0 and match in text:
        print(f"ok: {match}")
        return 0
    print(f"FAILED: no {match!r}, exit code {code}:\n{text}")
    return 1


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wrong += expect(build(folder, "fortran_main", [(".f90", FORTRAN_MAIN), (".c", C_PART)]),
                        "Fortran with C is well")
        wrong += expect(build(folder, "c_main", [(".f90", RING), (".c", C_MAIN)]),
                        "C with Fortran is well")
        for mpi in ("openmpi", "mpich"):
            compiler = f"mpifort.{mpi}"
            if not shutil.which(compiler) or "TMB_EMULATED" in os.environ:
                print(f"skipped: {compiler} is not installed, or compiles for another processor")
                continue
            program = build(folder, f"with_{mpi}", [(".f90", MPI)], f"--compiler={compiler}")
            wrong += expect(program, "coarrays of 3 images beside MPI are well")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
