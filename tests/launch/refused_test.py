#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""Launchers that do not fit, or two at once: each is said within seconds, in a message that names
what has met. What the launchers would set is set here, so that none of them is needed."""

import socket
import subprocess
import threading

from harness import ENDS, TOMBOLO, Run, clean_environment, run_cases

SOON = 8


def refused(run, *texts):
    run.check(run.code not in (0, None) and run.seconds < SOON, "it is refused soon")
    for text in texts:
        run.check(text in run.out, f"it says '{text}'")


def two_launchers():
    refused(Run([TOMBOLO, "run", "-n", "2", "env", "PMI_RANK=1", "PMI_SIZE=4", ENDS]),
            "'tombolo run'", "mpiexec (rank 1 of 4)")
    refused(Run([TOMBOLO, "run", "-n", "2", ENDS], OMPI_COMM_WORLD_RANK="0",
                OMPI_COMM_WORLD_SIZE="3"), "Open MPI's mpirun has started 'tombolo run' 3 times")
    run = Run([TOMBOLO, "run", "-n", "2", ENDS], OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="3",
              TOMBOLO_LAUNCHER="none")
    run.check(run.code == 0 and "rank 1 of 2" in run.out, "TOMBOLO_LAUNCHER=none")


def singletons():
    refused(Run([ENDS], SLURM_PROCID="2", SLURM_STEP_NUM_TASKS="4"), "srun as rank 2 of 4",
            "--mpi=pmix")
    refused(Run([ENDS], OMPI_COMM_WORLD_RANK="2", OMPI_COMM_WORLD_SIZE="4"),
            "Open MPI's mpirun as rank 2 of 4")
    run = Run([ENDS], SLURM_PROCID="0", SLURM_STEP_NUM_TASKS="1")
    run.check(run.code == 0 and "rank 0 of 1" in run.out, "one task of srun is one rank")


def what_is_asked_for_is_not_there():
    refused(Run([ENDS], TOMBOLO_LAUNCHER="pmix"), "TOMBOLO_LAUNCHER=pmix", "PMIX_NAMESPACE")
    refused(Run([ENDS], TOMBOLO_LAUNCHER="pmi1"), "TOMBOLO_LAUNCHER=pmi1", "PMI_FD")
    refused(Run([ENDS], TOMBOLO_LAUNCHER="mpi"), "has not called MPI_Init")
    refused(Run([ENDS], TOMBOLO_LAUNCHER="hydra"), "TOMBOLO_LAUNCHER")


def with_manager(answers, **settings):
    """Run with a manager at the other end of PMI_FD that says these lines, and then nothing."""
    ours, theirs = socket.socketpair()

    def speak():
        with ours, ours.makefile("rwb", buffering=0) as stream:
            for answer in answers:
                stream.readline()
                if answer is None:
                    return
                stream.write(answer)
            stream.read()

    speaker = threading.Thread(target=speak, daemon=True)
    speaker.start()
    env = clean_environment(PMI_FD=str(theirs.fileno()), PMI_RANK="0", PMI_SIZE="2", **settings)
    child = subprocess.Popen([ENDS], env=env, pass_fds=[theirs.fileno()], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    theirs.close()
    try:
        out, _ = child.communicate(timeout=SOON)
        return child.returncode, out
    except subprocess.TimeoutExpired:
        child.kill()
        return None, child.communicate()[0]


INIT = b"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
NAME = b"cmd=my_kvsname kvsname=k\n"
MAP = b"cmd=get_result rc=0 msg=success value=(vector,(0,1,2))\n"
PUT = b"cmd=put_result rc=0 msg=success\n"


def another_version():
    code, out = with_manager([b"cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n"])
    assert code and "speaks PMI-2" in out and "TOMBOLO_LAUNCHER=pmi2" in out, (code, out)


def a_manager_that_goes_or_babbles():
    code, out = with_manager([None])
    assert code and "does not answer 'cmd=init" in out, (code, out)
    code, out = with_manager([b"what?\n"])
    assert code and "answered 'what?" in out, (code, out)
    code, out = with_manager([b"x" * 20000])
    assert code and "answered" in out, (code, out)


def programs_that_never_come():
    code, out = with_manager([INIT, NAME, MAP, PUT, PUT])
    assert code is None and "has waited 5 s for others of the 2 ranks" in out, (code, out)


run_cases([two_launchers, singletons, what_is_asked_for_is_not_there, another_version,
           a_manager_that_goes_or_babbles, programs_that_never_come], [])
