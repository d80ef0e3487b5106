#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 240
"""`tombolo why` on UPC programs that hang: a lock that nobody unlocks, a circle of locks, a
barrier and a semaphore are named, with threads and source lines."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from asks import Source, hangs  # noqa: E402
from jobs import Job, named, run_cases  # noqa: E402

HANGS = Source("""#include <bupc_extensions.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <upc.h>
static upc_lock_t *first, *second;
static bupc_sem_t *sem;
static void take(upc_lock_t *l) {
  upc_lock(l); // line take
}
int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  first = upc_all_lock_alloc();
  second = upc_all_lock_alloc();
  sem = bupc_sem_alloc(0);
  upc_barrier;
  printf("ready %d %d\\n", MYTHREAD, (int)getpid());
  fflush(stdout);
  if (!strcmp(how, "lock")) {
    if (MYTHREAD == 0) upc_lock(first);
    upc_barrier;
    if (MYTHREAD != 0) take(first);
    upc_barrier 3; // line barrier
  } else if (!strcmp(how, "circle")) {
    if (MYTHREAD < 2) take(MYTHREAD ? second : first);
    upc_barrier;
    if (MYTHREAD < 2) take(MYTHREAD ? first : second);
  } else if (!strcmp(how, "notify")) {
    if (MYTHREAD == 1) bupc_sem_wait(sem); // line sem
    upc_notify;
    upc_wait; // line wait
  }
  return 0;
}
""", "upc", "//")
PROGRAM = HANGS.program
at = HANGS.at

# How, threads, what `why` must say.
CASES = [
    ("lock", 3, [rf"thread 1 waits in upc_lock of the lock at offset 0x\w+ on thread 0 "
                 rf"{at('take', 'take')}, held by thread 0; thread 0 waits .* in upc_barrier 3 "
                 rf"{at('barrier')}",
                 r"thread 0 waits in upc_barrier 3 .*, which threads 1-2 have not called"]),
    ("circle", 2, [r"in a circle: thread 0 waits for thread 1, which waits for thread 0"]),
    ("notify", 2, [rf"thread 0 waits in upc_wait 2 {at('wait')} .*, which thread 1 has not called; "
                   rf"thread 1 waits .* in bupc_sem_wait \(0 of 1 posts have come\) {at('sem')}"]),
]
NETWORK = {"TOMBOLO_TEST_SHM": "0"}


def hang(how, threads, patterns, env):
    hangs(Job(threads, [PROGRAM, how], env=env), *patterns)


def watchdog(env):
    """Threads that ask for a lock again and again do nothing.

    The report is of one moment, in which one of the two may be between two requests; where
    processors are short, both: then another job says it.
    """
    waits = r"waits .* in upc_lock of the lock at .* held by thread [01]"
    for tries in range(3):
        job = Job(2, [PROGRAM, "circle"], options=["--watchdog", "2"], env=env)
        job.expect(125, waits if tries == 2 else "nothing has happened")
        if re.search(waits, job.err):
            return


def main():
    HANGS.compile("upcc", "-g")
    cases = [named(how, hang, how, threads, patterns, {}) for how, threads, patterns in CASES]
    cases += [named("circle network", hang, *CASES[1], NETWORK)]
    run_cases(cases + [named("watchdog network", watchdog, NETWORK)])


if __name__ == "__main__":
    main()
