# SPDX-License-Identifier: BSD-3-Clause
"""How a program of ranks ends: endings.py CASE. The last rank does it; others wait."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

import tombolo

job = tombolo.init()
last = job.rank == job.size - 1


def fall_over():
    values = {}
    return values["missing"]


def fault():
    ctypes.string_at(0)


def in_thread(function):
    thread = threading.Thread(target=function, name="helper")
    thread.start()
    thread.join()


def forked():
    """A fork is refused, does not disturb the job, and may exit by any call."""
    a = job.zeros(4)
    for leave in (sys.exit, os._exit):
        pid = os.fork()
        if pid == 0:
            try:
                a[0, 0] = 5
            except RuntimeError as error:
                print("refused:", error, flush=True)
            leave(7)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    assert subprocess.run(["true"], check=True).returncode == 0
    a[0, 0] = 1
    job.barrier()


def interrupted():
    """KeyboardInterrupt ends a wait, and the program goes on."""
    me = os.getpid()
    timer = threading.Timer(0.3, lambda: os.kill(me, signal.SIGINT))
    timer.start()
    try:
        job.signals(1).wait()
    except KeyboardInterrupt:
        print("interrupted rank", job.rank, flush=True)
    timer.join()
    job.barrier()


def flooded():
    """KeyboardInterrupt ends a send for which the target, which does not poll, has no room."""
    job.barrier()
    if last:
        time.sleep(1.5)
    else:
        timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        try:
            while True:
                job.send(job.size - 1, len, b"x" * 60000)
        except KeyboardInterrupt:
            print("interrupted rank", job.rank, flush=True)
        timer.join()
    job.barrier()


CASES = {
    "raise": fall_over,
    "thread": lambda: in_thread(fall_over),
    "handler": lambda: job.send(0, fall_over),
    "exit-3": lambda: sys.exit(3),
    "exit-text": lambda: sys.exit("so it ends"),
    "os-exit": lambda: os._exit(4),
    "abort": os.abort,
    "segv": fault,
    "interrupt": lambda: os.kill(os.getpid(), signal.SIGINT) or time.sleep(5),
    "job-exit": lambda: job.exit(6),
}


def main():
    case = sys.argv[1]
    if case == "early":
        # One rank is done at once; the others still use its memory.
        a = job.array([job.rank + 1.0])
        if not last:
            time.sleep(0.3)
            assert a[job.size - 1, 0] == job.size
            try:
                job.call(job.size - 1, fall_over).wait()
            except tombolo.RemoteError as error:
                print(error)
        return
    if case == "forgotten":
        job.zeros(3).put_nb(0, 0, 1.0)
        global kept
        kept = job.zeros(3).get_nb(0)  # exists until the end
        return
    if case == "daemon":
        # A thread waits for what never comes, and does not keep the program from ending.
        waiting = job.signals(1)
        threading.Thread(target=waiting.wait, daemon=True).start()
        threading.Thread(target=lambda: job.call(0, time.sleep, 30).wait(), daemon=True).start()
        time.sleep(0.3)
        return
    if case in ("forked", "interrupted", "flooded"):
        globals()[case]()
        return
    if last:
        CASES[case]()
    job.barrier()
    job.signals(1).wait()


main()
