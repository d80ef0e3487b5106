#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 300
# cases: 1of3 2of3 3of3
"""Ranks on other hosts, pretended on this machine (TOMBOLO_PLACES), that die or stop answering: the
job ends, with rank and host named and nothing left, or the survivors go on and agree on who is
left. A slow peer is not a dead one."""

import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import LAUNCHES, VICTIM, WHOLE, Job, check, named, run_cases  # noqa: E402

FOLDER = os.path.join(os.environ.get("TMB_BUILD", "build"), "tests/fault")
HANGS, SHRINK, COLL, DEVICE = (os.path.join(FOLDER, n)
                               for n in ("hangs", "lost_shrink", "lost_coll", "lost_device"))
BUILD = os.environ.get("TMB_BUILD", "build")
PLUGIN = os.path.join(BUILD, "tombolo/tombolo-net-udp.so")
CONDUITS = ("loop", "udp")
OFI = os.path.exists(os.path.join(BUILD, "lib/tombolo/tombolo-net-ofi.so"))
MPI = os.path.exists(os.path.join(BUILD, "lib/tombolo/tombolo-net-mpi-openmpi.so"))
ENDED = CONDUITS + ("ofi", "shm") * OFI + ("mpi",) * MPI  # shm: of the conduit ofi, a provider
HOWS = ("gexit", "exit", "threads", "handler", "insignal", "flood")
PLACES = ("cyclic:2", "0,1,2,0,1")

# Less than TOMBOLO_PEER_TIMEOUT, which one who waits for a lost rank would take: 30 s. Most often a
# second is enough; on a machine with a load of 40 a start alone takes six.
SOON_S = 25
PROVIDERS = {"ofi": "", "rxd": "udp;ofi_rxd", "shm": "shm"}


def far(conduit, places="cyclic:2", **more):
    """Settings of a job on pretended hosts."""
    env = {"TOMBOLO_PLACES": places, "TOMBOLO_CONDUIT": conduit, **more}
    if conduit == "udp" and os.path.exists(PLUGIN):
        env["TOMBOLO_NET_PLUGIN"] = PLUGIN
    if conduit in PROVIDERS:
        env["TOMBOLO_CONDUIT"] = "ofi"
        env["TOMBOLO_OFI_PROVIDER"] = PROVIDERS[conduit]
    return env


def survivors(job, count):
    check(job.out.count("survived") == count, "survivors:", job.out, job.err)
    check("FAILED" not in job.err, job.err)


def killed(launch, conduit, places):
    """Without the wish to go on, the job ends within seconds."""
    job = Job(5, [VICTIM, "hang"], launch, env=far(conduit, places))
    pids = job.ready()
    began = time.monotonic()
    os.kill(pids[3], signal.SIGKILL)
    job.expect(137, r"rank 3 \(pid %d on \S+\) killed by signal 9.*; ending the other 4" % pids[3])
    check(time.monotonic() - began < SOON_S, "took", time.monotonic() - began, "s")


def launcher_killed():
    """What the provider shm keeps in /dev/shm goes, although nobody is left who could remove it."""
    if not OFI:
        return "conduit ofi is not built"
    job = Job(4, [VICTIM, "hang"], env=far("shm"))
    pids = job.ready().values()
    regions = [f for f in os.listdir("/dev/shm") if f.split(":")[0] in map(str, pids)]
    check(len(regions) >= 4, "regions while the job runs:", regions)
    job.process.kill()
    job.expect(-signal.SIGKILL)
    left = [f for f in os.listdir("/dev/shm") if f.split(":")[0] in map(str, pids)]
    check(not left, "left in /dev/shm:", left)
    return None


def shrink(conduit, places, scenario, dead):
    """Killed in the middle of an agreement between hosts."""
    for _ in range(3):
        job = Job(5, [SHRINK, scenario, "kill"], env=far(conduit, places)).expect(137)
        survivors(job, 5 - dead)


def collectives(conduit, scenario):
    job = Job(4, [COLL, scenario, "kill"], env=far(conduit)).expect(137)
    survivors(job, 3)


def device(conduit):
    """The owner of device memory dies in the middle of long puts and gets."""
    survivors(Job(3, [DEVICE], env=far(conduit)).expect(0), 2)


def own_end(conduit, how):
    """A rank ends itself: by several threads at once, in a handler, or in a signal handler that has
    most often interrupted the conduit. Jobs over MPI and libfabric begin slowly: once by day."""
    for code in range(20, 23 if conduit in CONDUITS or WHOLE else 21):
        job = Job(4, [VICTIM, "one", how, "1", str(code)], env=far(conduit))
        pids = job.ready().values()
        began = time.monotonic()
        job.expect(code)
        check(time.monotonic() - began < SOON_S, how, "took", time.monotonic() - began, "s")
        regions = [name for name in os.listdir("/dev/shm") if name.split(":")[0] in map(str, pids)]
        check(not regions, "libfabric's regions are left:", regions)


