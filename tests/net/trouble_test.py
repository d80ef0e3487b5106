#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 300
"""Trouble around jobs that `tombolo run --hosts` starts: launcher and agents that are killed in
the first tenths of a second, Ctrl-C, a host without sshd, readers and writers that are slow, hosts
without room. Each job ends within seconds, says why, and leaves nothing.

Usage: trouble_test.py [NAME...]   (cases whose names contain one of the words)
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
from confine import confine, skip  # noqa: E402
from jobs import Failure, check, named, run_cases  # noqa: E402
from lab import Lab, build_folder  # noqa: E402
from launch import TOMBOLO, arguments, run, start  # noqa: E402

BOOTSTRAP = str(build_folder() / "tests/inside/bootstrap")
TRAFFIC = str(build_folder() / "tests/fault/traffic")
SESSION = r"^sshd(-session)?: root"  # OpenSSH 9.8 gives sessions a program of their own
PHASES_MS = (0, 50, 100, 200, 400)  # from the first sight of a victim
LATE = 25  # seconds within which a job has ended, on a machine with much load
MIB = 1 << 20


def end(lab, process, seconds=LATE):
    """Waits for the end; nothing is left then. Returns (code, output, messages)."""
    began = time.monotonic()
    try:
        out, err = process.communicate(timeout=seconds + 30)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Failure(f"no end: {process.communicate()}") from None
    took = time.monotonic() - began
    check(took < seconds, f"took {took:.1f} s:", err)
    left = lab.leftovers(seconds)
    check(not left, "left behind:", left)
    return process.returncode, out, err


def find(lab, h, pattern, seconds=10):
    """Waits until a process of a host has this in its command line. Returns its number."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for pid, words in lab.hosts[h].processes():
            if re.search(pattern, words) and "sh -c exec" not in words:
                return pid
        time.sleep(0.002)
    raise Failure(f"{lab.hosts[h].name} runs no {pattern}")


