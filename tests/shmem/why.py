#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`tombolo why` names the lines of a program of OpenSHMEM whose PEs wait for words, for a signal,
and for a lock that nobody clears."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from asks import Source, hangs  # noqa: E402
from jobs import Job, named, run_cases  # noqa: E402

HANGS = Source("""#include <shmem.h>
#include <stdio.h>
#include <unistd.h>
static long word, lock;
static uint64_t signal_word;
static void from_others(void) {
  shmem_wait_until(&word, SHMEM_CMP_EQ, 1); // line word
}
int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 2) shmem_set_lock(&lock);
  shmem_barrier_all();
  printf("ready %d %d\\n", me, (int)getpid());
  fflush(stdout);
  if (me == 0) from_others();
  if (me == 1) shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 1); // line signal
  if (me == 2) shmem_long_wait_until_any(&word, 1, NULL, SHMEM_CMP_EQ, 1); // line any
  if (me == 3) shmem_set_lock(&lock); // line lock
  shmem_finalize();
  return 0;
}
""", "c", "//")
at = HANGS.at


def hang(env):
    hangs(Job(4, [HANGS.program], env=env),
          rf"PE 0 waits .*in shmem_long_wait_until {at('word', 'from_others')}",
          rf"PE 1 waits .*in shmem_signal_wait_until {at('signal', 'main')}",
          rf"PE 2 waits .*in shmem_long_wait_until_any {at('any', 'main')}",
          rf"PE 3 waits .*in shmem_set_lock {at('lock', 'main')}")


def main():
    HANGS.compile(os.path.join(os.environ["TMB_BUILD"], "bin/oshcc"), "-g", "-O1")
    run_cases([named("near", hang, {}), named("network", hang, {"TOMBOLO_TEST_SHM": "0"})])


if __name__ == "__main__":
    main()
