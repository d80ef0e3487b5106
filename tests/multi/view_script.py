#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The script of the page of `tombolo view`, run by Node.js: parts of waits, tables, a kept link."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

DOM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib", "dom.js")
SLICE = '{"ph":"X","cat":"%s","name":"%s","pid":%d,"tid":1,"ts":%d,"dur":%d,"args":{%s}}'
FLOW = '{"ph":"%s","bp":"e","cat":"flow","name":"signal","pid":%d,"tid":1,"ts":%d,"id":1}'


def check(what, got, want):
    """Ends the test when two values differ."""
    if got != want:
        sys.exit(f"view_script: {what}: {got!r}, should be {want!r}")


def trace(path, processors):
    """Rank 1 waits from 10 to 1000 us for a put that lasts from 200 to 210."""
    lines = [SLICE % ("region", "sweep", 0, 0, 200, ""),
             SLICE % ("put", "put", 0, 200, 10, '"peer":1,"bytes":8'), FLOW % ("s", 0, 201),
             SLICE % ("wait", "wait: signal", 1, 10, 990, '"ended_by":0,"ended_ts":200'),
             FLOW % ("f", 1, 1000)]
    other = {"hosts": ["a"], "processors": [processors], "host_of": [0, 0]}
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"otherData":%s,"traceEvents":[%s]}' % (json.dumps(other), ",\n".join(lines)))


def page(folder, processors, *expressions):
    """Values of the expressions in the page of the trace."""
    path = os.path.join(folder, f"{processors}.json")
    trace(path, processors)
    subprocess.run([os.environ["TOMBOLO"], "view", path], check=True, capture_output=True)
    html = path.replace(".json", ".html")

    done = subprocess.run(["node", DOM, html, f"[{', '.join(expressions)}]"], capture_output=True,
                          text=True, check=False)
    check(f"exit code: {done.stderr}", done.returncode, 0)
    return json.loads(done.stdout.replace("\u202f", " "))


def main():
    if not shutil.which("node"):
        print("view_script: skipped: no node (package nodejs)")
        sys.exit(77)
    wait = "ev.name.findIndex((n) => nameOf(n) === 'wait: signal')"
    parts = f"waitParts({wait}, ev.name.findIndex((n) => nameOf(n) === 'put'))" \
            ".map((p) => p[1] * quantum)"
    with tempfile.TemporaryDirectory() as folder:
        found, counted, words, table, kept = page(
            folder, 1, parts, "[meta.waits[0].late, meta.waits[0].processor]", f"reason({wait})",
            "document.getElementById('wait-table').textContent",
            f"(select({wait}), show(100, 400), place = placeText(), show(0, spanUnits), select(-1),"
            " history.replaceState(null, '', place), goToPlace(), [placeText() === place,"
            f" view.selected === {wait}, view.from > 0])")
        check("parts on one processor", found, [190000, 10000, 790000])
        check("as the command counts", counted, [190000, 790000])
        check("the event in words", words,
              "It waits for rank 0's put, which begins 190 \u00b5s after the wait: late sender for "
              "190 \u00b5s, transfer for 10 \u00b5s, no processor for 790 \u00b5s.")
        check("a table", table,
              "Rankwaits forbyWaitsTimeOf its timeLate sender, transfer, no processorMeanwhile the "
              "other rankrank 1rank 0put1990 \u00b5s100 %computes in sweep 100 %")
        check("a link keeps zoom and selection", kept, [True, True, True])
        check("parts on two processors", page(folder, 2, parts), [[190000, 800000, 0]])


if __name__ == "__main__":
    main()
