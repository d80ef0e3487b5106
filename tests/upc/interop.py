#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""UPC with other languages and libraries in one process.

C on the team of UPC, C that is a client of its own, MPI, coarray Fortran below and above UPC.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOMBOLO = os.environ.get("TOMBOLO", "tombolo")
CC = os.environ.get("TOMBOLO_UPC_CC", "cc")  # of the processor that the tests run for
EMULATED = os.environ.get("TMB_EMULATED")  # MPI and Fortran are of this machine, not of that one
ROOT = Path(__file__).resolve().parents[2]
UPC_PART = ROOT / "tests/upc/lib/part.upc"
MAIN = """#include <upc.h>
#include <stdio.h>
shared int words[THREADS];
int part(int me, int threads, int *word);
int main(void) {
  const int sum = part(MYTHREAD, THREADS, (int *)&words[MYTHREAD]);
  upc_barrier;
  const int left = words[(MYTHREAD + THREADS - 1) % THREADS];
  upc_barrier;
  printf("%s\\n", sum == THREADS * (THREADS - 1) / 2 && left >= 100 ? "right" : "wrong");
  return 0;
}
"""
GASNET = """#include <gasnetex.h>
#include <gasnet_coll.h>
#include <tombolo_upc.h>
int part(int me, int threads, int *word) {
  gex_TM_t tm;
  void *owner;
  int sum = -1, value = 100 + me;
  tombolo_upc_query(0, 0, &tm);
  tombolo_upc_peer_address(word, (me + 1) % threads, &owner);
  gex_RMA_PutBlocking(tm, (gex_Rank_t)((me + 1) % threads), owner, &value, sizeof value, 0);
  gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, &sum, &me, GEX_DT_I32, sizeof sum, 1, GEX_OP_ADD, 0, 0,
                                        0));
  return gex_TM_QueryRank(tm) == (gex_Rank_t)me ? sum : -1;
}
"""
CLIENT = """#include <gasnetex_ext.h>
#include <gasnet_coll.h>
/* A library that knows nothing of UPC: it initialises GASNet-EX, attaches, puts, reduces. */
int part(int me, int threads, int *word) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  void *there;
  int sum = -1, value = 100 + me;
  if (gex_Client_Init(&client, &ep, &tm, "LIBRARY", 0, 0, 0) != GASNET_OK) return -2;
  if (gex_Segment_Attach(&segment, tm, GASNET_PAGESIZE) != GASNET_OK) return -3;
  const gex_Rank_t next = (gex_Rank_t)((me + 1) % threads);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, next, &there, 0, 0, 0));
  gex_RMA_PutBlocking(tm, next, there, &value, sizeof value, 0);
  gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, &sum, &me, GEX_DT_I32, sizeof sum, 1, GEX_OP_ADD, 0, 0,
                                        0));
  *word = *(int *)gex_Segment_QueryAddr(segment);
  return gex_TM_QueryRank(tm) == (gex_Rank_t)me ? sum : -1;
}
"""
FORTRAN_MAIN = """
program above
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function upc_part(image) bind(c)
      import
      integer(c_int), value :: image
    end function
    subroutine start_upc() bind(c)
    end subroutine
  end interface
  integer :: there[*], round, right
  right = mod(this_image(), num_images()) + 1
  there = this_image()
  call start_upc()
  sync all
  do round = 1, 3
    if (upc_part(this_image()) /= right) error stop 'UPC'
    if (there[right] /= right) error stop 'coarray'
    sync all
  end do
  print '(a)', 'right'
end program
"""
START_UPC = """#include <bupc_extern.h>
void start_upc(void) {
  static char name[] = "above", *words[] = {name, 0}, **argv = words;
  int argc = 1;
  bupc_init(&argc, &argv);
}
"""
# A library of C that works with and without UPC.
TENTATIVE = """#include <bupc_tentative.h>
#include <bupc_tentative.h>
int upc_threads(void) {
  if (!bupc_tentative_version_major) return 0;
  bupc_tentative_barrier(0);
  void *memory = bupc_tentative_alloc(8);
  if (!memory || bupc_tentative_mythread() < 0) return -1;
  bupc_tentative_free(memory, bupc_tentative_mythread());
  return bupc_tentative_threads();
}
"""
WITH_UPC = """#include <upc.h>
#include <stdio.h>
int upc_threads(void);
int main(void) {
  if (upc_threads() == THREADS) puts("right");
  return 0;
}
"""
WITHOUT_UPC = """#include <bupc_tentative.h>
int upc_threads(void);
int main(void) { return upc_threads() || bupc_tentative_init; }
"""
MPI = """#include <mpi.h>
int part(int me, int threads, int *word) {
  int size = 0, sum = -1, all = threads * (threads - 1) / 2;
  MPI_Init(0, 0);
  MPI_Comm_size(MPI_COMM_WORLD, &size); /* each thread is a world of its own */
  MPI_Allreduce(&all, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  *word = 100 + me;
  return size == 1 ? sum : -1;
}
"""


