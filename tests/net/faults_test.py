#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 300
"""Hosts, links and processes that fail under a job on the hosts of a lab (tests/fault/traffic.c):
under ABORT the job ends in time, names rank and host and leaves nothing; under REPORT those that
are left go on and agree on who they are; what is only slow is waited for.

Usage: faults_test.py [--whole] [NAME...]   (cases whose names contain one of the words)
"""

import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
from confine import confine, skip  # noqa: E402
from jobs import Failure, check, named, run_cases  # noqa: E402
from lab import Lab, build_folder  # noqa: E402
from launch import TOMBOLO, read_ready, start  # noqa: E402

TRAFFIC = str(build_folder() / "tests/fault/traffic")
HANGS = str(build_folder() / "tests/fault/hangs")
OFI = build_folder() / "lib/tombolo/tombolo-net-ofi.so"
SMALL_BUFFERS = str(build_folder() / "tests/net/small_buffers.so")
PEER_TIMEOUT = 3
LATE = 8  # seconds of this machine, under load, on top of a limit
SHRINKS = ("40", "10")  # steps and their pause: until the end
OUTLASTS = ("450", "10")  # the same, for longer than PEER_TIMEOUT
TRAFFIC_S = 30  # for what is left of the traffic, on a loaded machine
LONG = ("100000", "10")  # steps and their pause: until something ends the job
HOSTS, EACH = 3, 2


class Traffic:
    """The job in a lab: EACH ranks on each of its hosts."""

    def __init__(self, lab, policy, steps=LONG, **settings):
        settings.setdefault("TOMBOLO_PEER_TIMEOUT", str(PEER_TIMEOUT))
        self.lab = lab
        self.ranks = EACH * lab.size
        words = ["--hosts", lab.host_list([EACH] * lab.size), TRAFFIC, policy, *steps]
        self.process = start(lab, *words, **settings)
        try:
            self.pid = read_ready(self.process, self.ranks)
        except RuntimeError as error:
            raise Failure(str(error)) from None
        time.sleep(0.3)
        self.began = time.monotonic()

    def signal(self, rank, number):
        """A signal for a rank."""
        self.lab.hosts[rank // EACH].run(["kill", f"-{number.value}", str(self.pid[rank])],
                                         check=True)

    def signal_agent(self, h, number):
        """A signal for the agent of a host."""
        for pid, words in self.lab.hosts[h].processes():
            if "run --agent" in words and "sh -c" not in words:
                os.kill(pid, number)

    def end(self, seconds):
        """Waits for the end, which comes within so many seconds of what happened. Returns the exit
        code, output and messages; nothing runs anywhere then."""
        try:
            out, err = self.process.communicate(timeout=seconds + 30)
        except Exception:
            self.process.kill()
            raise Failure(f"no end: {self.process.communicate()}") from None
        took = time.monotonic() - self.began
        check(took < seconds + LATE, f"took {took:.1f} s of {seconds}:", err)
        check("FAILED" not in err, err)
        left = self.lab.leftovers(seconds + LATE)
        check(not left, "left behind:", left)
        for host in (host for host in self.lab.hosts if host.alive):
            names = host.run(["ls", "/dev/shm"], capture_output=True, text=True).stdout
            sockets = host.run(["cat", "/proc/net/udp", "/proc/net/udp6"], capture_output=True,
                               text=True).stdout
            check(not names, host.name, "has in /dev/shm:", names)
            check(sockets.count("\n") <= 2, host.name, "has sockets:", sockets)
        return self.process.returncode, out, err


def expect_abort(job, seconds, *patterns):
    """The job ends with a code other than 0, in time, and says why."""
    code, out, err = job.end(seconds)
    check(code != 0, "exit code 0:", out, err)
    check("survived" not in out, out)
    for pattern in patterns:
        check(re.search(pattern, err), f"stderr lacks /{pattern}/: {err}")


def expect_survivors(job, seconds, survivors, *patterns):
    """These ranks go on to the end of the traffic and agree."""
    _, out, err = job.end(seconds)
    got = sorted(int(word) for word in re.findall(r"survived (\d+)", out))
    check(got == sorted(survivors), "survivors:", got, "want", survivors, err)
    for pattern in patterns:
        check(re.search(pattern, err), f"stderr lacks /{pattern}/: {err}")


def expect_well(job, seconds):
    """Nothing was lost."""
    code, out, err = job.end(seconds)
    check((code, out.count("survived"), err) == (0, job.ranks, ""), code, out, err)


# ---- what happens: each function does it to a job, and returns (ranks lost, seconds until it is
# known, what is said)


def rank_killed(job):
    job.signal(3, signal.SIGKILL)
    return [3], 0, rf"rank 3 \(pid {job.pid[3]} on host1\) killed by signal 9"


