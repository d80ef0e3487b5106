# SPDX-License-Identifier: BSD-3-Clause
"""What a script that runs many programs in turn may take, what did not end, and its JSON.

A script adds the options of `add_options` to its own, makes one Budget, and runs every program
through `Budget.run`: a program that is not done in its time is ended with all that it has started,
named, and kept in the JSON; when the budget is spent no further one is started. `save` writes what
there is so far, so that a script that is ended from outside has lost only the row it was at; when
asked to end, it ends what it runs, too."""
import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TURNS = 4  # so often a run gets its time limit on a busy machine
BOUND = "computing alone"  # beside the variants of a program: without any communication
GRACE_S = 5  # from being asked to end until being killed
# At most for one run: this part of the budget, so that what hangs or is slow leaves time for the
# others, but some seconds always.
SHARE, SHARE_S = 1 / 8, 5


def add_options(parser, timeout):
    """--timeout of one run, --budget of all runs, --json."""
    parser.add_argument("--timeout", type=float, default=timeout, help="seconds for one run")
    parser.add_argument("--budget", type=float, help="seconds for all runs (default: no limit)")
    parser.add_argument("--json", type=Path, help="also write the records to this file")


def compile_ours(build, source, program, *flags):
    """Compiles a program on the public API against the build tree. Returns `program`."""
    command = ["cc", "-O2", *flags, source, "-o", program, f"-I{ROOT}/include", f"-L{build}/lib",
               f"-Wl,-rpath,{build}/lib", "-ltombolo"]
    subprocess.run([str(word) for word in command], check=True)
    return program


def parser_for(description, timeout):
    """A parser with --build, the build tree, and the options above."""
    build = Path(__file__).resolve().parents[2] / "build"
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build", type=Path, default=build, help="build tree of Tombolo")
    add_options(parser, timeout)
    return parser


def parse_apps(parser, known):
    """The options, with `apps`: the applications that are named; default: all that are known."""
    parser.add_argument("app", nargs="*", metavar="APP", help=f"{', '.join(known)} (default: all)")
    options = parser.parse_args()
    options.apps = options.app or list(known)
    wrong = set(options.apps) - set(known)
    if wrong:
        parser.error(f"no such application: {', '.join(wrong)}")
    return options


def asked_to_end(number, _):
    """Signal handler: exits by an exception, so that children are killed and hosts given back."""
    sys.exit(128 + number)


class Series:
    """Results of one problem in all rounds: figures by side or (side, variant), and the sides that
    have failed, which are not run again. rounds: number of rounds begun."""

    def __init__(self, *about):
        self.about, self.figures, self.failed, self.rounds = about, {}, set(), 0

    def add(self, key, value):
        self.figures.setdefault(key, []).append(value)


def print_verdict(record, met, of_bound):
    """Prints the ratio of a record to the best peer, and its bound. met: the target is met;
    of_bound: our best run beside the bound."""
    ratio, wanted = record["ratio"], record["target"]
    if ratio:
        print(f"  best of ours over best peer: {ratio:.2f}, target {wanted:.2f}: "
              f"{'ok' if met else 'MISSED'}; by the best run of each: "
              f"{record['ratio_of_best']:.2f}", flush=True)
    if "bound" in record:
        print(f"  {BOUND} over best peer: {record['bound']:.2f}; {of_bound}", flush=True)


def in_rounds(every, rounds, one_round, save):
    """Measures each Series of `every` once before any is measured again: when the budget is spent
    there are fewer rounds rather than fewer problems. save: called after each."""
    for _ in range(rounds):
        for series in every:
            one_round(series)
            save()


SHM = Path("/dev/shm")


def family(leader):
    """Folders in /proc of the processes of a session, and of all that they have started: MPICH's
    launcher gives each rank a session of its own."""
    parents, members = {}, set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # pid (name) state parent group session ...
            stat = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(folder.name)] = int(stat[1])
        if int(stat[3]) == leader:
            members.add(int(folder.name))
    more = members
    while more:
        more = {pid for pid, parent in parents.items() if parent in more} - members
        members |= more
    return [Path("/proc") / str(pid) for pid in members]


def starved_s(leader):
    """Seconds for which threads of the family were ready to run and had no processor, in sum; 0
    where the kernel does not say it."""
    ns = 0
    for folder in family(leader):
        for file in folder.glob("task/*/schedstat"):
            try:
                ns += int(file.read_text().split()[1])
            except (OSError, IndexError, ValueError):  # it has ended, or is not counted
                continue
    return ns / 1e9


