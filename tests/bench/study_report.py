#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""bench/study.py measures its own programs, and its report has what it should.

Rows of every figure, curves that are well-formed XML, the reason of a part that was cut off. No
figure is judged."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = os.environ["TMB_BUILD"]
FORMS = ("board", "tree", "flat", "bare", "default")


def study(folder, *words):
    command = [sys.executable, str(ROOT / "bench/study.py"), "--quick"]
    done = subprocess.run([*command, "--build", BUILD, "--out", folder, *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout
    return (Path(folder) / "report.md").read_text(), (Path(folder) / "report.html").read_text()


def processes(word):
    """Process numbers of commands with this word."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if word in (folder / "cmdline").read_text():
                found.append(folder.name)
        except OSError:
            continue
    return found


def interrupted(folder, number):
    """A study that is told to end takes all that it has started along."""
    command = [sys.executable, str(ROOT / "bench/study.py"), "--quick", "--build", BUILD, "--out",
               folder, "--only", "ops"]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE,
                          env={**os.environ, "TMPDIR": folder}) as child:
        for line in child.stdout:
            if "... " in line:  # a program runs now
                break
        child.send_signal(number)
        child.stdout.read()
    assert child.returncode not in (0, None), child.returncode
    assert not processes(folder), processes(folder)
    assert not list(Path(folder).glob("tmp*")), folder


def main():
    with tempfile.TemporaryDirectory() as folder:
        text, page = study(folder, "--only", "forms", "--only", "ops")
        jobs = json.loads((Path(folder) / "forms.json").read_text())["jobs"]
        assert [job["ranks"] for job in jobs] == [2, 8], jobs
        for job in jobs:
            names = {record["name"] for record in job["records"]}
            assert names == {"barrier", "broadcast", "allreduce", "exchange"}, names
            for record in job["records"]:
                assert set(record["sides"]) == set(FORMS), record
                assert all(v[1] <= v[0] <= v[2] for v in record["sides"].values()), record
        ops = json.loads((Path(folder) / "ops.json").read_text())["records"]
        ours = {r["name"] for r in ops if "tombolo" in r["sides"]}
        for op in ("put", "get", "message", "signal"):
            assert {f"{op}_{f}" for f in ("overhead", "gap", "latency", "overlap")} <= ours, ours
        assert {"flag_latency", "semaphore_latency"} <= ours, ours
        assert "| put_latency, 8 B | tombolo" in text, text
        assert "barrier, 8 ranks" in text, text
        drawings = page.count("<svg")
        assert drawings > 20, drawings
        for part in page.split("<svg")[1:]:
            xml.etree.ElementTree.fromstring("<svg" + part[:part.index("</svg>")] + "</svg>")
        text, page = study(folder, "--only", "ops", "--timeout", "0.3")
        # all that one reason has kept from being run stand in one line
        assert "Not measured: tombolo" in text, text
        assert text.count("not run: the budget of 0 s was spent") == 1, text
        # what another part has measured before in this folder, with its date
        assert "ranks (measured 2" in text or "form (measured 2" in text, text
        assert "barrier, 8 ranks" in text, text
        for number in (signal.SIGINT, signal.SIGTERM):
            interrupted(folder, number)
    print("study: the report is complete")
    return 0


if __name__ == "__main__":
    sys.exit(main())