def rank_0_killed(job):
    job.signal(0, signal.SIGKILL)
    return [0], 0, rf"rank 0 \(pid {job.pid[0]} on host0\) killed by signal 9"


def rank_stopped(job):
    job.signal(3, signal.SIGSTOP)
    return [3], PEER_TIMEOUT, (r"rank 3 .*host ?1.*(is lost|does not answer)")


def host_killed(job):
    job.lab.hosts[2].kill()
    return [4, 5], PEER_TIMEOUT, r"host host2 with ranks 4-5 is lost"


def agent_killed(job):
    job.signal_agent(1, signal.SIGKILL)
    return [2, 3], PEER_TIMEOUT, r"host host1 with ranks 2-3 is lost"


def agent_stopped(job):
    job.signal_agent(1, signal.SIGSTOP)
    return [2, 3], PEER_TIMEOUT, r"host host1 with ranks 2-3 is lost: .*said nothing"


def cable_cut(job):
    job.lab.cut(2)
    return [4, 5], 2 * PEER_TIMEOUT, r"(host host2 with ranks 4-5 is lost|rank [45] .*host ?2)"


def drop_packets(job, chain):
    """A host that keeps only its connections to sshd."""
    for words in (["udp"], ["tcp", "!", "--dport" if chain == "INPUT" else "--sport", "22"]):
        rule = ["iptables", "-I", chain, "-p", *words, "-j", "DROP"]
        job.lab.hosts[2].run(rule, check=True)
    return [4, 5], 4 * PEER_TIMEOUT, r"rank [45] .*host ?2"


def receives_nothing(job):
    return drop_packets(job, "INPUT")


def sends_nothing(job):
    return drop_packets(job, "OUTPUT")


CUTS = [receives_nothing, sends_nothing] if shutil.which("iptables") else []
HAPPENINGS = [rank_killed, rank_0_killed, rank_stopped, host_killed, agent_killed, agent_stopped,
              cable_cut, *CUTS]


def abort(happening, policy="abort", longer=0, **settings):
    with Lab(HOSTS, sshd=True) as lab:
        job = Traffic(lab, policy, **settings)
        _, seconds, said = happening(job)
        expect_abort(job, seconds + longer, said)


def report(happening, longer=0, **settings):
    with Lab(HOSTS, sshd=True) as lab:
        steps = OUTLASTS if happening is agent_stopped else SHRINKS
        job = Traffic(lab, "report", steps, **settings)
        lost, seconds, said = happening(job)
        left = [rank for rank in range(job.ranks) if rank not in lost]
        expect_survivors(job, seconds + longer + TRAFFIC_S, left, said)


def over_tcp(policy, happening):
    """A policy over libfabric's TCP, which waits for what kernels may hold before it judges."""
    if not OFI.exists():
        return f"no {OFI}"
    policy(happening, longer=120, TOMBOLO_CONDUIT="ofi", TOMBOLO_OFI_PROVIDER="tcp;ofi_rxm")
    return None


def pair_cut(policy):
    """Hosts 1 and 2 do not reach each other, but host 0 does."""
    with Lab(HOSTS, sshd=True) as lab:
        job = Traffic(lab, policy, SHRINKS if policy == "report" else LONG)
        for here, there in ((1, 2), (2, 1)):
            words = ["ip", "route", "add", "blackhole", lab.address(there) + "/32"]
            lab.hosts[here].run(words, check=True)
        if policy == "abort":
            expect_abort(job, PEER_TIMEOUT, r"rank [2345] .*host ?[12]")
            return
        _, out, err = job.end(2 * PEER_TIMEOUT + TRAFFIC_S)
        got = {int(word) for word in re.findall(r"survived (\d+)", out)}
        check({0, 1} <= got and not ({2, 3} & got and {4, 5} & got), "survivors:", got, err)


# ---- what is slow


def slow(what, seconds, limit):
    """Something that comes back before the time-out."""
    with Lab(HOSTS, sshd=True) as lab:
        job = Traffic(lab, "abort", ("60", "20"), TOMBOLO_PEER_TIMEOUT=str(limit))
        if what == "link":
            lab.cut(1)
        elif what == "rank":
            job.signal(3, signal.SIGSTOP)
        else:
            job.signal_agent(1, signal.SIGSTOP)
        time.sleep(seconds)
        if what == "link":
            lab.cut(1, joined=True)
        elif what == "rank":
            job.signal(3, signal.SIGCONT)
        else:
            job.signal_agent(1, signal.SIGCONT)
        expect_well(job, seconds + TRAFFIC_S)


def ends_well():
    """The ranks of a host end while its agent is stopped: the last thing they do is to continue it,
    so the job ends in good order, long before its time-out."""
    with Lab(HOSTS, sshd=True) as lab:
        job = Traffic(lab, "abort", ("40", "20"), TOMBOLO_PEER_TIMEOUT="60")
        job.signal_agent(1, signal.SIGSTOP)
        expect_well(job, TRAFFIC_S)


