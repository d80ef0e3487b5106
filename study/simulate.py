#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# simulate.py: the standard set of `tombolo sim`, as curves with the published points beside them.
#
# Simulates the original one-sided study (Blue Gene/P; study/published) on tools/sim/machines/torus
# and what put with signal, two levels and more rails change on every machine. Nothing is fitted to
# the published figures. Writes FOLDER/simulation.json, .md and .html (self-contained, SVG).
#   study/simulate.py [--quick] [--build build] [--out simulation] [--json FILE] [--jobs 2]
#                     [--budget S] [--figures study ]
import argparse
import html
import json
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import plots
import sim_figures
import sim_specs
from sim_sets import MACHINES, SETS, STRONG

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def published():
    """{fact: {value, unit, what}} of the original study."""
    return json.loads((HERE / "published/bgp.json").read_text())["facts"]


class Simulator:
    """Runs simulations, some at a time, and prints progress."""

    def __init__(self, options):
        self.program = options.build / "bin" / "tombolo"
        self.jobs, self.limit = options.jobs, options.timeout
        self.until = time.monotonic() + (options.budget or float("inf"))

    def _one(self, words):
        limit = min(self.limit, self.until - time.monotonic())
        if limit <= 0:
            return {"error": "not run: the time of all is spent", "command": words}
        command = [self.program, "sim", *map(str, words), "--json", "-"]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return {"error": f"not done after {limit:.0f} s", "command": words}
        if done.returncode:
            return {"error": done.stderr.strip(), "command": words}
        return json.loads(done.stdout)

    def all(self, title, asked):
        """{key: words} -> {key: result}; failures are printed and left out."""
        results = {}
        with ThreadPoolExecutor(self.jobs) as pool:
            work = {key: pool.submit(self._one, words) for key, words in asked.items()}
            for i, (key, future) in enumerate(work.items()):
                result = future.result()
                print(f"\rsimulate: {title}: {i + 1}/{len(asked)} ", end="", file=sys.stderr)
                if "error" in result:
                    print(f"\nsimulate: {key}: {result['error']}", file=sys.stderr)
                else:
                    results[key] = result
        print(file=sys.stderr)
        return results


# ---- figures
def mean_ratio(results, over, base="slabs", only=None):
    """Mean of the speeds' ratio base / over, over 256 to 4096 ranks or on `only` so many."""
    both = [results[base, n]["flops_per_s"] / results[over, n]["flops_per_s"] for way, n in results
            if way == base and (over, n) in results and (n == only if only else n <= 4096)]
    return statistics.mean(both) if both else None


def speed(results, way, n):
    return results[way, n]["flops_per_s"] / 1e12 if (way, n) in results else None


def gain(results, one, two):
    """Mean of two / one over sizes."""
    both = [results[*two, n]["seconds"] / results[*one, n]["seconds"] for *key, n in results
            if tuple(key) == one and (*two, n) in results]
    return statistics.mean(both) if both else None


def dense(results, app):
    """Team collectives over two-sided rings, mean of the orders."""
    both = [results[app, "library", n]["seconds"] / results[app, "collective", n]["seconds"]
            for name, way, n in results
            if (name, way) == (app, "collective") and (app, "library", n) in results]
    return statistics.mean(both) if both else None


def ratio(a, b, value):
    return a[value] / b[value] if a and b else None


