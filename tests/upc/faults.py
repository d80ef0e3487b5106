#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# gcc: line of the program where a wide pointer is wrong, but that of upcr_access.h
# timeout: 90
"""Accesses through pointers-to-shared that point to nothing: what is said, by which line.

Also that the program's own handler of SIGSEGV gets what is not of shared memory, and everything
where it is installed last; that a fault of a private pointer is not called one of shared memory;
and that nothing is said where GASNET_NO_CATCH_SIGNAL leaves SIGSEGV alone.
"""

import os
import subprocess
import sys
import tempfile

TOMBOLO = os.environ.get("TOMBOLO", "tombolo")
# On RISC-V memcpy of the C library has no unwind table, so that a backtrace ends in it.
NO_CALLER_OF_MEMCPY = os.environ.get("TMB_EMULATED") == "riscv64"
SOURCE = """#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc.h>
#include <upc_atomic.h>
#include <upc_collective.h>
struct node { int value; shared struct node *next; };
shared struct node *head;
shared int numbers[THREADS];
static sigjmp_buf back;
static volatile int out;
static void *volatile none;
static void handler(int sig) { siglongjmp(back, sig); }
__attribute__((constructor)) static void own_handler(void) {
  if (getenv("EARLY")) signal(SIGSEGV, handler);
}
static int walk(shared struct node *p) {
  int sum = 0;
  while (1) {
    sum += p->value; /* null */
    p = p->next;
    out = sum;
  }
}
int main(int argc, char **argv) {
  const char *how = argv[1];
  shared int *p = NULL, *volatile q = NULL;
  upc_lock_t *lock = upc_all_lock_alloc();
  upc_atomicdomain_t *sums = upc_all_atomicdomain_alloc(UPC_INT, UPC_ADD, 0);
  shared [] char *far = (shared [] char *)&numbers[0];
  if (!strcmp(how, "combine")) upc_all_reduceI(numbers, numbers, UPC_MAX << 1, 2, 1, NULL, 0);
  upc_barrier;
  if (MYTHREAD != THREADS - 1) upc_barrier;
  if (getenv("LATE")) signal(SIGSEGV, handler);
  if (sigsetjmp(back, 1)) {
    printf("handled\\n");
    upc_global_exit(0);
  }
  if (!strcmp(how, "walk")) walk(head);
  if (!strcmp(how, "write")) p[THREADS] = argc; /* write */
  if (!strcmp(how, "index")) p[THREADS * 15000] = argc; /* index */
  if (!strcmp(how, "copy")) upc_memget((void *)&out, q, 4); /* copy */
  if (!strcmp(how, "garbage")) {
    memset((void *)&q, 0x7f, sizeof q);
    out = *q; /* garbage */
  }
  if (!strcmp(how, "outside")) out = far[(1L << 34) - 4096 - upc_addrfield(far)]; /* outside */
  if (!strcmp(how, "reduce")) upc_all_reduceI(numbers, numbers, UPC_FUNC, 1, 1, NULL, 0);
  if (!strcmp(how, "atomic")) upc_atomic_relaxed(sums, NULL, UPC_CSWAP, numbers, &argc, &argc);
  if (!strcmp(how, "type")) upc_all_atomicdomain_alloc(UPC_CHAR, UPC_ADD, 0);
  if (!strcmp(how, "twice")) upc_lock(lock); /* first */
  if (!strcmp(how, "twice")) upc_lock(lock); /* second */
  if (!strcmp(how, "private")) out = *(int *)none;
  upc_barrier;
  return 0;
}
"""


def line_of(word):
    """The number of the line with this comment."""
    return 1 + next(i for i, line in enumerate(SOURCE.split("\n")) if f"/* {word} */" in line)


def main():
    problems = []

    def check(what, program, how, wanted, unwanted=(), **environ):
        run = subprocess.run([TOMBOLO, "run", "-n", "2", program, how], check=False, text=True,
                             capture_output=True, env={**os.environ, **environ})
        text = run.stdout + run.stderr
        if "handled" not in wanted and run.returncode == 0:
            problems.append(f"{what} {how} {environ}: it ends with 0")
        missing = [w for w in wanted if w not in text] + [f"not {u}" for u in unwanted if u in text]
        if missing:
            problems.append(f"{what} {how} {environ}: expected {missing} in\n{text}")

    with tempfile.TemporaryDirectory(prefix="a clone ") as folder:
        source, program = os.path.join(folder, "f.upc"), os.path.join(folder, "f")
        with open(source, "w", encoding="utf-8") as file:
            file.write(SOURCE)
        for options in (["-g", "-O0"], ["-g", "-O1", "--pointers=wide"], ["-O2"]):
            subprocess.run([TOMBOLO, "upcc", *options, source, "-o", program], check=True)
            place = "f.upc:{}, in {}" if "-g" in options else "compile with -g to see the line"
            null = "UPC: thread 1 of 2: {} through a null pointer to shared (thread 0, phase 0,"
            for far in ({}, {"TOMBOLO_TEST_SHM": "0"}):
                for how, access, function in (("walk", "read", "walk"), ("write", "write", "main"),
                                              ("index", "write", "main"),
                                              ("copy", "read", "main")):
                    word = "null" if how == "walk" else how
                    wanted = [null.format(access), "[TMB-2103]"]
                    if far or how != "copy" or not NO_CALLER_OF_MEMCPY:
                        wanted.append(place.format(line_of(word), function))
                    check(options, program, how, wanted, ["SIGBUS"], **far)
                check(options, program, "garbage", ["which does not exist", "[TMB-2102]",
                      place.format(line_of("garbage"), "main")], **far)
                check(options, program, "outside", [place.format(line_of("outside"), "main")] if far
                      else [], **far)
            check(options, program, "private", ["SIGSEGV"], ["UPC:"])
            check(options, program, "reduce", ["need a function, which is null"], ["SIGSEGV"])
            check(options, program, "atomic", ["operation UPC_CSWAP is not one of the domain's"],
                  ["SIGSEGV"])
            check(options, program, "type", ["type UPC_CHAR has no atomic operations"], ["SIG"])
            check(options, program, "combine", ["operation UPC_GET is unknown for"], ["SIG"])
            places = [place.format(line_of(word), "main") for word in ("first", "second")]
            for far in ({}, {"TOMBOLO_TEST_SHM": "0"}):
                check(options, program, "twice", ["this thread holds this lock already", *places],
                      **far)
        check("memory", program, "private", ["[TMB-2140]"], GASNET_MAX_SEGSIZE="64K")
        check("handlers", program, "private", ["handled"], ["UPC:"], EARLY="1")
        check("handlers", program, "walk", ["handled", "null pointer to shared"], EARLY="1")
        check("handlers", program, "walk", ["handled"], ["UPC:"], LATE="1")
        check("handlers", program, "walk", [], ["UPC:"], GASNET_NO_CATCH_SIGNAL="SIGSEGV")
    for problem in problems:
        print(problem)
    print(f"faults: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
