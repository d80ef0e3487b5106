#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""OpenSHMEM beside UPC and beside coarray Fortran in one process, each below the other's main.

A PE has the number of its UPC thread, and of its image less one. C parts start SHMEM.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(os.environ["TMB_BUILD"])
TOMBOLO = os.environ["TOMBOLO"]
UPC_PART = Path(__file__).resolve().parents[1] / "upc/lib/part.upc"
LINK = [f"-L{BUILD}/lib", f"-Wl,-rpath,{BUILD}/lib", "-lshmem_tombolo"]
# A global variable of the program, the heap, a signal, an atomic, a reduction, a team.
PART = r"""
#define _GNU_SOURCE 1
#include <link.h>
#include <shmem.h>
#include <stdlib.h>
#include <string.h>
static long word, total, mine, sum;
static uint64_t signal_word;
/* Data of the run-time libraries are not symmetric: their threads write them. */
static int look(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size;
  (void)arg;
  for (int i = 0; strstr(info->dlpi_name, "tombolo") && i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    const char *last = (const char *)info->dlpi_addr + part->p_vaddr + part->p_memsz - 1;
    if (part->p_type == PT_LOAD && (part->p_flags & PF_W) &&
        shmem_addr_accessible(last, shmem_my_pe()))
      return 1;
  }
  return 0;
}
int shmem_part(int me, int n, int round) {
  if (!round) shmem_init();
  if (shmem_my_pe() != me || shmem_n_pes() != n) return 1;
  if (dl_iterate_phdr(look, NULL)) return 6;
  const int right = (me + 1) % n, left = (me + n - 1) % n;
  long *heap = shmem_calloc(1, sizeof *heap);
  const long value = 100 * round + me;
  shmem_put_signal(heap, &value, 1, &signal_word, 1, SHMEM_SIGNAL_ADD, right);
  shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, (uint64_t)round + 1);
  if (*heap != 100 * round + left) return 2;
  shmem_p(&word, value, right);
  shmem_atomic_add(&total, 1, 0);
  shmem_barrier_all();
  if (word != 100 * round + left) return 3;
  if (shmem_atomic_fetch(&total, 0) != (long)(round + 1) * n) return 4;
  mine = me;
  if (shmem_sum_reduce(SHMEM_TEAM_SHARED, &sum, &mine, 1) || sum < me) return 5;
  shmem_free(heap);
  return 0;
}
void shmem_part_end(const char *how) {
  if (!strcmp(how, "finalize")) shmem_finalize();
  if (!strcmp(how, "global_exit") && shmem_my_pe() == 0) shmem_global_exit(43);
  if (!strcmp(how, "dies") && shmem_my_pe() == 1) abort();
  if (!strcmp(how, "global_exit") || !strcmp(how, "dies"))
    shmem_wait_until(&word, SHMEM_CMP_EQ, -1);
}
"""
UPC_MAIN = r"""
#include <upc.h>
#include <stdio.h>
int shmem_part(int me, int n, int round);
void shmem_part_end(const char *how);
static shared int words[THREADS];
int main(int argc, char **argv) {
  int wrong = 0;
  upc_lock_t *lock = upc_all_lock_alloc();
  for (int round = 0; round < 3; round++) {
    upc_lock(lock);
    words[(MYTHREAD + 1) % THREADS] = 10 * round + MYTHREAD;
    upc_unlock(lock);
    upc_barrier;
    wrong += words[MYTHREAD] != 10 * round + (MYTHREAD + THREADS - 1) % THREADS;
    wrong += shmem_part(MYTHREAD, THREADS, round);
    upc_barrier;
  }
  printf("%s\n", wrong ? "wrong" : "right");
  fflush(stdout);
  shmem_part_end(argc > 1 ? argv[1] : "");
  return 0;
}
"""
SHMEM_MAIN = r"""
#include <bupc_extern.h>
#include <shmem.h>
#include <stdio.h>
int shmem_part(int me, int n, int round);
void shmem_part_end(const char *how);
int upc_part(int me);
static int number = -1;
int main(int argc, char **argv) {
  shmem_init();
  bupc_init(&argc, &argv);
  const int me = shmem_my_pe(), n = shmem_n_pes();
  int wrong = 0;
  for (int round = 0; round < 3; round++) {
    wrong += upc_part(me) != (me + 1) % n;
    shmem_p(&number, me, (me + 1) % n);
    wrong += shmem_part(me, n, round); /* shmem_init again */
    wrong += number != (me + n - 1) % n;
  }
  printf("%s\n", wrong ? "wrong" : "right");
  fflush(stdout);
  shmem_part_end(argc > 1 ? argv[1] : "");
  shmem_part_end("finalize");
  return 0;
}
"""
FORTRAN_MAIN = r"""
program above
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function shmem_part(me, n, round) bind(c)
      import
      integer(c_int), value :: me, n, round
    end function
    subroutine shmem_part_end(how) bind(c)
      import
      character(c_char) :: how(*)
    end subroutine
  end interface
  integer :: there[*], round, right, wrong
  integer, allocatable :: more(:)[:]
  character(32) :: how = ' '
  right = mod(this_image(), num_images()) + 1
  allocate (more(100)[*])
  do round = 0, 2
    there = this_image()
    more = this_image()
    wrong = shmem_part(this_image() - 1, num_images(), round)
    if (wrong /= 0) error stop 'SHMEM'
    sync all
    if (there[right] /= right .or. any(more(:)[right] /= right)) error stop 'coarray'
    sync all
  end do
  print '(a)', 'right'
  flush (6)
  if (command_argument_count() > 0) call get_command_argument(1, how)
  call shmem_part_end(trim(how)//c_null_char)
end program
"""
ENDS = {"finalize": 0, "": 0, "global_exit": 43, "dies": 134}