def ours(r):
    """{name of a published figure: simulated}."""
    links, trips, weak = r["links"], r["trips"], r["weak"]
    best2 = [v for v in (speed(weak, "slabs2", 16384), speed(weak, "packed2", 16384)) if v]
    top = speed(weak, "slabs", 16384)

    def link(count, size):
        return ratio(links.get(("put", count, size)), links.get(("message", count, size)),
                     "bytes_per_s")

    return {
        "strong_slabs2": mean_ratio(r["strong"], "slabs2"),
        "strong_packed2": mean_ratio(r["strong"], "packed2"),
        "weak_top": top,
        "weak_best2": max(best2) if best2 else None,
        "weak_ratio": top / max(best2) if top and best2 else None,
        "piece": weak["slabs", 16384]["row_piece_bytes"] / 1024 if top else None,
        "put8": ratio(trips.get(("torus", "put", 8)), trips.get(("torus", "message", 8)),
                      "seconds"),
        "links2": link(2, 8192),
        "links4": link(4, 8192),
        "asymptote": link(6, 1 << 20),
        "broadcast": gain(r["collectives"], ("broadcast", "tree"), ("broadcast", "point-to-point")),
        "exchange": gain(r["collectives"], ("exchange", "native"), ("exchange", "point-to-point")),
        "matmul": dense(r["dense"], "matmul"), "cholesky": dense(r["dense"], "cholesky"),
        "collective_strong": mean_ratio(r["strong"], "packed2", base="collective", only=16384),
        "collective_weak": mean_ratio(r["weak"], "packed2", base="collective", only=16384),
        "flag": ratio(trips.get(("torus", "put-then-signal", 8)), trips.get(("torus", "signal", 8)),
                      "seconds"),
    }


def records(r):
    """Published beside simulated, with the deviation."""
    found = ours(r)
    return [{"name": name, "what": fact["what"], "published": fact["value"],
             "simulated": found[name], "unit": fact["unit"],
             "deviation": found[name] / fact["value"] - 1 if found[name] else None}
            for name, fact in published().items() if name in found]


# ---- tables
def change_rows(results):
    """One line for each machine and change: how many times faster."""
    rows = []
    for m in MACHINES:
        def faster(what, one, two, machine=m):
            a, b = results.get((machine, what, one)), results.get((machine, what, two))
            return a["seconds"] / b["seconds"] if a and b else None
        rows += [(m, "FT: slabs instead of two-sided slabs", faster("ft", "slabs2", "slabs")),
                 (m, "FT: slabs instead of two-sided packed", faster("ft", "packed2", "slabs")),
                 (m, "FT: put with signal instead of put, wait, tell",
                  faster("ft", "slabs", "signal")),
                 (m, "FT: 1-D instead of 2-D grid", faster("ft", "slabs", "1d")),
                 (m, "FT: two rails", faster("ft", "slabs", "rails2")),
                 (m, "FT: four rails", faster("ft", "slabs", "rails4"))]
        rows += [(m, f"{kind}: two levels instead of one", faster(kind, 1, 2))
                 for kind in ("sync", "allreduce", "broadcast")]
    return rows


def number(value):
    return "-" if value is None else f"{value:.3g}"


def tables(r):
    """[(title, heads, rows of texts)]."""
    compared = [[x["what"], f"{number(x['published'])} {x['unit']}",
                 f"{number(x['simulated'])} {x['unit']}",
                 "-" if x["deviation"] is None else f"{100 * x['deviation']:+.0f} %"]
                for x in records(r)]
    out = [("Published and simulated", ["what", "published", "simulated", "deviation"], compared)]
    for key, title in (("strong", f"FT strong scaling, {STRONG}, GFlop/s"),
                       ("weak", "FT weak scaling, GFlop/s")):
        ways = sorted({way for way, _ in r[key]})
        cores = sorted({n for _, n in r[key]})
        rows = [[str(n)] + [number(r[key][w, n]["flops_per_s"] / 1e9) if (w, n) in r[key] else "-"
                            for w in ways] for n in cores]
        out.append((title, ["cores", *ways], rows))
    rows = [[str(f)] + [number(mean_ratio({(w, n): v for (g, w, n), v in r["bounds"].items()
                                           if g == f}, over))
                        for over in ("slabs2", "packed2")]
            for f in (0.1, 0.3)]
    out.append(("Strong scaling with other speeds of a core's transforms",
                ["fft_fraction", "slabs over slabs2", "slabs over packed2"], rows))
    rows = [[m, what, number(x)] for m, what, x in change_rows(r["changes"])]
    out.append(("What a change brings (times as fast), 1024 ranks", ["machine", "change", "x"],
                rows))
    rows = [[m, way, str(n), number(one["seconds"] * 1e6)]
            for (m, way, n), one in sorted(r["trips"].items())]
    out.append(("One message, us", ["machine", "way", "bytes", "us"], rows))
    return out


