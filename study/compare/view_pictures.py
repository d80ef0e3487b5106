#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the page of `tombolo view` for docs/OBSERVE.md, by a headless Chromium.

Usage: view_pictures.py [--build build] [--traces FOLDER] [--out docs/pictures]

Runs the pipeline and the stencil of study/apps on 4 ranks (targets bench__pipeline, bench__stencil)
with --trace, makes the page of the shortest of some runs, and writes view-*.png. Traces that FOLDER
has are used again: so they can be recorded on one machine, and drawn on another that has the
package chromium.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/lib"))
import browser  # noqa: E402

PIPELINE = ["bench/pipeline", "--iterations", "4", "-r", "400", "-c", "8000", "-g", "10", "--way"]
RUNS = {
    "barrier": [*PIPELINE, "barrier"],
    "signal": [*PIPELINE, "signal"],
    "stencil": ["bench/stencil", "--way", "signal", "--iterations", "10", "-p", "2000"],
}
ROUNDS = 12  # other work on the machine makes runs longer
# A part of the time from the first to the last region of a name on rank 0; in that part, the
# longest wait of rank 2.
ZOOM = """(() => {
  let from = spanUnits, to = 0;
  for (let i = 0; i < ev.start.length; i++) {
    if (rankOf(i) !== 0 || nameOf(ev.name[i]) !== 'NAME') continue;
    from = Math.min(from, ev.start[i]);
    to = Math.max(to, endOf(i));
  }
  show(from + (to - from) * FROM, from + (to - from) * TO);
})()"""


def zoom(name, begin, end):
    """Shows a part of the time of the regions; begin, end: from 0 to 1."""
    return ZOOM.replace("NAME", name).replace("FROM", str(begin)).replace("TO", str(end))


CHOOSE = """(() => {
  let best = -1;
  for (let i = 0; i < ev.start.length; i++) {
    if (rankOf(i) !== 2 || nameOf(ev.name[i]) !== 'wait: signal') continue;
    if (ev.start[i] < view.from || endOf(i) > view.to) continue;
    if (best < 0 || endOf(i) - ev.start[i] > endOf(best) - ev.start[best]) best = i;
  }
  select(best, true);
})()"""
# picture: trace, colours, part of the page, scripts
PICTURES = {
    "view-findings": ("signal", "light", "#findings", []),
    "view-barrier": ("barrier", "light", "#timeline", [zoom("barrier", 0.735, 0.755)]),
    "view-pipeline": ("signal", "light", "#timeline", [zoom("signal", 0.2, 0.95), CHOOSE]),
    "view-waits": ("stencil", "light", "#waits", []),
}


def span_of(trace):
    """Microseconds from the first event to the end of the last."""
    events = [e for e in json.loads(trace.read_text())["traceEvents"] if "ts" in e]
    return max(e["ts"] + e.get("dur", 0) for e in events) - min(e["ts"] for e in events)


def record(command, trace):
    """The shortest of some runs."""
    tries = [trace.with_suffix(f".{i}") for i in range(ROUNDS)]
    for one in tries:
        run = [*command[:4], "--trace", one, *command[4:]]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
    min(tries, key=span_of).rename(trace)
    for one in tries:
        one.unlink(missing_ok=True)


def pages(build, folder):
    """{trace: its page}, with the runs that have no trace yet."""
    tool, made = build / "bin/tombolo", {}
    for name, (program, *words) in RUNS.items():
        trace = folder / f"{name}.json"
        if not trace.exists():
            record([tool, "run", "-n", "4", build / program, *words], trace)
        made[name] = trace.with_suffix(".html")
        subprocess.run([tool, "view", trace], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--traces", type=Path, default=ROOT / "build/view-traces")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/pictures")
    options = parser.parse_args()
    options.traces.mkdir(parents=True, exist_ok=True)
    made = pages(options.build.resolve(), options.traces.resolve())
    if not browser.find():
        print(f"view_pictures: no Chromium (package chromium); the traces are in {options.traces}")
        return 77
    for name, (trace, colours, part, scripts) in PICTURES.items():
        with browser.Browser(1100, 1100) as page:
            page.colours(colours)
            page.open(made[trace])
            for script in scripts:
                page.run(script)
            page.picture(options.out / f"{name}.png", part)
            if page.errors:
                raise SystemExit("view_pictures: " + "\n".join(page.errors))
    return 0


if __name__ == "__main__":
    sys.exit(main())
