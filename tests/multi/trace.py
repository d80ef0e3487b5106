#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""`tombolo run --trace`: a program of known events leaves exactly these, on one host and on two; no
arrow runs backward; ranks that are killed leave their part; a small ring keeps the newest."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import TOMBOLO, Job, check, run_cases  # noqa: E402

PLAY = os.path.join(os.environ.get("TMB_BUILD", "build"), "tests/multi/trace_play")
FOLDER = tempfile.TemporaryDirectory()


def trace(*arguments, launch="run", code=0, env=None, program=PLAY, orderly=True):
    """Runs the program with a trace. Returns the trace, after what holds for every trace."""
    path = os.path.join(FOLDER.name, "out.json")
    if os.path.exists(path):
        os.unlink(path)
    job = Job(2, [program, *map(str, arguments)], launch=launch, options=["--trace", path], env=env)
    job.expect(code)
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    events = found["traceEvents"]
    check(found["otherData"]["format"] == "tombolo-trace", found["otherData"])
    check(not orderly or found["otherData"]["arrows_dropped"] == 0, found["otherData"])
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    check(starts.keys() == ends.keys(), "arrows with one end")
    for number, start in starts.items():
        check(start["ts"] <= ends[number]["ts"], "backward", start, ends[number])
        for end in (start, ends[number]):
            check(inside(events, end), "the end of an arrow lies in no slice", end)
    for e in events:
        if e["ph"] == "X":
            check(e["dur"] >= 0 and e["ts"] >= 0, e)
    found["arrows"] = [(starts[n], ends[n]) for n in starts]
    return found


def inside(events, end):
    """Whether a slice of the thread contains the moment."""
    return any(
        e["ph"] == "X" and e["pid"] == end["pid"] and e["tid"] == end["tid"]
        and e["ts"] - 0.002 <= end["ts"] <= e["ts"] + e["dur"] + 0.002
        for e in events
    )


def slices(found, category, rank=None):
    """Slices and moments of a category, in order of time."""
    return sorted(
        (e for e in found["traceEvents"]
         if e.get("cat") == category and e["ph"] in "Xi" and rank in (None, e["pid"])),
        key=lambda e: e["ts"])


def args(event, *keys):
    """The name and some arguments of an event."""
    return (event["name"], *(event["args"].get(k) for k in keys))


def known(found):
    """What the program does, exactly."""
    def names(category, *keys):
        return [(e["pid"], *args(e, *keys)) for e in slices(found, category)]

    check(names("put", "peer", "bytes") == [(0, "put", 1, 40)], names("put", "peer", "bytes"))
    check(names("get", "peer", "bytes") == [(0, "get", 1, 24)], names("get"))
    check(names("atomic", "peer", "bytes") == [(0, "atomic", 1, 8)], names("atomic"))
    check(names("signal", "peer", "bytes", "value") == [(0, "put signal", 1, 64, 7)],
          names("signal", "peer"))
    check(names("message", "peer", "bytes", "handler") ==
          [(0, "medium request", 1, 33, 200), (1, "short reply", 0, 0, 201)], names("message"))
    check(names("handler", "peer", "bytes") == [(1, "ask", 0, 33), (0, "answer", 1, 0)],
          names("handler"))
    check(names("region") == [(1, "consume")] and names("mark") == [(0, "late")], names("region"))
    calls = [args(e, "number", "root", "bytes") for e in slices(found, "collective", 0)
             if e["name"] != "barrier"]
    check(calls == [("all-reduce", 1, None, 8), ("broadcast", 2, 1, 8)], calls)
    check(all(e["args"].get("algorithm") for e in slices(found, "collective")
              if e["name"] != "barrier"), "a collective without algorithm")
    waits = [e for e in slices(found, "wait", 1) if e["name"] == "wait: signal"]
    check(len(waits) == 1, waits)
    wait = waits[0]["args"]
    check(wait["kind"] == "signal" and wait["ended_by"] == 0 and ">= 7" in wait["waited_for"], wait)
    check(wait["object"] == slices(found, "signal")[0]["args"]["object"], wait)
    signal = [(s, f) for s, f in found["arrows"] if s["name"] == "signal"]
    check(len(signal) == 1 and signal[0][0]["pid"] == 0 and signal[0][1]["pid"] == 1, signal)
    messages = [(s["pid"], f["pid"]) for s, f in found["arrows"] if s["name"] == "message"]
    check(sorted(messages) == [(0, 1), (1, 0)], messages)
    check(found["otherData"]["dropped"] == [0, 0], found["otherData"])


