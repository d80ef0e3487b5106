#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# study.py: measures the library beside its baselines and its peers: `make study`.
#
# Runs measuring programs (parts) one after the other, keeps their output and JSON, and writes
# FOLDER/report.html and .md with every figure (figures.py, report.py). A part that cannot run here,
# because a peer or root is missing, is named with the reason. A part whose time is spent keeps its
# results so far. All parts together have a time limit, too; the next call continues, also after an
# interruption, and --fresh begins again. With PART only the named parts are measured. The report
# then also has the earlier results of the others in that folder.
# --docs: the parts of study/figures, in 45 minutes; then figures.py --adopt FOLDER.
#   study/study.py [PART...] [--hosts a,b] [--ranks 1,2,4] [--quick | --docs] [--out study-report]
import argparse
import functools
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import figures
import part_rows
import plots
import report

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MARGIN_S, GRACE_S = 30, 8  # until a part that runs too long gets SIGTERM, then SIGKILL
QUICK, DOCS, FULL = range(3)
# Seconds of a part in each kind of run; 0: the run leaves it out. On two processors this is enough
# for two to five runs of each point.
SECONDS = {
    "pipeline": (20, 420, 420), "events": (12, 20, 20), "stencil": (22, 90, 80),
    "hydro": (16, 120, 120), "hosts": (0, 150, 180),
    "matmul": (10, 130, 130), "cholesky": (10, 110, 110), "diagrams": (10, 10, 10),
    "ft1": (14, 90, 90), "ft2d": (0, 90, 90), "ft": (0, 220, 220), "ops": (16, 30, 30),
    "overlap": (14, 25, 25), "overlapnet": (0, 100, 100),
    "opsfar": (16, 30, 30), "opsofi": (0, 35, 35), "opsmpi": (0, 40, 40),
    "opshosts": (0, 180, 100), "forms": (16, 150, 150),
    "coll": (10, 20, 20), "coll4": (0, 90, 90), "upc": (10, 25, 25), "fetchadd": (16, 60, 65),
    "start": (14, 140, 150), "silent": (0, 75, 75), "rails": (0, 140, 140),
    "sim": (40, 0, 130),
    "bench": (15, 0, 35), "apps": (0, 0, 110), "apps4": (0, 0, 200), "caf": (0, 0, 40),
    "net": (0, 0, 35), "apps4hosts": (0, 0, 130), "cells": (0, 0, 250),
}
# Seconds that all parts together may take in each kind of run. The rest of the promised time is for
# compiling and for the report.
ALL_SECONDS = (290, 44 * 60, 58 * 60)
LEAST_S = 3  # with less time left than this, a part waits for the next call


def kind_of(options):
    return QUICK if options.quick else DOCS if options.docs else FULL


def part_seconds(name, options):
    """Time limit of a part; of a full run, if this kind of run leaves the named part out."""
    return options.timeout or SECONDS[name][kind_of(options)] or SECONDS[name][FULL]