def shared_files(leader):
    """Files of /dev/shm that processes of a session, and what they have started, have mapped or
    open, and that are this user's: Open MPI's vader_segment files and UCX's ucx_shm_posix files
    stay when a rank is killed."""
    found = set()
    for folder in family(leader):
        try:
            lines = (folder / "maps").read_text().splitlines()
            names = [line.split(None, 5)[5] for line in lines if str(SHM) in line]
            names += [os.readlink(fd) for fd in (folder / "fd").iterdir()]
        except OSError:  # it has ended
            continue
        found.update(Path(name) for name in names if name.startswith(f"{SHM}/")
                     and not name.endswith(" (deleted)"))
    return {path for path in found if path.exists() and path.stat().st_uid == os.getuid()}


def end_group(child):
    """Ends a child that leads a session, and its group, and removes what they leave in /dev/shm.
    Returns what it had printed."""
    left = shared_files(child.pid)
    try:
        return end_processes(child)
    finally:
        for path in left:
            path.unlink(missing_ok=True)


def end_processes(child):
    """Ends a child and its group by SIGTERM, then SIGKILL. Returns their output."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            pass
        try:
            return child.communicate(timeout=GRACE_S)[0]
        except subprocess.TimeoutExpired:
            continue
    return ""


class Budget:
    """unfinished: {run: reason} of runs that never succeeded. after_miss: called after a time-out,
    to kill processes on other hosts. share: largest part of the budget for one run. note: text of
    the progress line."""

    def __init__(self, options, after_miss=None):
        self.seconds, self.timeout, self.path = options.budget, options.timeout, options.json
        self.begin = time.monotonic()
        self.unfinished, self.done, self.cut, self.note = {}, set(), False, ""
        self.after_miss, self.share = after_miss, SHARE
        signal.signal(signal.SIGTERM, asked_to_end)

    def left(self):
        """Seconds until the budget is spent."""
        return float("inf") if self.seconds is None else \
            self.seconds - (time.monotonic() - self.begin)

    def longest(self):
        """Seconds that one run may take at most."""
        share = max(SHARE_S, self.share * self.seconds) if self.seconds else self.timeout
        return min(self.timeout, share)

    def miss(self, who, why):
        """Prints the runs that never succeeded."""
        print(f"{who}: {why}", file=sys.stderr, flush=True)
        if who not in self.done:
            self.unfinished.setdefault(who, why)

    def wait(self, child, limit):
        """Waits for a child and returns its output. Without a budget the time limit starts again,
        up to TURNS times, while its threads wait for processors: it is slow, and does not hang."""
        for turn in range(1, TURNS + 1):
            try:
                return child.communicate(timeout=limit)[0]
            except subprocess.TimeoutExpired:
                if self.seconds is not None or turn == TURNS or \
                        starved_s(child.pid) < turn * limit / 2:
                    raise

    def run(self, who, command, environment=None, errors=None, most=float("inf")):
        """Runs one program, for `most` seconds at most. Returns (what it printed, its exit code);
        the code is None if it was not done in time or not started. errors: its stderr (default:
        this one's)."""
        limit = min(self.longest(), self.left(), most)
        if limit <= 0:
            self.cut = True
            if who not in self.done | set(self.unfinished):
                self.miss(who, f"not run: the budget of {self.seconds:.0f} s was spent")
            return "", None
        print(f"... {who}{self.note}", flush=True)
        child = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=errors,
                                 stdin=subprocess.DEVNULL, text=True, start_new_session=True,
                                 env={**os.environ, **(environment or {})})
        try:
            text = self.wait(child, limit)
        except subprocess.TimeoutExpired:
            text = end_group(child)
            self.miss(who, f"not done after {limit:.0f} s")
            if self.after_miss:
                self.after_miss()
            return text, None
        except BaseException:
            end_group(child)
            raise
        if child.returncode:
            self.miss(who, f"exit code {child.returncode}")
        else:
            self.done.add(who)
            self.unfinished.pop(who, None)
        return text, child.returncode

    def save(self, data):
        """Writes `data` and the unfinished runs, if the script has --json."""
        if not self.path:
            return
        whole = {**data, "unfinished": self.unfinished, "cut": self.seconds if self.cut else None}
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(whole, indent=1) + "\n")
        new.rename(self.path)