def kill(pid):
    """SIGKILL; it may have ended by itself."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def killed(degree, h, text):
    """Starts jobs of three hosts, and kills the process of host h in each phase of the start. Gives
    the phase in ms, exit code and standard error of each."""
    with Lab(3, sshd=True) as lab:
        for ms in PHASES_MS:
            process = start(lab, "--hosts", "host0:2,host1:2,host2:2", BOOTSTRAP, "hold",
                            TOMBOLO_SSH_OUT_DEGREE=degree)
            pid = find(lab, h, text)
            time.sleep(ms / 1000)
            kill(pid)
            code, _, err = end(lab, process)
            yield ms, code, err


def launcher_killed(degree):
    """Nobody is there to be notified: all there is to see is that nothing is left."""
    for _ in killed(degree, 0, "tombolo run --hosts"):
        pass


def agent_killed(degree):
    for ms, code, err in killed(degree, 1, "run --agent"):
        check(code == 1 and "host host1" in err, ms, code, err)


def server_ended():
    """No sshd listens on one host."""
    with Lab(3, sshd=True) as lab:
        for pid, words in lab.hosts[1].processes():
            if "sshd" in words:
                kill(pid)
        code, _, err = end(lab, start(lab, "--hosts", "host0,host1,host2", BOOTSTRAP))
        check(code == 1 and "host host1: cannot be reached: " in err and "refused" in err, err)


def session_killed(running):
    """The sshd of the connection to a host dies, at its start or while the job runs."""
    with Lab(3, sshd=True) as lab:
        for ms in (500,) if running else PHASES_MS:
            process = start(lab, "--hosts", "host0:2,host1:2,host2:2", BOOTSTRAP, "hold")
            find(lab, 1, "bootstrap hold" if running else SESSION)
            time.sleep(ms / 1000)
            sessions = [pid for pid, words in lab.hosts[1].processes() if re.search(SESSION, words)]
            check(sessions, "no sshd of root")
            for pid in sessions:
                kill(pid)
            code, _, err = end(lab, process)
            check(code == 1 and "host host1" in err, ms, code, err)


def interrupted(times, *program):
    """Ctrl-C, of programs that do not care about it."""
    with Lab(2, sshd=True) as lab:
        process = start(lab, "--hosts", "host0:2,host1:2", *program)
        pid = find(lab, 0, "tombolo run --hosts")
        find(lab, 1, "sleep")
        for _ in range(times):
            os.kill(pid, signal.SIGINT)
            time.sleep(0.2)
        code, _, err = end(lab, process)
        check(code == 130, code, err)


def interrupted_early():
    """Ctrl-C twice while the ranks are starting: no agent overlooks it."""
    with Lab(2, sshd=True) as lab:
        for ms in (0, 5, 10, 15, 20, 30, 40, 60, 80, 100):
            process = start(lab, "--hosts", "host0:2,host1:2", "sh", "-c",
                            "trap '' INT TERM QUIT; exec sleep 1000")
            pid = find(lab, 0, "tombolo run --hosts")
            find(lab, 1, "run --agent")
            time.sleep(ms / 1000)
            for _ in range(2):
                if process.poll() is None:
                    os.kill(pid, signal.SIGINT)
                time.sleep(0.02)
            code, _, err = end(lab, process)
            check(code in (130, -signal.SIGINT), ms, code, err)  # or before it looks for signals


def standard_input(source, script, wanted):
    """What goes to rank 0, which is on the second host."""
    with Lab(2, sshd=True) as lab:
        command, keywords = arguments(lab, None, ["--hosts", "host1,host0", "sh", "-c", script], {})
        if source == "closed":
            command = ["sh", "-c", 'exec "$@" <&-', "sh", *command]
        else:
            size = int(source)
            keywords["stdin"] = subprocess.PIPE
            command = ["sh", "-c", f'head -c {size} /dev/zero | "$@"', "sh", *command]
        process = lab.hosts[0].start(command, text=True, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, **keywords)
        code, out, err = end(lab, process, 60)
        check((code, sorted(out.split())) == (0, sorted(wanted)), code, out[:200], err)


def slow_reader():
    """100 MiB of all ranks to a reader that rests between two reads: nothing is lost, and the
    launcher holds little of it."""
    each = 25 * MIB
    with Lab(2, sshd=True) as lab:
        command, keywords = arguments(lab, None, ["--hosts", "host0:2,host1:2", "head", "-c", each,
                                                  "/dev/zero"], {})
        process = lab.hosts[0].start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                     **keywords)
        pid, got, most = find(lab, 0, "tombolo run --hosts"), 0, 0
        while data := os.read(process.stdout.fileno(), MIB):
            if got % (16 * MIB) + len(data) >= 16 * MIB:
                status = Path(f"/proc/{pid}/status").read_text()
                most = max(most, int(status.split("VmRSS:")[1].split()[0]))
                time.sleep(0.3)
            got += len(data)
        code, _, err = end(lab, process)
        check((code, got, err) == (0, 4 * each, b""), code, got, err)
        check(most < 64 << 10, "launcher has", most, "KiB")


def reader_ended():
    """A reader that closes its end: the ranks get SIGPIPE, as behind a shell's pipe."""
    with Lab(2, sshd=True) as lab:
        process = start(lab, "--hosts", "host0:2,host1:2", "yes")
        os.read(process.stdout.fileno(), 1000)
        process.stdout.close()
        process.stdout = None
        end(lab, process)


def shared_memory(size):
    """Host 1 has next to no /dev/shm, or one that cannot be written."""
    with Lab(2, sshd=True) as lab:
        lab.hosts[1].run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", "/dev/shm"], check=True)
        code, out, err, _ = run(lab, "--hosts", "host0:2,host1:2", BOOTSTRAP)
        check((code, out.count(" well"), err) == (0, 4, ""), code, out, err)
        check(not lab.leftovers(), lab.leftovers())