def run(folder, *command):
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{' '.join(command)}: {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def expect_right(folder, program):
    for settings in ([], ["TOMBOLO_TEST_SHM=0"],
                     ["TOMBOLO_CONDUIT=loop", "TOMBOLO_PLACES=cyclic:2"]):
        out = run(folder, "env", *settings, TOMBOLO, "run", "-n", "3", program)
        if out.count("right") != 3:
            sys.exit(f"{program} {settings}: expected 'right' three times: {out}")


def try_gasnet(folder, headers):
    (folder / "gasnet.txt").write_text(GASNET)
    run(folder, CC, "-DGASNET_PARSYNC=1", "-DGEXX_NO_IDENT=1", f"-I{ROOT}/include",
        f"-I{headers}", "-x", "c", "-c", "gasnet.txt", "-o", "gasnet.o")
    run(folder, TOMBOLO, "upcc", "main.upc", "gasnet.o", "-o", "./with_gasnet")
    expect_right(folder, "./with_gasnet")
    example = ROOT / "examples" / "upc" / "from_c"
    run(folder, TOMBOLO, "cc", "--parsync", f"-I{headers}", "-c", example / "main.c")
    run(folder, TOMBOLO, "upcc", "-extern-main", "main.o", example / "part.upc", "-o", "./from_c")
    expect_right(folder, "./from_c")


def try_client(folder):
    (folder / "client.txt").write_text(CLIENT)
    run(folder, CC, "-DGASNET_PARSYNC=1", "-DGEXX_NO_IDENT=1", f"-I{ROOT}/include", "-x", "c",
        "-c", "client.txt", "-o", "client.o")
    run(folder, TOMBOLO, "upcc", "main.upc", "client.o", "-o", "./with_client")
    expect_right(folder, "./with_client")


def try_fortran(folder, headers):
    """Coarrays in a function that UPC calls, and UPC in a function that Fortran calls."""
    example = ROOT / "examples" / "upc" / "with_coarrays"
    run(folder, TOMBOLO, "fc", "-c", example / "ring.f90", "-o", "ring.o")
    words = run(folder, TOMBOLO, "fc", "--show", "ring.o").split()
    libraries = [word for word in words if word.startswith(("-L", "-l", "-Wl"))]
    libraries += ["-lgfortran", "-lm"]
    run(folder, TOMBOLO, "upcc", example / "main.upc", "ring.o", *libraries, "-o", "./ring")
    expect_right(folder, "./ring")
    (folder / "above.f90").write_text(FORTRAN_MAIN)
    (folder / "start.txt").write_text(START_UPC)
    run(folder, TOMBOLO, "fc", "-c", "above.f90", "-o", "above.o")
    run(folder, CC, f"-I{headers}", "-x", "c", "-c", "start.txt", "-o", "start.o")
    run(folder, TOMBOLO, "upcc", "-extern-main", UPC_PART, "start.o", "above.o", *libraries,
        "-o", "./above")
    expect_right(folder, "./above")


def try_tentative(folder, headers):
    """A library finds whether UPC is linked with it, however its definitions are compiled."""
    for name, text in ("library", TENTATIVE), ("main", WITHOUT_UPC):
        (folder / f"{name}.txt").write_text(text)
    (folder / "with.upc").write_text(WITH_UPC)
    common = "-DBUPC_TENTATIVE_SPECIFIER=__attribute__((common))"
    for option in "-DWEAK", common:
        for name in "library", "main":
            run(folder, CC, f"-I{headers}", option, "-x", "c", "-c", f"{name}.txt", "-o",
                f"{name}.o")
        run(folder, CC, "main.o", "library.o", "-o", "without")
        run(folder, "./without")
        run(folder, TOMBOLO, "upcc", "with.upc", "library.o", "-o", "with")
        expect_right(folder, "./with")


def try_mpi(folder, compiler):
    (folder / "mpi.txt").write_text(MPI)
    run(folder, compiler, "-x", "c", "-c", "mpi.txt", "-o", f"{compiler}.o")
    words = run(folder, compiler, "-show").split()
    libraries = [word for word in words if word.startswith(("-L", "-l", "-Wl"))]
    run(folder, TOMBOLO, "upcc", "main.upc", f"{compiler}.o", *libraries, "-o", f"./{compiler}.x")
    expect_right(folder, f"./{compiler}.x")


def main():
    tried = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "main.upc").write_text(MAIN)
        headers = run(folder, TOMBOLO, "upcc", "-print-include-dir").strip()
        try_gasnet(folder, headers)
        try_client(folder)
        try_tentative(folder, headers)
        if shutil.which("gfortran") and not EMULATED:
            try_fortran(folder, headers)
            tried.append("gfortran")
        for compiler in ("mpicc.openmpi", "mpicc.mpich"):
            if shutil.which(compiler) and not EMULATED:
                try_mpi(folder, compiler)
                tried.append(compiler)
    print("interop: ok,", ", ".join(tried) or "no MPI, no Fortran")
    return 0


if __name__ == "__main__":
    sys.exit(main())