def near():
    """On one host."""
    found = trace()
    known(found)
    other = found["otherData"]
    check(other["hosts"] and other["host_of"] == [0, 0], "hosts")
    check(other["processors"] == [len(os.sched_getaffinity(0))], other["processors"])


def far():
    """On two hosts, whose areas and clocks come through agents."""
    found = trace(launch="agents", env={"TOMBOLO_TRACE_PACKETS": "1"})
    known(found)
    packets = {e["name"] for e in slices(found, "packet")}
    check({"sent", "received"} <= packets, packets)
    other = found["otherData"]
    check(other["hosts"] == ["host_a", "host_b"] and other["host_of"] == [0, 1], other)
    check(other["processors"] == [len(os.sched_getaffinity(0))] * 2, other["processors"])
    check(other["clock_error_us"] == [0, 0], "one kernel has one clock", other)


SHIM = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *t) {
  const int rc = (int)syscall(SYS_clock_gettime, clock, t);
  if (rc || clock != CLOCK_MONOTONIC) return rc;
  const double now = (double)t->tv_sec + 1e-9 * (double)t->tv_nsec;
  const long add = (long)((now - FROM) * 5e-2 * 1e9); /* 50 ms in a second */
  const long ns = t->tv_nsec + add % 1000000000;
  t->tv_sec += add / 1000000000 + (ns >= 1000000000) - (ns < 0);
  t->tv_nsec = (ns + 1000000000) % 1000000000;
  return 0;
}
"""


def other_clock():
    """A script in the place of ssh that gives the second host another clock: it runs 5 %
    fast, and where the kernel has time namespaces and lets us, it is 100000 s ahead. Returns the
    script and how far it is ahead, or None: there is no C compiler."""
    compiler = shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc")
    if not compiler:
        return None
    shim = os.path.join(FOLDER.name, "clock.so")
    with open(os.path.join(FOLDER.name, "clock.c"), "w", encoding="utf-8") as file:
        file.write(SHIM)
    enter = ["unshare", "-T", "--monotonic", "100000"]
    try:
        spaces = subprocess.run([*enter, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        spaces = False
    ahead = 100000 if spaces else 0
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", f"-DFROM={time.monotonic() + ahead}",
                    file.name, "-o", shim], check=True)
    script = os.path.join(FOLDER.name, "rsh")
    with open(script, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\n[ "$1" = host_b ] || exec sh -c "$2"\n'
                   f"export LD_PRELOAD={shim}\n"
                   "export ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0\n"
                   f'exec {" ".join(enter) if spaces else ""} sh -c "$2"\n')
    os.chmod(script, 0o755)
    return script, ahead


def clocks():
    """Two hosts whose clocks differ in time and in speed: no arrow runs backward, and questions
    and answers lie where they belong."""
    made = other_clock()
    if not made:
        return "there is no C compiler"
    script, ahead = made
    found = trace("slow", 40, launch="agents", env={"TOMBOLO_SSH": script}, orderly=False)
    other = found["otherData"]
    check(all(0 <= error < 1e6 for error in other["clock_error_us"]), other)
    error = max(other["clock_error_us"])
    check(error > 0, "clocks that differ are taken for one", other)
    asked = [(s, f) for s, f in found["arrows"] if s["name"] == "message" and s["pid"] == 0]
    answered = [(s, f) for s, f in found["arrows"] if s["name"] == "message" and s["pid"] == 1]
    check(len(asked) + len(answered) + other["arrows_dropped"] >= 80, len(asked), len(answered))
    check(other["arrows_dropped"] <= 4, other, ahead)
    # The second host's clock gains 20 ms in the 400 ms: uncorrected, answers would come early.
    trips = [back["ts"] - out["ts"] for (out, _), (_, back) in zip(asked, answered)]
    late = sorted(f["ts"] - s["ts"] for s, f in asked[-20:])
    early = sorted(f["ts"] - s["ts"] for s, f in asked[:20])
    middle = sorted(trips)[len(trips) // 2]
    # Load makes some messages slow, and more of one end's than of the other's: the fastest are
    # compared.
    check(abs(late[0] - early[0]) < 2 * error + middle, late, early, error)
    return None


def killed():
    """A rank that dies leaves what it had done, near and far."""
    for how, code, launch in (("abort", 134, "run"), ("kill", 137, "run"), ("kill", 137, "agents")):
        known(trace(how, code=code, launch=launch))


def small_ring():
    """The newest events stay, and the file says how many do not."""
    found = trace("many", 1000, env={"TOMBOLO_TRACE_EVENTS": "64"})
    mine = [e for e in found["traceEvents"] if e["pid"] == 0 and e["ph"] in "Xi"]
    check(len(mine) == 64 and found["otherData"]["dropped"][0] > 900, len(mine),
          found["otherData"])
    check(slices(found, "message", 0), "the newest events are not there")


def refused():
    """A file that cannot be written is refused before anything starts."""
    path = "/no/such/folder/out.json"
    Job(2, [PLAY], options=["--trace", path]).expect(2, f"cannot write the trace {path}: No such")
    kept, fresh = (os.path.join(FOLDER.name, name) for name in ("kept.json", "fresh.json"))
    with open(kept, "w", encoding="utf-8") as file:
        file.write("an earlier trace")
    for path in (kept, fresh):
        Job(2, ["/no/such/program"], options=["--trace", path]).expect(127)
    with open(kept, encoding="utf-8") as file:
        check(file.read() == "an earlier trace", "a failed start changes the file")
    check(not os.path.exists(fresh), "a failed start leaves a file")


def numbers(text):
    """The table of --stats: name of a row -> (least, rank, mean, most, rank, sum or None)."""
    rows = {}
    for line in text.splitlines():
        value = r"(\S+(?: [%sKMGB]+)?)"
        found = re.match(rf"(\S.*?) {{2,}}{value} +(\d+) +{value} +{value} +(\d+)(?: +{value})?$",
                         line.strip())
        if found:
            rows[found[1]] = found.groups()[1:]
    return rows


def stats():
    """The table of --stats has what the program does, near, far, and of a rank that is killed."""
    for how, code, launch in (("", 0, "run"), ("", 0, "agents"), ("kill", 137, "run")):
        job = Job(2, [PLAY, how], launch=launch, options=["--stats"])
        job.expect(code, "statistics of 2 ranks")
        table = numbers(job.err)
        for row in ("puts", "gets", "signals", "atomics"):
            check(table[row] == ("0", "1", "0.5", "1", "0", "1"), launch, row, table[row], job.err)
        check(table["peers"] == ("1", "0", "1", "1", "0", "2"), table["peers"])
        check(table["bytes got"][5] == "24 B", table)
        for row, values in table.items():
            if values[5] and " " not in "".join(values):
                check(float(values[5]) == 2 * float(values[2]), row, values)
                check(float(values[5]) == float(values[0]) + float(values[3]), row, values)
        if launch == "run":  # 40 B put, 64 with a signal, 33 sent, 8 of the atomic operation
            check(table["bytes sent and put"][5] == "145 B", table)
            check(table["messages"][5] == "2", table)
        else:
            check("packets" in table, "packets of the network", table)
        check(float(table["run time"][0].split()[0]) > 0, table)
        check(float(table["in communication"][3].split()[0]) > 0, table)
        check(float(table["waits"][0]) >= 1, "rank 1 waits for the signal", table)
        check(table["most memory"][0] != "0 B", table)


FORTRAN = """program ring
  use iso_fortran_env
  integer :: a[*]
  type(event_type) :: ready[*]
  sync all
  if (this_image() == 1) then
    call execute_command_line("sleep 0.05")
    a[2] = 42
    event post(ready[2])
  else
    event wait(ready)
  end if
  sync all