def parts(options):
    """{name: (title, command, function that makes rows of its JSON)}, in the order in which they
    run: parts that no other part can replace come first. {json} and {budget} are replaced."""
    quick = options.quick
    bench = [options.build / "bin" / "tombolo", "bench", "--json={json}",
             *(["--quick", "p2p", "am", "notify"] if quick else
               ["--runs", "51", "p2p", "am", "oversubscribed", "wake", "vis", "atomic", "notify",
                "coll", "lock"])]
    less = ["--quick"] if quick else []
    hosts = ["--hosts", options.hosts] if options.hosts else []
    ranks = ["--ranks", options.ranks]

    def script(name, *words, rounds=5):
        return [sys.executable, HERE / "compare" / name, "--build", options.build, "--rounds",
                options.rounds or (2 if quick else rounds), "--budget", "{budget}", "--json",
                "{json}", *words]

    def scaling(part, title):
        return (title, script("scaling.py", part, *ranks, *hosts, *less), part_rows.of_scaling)

    def ops(title, *words, name="ops.py"):
        return title, script(name, *words, *less), part_rows.of_ops

    size = "W" if quick else "A"
    few = [str(n) for n in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)][:5 if quick else None]
    return {
        "pipeline": scaling("pipeline", "Pipeline by ranks"),
        "events": scaling("events", "Events of coarray Fortran in four ways, by ranks"),
        "stencil": scaling("stencil", "Stencil by ranks"),
        "hydro": scaling("hydro", "Hydrodynamics by ranks"),
        "hosts": ("Pipeline, stencil and hydrodynamics on two to eight hosts, 1 Gbit/s",
                  script("hosts.py", *less), part_rows.of_scaling),
        "matmul": scaling("matmul", "Matrix product by ranks"),
        "cholesky": scaling("cholesky", "Cholesky factorisation by ranks"),
        "diagrams": ("Pipeline on 4 ranks, who works when: from traces",
                     script("diagrams.py", rounds=1), part_rows.of_diagram),
        "ft1": ("NAS FT on this machine, 2 ranks: flavours of put, MPI, FFTW's transform over MPI",
                script("ft.py", "--class", size), part_rows.of_ft),
        "ft2d": ("NAS FT on this machine, 4 ranks as 2 x 2: two exchanges a transform",
                 script("ft.py", "--class", size, "--ranks", "4", "--grid", "2x2"),
                 part_rows.of_ft),
        "ft": ("NAS FT on four hosts, 1 Gbit/s, beside MPI",
               script("net.py", "--ft", "--ft-class", size),
               functools.partial(part_rows.of_ft, far=True)),
        "ops": ops("Overhead, gap and latency by size, one host"),
        "opsfar": ops("Operations by size over the conduit udp, one host", "--far"),
        "opsofi": ops("Operations by size over the conduit ofi, one host", "--far", "--conduit",
                      "ofi"),
        "opsmpi": ops("Operations by size over the conduit mpi, one host", "--far", "--conduit",
                      "mpi"),
        "opshosts": ops("Operations by size over udp, two hosts, 1 Gbit/s", "--lab"),
        "overlap": ops("Share hidden by size, one host, with and without the thread",
                       name="overlap.py"),
        "overlapnet": ops("Share hidden by size, two hosts, 1 Gbit/s", "--lab",
                          name="overlap.py"),
        "upc": ("Ways of UPC to hand over data", script("upc_ways.py"), part_rows.of_ops),
        "forms": ("Barrier, broadcast, all-reduce and exchange in each form",
                  script("forms.py", "--ranks", "2,4,8" if quick else "2,4,8,16,32"),
                  part_rows.of_forms),
        "coll": ("Collectives beside MPI, 2 ranks", script("compare.py"), part_rows.of_coll),
        "coll4": ("Collectives beside MPI, 4 ranks",
                  script("compare.py", "--ranks", "4"), part_rows.of_coll),
        "fetchadd": ("Fetch-and-add by processes", script("fetchadd.py", *less),
                     part_rows.of_scaling),
        "start": ("Start and memory of a job by ranks",
                  script("starts.py", "--ranks", ",".join(few)), part_rows.of_scaling),
        "silent": ("Operations whose target makes no call",
                   script("silent.py"), part_rows.of_silent),
        "rails": ("Puts and messages over one to four links, two hosts",
                  script("rails.py"), part_rows.of_rails),
        "sim": ("At scale, simulated, beside the published figures of the original study",
                [sys.executable, HERE / "simulate.py", *less, "--build", options.build, "--out",
                 options.out / "simulation", "--budget", "{budget}", "--json", "{json}"],
                part_rows.of_sim),
        "bench": ("Operations beside their floors", bench, part_rows.of_bench),
        "apps": ("Applications beside MPI and ScaLAPACK, 2 ranks", script("apps.py", *less),
                 part_rows.of_app),
        "apps4": ("Applications beside MPI and ScaLAPACK, 4 ranks",
                  script("apps.py", "--ranks", "4", *less), part_rows.of_app),
        "caf": ("Applications in coarray Fortran beside OpenCoarrays, 2 ranks",
                script("caf_apps.py"), part_rows.of_caf),
        "net": ("Two ranks on two hosts, beside MPI over TCP", script("net.py"), part_rows.of_net),
        "apps4hosts": ("matmul and cholesky on four hosts, 1 Gbit/s, beside ScaLAPACK",
                       script("net.py", "--apps", "--problem",
                              "1000" if quick else "2000"), part_rows.of_app),
        "cells": ("Figures for which a peer was faster once", script("cells.py"),
                  part_rows.of_cell),
    }


