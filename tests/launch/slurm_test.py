#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 400
"""Programs started by srun in a Slurm of one machine (slurm.py): --mpi=pmix, --mpi=pmi2, PMI-1
through pmi2, --mpi=none, 'tombolo run' in an allocation, and MPI in one process.

Usage: slurm_test.py [--whole] [NAME...]
"""

import sys
import time

from harness import BUILD, ENDS, TOMBOLO, Run, run_cases, shm_names, watchers
from slurm import Slurm

QUICK = ["am_flood"]
WHOLE = ["job", "am_long", "am_medium", "coll_basic", "rma_nb", "notify_signal", "ad_random",
         "team_split", "segment", "legacy_am", "vis_strided"]
LATE = 20

whole = "--whole" in sys.argv
names = [a for a in sys.argv[1:] if a != "--whole"]
ways = [("pmix", {}), ("pmi2", {})] + ([("pmi2", {"TOMBOLO_LAUNCHER": "pmi1"})] if whole else [])


def srun(mpi, ranks, *program, **settings):
    command = ["srun", "--quiet", "--overcommit", "-n", str(ranks), f"--mpi={mpi}", *program]
    return Run(command, **slurm.settings(), **settings)


def ranks_know_who_they_are():
    for mpi, settings in ways:
        for places in ({}, {"TOMBOLO_PLACES": "cyclic:2"}):
            run = srun(mpi, 4, ENDS, "hello", **settings, **places)
            said = sorted(line for line in run.out.splitlines() if line.startswith("rank "))
            run.check(run.code == 0 and said == [f"rank {r} of 4" for r in range(4)], "who it is")


def codes_and_deaths():
    for mpi, settings in ways:
        for code in (0, 5):
            run = srun(mpi, 4, ENDS, "exit", str(code), **settings)
            run.check(run.code == code and run.seconds < LATE, f"the code {code}")
        run = srun(mpi, 4, ENDS, "kill", **settings)
        run.check(run.code not in (0, None) and run.seconds < LATE, "a rank that dies")
        run.check("rank 1 (pid" in run.out, "it says which rank")


def no_way_to_meet():
    run = srun("none", 2, ENDS, "hello")
    run.check(run.code not in (0, None), "it is refused")
    run.check("use srun --mpi=pmix or --mpi=pmi2" in run.out, "it says what to do")
    run = srun("pmix", 2, TOMBOLO, "run", "-n", "2", ENDS)
    run.check(run.code not in (0, None), "it is refused")
    run.check("srun has started 'tombolo run' 2 times" in run.out, "it says what is wrong")


def tombolo_run_in_an_allocation():
    for command in (["salloc", "--quiet", "--overcommit", "-n", "3"],
                    ["srun", "--quiet", "-n", "1"]):
        run = Run([*command, TOMBOLO, "run", "-n", "3", ENDS], **slurm.settings())
        run.check(run.code == 0 and "rank 2 of 3" in run.out, "one launcher of ours")


def conformance_programs():
    for name in QUICK + (WHOLE if whole else []):
        program = BUILD / "tests/conformance" / name
        if not program.exists():
            continue
        for mpi, settings in ways:
            run = srun(mpi, 4, str(program), **settings)
            run.check(run.code == 0, f"{name} by {mpi}")
        run = srun("pmix", 4, str(program), TOMBOLO_PLACES="cyclic:2")
        run.check(run.code == 0, f"{name} on two hosts")


def openshmem_programs():
    for name in ("waits", "statics"):
        program = BUILD / "tests/shmem" / name
        for mpi, settings in ways if program.exists() else ():
            for places in ({}, {"TOMBOLO_PLACES": "cyclic:2"}):
                run = srun(mpi, 4, str(program), **settings, **places)
                run.check(run.code == 0, f"OpenSHMEM: {name} by {mpi}")


def mpi_in_one_process():
    for mpi, abi in (("pmix", "openmpi"), ("pmi2", "mpich")):
        program = BUILD / f"tests/launch/mixed-{abi}"
        for order in ("mpi", "gex", "late") if program.exists() else ():
            if order == "gex" and mpi == "pmi2":
                continue  # Slurm serves one library of a process
            run = srun(mpi, 3, str(program), order)
            run.check(run.code == 0 and "3 ranks agree" in run.out, f"{abi}, {order}")


def nothing_is_left():
    until = time.monotonic() + LATE
    while watchers() and time.monotonic() < until:
        time.sleep(0.1)
    assert not watchers() and not shm_names(), f"{watchers()} {shm_names()}"


with Slurm() as slurm:
    cases = [ranks_know_who_they_are, codes_and_deaths, no_way_to_meet,
             tombolo_run_in_an_allocation, conformance_programs, openshmem_programs,
             mpi_in_one_process, nothing_is_left]
    run_cases(cases, names)
