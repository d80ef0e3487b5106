#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 400
"""Programs started by MPICH's mpiexec.hydra and by Open MPI's mpirun: who is who, near and on
pretended hosts, how a job ends, conformance programs, and MPI in the same process in either order.

Usage: launchers_test.py [--whole] LAUNCHER [NAME...]
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from harness import (BUILD, ENDS, LAUNCHERS, MPI_OF, TOMBOLO, Run, clean_environment, is_late_mpi,
                     launch, need, run_cases, shm_names, watchers)

QUICK = ["job", "am_flood"]
WHOLE = ["am_long", "am_medium", "coll_basic", "coll_random", "rma_nb", "notify_signal",
         "ad_random", "team_split", "par_am", "soak", "segment", "legacy_am", "vis_strided"]
LATE = 10

arguments = sys.argv[1:]
whole = "--whole" in arguments
arguments = [a for a in arguments if a != "--whole"]
launcher, names = arguments[0], arguments[1:]
need(LAUNCHERS[launcher][0])


def hello(ranks=4, **settings):
    run = launch(launcher, ranks, ENDS, "hello", **settings)
    run.check(run.code == 0, "the job's code")
    said = sorted(line for line in run.out.splitlines() if line.startswith("rank "))
    run.check(said == sorted(f"rank {r} of {ranks}" for r in range(ranks)), "who says hello")
    return run


def ranks_know_who_they_are():
    for ranks in (1, 2, 4, 7) if whole else (1, 4):
        hello(ranks)


def pretended_hosts():
    hello(TOMBOLO_PLACES="cyclic:2")
    if whole:
        hello(7, TOMBOLO_PLACES="0,1,1,2,0,2,1")
        hello(4, TOMBOLO_PLACES="2", TOMBOLO_TEST_SHM_MAP="0")
        hello(4, TOMBOLO_TEST_SHM="0")


def codes_reach_the_launcher():
    for code in (0, 5) if not whole else (0, 1, 5, 200):
        run = launch(launcher, 4, ENDS, "exit", str(code))
        run.check(run.code == code, f"the code {code} of the rank that ends the job")
        run.check(run.seconds < LATE, "it ends in time")


def a_rank_that_dies_ends_the_job():
    for how, says in (("kill", "rank 1 "), ("segv", "rank 1: caught signal 11")):
        run = launch(launcher, 4, ENDS, how)
        run.check(run.code not in (0, None) and run.seconds < LATE, "it ends, and not well")
        run.check(how == "kill" or says in run.out, "it says which rank")
    run = launch(launcher, 4, ENDS, "kill", TOMBOLO_PLACES="2")
    run.check(run.code not in (0, None) and run.seconds < LATE, "it ends, also on two hosts")
    if not has_mpi_plugin():
        return
    for how in ("kill", "segv"):
        run = launch(launcher, 4, ENDS, how, TOMBOLO_PLACES="cyclic:2", TOMBOLO_CONDUIT="mpi")
        run.check(run.code not in (0, None) and run.seconds < LATE, "it ends, also over MPI")
        run.check("rank " in run.out, "it says which rank")


def is_there(process):
    """Whether it runs: one that has ended may wait for its parent."""
    try:
        return Path("/proc", process, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def a_killed_launcher_leaves_no_ranks():
    with subprocess.Popen([*LAUNCHERS[launcher], "3", ENDS, "wait"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env=clean_environment()) as run:
        ranks = [run.stdout.readline().split()[1] for _ in range(3)]
        assert all(map(is_there, ranks)), f"ranks that wait: {ranks}"
        run.kill()
        until = time.monotonic() + LATE
        while any(map(is_there, ranks)) and time.monotonic() < until:
            time.sleep(0.1)
        left = [r for r in ranks if is_there(r)]
        for process in left:
            os.kill(int(process), signal.SIGKILL)
        assert not left, f"ranks that outlive their launcher: {left}"


def children_are_jobs_of_their_own():
    run = launch(launcher, 2, ENDS, "child")
    run.check(run.code == 0 and "rank 0 of 1" in run.out, "a rank starts a program")


def nothing_is_left():
    until = time.monotonic() + LATE
    while watchers() and time.monotonic() < until:
        time.sleep(0.1)
    assert not watchers(), f"watchers that nobody needs: {watchers()}"
    assert not shm_names(), f"names in /dev/shm: {shm_names()}"


def has_mpi_plugin():
    """Whether the conduit mpi is built for this launcher."""
    return (BUILD / f"lib/tombolo/tombolo-net-mpi-{MPI_OF[launcher]}.so").exists()


def each_way(name, ranks):
    """A conformance program, near, and far by udp, loop and mpi."""
    program = BUILD / "tests/conformance" / name
    if not program.exists():
        return
    less = {} if whole else {"TMB_TEST_COUNT": "5000"}
    for settings in ({}, {"TOMBOLO_PLACES": "cyclic:2"},
                     {"TOMBOLO_PLACES": "2", "TOMBOLO_CONDUIT": "loop"},
                     {"TOMBOLO_PLACES": "cyclic:2", "TOMBOLO_CONDUIT": "mpi"}):
        if "mpi" in settings.values() and not has_mpi_plugin():
            continue
        run = launch(launcher, ranks, str(program), **settings, **less)
        run.check(run.code == 0, f"{name} with {settings}")


def conformance_programs():
    for name in QUICK + (WHOLE if whole else []):
        each_way(name, 4)


def mixed(order, ranks=4, **settings):
    program = BUILD / f"tests/launch/mixed-{MPI_OF[launcher]}"
    if not program.exists():
        print(f"not tried: mpicc.{MPI_OF[launcher]} is not installed")
        return
    run = launch(launcher, ranks, str(program), order, **settings)
    run.check(run.code == 0 and f"{ranks} ranks agree" in run.out, f"MPI in one process, {order}")


def lost_packets_at_a_round():
    """A rank that waits for others through the manager, or MPI in its place, sends its lost packets
    again: without a progress thread the others wait for these, and never come."""
    lossy = {"TOMBOLO_PLACES": "cyclic:2", "TOMBOLO_CONDUIT": "udp", "TOMBOLO_PROGRESS_SHARE": "0"}
    mpi_first = BUILD / f"tests/launch/mixed-{MPI_OF[launcher]}"
    for seed in range(12 if whole else 5):
        lossy["TOMBOLO_TEST_UDP_FAULT"] = f"loss=40,seed={seed}"
        run = launch(launcher, 2, ENDS, "hello", **lossy)
        run.check("rank 0 of 2" in run.out and "rank 1 of 2" in run.out, "both attach segments")
        if mpi_first.exists() and has_mpi_plugin():
            run = launch(launcher, 2, str(mpi_first), "attach", **lossy)
            run.check("2 ranks agree" in run.out, "both attach segments where MPI was first")


def mpi_is_alone():
    """Under `tombolo run` MPI's ranks know nothing of each other."""
    program = BUILD / f"tests/launch/mixed-{MPI_OF[launcher]}"
    if program.exists():
        for order in ("mpi", "gex"):
            run = Run([TOMBOLO, "run", "-n", "2", program, order])
            said = run.out.count("alone in its MPI_COMM_WORLD")
            run.check(run.code != 0 and said == 1, f"it is said once, order {order}")
    if launcher == "hydra" and has_mpi_plugin():  # which joins them: nobody is alone
        run = Run([TOMBOLO, "run", "-n", "2", str(BUILD / "tests/conformance/job")],
                  TOMBOLO_PLACES="cyclic:2", TOMBOLO_CONDUIT="mpi", TOMBOLO_MPI="mpich")
        run.check(run.code == 0 and "alone in its" not in run.out, "conduit mpi says nothing")


