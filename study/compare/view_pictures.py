#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the page of `tombolo view` for docs/OBSERVE.md, by a headless Chromium.

Usage: view_pictures.py [--build build] [--traces FOLDER] [--out docs/pictures]

Runs the pipeline and the stencil of study/apps on 4 ranks (targets bench__pipeline, bench__stencil)
with --trace, makes their pages, and writes view-*.png. Traces that FOLDER has are used again: so
they can be recorded on one machine, and drawn on another that has the package chromium.
"""

import argparse
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
# The middle third of the time, and the longest wait in it that a put of another rank has ended.
ZOOM = "show(spanUnits * 0.45, spanUnits * 0.7)"
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
    "view-barrier": ("barrier", "light", "#timeline", [ZOOM]),
    "view-pipeline": ("signal", "light", "#timeline", [ZOOM, CHOOSE]),
    "view-stencil": ("stencil", "dark", "#timeline", [ZOOM]),
    "view-waits": ("stencil", "light", "#waits", []),
}


def pages(build, folder):
    """{trace: its page}, with the runs that have no trace yet."""
    tool, made = build / "bin/tombolo", {}
    for name, (program, *words) in RUNS.items():
        trace = folder / f"{name}.json"
        if not trace.exists():
            run = [tool, "run", "-n", "4", "--trace", trace, build / program, *words]
            subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
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