def silent(conduit, timeout, launch="stop-get"):
    """A peer that is stopped for ever: the job ends, and names rank and host."""
    job = Job(3, [HANGS, launch], env=far(conduit, TOMBOLO_PEER_TIMEOUT=timeout))
    job.ready()
    job.expect(134, r"rank 2 on host \S+/0 is lost: it has not answered for TOMBOLO_PEER_TIMEOUT")
    check(job.seconds < SOON_S + 3 * float(timeout), "took", job.seconds)


def silent_reported(conduit, timeout):
    """A stopped peer, where the others want to go on: it is ended, and lost to all of them."""
    job = Job(5, [SHRINK, "stopped"],
              env=far(conduit, "0,1,2,1,2", TOMBOLO_PEER_TIMEOUT=timeout))
    job.expect(137, r"rank 0 \(pid \d+ on \S+\) does not answer other ranks any more")
    survivors(job, 4)


def slow(conduit, seconds=2.5):
    """A peer that is stopped for a while is waited for."""
    job = Job(3, [HANGS, "stop-get"], env=far(conduit, TOMBOLO_PEER_TIMEOUT="6"))
    pids = job.ready()
    time.sleep(seconds)
    check(job.process.poll() is None, "a slow peer ended the job")
    os.kill(pids[2], signal.SIGCONT)
    job.expect(0)


def works(thread):
    """A peer that computes for three time-outs: its thread answers, or it is not asked."""
    job = Job(3, [HANGS, "work-get", "2", "10"],
              env=far("ofi", TOMBOLO_PEER_TIMEOUT="3", TOMBOLO_PROGRESS_SHARE=thread))
    job.ready()
    job.expect(0)
    check(job.seconds > 9, "took only", job.seconds)


def asker_stopped():
    """One that waits for a peer that computes, and is stopped itself, judges nobody by that."""
    job = Job(3, [HANGS, "work-get", "2", "9"], env=far("ofi", TOMBOLO_PEER_TIMEOUT="3"))
    pids = job.ready()
    time.sleep(1)
    os.kill(pids[1], signal.SIGSTOP)
    time.sleep(2.4)
    os.kill(pids[1], signal.SIGCONT)
    job.expect(0)


def stopped_and_killed(conduit):
    """A peer that is stopped, and asked for memory, and then ended: the job ends and names it."""
    job = Job(3, [HANGS, "stop-get"], env=far(conduit))
    pids = job.ready()
    time.sleep(1)
    check(job.process.poll() is None, "a slow peer ended the job")
    began = time.monotonic()
    os.kill(pids[2], signal.SIGKILL)
    job.expect(137, r"rank 2 \(pid %d on \S+\) killed by signal 9.*; ending the other 2" % pids[2])
    check(time.monotonic() - began < SOON_S, "took", time.monotonic() - began, "s")


def watched(conduit):
    """A peer that is stopped for ever, and a watchdog: the job ends and names it."""
    job = Job(3, [HANGS, "stop-get"], options=["--watchdog", "4"], env=far(conduit))
    job.ready()
    job.expect(125, r"rank 2 on \S+ is stopped by a signal", r"watchdog: ending the job")
    check(job.seconds < SOON_S, "took", job.seconds)


CASES = [
    named(f"killed/{launch}/{conduit}/{places}", killed, launch, conduit, places)
    for launch in LAUNCHES
    for conduit in CONDUITS
    for places in PLACES
]
CASES += [
    named(f"shrink/{conduit}/{places}/{scenario}", shrink, conduit, places, scenario, dead)
    for conduit in CONDUITS
    for places in PLACES
    for scenario, dead in (("middle", 2), ("lowest", 1), ("most", 4))
]
CASES += [named(f"coll/{c}/{s}", collectives, c, s) for c in CONDUITS for s in ("barrier", "coll")]
CASES += [named(f"own_end/{c}/{how}", own_end, c, how) for c in ENDED for how in HOWS]
CASES += [named(f"device/{c}", device, c) for c in CONDUITS + ("ofi",) * OFI]
if OFI:
    CASES += [launcher_killed]
    CASES += [named("killed/ofi", killed, LAUNCHES[0], "ofi", "cyclic:2"),
              named("shrink/ofi", shrink, "ofi", "cyclic:2", "middle", 2),
              named("coll/ofi", collectives, "ofi", "coll"),
              named("slow/ofi", slow, "ofi"),
              named("slow/ofi/asked", slow, "ofi", 5),
              named("stopped_and_killed/ofi", stopped_and_killed, "ofi"),
              named("watched/ofi", watched, "ofi"),
              named("silent/ofi", silent, "ofi", "5"),
              named("silent/ofi/no-thread", silent, "ofi", "5", "stop-get-alone"),
              named("silent_reported/ofi", silent_reported, "ofi", "5"),
              named("silent/rxd", silent, "rxd", "5"),
              named("slow/rxd", slow, "rxd"),
              named("works/ofi/thread", works, "100"),
              named("works/ofi/no-thread", works, "0"),
              asker_stopped]
CASES += [named("silent", silent, "udp", "2"),
          named("silent_reported", silent_reported, "udp", "2"),
          named("slow/udp", slow, "udp")]

if __name__ == "__main__":
    run_cases(CASES)