def long_put():
    """One put that takes three time-outs, so long nothing is heard of the peer that gets it."""
    if not OFI.exists():
        return f"no {OFI}"
    with Lab(2, sshd=True, rate="2mbit") as lab:
        began = time.monotonic()
        process = start(lab, "--hosts", lab.host_list([1, 1]), HANGS, "long-put",
                        TOMBOLO_PEER_TIMEOUT="5", TOMBOLO_CONDUIT="ofi",
                        TOMBOLO_OFI_PROVIDER="tcp;ofi_rxm")
        out, err = process.communicate(timeout=100)
        took = time.monotonic() - began
        check(process.returncode == 0, process.returncode, out, err)
        check(took > 15, "took only", took)
    return None


# ---- bad links


def link(steps, *settings, policy="abort", **env):
    """A bad link. It is good to connections and address resolution: how long these take to start a
    job is the kernels' affair."""
    with Lab(2, sshd=True, wire=[*settings, "udp_only=1"]) as lab:
        env.setdefault("TOMBOLO_PEER_TIMEOUT", "20")
        job = Traffic(lab, policy, (str(steps),), **env)
        expect_well(job, 60)


def link_and_loss():
    """A host goes while datagrams get lost, are doubled and overtake each other."""
    wire = ["loss=5%", "duplicate=2%", "reorder=5%", "delay=100us", "jitter=100us", "udp_only=1"]
    with Lab(HOSTS, sshd=True, wire=wire) as lab:
        job = Traffic(lab, "report", SHRINKS)
        lost, seconds, said = host_killed(job)
        left = [rank for rank in range(job.ranks) if rank not in lost]
        expect_survivors(job, seconds + 2 * TRAFFIC_S, left, said)


def small_buffers(bytes_each):
    """Sockets that hold next to nothing."""
    if not os.path.exists(SMALL_BUFFERS):
        return f"no {SMALL_BUFFERS}"
    link(20, LD_PRELOAD=SMALL_BUFFERS, TMB_SOCKET_BYTES=str(bytes_each))
    return None


QUICK = [named(f"abort/{h.__name__}", abort, h) for h in (host_killed, rank_stopped, cable_cut)]
QUICK += [named(f"back/{h.__name__}", abort, h, "back") for h in (rank_stopped, agent_stopped)]
QUICK += [named(f"report/{h.__name__}", report, h) for h in (rank_0_killed, host_killed, cable_cut)]
QUICK += [
    named("slow/link", slow, "link", 5, 12),
    named("slow/put/ofi", long_put),
    named("ends/agent_stopped", ends_well),
    named("link/loss", link, 8, "loss=10%"),
    named("link/buffers", small_buffers, 4096),
]
WHOLE = [named(f"abort/{h.__name__}", abort, h) for h in HAPPENINGS]
WHOLE += [named(f"back/{h.__name__}", abort, h, "back") for h in HAPPENINGS]
WHOLE += [named(f"report/{h.__name__}", report, h) for h in HAPPENINGS]
WHOLE += [
    named(f"report/{h.__name__}/tree", report, h, TOMBOLO_SSH_OUT_DEGREE="1")
    for h in (rank_killed, rank_stopped, host_killed)
]
WHOLE += [
    named(f"{policy.__name__}/{h.__name__}/ofi", over_tcp, policy, h)
    for policy in (abort, report) for h in CUTS
]
WHOLE += [named("ends/agent_stopped", ends_well)]
WHOLE += [named(f"pair/{policy}", pair_cut, policy) for policy in ("abort", "report")]
WHOLE += [named(f"slow/{w}/{s}", slow, w, s, 8) for w in ("link", "rank", "agent") for s in (1, 5)]
WHOLE += [
    named("link/loss1", link, 100, "loss=1%"),
    named("link/loss5", link, 60, "loss=5%"),
    named("link/loss20", link, 30, "loss=20%"),
    named("link/duplicate", link, 100, "duplicate=20%"),
    named("link/reorder", link, 100, "reorder=20%", "delay=100us"),
    named("link/corrupt", link, 60, "corrupt=5%"),
    named("link/all", link, 30, "loss=5%", "duplicate=5%", "reorder=5%", "corrupt=2%",
          "delay=200us", "jitter=200us"),
    named("link/host", link_and_loss),
    named("link/buffers", small_buffers, 4096),
    named("link/buffers/tiny", small_buffers, 1),
]


def arguments_used():
    """Whether --whole was given; the names stay for run_cases."""
    whole = "--whole" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--whole"]
    return whole


if __name__ == "__main__":
    for program in (TRAFFIC, TOMBOLO):
        if not os.path.exists(program):
            skip(f"no {program}: build the tests")
    chosen = WHOLE if arguments_used() else QUICK
    confine()
    run_cases(chosen)
