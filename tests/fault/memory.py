#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 600
"""Memory runs out at the n-th request of the library, for each n of initialisation, attach
and publication of segments."""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import VICTIM, WHOLE, Job, check, named, run_cases, skip  # noqa: E402

PROGRAM = os.path.join(os.path.dirname(VICTIM), "no_memory")
RETURNED = 7
# Requests that end the process, with a message: see "Out of memory" in docs/FAILURE.md.
ENDS = (r"out of memory for (a thread's state|the trace of a thread|the data of|a message of"
        r"|an exchange of|what MPI sends its ranks|\d+ ranks|the state of a rank)"
        r"|a rank's state cannot be kept: out of memory"
        r"|no memory (to (receive|keep)|for (the window|a packet|a transfer))")


def refused(request, settings):
    """One job. Returns how it ended: "well", "returned" or "ended"."""
    job = Job(2, [PROGRAM, str(request)], env=settings)
    code = job.end()
    job.nothing_left()
    if code == 0:
        check(re.search(r"all is well after \d+ requests", job.out), job.out, job.err)
        return "well"
    check(re.search("memory", job.err), f"request {request}: exit code {code}: {job.err!r}")
    if re.search(ENDS, job.err):
        return "ended"
    check(code == RETURNED, f"request {request}: exit code {code}: {job.out!r} {job.err!r}")
    check("GASNET_ERR_RESOURCE" in job.out, f"request {request}: {job.out!r} {job.err!r}")
    return "returned"


def every_request(settings):
    """Each request in turn, until one more than the library makes."""
    job = Job(2, [PROGRAM, "0"], env=settings)
    code = job.end()
    if code == 77:
        return "no allocator of the test's own"
    if code and re.search(r"cannot (be loaded|load)|no usable provider|is not installed", job.err):
        return "no such network here"
    check(code == 0, job.err)
    requests = int(re.search(r"after (\d+) requests", job.out)[1])
    ends = [refused(n, settings) for n in range(1, requests + 1)]
    print(f"{requests} requests: {ends.count('returned')} errors, {ends.count('ended')} ends")
    check(ends.count("returned") > ends.count("ended"), ends)
    return None


FAR = {"TOMBOLO_PLACES": "2"}
MPI = {**FAR, "TOMBOLO_CONDUIT": "mpi", "TOMBOLO_MPI": "mpich"}
if "TMB_EMULATED" in os.environ:
    skip("under an emulator")
CASES = [named("one-host", every_request, {})]
TRACED = {"TOMBOLO_TRACE": os.path.join(tempfile.gettempdir(), f"memory-{os.getpid()}"),
          "TOMBOLO_STATS": "1"}
PLUGINS = os.path.join(os.environ.get("TMB_BUILD", "build"), "lib", "tombolo", "tombolo-net-")
FURTHER = [named("traced", every_request, TRACED),
           named("loop", every_request, {**FAR, "TOMBOLO_CONDUIT": "loop"}),
           named("udp", every_request, {**FAR, "TOMBOLO_CONDUIT": "udp"})]
if os.path.exists(PLUGINS + "ofi.so"):
    FURTHER += [named("ofi", every_request, {**FAR, "TOMBOLO_CONDUIT": "ofi"})]
if os.path.exists(PLUGINS + "mpi-mpich.so"):
    FURTHER += [named("mpi", every_request, MPI)]
try:
    run_cases(CASES + FURTHER if WHOLE else CASES)
finally:
    if os.path.exists(TRACED["TOMBOLO_TRACE"]):
        os.unlink(TRACED["TOMBOLO_TRACE"])