def no_shared_memory():
    """Host 1 has no /dev/shm."""
    with Lab(2, sshd=True) as lab:
        script = """mkdir /run/dev && mount -t tmpfs dev /run/dev && cd /run/dev && mkdir pts &&
        for each in null zero full random urandom tty; do touch $each &&
        mount --bind /dev/$each $each || exit; done; mount --bind /dev/pts pts &&
        ln -s pts/ptmx ptmx && ln -s /proc/self/fd fd && mount --move /run/dev /dev"""
        lab.hosts[1].run(["sh", "-c", script], check=True)
        check(lab.hosts[1].run(["test", "-e", "/dev/shm"]).returncode, "/dev/shm is there")
        code, out, err, _ = run(lab, "--hosts", "host0:2,host1:2", TRAFFIC, "abort", "10")
        check((code, out.count("survived"), err) == (0, 4, ""), code, out, err)
        check(not lab.leftovers(), lab.leftovers())


def link(mtu, rails, family):
    """Checked traffic over links that are narrower than any packet wants, or over many."""
    with Lab(2, rails=rails, family=family, mtu=mtu, sshd=True) as lab:
        code, out, err, _ = run(lab, "--hosts", "host0:2,host1:2", TRAFFIC, "abort", "20")
        check((code, out.count("survived"), err) == (0, 4, ""), code, out, err)
        check(not lab.leftovers(), lab.leftovers())


def disk_full():
    """Nothing can be written in /tmp of host 1."""
    with Lab(2, sshd=True) as lab:
        # Sources and build tree stay where they are, also below /tmp.
        script = """mkdir /run/full && mount -t tmpfs -o size=4k tmpfs /run/full || exit
        for each; do case $each in /tmp/*)
          mkdir -p "/run/full${each#/tmp}" && mount --bind "$each" "/run/full${each#/tmp}" || exit
        esac; done
        head -c 4096 /dev/zero >/run/full/all; mount --rbind /run/full /tmp"""
        kept = [str(path.resolve()) for path in (HERE.parent.parent, build_folder())]
        lab.hosts[1].run(["sh", "-c", script, "sh", *kept], check=True)
        code, out, err, _ = run(lab, "--hosts", "host0:2,host1:2", BOOTSTRAP)
        check((code, out.count(" well"), err) == (0, 4, ""), code, out, err)


CASES = [named(f"launcher_killed/{degree}", launcher_killed, degree) for degree in ("32", "1")]
CASES += [named(f"agent_killed/{degree}", agent_killed, degree) for degree in ("32", "1")]
CASES += [
    server_ended,
    named("session_killed/start", session_killed, False),
    named("session_killed/running", session_killed, True),
    named("link/300", link, 300, 1, "4"),
    named("link/128", link, 128, 1, "4"),
    named("link/rails_6", link, 1500, 3, "6"),
    named("interrupted/1", interrupted, 1, "sleep", "1000"),
    named("interrupted/2", interrupted, 2, "sh", "-c", "trap '' INT TERM QUIT; exec sleep 1000"),
    interrupted_early,
    named("input/closed", standard_input, "closed", "wc -c", ("0", "0")),
    named("input/large", standard_input, 100 * MIB, "wc -c", (str(100 * MIB), "0")),
    named("input/unread", standard_input, 100 * MIB, "echo x", ("x", "x")),
    slow_reader,
    reader_ended,
    named("shared_memory/tiny", shared_memory, "size=4k"),
    named("shared_memory/read_only", shared_memory, "ro"),
    no_shared_memory,
    disk_full,
]

if __name__ == "__main__":
    for program in (BOOTSTRAP, TRAFFIC, TOMBOLO):
        if not os.path.exists(program):
            skip(f"no {program}: build the tests")
    confine()
    run_cases(CASES)