class Watch:
    """Kills a part and its children when its time limit is over, and sets `late`. The limit is
    beyond the part's own budget: it serves a part that fails to stop by itself."""

    def __init__(self, child, limit):
        self.child, self.late, self.limit = child, False, limit + max(MARGIN_S, limit / 10)
        self.timer = threading.Timer(self.limit, self.end)
        self.timer.start()

    def end(self):
        self.late = True
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.child.pid, number)
                self.child.wait(GRACE_S)
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                continue


def machine():
    """Machine, mode, load and versions, as (name, text) pairs."""
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo")
                  if line.startswith("model name")), "?")
    revision = subprocess.run(["sh", "-c", "git describe --always --dirty"], cwd=ROOT, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()
    versions = []
    for package in ("libopenmpi3", "libmpich12", "libopenblas0-pthread", "libscalapack-openmpi2.2",
                    "libcoarrays-openmpi-dev", "libfabric1", "libfftw3-mpi3", "gfortran",
                    "python3-matplotlib"):
        if shutil.which("dpkg-query"):
            said = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            versions += [f"{package} {said}"] if said else []
    return [("date", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())), ("processor", model),
            ("processors", str(len(os.sched_getaffinity(0)))),
            ("load before", f"{os.getloadavg()[0]:.1f}"), ("kernel", platform.release()),
            ("revision", revision or "?"), ("peers", ", ".join(versions) or "none")]


# ---- running parts
class Progress:
    """Progress: on a terminal one line that is rewritten, with the time left; elsewhere a line when
    a part begins and ends. estimate: {part: seconds} of all parts of this run."""

    def __init__(self, estimate):
        self.terminal = sys.stderr.isatty()
        self.left, self.part, self.begin, self.index = dict(estimate), None, 0.0, 0
        self.all = len(estimate)

    def start(self, part, command):
        self.part, self.begin, self.index = part, time.monotonic(), self.index + 1
        print(f"study: {part} ({self.index} of {self.all}), at most {self.left[part]:.0f} s: "
              f"{' '.join(command)}", flush=True)

    def note(self, text):
        if not self.terminal:
            return
        spent = time.monotonic() - self.begin
        left = sum(self.left.values()) - min(spent, self.left[self.part])
        line = f"study: {self.part}: {spent:4.0f} s, at most {left / 60:.0f} min left: {text}"
        width = shutil.get_terminal_size().columns - 1
        print(f"\r\033[K{line[:width]}", end="", file=sys.stderr, flush=True)

    def end(self, said):
        if self.terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        print(f"study: {self.part}: {said} after {time.monotonic() - self.begin:.0f} s", flush=True)
        self.left.pop(self.part, None)


def follow(name, child, log, progress):
    """Keeps the output of a part. Lines of progress ("... WHAT") go to `progress`; lines about
    skipped work are shown. Returns the last other line, and the lines that name absent peers."""
    last, absent = "?", []
    for line in child.stdout:
        log.write(line)
        log.flush()
        said = line.strip()
        if line.startswith("... "):
            progress.note(said[4:])
        elif "not done after" in line or "left out" in line:
            progress.note("")
            print(f"study: {name}: {said}", flush=True)
        if "left out" in line and said not in absent:
            absent.append(said)
        if said and not line.startswith("... "):
            last = said
    child.wait()
    return last, absent


def run_part(name, command, folder, limit, progress):
    """Runs one part. Returns (JSON or None, reason for missing results). "absent" in the JSON has
    the lines that name sides which cannot run here."""
    raw = folder / f"{name}.json"
    raw.unlink(missing_ok=True)
    progress.start(name, command)
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             stdin=subprocess.DEVNULL, start_new_session=True)
    watch = Watch(child, limit)
    try:
        with open(folder / f"{name}.txt", "w", encoding="utf-8") as log:
            last, absent = follow(name, child, log, progress)
    except BaseException:  # Ctrl-C does not reach the part: it leads a session of its own
        watch.end()
        raise
    finally:
        watch.timer.cancel()
    cut = f"ended after {watch.limit:.0f} s" if watch.late else None
    if child.returncode == 77:
        return None, "skipped: " + last
    if not raw.exists():
        return None, f"{cut + ': ' if cut else ''}exit code {child.returncode}: {last}"
    if child.returncode and not cut:
        cut = f"exit code {child.returncode}: {last}"
    try:
        return {**json.loads(raw.read_text()), "absent": absent}, cut
    except ValueError as error:
        return None, f"{raw.name} is no JSON: {error}"