def build(folder, *command):
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True,
                          text=True, check=False, timeout=60)
    if done.returncode:
        sys.exit(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(folder, name, program):
    """Three PEs, near and on two pretended hosts; each way to end the job."""
    ways = ({}, {"TOMBOLO_CONDUIT": "loop", "TOMBOLO_PLACES": "cyclic:2"})
    tries = [(way, "finalize") for way in ways] + [({}, end) for end in ENDS if end != "finalize"]
    for way, end in tries:
        done = subprocess.run([TOMBOLO, "run", "-n", "3", "--timeout", "30", program, end],
                              cwd=folder, capture_output=True, text=True, check=False, timeout=60,
                              env=dict(os.environ, **way))
        if done.returncode != ENDS[end] or done.stdout.count("right") != 3:
            sys.exit(f"{name} {way} '{end}': code {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"beside: {name}: ok")


def with_upc(folder):
    (folder / "main.upc").write_text(UPC_MAIN)
    (folder / "main.c").write_text(SHMEM_MAIN)
    headers = build(folder, TOMBOLO, "upcc", "-print-include-dir").strip()
    build(folder, TOMBOLO, "upcc", "main.upc", "shmem.o", *LINK, "-o", "upc_above")
    check(folder, "UPC above", "./upc_above")
    build(folder, BUILD / "bin/oshcc", f"-I{headers}", "-c", "main.c")
    build(folder, TOMBOLO, "upcc", "-extern-main", "main.o", "shmem.o", UPC_PART, *LINK, "-o",
          "upc_below")
    check(folder, "UPC below", "./upc_below")


def with_coarrays(folder):
    (folder / "main.f90").write_text(FORTRAN_MAIN)
    build(folder, TOMBOLO, "fc", "main.f90", "shmem.o", *LINK, "-o", "coarrays")
    check(folder, "coarrays above", "./coarrays")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "shmem.c").write_text(PART)
        build(folder, BUILD / "bin/oshcc", "-O2", "-c", "shmem.c")
        done = []
        if (BUILD / "libexec/tombolo/upc1").exists():
            with_upc(folder)
            done.append("UPC")
        if shutil.which("gfortran"):
            with_coarrays(folder)
            done.append("coarrays")
        if not done:
            print("skipped: neither the UPC compiler nor gfortran is here")
            sys.exit(77)


main()
