# SPDX-License-Identifier: BSD-3-Clause
"""Namespaces of the kernel for tests: what is made inside them ends with them.

confine() moves the calling script into namespaces of its own and makes it process 1 there. However
it ends, also by SIGKILL, the kernel removes every process, interface and mount that it made. Host
is a machine of its own inside: network, processes, name, /dev/shm. Used by lab.py.
"""

import contextlib
import ctypes
import errno
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x4000000, 0x8000000
CLONE_NEWPID, CLONE_NEWNET = 0x20000000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
PR_SET_PDEATHSIG = 1
ALL = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET
SKIP = 77

libc = ctypes.CDLL(None, use_errno=True)


class Skipped(unittest.SkipTest, SystemExit):
    """Ends a script with the code SKIP, or one case of unittest."""


def skip(reason):
    """Ends the test as skipped."""
    print(f"skipped: {reason}", flush=True)
    error = Skipped(reason)
    error.code = SKIP
    raise error


def check(result, what):
    """Raises the error of a C call that returned -1."""
    if result == -1:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def unshare(flags):
    """unshare(2)."""
    check(libc.unshare(flags), "unshare")


def mount(source, target, kind=None, flags=0, options=None):
    """mount(2)."""
    words = [None if w is None else str(w).encode() for w in (source, target, kind, options)]
    check(libc.mount(words[0], words[1], words[2], flags, words[3]), f"mount {target}")


def die_with_parent():
    """The calling process is killed when the thread that made it ends."""
    check(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL), "prctl")


def exit_code(status):
    """The code with which a shell would report a status of waitpid."""
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def fork_inside(flags):
    """Makes namespaces for the caller and forks. Returns 0 in process 1 of them, else its pid."""
    unshare(flags)
    alive, keep = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(keep)
        die_with_parent()
        os.set_blocking(alive, False)
        with contextlib.suppress(BlockingIOError):
            if os.read(alive, 1) == b"":  # the parent died before die_with_parent
                os._exit(1)
        os.close(alive)
    return pid


def confine():
    """The rest of the script runs as process 1 of namespaces of its own; skips where it may not."""
    if os.geteuid() != 0:
        skip("not root: no network namespace can be made")
    for name in ("ip", "nsenter"):
        if not shutil.which(name):
            skip(f"no program {name}")
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        pid = fork_inside(ALL)
    except OSError as error:
        skip(f"no namespace can be made here ({error.strerror})")
    if pid:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: os.kill(pid, signal.SIGKILL))
        code = exit_code(os.waitpid(pid, 0)[1])
        sys.stdout.flush()
        os._exit(code)
    try:
        mount("none", "/", flags=MS_REC | MS_PRIVATE)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        skip("the root folder is no mount point; 'mount --bind DIR DIR' before 'chroot DIR'")
    mount("proc", "/proc", "proc")
    mount("lab", "/run", "tmpfs", options="mode=755")


def be_first(ready):
    """Process 1 of a host: inherits orphans and buries them, until it is killed."""
    mount("none", "/", flags=MS_REC | MS_PRIVATE)
    mount("proc", "/proc", "proc")
    mount("shm", "/dev/shm", "tmpfs", options="mode=1777")
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    os.write(ready, b"x")
    os.close(ready)
    while True:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        signal.sigwait([signal.SIGCHLD])


def namespaces(pid):
    """The numbers of a process in the namespaces from this one's to its own."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(line for line in file if line.startswith("NSpid:")).split()[1:]


class Host:
    """A machine of its own: network, processes, name and shared memory. It ends with the script."""

    def __init__(self, name):
        self.name = name
        ready, write = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.middle = os.fork()
        if self.middle == 0:
            self._begin(ready, write)
        os.close(write)
        with os.fdopen(ready, "rb") as pipe:
            text = pipe.read()
        if b"x" not in text:  # of process 1; the digits are of the process in between
            raise RuntimeError(f"{name}: no namespaces: {text.decode()}")
        self.pid = int(text.replace(b"x", b""))
        self.alive = True

    def _begin(self, ready, write):
        """Of the process in between: makes process 1, which it outlives, and its namespaces."""
        try:
            os.close(ready)
            die_with_parent()
            pid = fork_inside(ALL)
            if pid == 0:
                check(libc.sethostname(self.name.encode(), len(self.name)), "sethostname")
                be_first(write)
            os.write(write, str(pid).encode())
            os.close(write)
            os._exit(exit_code(os.waitpid(pid, 0)[1]))
        except BaseException as error:  # pylint: disable=broad-except
            os.write(write, str(error).encode())
        os._exit(1)

    def command(self, words, user=None, folder=None):
        """The command line that runs `words` on this host, as root or another user, in a folder
        (default: this process's). -r: within a chroot, namespaces' root is another."""
        enter = ["nsenter", "-t", str(self.pid), "-m", "-u", "-i", "-n", "-p", "-r"]
        if user:
            enter += ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        enter += ["env", "-C", str(folder or os.getcwd())]  # entering has changed it to /
        return [*enter, *map(str, words)]

    def start(self, words, user=None, **options):
        """subprocess.Popen of a command on this host."""
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(self.command(words, user), **options)

    def run(self, words, user=None, **options):
        """subprocess.run of a command on this host."""
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("check", False)
        return subprocess.run(self.command(words, user), **options)

    def processes(self):
        """(pid here, command line) of what runs on the host, without its process 1."""
        found = []
        mine = os.readlink(f"/proc/{self.pid}/ns/pid")
        for pid in (int(n) for n in os.listdir("/proc") if n.isdigit()):
            with contextlib.suppress(OSError):
                if pid != self.pid and os.readlink(f"/proc/{pid}/ns/pid") == mine:
                    with open(f"/proc/{pid}/cmdline", "rb") as file:
                        words = file.read().replace(b"\0", b" ").decode(errors="replace").strip()
                    found += [(pid, words)] if words else []  # a zombie has none
        return found

    def kill(self):
        """Ends the host at once, with all that runs there."""
        if self.alive:
            self.alive = False
            os.kill(self.pid, signal.SIGKILL)
            while not os.waitpid(self.middle, os.WNOHANG)[0]:
                self._reap_orphans()
                time.sleep(0.01)

    @staticmethod
    def _reap_orphans():
        """Reaps processes of hosts whose nsenter was killed: they are children of this one then,
        and process 1 of their host ends only after them."""
        own = len(namespaces("self"))
        for pid in (int(n) for n in os.listdir("/proc") if n.isdigit()):
            with contextlib.suppress(OSError):
                if len(namespaces(pid)) > own:
                    os.waitpid(pid, os.WNOHANG)
