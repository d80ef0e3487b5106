#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`tombolo bench`: the report is complete and consistent, and wrong arguments are refused.

Needs $TOMBOLO. Asserts nothing about time: only that every figure that the issue asks for is there
with its floor and target, and that medians, ratios and verdicts follow from the samples.
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOMBOLO = os.environ["TOMBOLO"]
RUNS = 5
# (group, name, bytes or None) -> target
TARGETS = {
    ("p2p", "put_blocking", 8): 1.5,
    ("p2p", "get_blocking", 8): 1.5,
    ("p2p", "put", 2 << 20): 0.95,
    ("am", "short_rtt", 0): 1.35,
    ("am", "short_flood", 0): 0.16,
    ("am", "medium_rtt", 1024): 1.7,
    ("am", "medium_once", None): 1.25,
    ("am", "medium_flood", 64): 0.22,
    ("wake", "wake_rtt", 0): 3.0,
    ("oversubscribed", "short_rtt", 0): 3.0,
}
OTHERS = [
    ("floor", "handoff_rtt", 0),
    ("floor", "add_alone", 0),
    ("floor", "add_contended", 0),
    ("floor", "futex_rtt", 0),
    ("am", "medium_flood", 1024),
    ("am", "barrier", 0),
    ("wake", "blocked_cpu_per_s", 0),
    ("startup", "start", 0),
    ("startup", "all_pairs", 0),
    ("startup", "private_before", 0),
    ("startup", "private_after", 0),
    ("startup", "shared_after", 0),
]
failures = []


def check(condition, message):
    if not condition:
        failures.append(message)
        print(f"FAILED: {message}")


def run(*arguments):
    return subprocess.run(
        [TOMBOLO, "bench", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def near(a, b):
    return abs(a - b) <= 1e-3 * max(abs(a), abs(b))


def check_figure(figure):
    where = f"{figure['group']} {figure['name']} {figure['bytes']}"
    samples, floors = figure["samples"], figure["floor_samples"]
    check(len(samples) == figure["runs"] >= 1, f"{where}: {len(samples)} samples")
    check(min(samples) >= 0, f"{where}: negative sample")
    check(near(figure["median"], statistics.median(samples)), f"{where}: median")
    order = [figure[key] for key in ("min", "p10", "median", "p90", "max")]
    check(order == sorted(order), f"{where}: quantiles {order} do not ascend")
    if figure["floor"] is None:
        check(not floors and figure["ratio"] is None, f"{where}: a ratio without a floor")
        return
    check(len(floors) == len(samples), f"{where}: {len(floors)} floors, {len(samples)} samples")
    pairs = zip(floors, samples) if figure["ratio_is"] == "bandwidth" else zip(samples, floors)
    ratio = statistics.median(a / b for a, b in pairs)
    check(near(figure["ratio"], ratio), f"{where}: ratio {figure['ratio']}, samples say {ratio}")
    if figure["target"] is not None:
        more = figure["ratio_is"] == "bandwidth"
        good = ratio >= figure["target"] if more else ratio <= figure["target"]
        check(figure["ok"] == good, f"{where}: verdict {figure['ok']}")


def matches(figure, key):
    group, name, size = key
    return (figure["group"], figure["name"]) == (group, name) and size in (None, figure["bytes"])


def check_report(report):
    figures = report["figures"]
    for figure in figures:
        check_figure(figure)
    for key, target in TARGETS.items():
        found = [f["target"] for f in figures if matches(f, key)]
        check(target in found, f"{key}: target {target} not among {found}")
    for key in OTHERS:
        check(any(matches(f, key) for f in figures), f"{key}: not reported")
    ranks = {f["ranks"] for f in figures if f["name"] == "start"}
    check(ranks == {2, 16}, f"start was measured at {ranks} ranks, not 2 and 16")
    check(report["machine"]["online"] >= 1, "machine: no processors")
    check(report["mode"] in ("fast", "slow"), f"mode {report['mode']}")
    handoff = [f for f in report["figures"] if f["name"] == "handoff_rtt"][0]
    fast = statistics.median(handoff["samples"]) < 300
    check(fast == (report["mode"] == "fast"), "the mode does not follow from the hand-off")
    check(bool(report["tombolo"]["revision"]), "no revision")
    check(report["settings"].get("TOMBOLO_WAIT") == "spinblock", f"settings: {report['settings']}")


def check_ended(folder):
    """A bench that is killed has written what it had, whole; a link stays a link."""
    real, path = Path(folder) / "real.json", Path(folder) / "ended.json"
    real.write_text("{}", encoding="utf-8")
    path.symlink_to(real)
    words = [TOMBOLO, "bench", "p2p", "--json", str(path), "--runs", "5", "--min-time", "20us"]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          start_new_session=True) as child:
        until = time.monotonic() + 60
        seen = []  # numbers of figures, as the file had them
        while child.poll() is None and len(seen) < 3 and time.monotonic() < until:
            report = json.loads(path.read_text(encoding="utf-8"))
            count = len(report.get("figures", []))
            if count and (not seen or count > seen[-1]):
                seen.append(count)
                check(report["complete"] is False, "a report of a bench that goes on is complete")
        ended = child.poll()
        if ended is None:
            os.killpg(child.pid, signal.SIGKILL)
    check(ended is None, f"the bench had ended, exit code {ended}, when {seen} figures were seen")
    check(len(seen) == 3, f"the report did not grow: {seen}")
    check(path.is_symlink(), "the link of --json was replaced by a file")
    report = json.loads(path.read_text(encoding="utf-8"))
    for figure in report["figures"]:
        check_figure(figure)


def main():
    os.environ["TOMBOLO_WAIT"] = "spinblock"
    quick = ("--quick", "--runs", str(RUNS), "--min-time", "20us", "--ranks", "4")
    done = run(*quick, "--json", "-", "p2p", "am", "wake", "oversubscribed")
    check(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
    report = json.loads(done.stdout)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        done = run("startup", "--quick", "--json", str(path))
        check(done.returncode == 0, f"startup: exit code {done.returncode}: {done.stderr}")
        check("Start-up" in done.stdout and "16 ranks" in done.stdout, f"table: {done.stdout}")
        check(not path.with_suffix(".json.new").exists(), "PATH.new was left behind")
        check_ended(folder)
        report["figures"] += json.loads(path.read_text(encoding="utf-8"))["figures"]
    check_report(report)
    check(report["complete"] is True, "a report of a bench that has ended is not complete")
    for arguments, word in (
        (["nothing"], "suite nothing"),
        (["--runs", "2"], "--runs 2"),
        (["--min-time", "x"], "--min-time x"),
        (["--dir", "/proc/nonexistent"], "--dir /proc/nonexistent"),
        (["--ranks", "5000"], "--ranks 5000"),
    ):
        done = run(*arguments)
        check(done.returncode == 2, f"{arguments}: exit code {done.returncode}, not 2")
        check(word in done.stderr, f"{arguments}: message {done.stderr!r} does not name {word}")
    done = run("p2p", "--quick", "--json", "/proc/nonexistent/x.json")
    check(done.returncode == 1 and "p2p" not in done.stderr and "Put and get" not in done.stdout,
          f"--json /proc/nonexistent/x.json: exit code {done.returncode}, {done.stderr}")
    done = run("p2p", "--quick", "--runs", "3", "--json", "/dev/full")
    check(done.returncode == 1 and "/dev/full" in done.stderr, f"/dev/full: {done.stderr}")
    check(Path("/dev/full").is_char_device(), "/dev/full was replaced by a file")
    print(f"{len(report['figures'])} figures, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
