#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`study/study.py` measures its parts, goes on where it was, and its report has what it should.

A figure has its drawing, its sentence, and what is needed to repeat it; a run that gets SIGTERM
takes all that it has started along, and the next one goes on. No time is judged. With "quick" the
whole quick study is run."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from argparse import Namespace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
STUDY = [sys.executable, ROOT / "study/study.py", "--build",
         os.environ.get("TMB_BUILD", ROOT / "build"), "--quick", "--out"]
CALLS = 5  # at most, of the quick study
sys.path.insert(0, str(ROOT / "study"))
import plots  # noqa: E402
import study as study_script  # noqa: E402


def study(folder, *words):
    """Returns what it printed, and both reports."""
    done = subprocess.run([*STUDY, folder, *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout
    assert "\r" not in done.stdout, "progress in a pipe"
    return done.stdout, *((Path(folder) / f"report.{kind}").read_text() for kind in ("md", "html"))


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


def check_page(page, figures):
    """Every figure has what is said of it, and its drawing can be parsed."""
    for figure in figures:
        assert f'<h2 id="{figure}">' in page, figure
        part = page.split(f'<h2 id="{figure}">')[1].split("<h2")[0]
        for name in ("repeat", "raw JSON", "machine", "mode", "spread"):
            assert f"<dt>{name}</dt>" in part, (figure, name)
        assert "<p><b>" in part, f"{figure}: no sentence"
        if not plots.missing():
            drawing = part[part.index("<svg"):part.index("</svg>") + 6]
            xml.etree.ElementTree.fromstring(drawing)


def interrupted(folder, number):
    """A study that is ordered to end takes all that it has started along."""
    command = [*STUDY, folder, "fetchadd", "start", "--rounds", "1"]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE,
                          env={**os.environ, "TMPDIR": folder}) as child:
        for line in child.stdout:
            if "study: start (" in line:
                break
        child.send_signal(number)
        child.stdout.read()
    assert child.returncode not in (0, None), child.returncode
    for _ in range(200):  # a launcher of MPI ends its ranks after it has been ordered to
        if not processes(folder):
            break
        time.sleep(0.1)
    assert not processes(folder), processes(folder)
    assert not list(Path(folder).glob("tmp*")), folder


def limits():
    """The parts of each kind of run end in the time that is promised, in minutes; when it is spent
    a part is left to the next call."""
    for kind, promised in enumerate((6, 45, 60)):
        parts = sum(seconds[kind] for seconds in study_script.SECONDS.values())
        assert parts <= study_script.ALL_SECONDS[kind] < 60 * promised - 30, (kind, parts)
    options = Namespace(until=time.monotonic(), timeout=None, quick=True, docs=False)
    assert study_script.measure("ops", ["false"], options, None) == (None, None)


def some_parts():
    with tempfile.TemporaryDirectory() as folder:
        interrupted(folder, signal.SIGTERM)
        before = (Path(folder) / "fetchadd.json").read_text()
        records = json.loads(before)["records"]
        panels = {"one hot word", "spread over all"}
        assert panels <= {r["panel"] for r in records}, records
        assert all(r["panel"].split(",")[0] in panels for r in records), records
        assert {1, 2, 4} == {r["ranks"] for r in records if r["line"] == "Tombolo"}, records
        text, _, page = study(folder, "fetchadd", "start", "--rounds", "1")
        assert "goes on: 1 of 2 parts are done" in text, text
        assert (Path(folder) / "fetchadd.json").read_text() == before, "measured again"
        check_page(page, ["fetchadd", "start"])
        text, markdown, page = study(folder, "start", "--rounds", "1", "--timeout", "0.3")
        assert "(1 of 1)" in text, text
        # what another part has measured before in this folder, with its date
        assert "processes (measured 2" in markdown, markdown
        # what one reason has kept from being run stands in one line
        assert markdown.count("not run: the budget of 0 s was spent") <= 2, markdown
        check_page(page, ["fetchadd"])


def whole():
    """All parts. On a machine with load a part needs more than its time, and all need several
    calls."""
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(CALLS):
            text, _, page = study(folder, "--timeout", "90")
            if "left to the next call" not in text:
                break
        check_page(page, ["diagrams", "latency", "pipeline", "depth", "bandwidth", "barrier",
                          "collectives", "fetchadd", "start"])


def main():
    if sys.argv[1:] == ["quick"]:
        whole()
    else:
        limits()
        some_parts()
    print("study: the report is complete")
    return 0


if __name__ == "__main__":
    sys.exit(main())