def markdown(r):
    lines = ["# Simulation", "",
             "SimGrid; machines and parameters: tools/sim/machines, docs/SIMULATION.md.", ""]
    for title, heads, rows in tables(r):
        lines += [f"## {title}", "", f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
        lines += [f"| {' | '.join(row)} |" for row in rows] + [""]
    return "\n".join(lines)


def page(r):
    body = ["<h1>Simulation</h1>"]
    for title, heads, rows in tables(r):
        cells = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>"
                        for row in rows)
        head = "".join(f"<th>{html.escape(h)}</th>" for h in heads)
        body.append(f"<h2>{html.escape(title)}</h2><table><tr>{head}</tr>{cells}</table>")
    if not plots.missing():
        body += [f"<h2>{html.escape(spec['title'])}</h2><p>{html.escape(spec['about'])} "
                 f"{html.escape(spec['says'])}</p>{sim_figures.draw(spec)}"
                 for spec in sim_specs.specs(r)]
    return ('<!doctype html><html lang="en"><meta charset="utf-8"><title>Simulation</title>'
            "<style>body{font:14px sans-serif;margin:2em}td{border-top:1px solid #ddd;"
            f"padding:3px 1em 3px 0}}</style><body>{''.join(body)}</body></html>\n")


def earlier(options):
    """With --only, the earlier results of the other sets in that folder."""
    path = options.out / "simulation.json"
    if options.only is None or not path.exists():
        return {}
    return {name: {tuple(one["key"]): one for one in found}
            for name, found in json.loads(path.read_text())["results"].items()}


def main():
    parser = argparse.ArgumentParser(description="Simulate the standard set and draw it.")
    parser.add_argument("--quick", action="store_true", help="fewer sizes")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree")
    parser.add_argument("--out", type=Path, default=ROOT / "simulation",
                        help="folder of the report")
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    parser.add_argument("--jobs", type=int, default=2, help="simulations at a time")
    parser.add_argument("--only", nargs="*", choices=SETS, metavar="SET",
                        help="names to simulate; the folder has the others; none: draw only")
    parser.add_argument("--figures", type=Path, metavar="FOLDER",
                        help="keep the figures in this folder: figures/*.svg and data/*.json")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one simulation")
    parser.add_argument("--budget", type=float,
                        help="seconds for all simulations; the report has those that are done")
    options = parser.parse_args()
    options.build = options.build.resolve()
    if not (options.build / "sim" / "sim").exists():
        print(f"no {options.build / 'sim/sim'}: SimGrid (libsimgrid-dev) was not there when it was "
              "built")
        return 77
    simulator = Simulator(options)
    results = {name: {} for name in SETS} | earlier(options)
    results |= {name: simulator.all(name, make(options.quick)) for name, make in SETS.items()
                if options.only is None or name in options.only}
    data = {"records": records(results),
            "changes": [{"machine": m, "change": w, "ratio": x}
                        for m, w, x in change_rows(results["changes"])],
            "results": {name: [{"key": list(key), **one} for key, one in found.items()]
                        for name, found in results.items()}}
    options.out.mkdir(parents=True, exist_ok=True)
    for path in (options.out / "simulation.json", options.json):
        if path:
            path.write_text(json.dumps(data, indent=1))
    (options.out / "simulation.md").write_text(markdown(results))
    (options.out / "simulation.html").write_text(page(results))
    print(f"simulate: {options.out / 'simulation.html'}")
    if options.figures:
        return sim_figures.keep(sim_specs.specs(results), options.figures / "data",
                                options.figures / "figures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