@functools.lru_cache
def mode_of(build):
    """Mode of the machine, by the hand-off between two ranks (`tombolo bench p2p`). It does not
    change until the next boot, so it is measured once a run."""
    try:
        done = subprocess.run([build / "bin" / "tombolo", "bench", "p2p", "--quick",
                               "--json=-"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              stdin=subprocess.DEVNULL, text=True, timeout=20, check=True)
        found = json.loads(done.stdout)
        hand = next(f["median"] for f in found["figures"] if f["name"] == "handoff_rtt")
        return f"{found['mode']} (hand-off {hand:.0f} ns)"
    except (subprocess.SubprocessError, OSError, ValueError, KeyError, StopIteration):
        return "unknown"


def measure(name, command, options, progress):
    """Runs one part and adds place and time of the measurement to its JSON. Returns (JSON or None,
    reason for missing results); (None, None) if no time is left for it."""
    left = options.until - time.monotonic()
    limit = min(part_seconds(name, options), left)
    if left < LEAST_S:
        print(f"study: {name}: left to the next call: the time of this one is spent", flush=True)
        return None, None
    raw = options.out / f"{name}.json"
    command = [str(c).replace("{json}", str(raw)).replace("{budget}", f"{limit:.1f}")
               for c in command]
    load, mode = os.getloadavg()[0], mode_of(options.build)
    begin = time.monotonic()
    data, reason = run_part(name, command, options.out, limit, progress)
    if data is not None:
        facts = dict(machine())
        data["study"] = {"date": facts["date"], "revision": facts["revision"], "mode": mode,
                         "machine": f"{facts['processor']}, {facts['processors']} processors, "
                                    f"kernel {facts['kernel']}",
                         "peers": facts["peers"], "load": f"{load:.1f}", "cut": reason,
                         "seconds": round(time.monotonic() - begin, 1),
                         "command": " ".join(command)}
        raw.write_text(json.dumps(data, indent=1) + "\n")
    progress.end("measured" if data else f"not measured: {reason}")
    return data, reason


def earlier(name, folder):
    """Earlier results of a part in this folder, and their time; (None, None) without any."""
    raw = folder / f"{name}.json"
    if not raw.exists():
        return None, None
    data = json.loads(raw.read_text())
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(raw.stat().st_mtime))
    return data, data.get("study", {}).get("date", when)


class Run:
    """The parts that are done, kept in FOLDER/run.json, so that an interrupted run can continue."""

    def __init__(self, options, wanted):
        self.path = options.out / "run.json"
        self.same = {"kind": kind_of(options), "ranks": options.ranks, "hosts": options.hosts,
                     "parts": wanted}
        self.done = {}
        try:
            before = json.loads(self.path.read_text())
        except (OSError, ValueError):
            before = {}
        if before.get("same") == self.same and not before.get("ended") and not options.fresh:
            self.done = before["done"]

    def save(self, ended=False):
        self.path.write_text(json.dumps({"same": self.same, "done": self.done, "ended": ended},
                                        indent=1) + "\n")


def section_of(name, entry, data, reason):
    """Rows of a part, for the tables of the report."""
    title, _, rows = entry
    found = list(rows(data)) if data else []
    missing = report.missing_of(data) if data else []
    if data and reason:
        missing.append(f"the part was cut off: {reason}")
    if data and not found:
        reason = "; ".join(missing) or "no figures"
    return {"name": name, "title": title, "rows": found, "unfinished": missing,
            "reason": None if found else reason}


