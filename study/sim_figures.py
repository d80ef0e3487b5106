#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the simulation: keeps and draws what study/sim_specs.py makes of the results.

They are kept as JSON; as a program this file draws all kept ones again, and the page that shows
them. The same JSON gives the same bytes.
  study/sim_figures.py [--data study/data] [--out study/figures]
"""
import argparse
import json
import sys
from pathlib import Path

import kept as store
import plots

HERE = Path(__file__).resolve().parent


def panel_of(spec):
    spec = dict(spec)
    kind = getattr(plots, spec.pop("kind"))
    for axis in ("x", "y"):
        if axis in spec:
            spec[axis] = plots.Axis(**spec[axis])
    if spec.get("ratio"):
        spec["ratio"] = plots.Ratio(**spec["ratio"])
    return kind(**spec)


def figure(spec):
    """The figure of Matplotlib, for tests."""
    return plots.figure(spec["title"], *map(panel_of, spec["panels"]))


def draw(spec):
    return plots.draw(spec["title"], *map(panel_of, spec["panels"]))


def keep(found, data, out):
    """Writes specs as JSON, and their drawings. Returns 1 where nothing can be drawn."""
    data.mkdir(parents=True, exist_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    for spec in found:
        store.keep(data / f"{spec['name']}.json", spec, whole=True)
    if plots.missing():
        print(f"simulate: {plots.missing()}", file=sys.stderr)
        return 1
    for spec in found:
        (out / f"{spec['name']}.svg").write_text(draw(spec))
    return 0


def kept(data):
    found = [json.loads(path.read_text()) for path in data.glob("sim-*.json")]
    return sorted(found, key=lambda spec: (spec["order"], spec["name"]))


HEAD = """<!-- Written by study/sim_figures.py: do not edit. -->
# Figures of the simulation

`tombolo sim` ([SIMULATION.md](../docs/SIMULATION.md)) computes each of them from the parameters of
a machine; no parameter is fitted to what is compared. Stars and lines called published are from
study/published. [RESULTS_SIMULATION.md](RESULTS_SIMULATION.md) says why both differ.
`study/simulate.py --figures study` computes all of them again; `make figures` draws them
again from study/data.
"""


def markdown(found, folder="figures"):
    """The page: a section a figure."""
    out = [HEAD]
    for spec in found:
        out += [f"## {spec['title'].replace(' (simulated)', '')}", "",
                f"![{spec['title']}]({folder}/{spec['name']}.svg)", "",
                f"{spec['about']} **{spec['says']}**", "",
                f"Machine: {spec['machine']}. Repeat: `{spec['command']}`", ""]
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description="Draw the kept figures of the simulation again.")
    parser.add_argument("--data", type=Path, default=HERE / "data")
    parser.add_argument("--out", type=Path, default=HERE / "figures")
    parser.add_argument("--page", type=Path, default=HERE / "FIGURES_SIMULATION.md")
    options = parser.parse_args()
    found = kept(options.data)
    options.page.write_text(markdown(found))
    return keep(found, options.data, options.out)


if __name__ == "__main__":
    sys.exit(main())
