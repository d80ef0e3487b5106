#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Parts of the study, in a small form: every side does all that it is asked, with all its rows.

A side that fails is named by the study and left out of the figures, so that nobody sees it fail:
here it is an error. No time is judged."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ["TMB_BUILD"])


def measure(script, *words):
    """JSON of a script of study/compare, which must have left nothing unfinished."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "part.json"
        done = subprocess.run([sys.executable, ROOT / "study/compare" / script, "--build", BUILD,
                               "--rounds", "1", "--json", raw, *words], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, done.stdout
        data = json.loads(raw.read_text())
    assert data["unfinished"] == {} and not data["cut"], data["unfinished"]
    return data


def operations():
    """Of single operations the last figure, depth, is there for all that have it."""
    records = measure("ops.py", "--quick")["records"]
    rows = {(r["name"], r["bytes"]): set(r["sides"]) for r in records}
    sides = set.union(*rows.values())
    assert {"tombolo", "memcpy"} <= sides, sides
    for name in ("message_latency", "message_gap"):
        assert rows[name, 8] == sides - {"memcpy"}, (name, rows[name, 8])
    assert rows["message_depth", 256] == sides - {"memcpy"}, rows["message_depth", 256]
    assert not [name for name, _ in rows if name.startswith(("broadcast", "allreduce"))], rows


def forms():
    """Barriers of each kind on one host and between two pretended ones."""
    (job,) = measure("forms.py", "--ranks", "4")["jobs"]
    barrier = next(r for r in job["records"] if r["name"] == "barrier")
    assert {"default", "barrier root", "barrier binomial", "barrier dissemination", "far library",
            "far root", "far binomial", "far dissemination", "far nodes"} <= set(barrier["sides"])


def diagrams():
    """One block: a rank works when the one before it has ended; eight overlap."""
    one, eight = measure("diagrams.py")["records"]
    work = [[s for s in spans if s[2] == "computes"] for spans in one["lanes"].values()]
    assert [len(spans) for spans in work] == [1, 1, 1, 1], one["lanes"]
    assert all(a[0][1] <= b[0][0] for a, b in zip(work, work[1:])), one["lanes"]
    assert len(one["arrows"]) == 3, one["arrows"]
    assert all(begin < end for begin, _, end, _ in one["arrows"] + eight["arrows"])
    work = [[s for s in spans if s[2] == "computes"] for spans in eight["lanes"].values()]
    assert [len(spans) for spans in work] == [8, 8, 8, 8], eight["lanes"]
    assert work[1][0][0] < work[0][-1][1], "no overlap"


def main():
    operations()
    forms()
    diagrams()
    print("parts: every side did all that it was asked")
    return 0


if __name__ == "__main__":
    sys.exit(main())
