#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""UPC with parts in C: one that calls GASNet-EX on the team of UPC, one that uses MPI."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOMBOLO = os.environ.get("TOMBOLO", "tombolo")
ROOT = Path(__file__).resolve().parents[2]
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
    out = run(folder, TOMBOLO, "run", "-n", "3", program)
    if out.count("right") != 3:
        sys.exit(f"{program}: expected 'right' three times: {out}")


def try_gasnet(folder, headers):
    (folder / "gasnet.txt").write_text(GASNET)
    run(folder, "cc", "-DGASNET_PARSYNC=1", "-DGEXX_NO_IDENT=1", f"-I{ROOT}/include",
        f"-I{headers}", "-x", "c", "-c", "gasnet.txt", "-o", "gasnet.o")
    run(folder, TOMBOLO, "upcc", "main.upc", "gasnet.o", "-o", "./with_gasnet")
    expect_right(folder, "./with_gasnet")


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
        try_gasnet(folder, run(folder, TOMBOLO, "upcc", "-print-include-dir").strip())
        for compiler in ("mpicc.openmpi", "mpicc.mpich"):
            if shutil.which(compiler):
                try_mpi(folder, compiler)
                tried.append(compiler)
    print("interop: ok,", ", ".join(tried) or "no MPI")
    return 0


if __name__ == "__main__":
    sys.exit(main())