class Report:
    """report.html and report.md of the results so far. Only figures whose parts have changed are
    drawn: a drawing takes a third of a second, and the report is written after each part."""

    def __init__(self, options):
        self.folder, self.undrawn, self.before = options.out, plots.missing(), {}
        self.named, self.sim = set(), (None, [])

    def drawing(self, figure, one, data):
        key = [id(data.get(part)) for part in figure.parts]
        if self.undrawn:
            return None
        if self.before.get(figure.name, (None, None))[0] != key:
            self.before[figure.name] = key, figures.drawing(figure, one)
        return self.before[figure.name][1]

    def lost(self, figure, error):
        """Reports a figure with malformed data, once; the others are drawn."""
        if figure.name not in self.named:
            print(f"study: no figure {figure.name}: {type(error).__name__} {error}", flush=True)
        self.named.add(figure.name)

    def simulated(self, data):
        """Figures of the simulation, made once."""
        if id(data) != self.sim[0]:
            self.sim = id(data), figures.simulated(data)
        return self.sim[1]

    def write(self, sections, data):
        """data: {part: JSON}; each JSON stays the same object until the end of the run."""
        facts = machine()
        if self.undrawn:
            facts.append(("drawings", f"none: {self.undrawn}"))
        shown = [*figures.all_shown(data, self.lost), *self.simulated(data.get("sim"))]
        drawn = [(figure, one, self.drawing(figure, one, data)) for figure, one in shown]
        for kind, text in (("md", report.markdown(facts, drawn, sections, data)),
                           ("html", report.page(facts, drawn, sections, data))):
            (self.folder / f"report.{kind}").write_text(text)


def options_of():
    parser = argparse.ArgumentParser(description="Measure everything beside "
                                     "its floors and peers, and write one report.")
    parser.add_argument("part", nargs="*", metavar="PART",
                        help=f"only these: {', '.join(SECONDS)}")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and figures: 6 minutes")
    parser.add_argument("--docs", action="store_true",
                        help="the parts of study/figures: 45 minutes (without: an hour)")
    parser.add_argument("--ranks", default="1,2,4", help="numbers of ranks (%(default)s)")
    parser.add_argument("--hosts", help="run applications on these hosts: a,b")
    parser.add_argument("--rounds", type=int, help="runs of each side (default: by part)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree")
    parser.add_argument("--out", type=Path, help="folder of the report (study-report)")
    parser.add_argument("--only", action="append", metavar="PART",
                        help="name of a part, as PART; repeatable")
    parser.add_argument("--fresh", action="store_true",
                        help="begin again instead of going on with an interrupted run")
    parser.add_argument("--timeout", type=float,
                        help="seconds for one part (default: by part); it keeps what it has then")
    options = parser.parse_args()
    options.wanted = options.part + (options.only or []) or \
        [name for name, seconds in SECONDS.items() if seconds[kind_of(options)]]
    if set(options.wanted) - set(SECONDS):
        parser.error(f"no part {', '.join(sorted(set(options.wanted) - set(SECONDS)))}: expected "
                     f"{', '.join(SECONDS)}")
    # If parts are named, the limit is the sum of theirs.
    options.until = time.monotonic() + (float("inf") if options.part or options.only else
                                        ALL_SECONDS[kind_of(options)])
    for number in options.ranks.split(","):
        if not number.isdigit() or not 1 <= int(number) <= 4096:
            parser.error(f"--ranks {options.ranks}: expected numbers from 1 to 4096, as 1,2,4")
    options.build = options.build.resolve()
    options.out = (options.out or Path("study-report")).resolve()
    for program in ("bin/tombolo", "bench/pipeline"):
        if not (options.build / program).exists():
            parser.error(f"--build {options.build}: there is no {program}; run `cmake --build "
                         f"{options.build} --target study` first")
    return options


def main():
    options = options_of()
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        print(f"study: --out {options.out}: {error.strerror}: name a folder that can be made",
              file=sys.stderr)
        return 2
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    known, run = parts(options), Run(options, options.wanted)
    if run.done:
        print(f"study: goes on: {len(run.done)} of {len(options.wanted)} parts are done (--fresh "
              "begins again)")
    progress = Progress({name: part_seconds(name, options) for name in known
                         if name in options.wanted and name not in run.done})
    every, sections, report_of = {}, [], Report(options)
    for name, (title, command, rows) in known.items():
        asked = name in options.wanted and name not in run.done
        data, reason = measure(name, command, options, progress) if asked else \
            (None, run.done.get(name))
        if asked and (data or reason):
            run.done[name] = reason
            run.save()
        else:
            data, when = earlier(name, options.out)
            title = f"{title} (measured {when})"
            if not data and name not in run.done:
                continue
        every[name] = data
        sections.append(section_of(name, (title, command, rows), data, reason))
        report_of.write(sections, every)
    run.save(ended=not set(options.wanted) - set(run.done))
    rows = [row for section in sections for row in section["rows"]]
    missed, met = sum(row[4] is False for row in rows), sum(row[4] is True for row in rows)
    print(f"study: {met} targets met, {missed} missed; {options.out / 'report.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