def mpi_in_one_process():
    for order in ("mpi", "gex", "late"):
        mixed(order)
    mixed("gex", 1)
    mixed("mpi", TOMBOLO_PLACES="cyclic:2")
    if not is_late_mpi(launcher):
        mixed("gex", TOMBOLO_PLACES="cyclic:2")
    if whole:
        for order in ("mpi", "gex", "late"):
            mixed(order, 1)
            if order == "mpi" or not is_late_mpi(launcher):
                mixed(order, 7, TOMBOLO_PLACES="3")


def mpi_that_refuses():
    """What MPI cannot do is said in its words, with what helps."""
    library = BUILD / f"tests/launch/mpi_refuses-{MPI_OF[launcher]}.so"
    if not library.exists():
        return
    run = launch(launcher, 2, str(BUILD / f"tests/launch/mixed-{MPI_OF[launcher]}"), "mpi",
                 LD_PRELOAD=str(library))
    # MPICH 4.2 loses the code of a process that leaves by exit() without MPI_Finalize.
    run.check(run.code is not None and (run.code or launcher == "hydra"), "it ends")
    run.check(re.search(r"\(MPI_Comm_dup\): .*[Cc]ommunicator.*; initialise this library before",
                        run.out), "it says what MPI says, and what helps")


# MPI's ranks spin where they wait: each night four of them.
def mix(order, what, ranks=4 if whole else 2, **settings):
    program = BUILD / f"tests/launch/mixes-{MPI_OF[launcher]}"
    if not program.exists():
        return
    run = launch(launcher, ranks, str(program), order, what, **settings)
    # A job that does not finalize MPI is ended by some launchers: by one with a code of its own, by
    # one with the job's, but without what its ranks had printed.
    said = f"{ranks} ranks mix" in run.out or (what == "leave" and run.code == 3)
    run.check(said, f"MPI beside the library: {order} {what}")
    good = run.code not in (0, None) if what == "leave" else run.code == 0
    if what == "quit":
        good = run.code is not None
    run.check(good, f"the job's code: {order} {what}")


def mixes():
    over_mpi = {"TOMBOLO_PLACES": "cyclic:2", "TOMBOLO_CONDUIT": "mpi"}
    for order, what in (("mpi", "threads"), ("mpi", "coll"), ("gex", "split"), ("gex", "exit"),
                        ("gex", "leave"), ("mpi", "quit")):
        mix(order, what)
    mix("mpi", "sleep", TOMBOLO_WAIT="block")
    if has_mpi_plugin():
        mix("gex", "threads", 4 if whole else 3, **over_mpi)  # near and far peers
        mix("gex", "sleep", **over_mpi, TOMBOLO_WAIT="block")
        mix("mpi", "coll", **over_mpi)
    if not whole:
        return
    for order in ("mpi", "gex"):
        for what in ("threads", "sleep", "coll", "split", "exit", "quit", "leave"):
            for ranks in (1, 7):
                mix(order, what, ranks)
                mix(order, what, ranks, TOMBOLO_PLACES="3")
            if has_mpi_plugin():
                mix(order, what, **over_mpi)


run_cases([ranks_know_who_they_are, pretended_hosts, codes_reach_the_launcher,
           a_rank_that_dies_ends_the_job, a_killed_launcher_leaves_no_ranks,
           children_are_jobs_of_their_own, conformance_programs, lost_packets_at_a_round,
           mpi_in_one_process, mixes, mpi_that_refuses, mpi_is_alone, nothing_is_left], names)