end program
"""

UPC = """#include <upc_relaxed.h>
#include <unistd.h>
shared double row[2 * THREADS];
shared [8] char text[8 * THREADS];
static void set(int i, double v) {
  row[i] = v;
}
int main(void) {
  char mine[8] = "";
  if (MYTHREAD == 0) usleep(50000);
  upc_barrier;
  if (MYTHREAD == 0) {
    set(1, 2.5);
    mine[0] = row[3] > 1;
    upc_memput(&text[8], mine, sizeof mine);
    row[0] = 1;
  }
  upc_barrier;
  return 0;
}
"""


def compiled(command, suffix, text, missing):
    """Compiles a program by a command of tombolo. Returns its path, or None: there is none."""
    source = os.path.join(FOLDER.name, "play" + suffix)
    program = os.path.join(FOLDER.name, command)
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([TOMBOLO, command, "-g", source, "-o", program], capture_output=True,
                          text=True, check=False)
    if done.returncode and missing(done):
        return None
    check(done.returncode == 0, done.stdout, done.stderr)
    return program


def fortran():
    """Statements of Fortran have their names and lines."""
    if not any(shutil.which(c) for c in ("gfortran", "gfortran-12")):
        return "there is no gfortran"
    program = compiled("fc", ".f90", FORTRAN, lambda done: "libcaf_tombolo" in done.stderr)
    if not program:
        return "the Fortran library is not built"
    found = trace(program=program)
    lines = bool(shutil.which("addr2line") or shutil.which("eu-addr2line"))
    def source(line):
        return f"play.f90:{line}" if lines else None
    names = {e["args"]["name"] for e in found["traceEvents"] if e["name"] == "process_name"}
    check(names == {"image 1", "image 2"}, names)
    put = slices(found, "put", 0)[0]["args"]
    check(put["statement"] == "put" and put["source"] == (source(8) or put["source"]), put)
    waits = []
    for _ in range(10):  # on a machine with much load the event may come before the wait
        waits = [e["args"] for e in slices(found, "wait", 1) if e["args"]["kind"] == "signal"]
        if waits:
            break
        found = trace(program=program)
    check(any(w.get("ended_by") == 0 and w["statement"] == "EVENT WAIT" and
              w["source"] == (source(11) or w["source"]) for w in waits), waits)
    return None


def upc():
    """Constructs of UPC have their lines."""
    program = compiled("upcc", ".upc", UPC, lambda done: "not built" in done.stderr)
    if not program:
        return "the UPC compiler is not built"
    found = trace(program=program)
    waits = [e["args"]["source"] for e in slices(found, "statement", 1)
             if e["name"] == "upc_barrier"]
    lines = bool(shutil.which("addr2line"))
    check(waits and ("play.upc:11" in waits[0] or not lines), waits)
    wanted = [("put", 1, 8, "put", "play.upc:6 (in set)"), ("get", 1, 8, "get", "play.upc:14"),
              ("put", 1, 8, "upc_memput", "play.upc:15")]
    for launch in ("run", "agents"):
        found = trace(program=program, launch=launch)
        seen = [args(e, "peer", "bytes", "statement", "source") for e in
                sorted(slices(found, "put", 0) + slices(found, "get", 0), key=lambda e: e["ts"])]
        seen = [e for e in seen if e[3]]
        if not lines:
            seen, wanted = [e[:4] for e in seen], [e[:4] for e in wanted]
        check([e for e in seen if e in wanted] == wanted and len(seen) == 3, launch, seen)
    return None


if __name__ == "__main__":
    run_cases([near, far, clocks, killed, small_ring, refused, stats, fortran, upc])
