#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# simulate.py: the standard set of `tombolo sim`, as curves with the published points beside them.
#
# Simulates the original one-sided study (Blue Gene/P; figures in PUBLISHED) on bench/machines/torus
# and what put with signal, two levels and more rails change on every machine. Nothing is fitted to
# the published figures. Writes FOLDER/simulation.json, .md and .html (self-contained, SVG).
#   bench/simulate.py [--quick] [--build build] [--out simulation] [--json FILE] [--jobs 2]
import argparse
import html
import json
import math
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MACHINES = ("torus", "fat-tree", "dragonfly", "ethernet")
COLOURS = ("#2a6f97", "#b5651d", "#3a7d44", "#8d3b72", "#6b6b6b", "#000000")
STRONG = "2048x1024x1024"
WEAK = {256: "1024x512x512", 512: "1024x1024x512", 1024: "1024x1024x1024", 2048: "2048x1024x1024",
        4096: "2048x2048x1024", 8192: "2048x2048x2048", 16384: "4096x2048x2048"}
# Published figures: (what, value, unit); docs/SIMULATION.md names their source.
PUBLISHED = {
    "strong_slabs2": ("FT strong scaling: one-sided slabs over two-sided slabs, mean", 1.63, "x"),
    "strong_packed2": ("FT strong scaling: one-sided slabs over two-sided packed, mean", 1.37, "x"),
    "weak_top": ("FT weak scaling: one-sided slabs on 16,384 cores", 1.93, "TFlop/s"),
    "weak_best2": ("FT weak scaling: best two-sided on 16,384 cores", 1.37, "TFlop/s"),
    "weak_ratio": ("FT weak scaling: their ratio", 1.93 / 1.37, "x"),
    "piece": ("FT: piece of a slab, 4096x2048x2048 on 128 x 128", 8, "KiB"),
    "put8": ("put and completion over send, receive, answer, 8 B (the machine file uses it)", 0.5,
             "x"),
    "links2": ("bandwidth at 8 KiB on two links, one-sided over two-sided", 1.24, "x"),
    "links4": ("bandwidth at 8 KiB on four links, one-sided over two-sided", 1.39, "x"),
    "asymptote": ("bandwidth at 1 MiB on six links, one-sided over two-sided", 1.0, "x"),
    "broadcast": ("broadcast: native over point-to-point, mean", 3.5, "x"),
    "exchange": ("exchange: native over point-to-point, mean", 2.5, "x"),
    "flag": ("put and strict flag over put with signal, 8 B (1.5 put round trips over half)", 3.0,
             "x"),
}


class Simulator:
    """Runs simulations, some at a time, and tells how far they are."""

    def __init__(self, options):
        self.program = options.build / "bin" / "tombolo"
        self.jobs, self.limit = options.jobs, options.timeout

    def _one(self, words):
        command = [self.program, "sim", *map(str, words), "--json", "-"]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, timeout=self.limit)
        except subprocess.TimeoutExpired:
            return {"error": f"not done after {self.limit} s", "command": words}
        if done.returncode:
            return {"error": done.stderr.strip(), "command": words}
        return json.loads(done.stdout)

    def all(self, title, asked):
        """{key: words} -> {key: result}; what failed is printed and left out."""
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


def ft(machine, ranks, points, way, *more):
    return ["ft", "--machine", machine, "--ranks", ranks, "--points", points, "--way", way,
            "--flows", "share", *more]


def strong_set(quick):
    ranks = (256, 1024, 4096) if quick else (256, 512, 1024, 2048, 4096)
    return {(way, n): ft("torus", n, STRONG, way) for n in ranks
            for way in ("slabs", "slabs2", "packed2", "signal")}


def weak_set(quick):
    return {(way, n): ft("torus", n, points, way) for n, points in WEAK.items()
            for way in ("slabs", "slabs2", "packed2") if not quick or n in (256, 16384)}


def bounds_set(quick):
    """How much the one estimate that matters, the speed of a core's transforms, changes."""
    ranks = (256, 4096) if quick else (256, 512, 1024, 2048, 4096)
    return {(f, way, n): ft("torus", n, STRONG, way, "--set", f"fft_fraction={f}") for n in ranks
            for way in ("slabs", "slabs2", "packed2") for f in (0.1, 0.3)}


def links_set(quick):
    sizes = (512, 8192, 1 << 20) if quick else [1 << k for k in range(6, 21, 2)] + [8192]
    return {(way, links, size): ["links", "--machine", "torus", "--ranks", 2048, "--links", links,
                                 "--bytes", size, "--way", way, "--count", 128]
            for size in sizes for links in (1, 2, 4, 6) for way in ("put", "message")}


def collective_set(quick):
    size, sizes = (256, (8, 8192)) if quick else (1024, (8, 256, 1024, 8192, 65536))
    asked = {}
    for n in sizes:
        base = ["collective", "--machine", "torus", "--ranks", size, "--bytes", n]
        p2p = ["--way", "message", "--levels", "1", "--algorithm", "knomial"]
        asked["broadcast native", n] = [*base, "--native"]
        asked["broadcast point-to-point", n] = [*base, *p2p]
        asked["broadcast by this library", n] = base
    for n in (512, 8192) if quick else (64, 512, 2048, 8192):
        base = ["collective", "--machine", "torus", "--ranks", 64 if quick else 128, "--bytes", n,
                "--kind", "exchange"]
        asked["exchange native", n] = [*base, "--native"]
        asked["exchange point-to-point", n] = [*base, "--way", "message", "--levels", "1",
                                               "--algorithm", "pairwise"]
        asked["exchange by this library", n] = base
    return asked


def trip_set(quick):
    sizes = (8, 8192) if quick else (8, 512, 8192, 65536)
    return {(m, way, n): ["message", "--machine", m, "--ranks", 256, "--bytes", n, "--way", way]
            for m in MACHINES for n in sizes
            for way in ("put", "message", "signal", "put-then-signal")}


def change_set(quick):
    """What put with signal, two levels, grids and rails change, on every machine."""
    ranks, asked = 1024, {}
    for m in MACHINES:
        for way in ("slabs", "signal", "packed", "slabs2", "packed2"):
            asked[m, "ft", way] = ft(m, ranks, "1024x1024x1024", way)
        asked[m, "ft", "1d"] = ft(m, ranks, "1024x1024x1024", "slabs", "--grid", "1d")
        for rails in (2, 4):
            asked[m, "ft", f"rails{rails}"] = ft(m, ranks, "1024x1024x1024", "slabs", "--set",
                                                 f"rails={rails}")
        for kind, n in (("sync", 1), ("allreduce", 8), ("broadcast", 8192)):
            for levels in (1, 2):
                asked[m, kind, levels] = ["collective", "--machine", m, "--ranks",
                                          256 if quick else ranks, "--kind", kind, "--bytes", n,
                                          "--levels", levels, "--times", 5]
    return asked


SETS = {"strong": strong_set, "weak": weak_set, "bounds": bounds_set, "links": links_set,
        "collectives": collective_set, "trips": trip_set, "changes": change_set}


# ---- figures
def mean_ratio(results, over, value="flops_per_s", base="slabs"):
    """Mean over the numbers of ranks of base / over."""
    both = [results[base, n][value] / results[over, n][value] for way, n in results
            if way == base and (over, n) in results]
    return statistics.mean(both) if both else None


def speed(results, way, n):
    return results[way, n]["flops_per_s"] / 1e12 if (way, n) in results else None


def gain(results, one, two, value):
    """Mean of two / one over sizes."""
    both = [results[two, n][value] / results[key, n][value] for key, n in results
            if key == one and (two, n) in results]
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
        "broadcast": gain(r["collectives"], "broadcast native", "broadcast point-to-point",
                          "seconds"),
        "exchange": gain(r["collectives"], "exchange native", "exchange point-to-point", "seconds"),
        "flag": ratio(trips.get(("torus", "put-then-signal", 8)), trips.get(("torus", "signal", 8)),
                      "seconds"),
    }


def records(r):
    """Published beside simulated, with the deviation."""
    found = ours(r)
    return [{"name": name, "what": what, "published": value, "simulated": found[name], "unit": unit,
             "deviation": found[name] / value - 1 if found[name] else None}
            for name, (what, value, unit) in PUBLISHED.items()]


# ---- tables and curves
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


def curves(r):
    """[(title, x, y, {name: [(x, y)]}, [published (name, x, y)])]."""
    out = []
    for key, title in (("strong", f"FT strong scaling, {STRONG}"), ("weak", "FT weak scaling")):
        lines = {}
        for (way, n), one in sorted(r[key].items()):
            lines.setdefault(way, []).append((n, one["flops_per_s"] / 1e9))
        points = [("published slabs", 16384, 1930), ("published two-sided", 16384, 1370)]
        out.append((title, "cores", "GFlop/s", lines, points if key == "weak" else []))
    lines = {}
    for (way, links, size), one in sorted(r["links"].items()):
        lines.setdefault(f"{way}, {links}", []).append((size, one["bytes_per_s"] / 1e6))
    out.append(("Bandwidth by size over 1, 2, 4, 6 links", "bytes", "MB/s each way", lines, []))
    for kind in ("broadcast", "exchange"):
        lines = {}
        for (way, size), one in sorted(r["collectives"].items()):
            if way.startswith(kind):
                lines.setdefault(way, []).append((size, one["seconds"] * 1e6))
        out.append((kind, "bytes", "us", lines, []))
    return out


def svg(curve):
    """One figure with logarithmic axes."""
    title, xname, yname, lines, points = curve
    dots = [p for line in lines.values() for p in line] + [(x, y) for _, x, y in points]
    if not dots:
        return ""
    low = [math.log(min(p[i] for p in dots)) for i in (0, 1)]
    high = [max(math.log(max(p[i] for p in dots)), low[i] + 1e-9) for i in (0, 1)]

    def at(p):
        x, y = ((math.log(p[i]) - low[i]) / (high[i] - low[i]) for i in (0, 1))
        return f"{60 + 400 * x:.1f},{260 - 230 * y:.1f}"

    out = [f'<svg width="700" height="300" font-size="11"><text x="60" y="14">'
           f"{html.escape(title)} ({html.escape(yname)} by {html.escape(xname)})</text>"
           '<path d="M60 30V260H460" stroke="#888" fill="none"/>']
    for value, y in ((low[1], 260), (high[1], 35)):
        out.append(f'<text x="2" y="{y}">{math.exp(value):.3g}</text>')
    for value, x in ((low[0], 60), (high[0], 440)):
        out.append(f'<text x="{x}" y="276">{math.exp(value):.6g}</text>')
    for i, (name, line) in enumerate(lines.items()):
        colour = COLOURS[i % len(COLOURS)]
        dash = "" if i < len(COLOURS) else ' stroke-dasharray="4"'
        out.append(f'<polyline points="{" ".join(at(p) for p in line)}" fill="none" '
                   f'stroke="{colour}"{dash}/><text x="480" y="{40 + 15 * i}" fill="{colour}">'
                   f"{html.escape(name)}</text>")
    for i, (name, x, y) in enumerate(points):
        px, py = at((x, y)).split(",")
        out.append(f'<circle cx="{px}" cy="{py}" r="4" fill="none" stroke="#c00"/><text x="480" '
                   f'y="{40 + 15 * (len(lines) + i)}" fill="#c00">o {html.escape(name)} {y}</text>')
    return "".join(out) + "</svg>"


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
             "SimGrid; machines and parameters: bench/machines, docs/SIMULATION.md.", ""]
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
    body += [f"<p>{svg(curve)}</p>" for curve in curves(r)]
    return ('<!doctype html><html lang="en"><meta charset="utf-8"><title>Simulation</title>'
            "<style>body{font:14px sans-serif;margin:2em}td{border-top:1px solid #ddd;"
            f"padding:3px 1em 3px 0}}</style><body>{''.join(body)}</body></html>\n")


def main():
    parser = argparse.ArgumentParser(description="Simulate the standard set and draw it.")
    parser.add_argument("--quick", action="store_true", help="fewer sizes")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree")
    parser.add_argument("--out", type=Path, default=ROOT / "simulation", help="its folder")
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    parser.add_argument("--jobs", type=int, default=2, help="simulations at a time")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one simulation")
    options = parser.parse_args()
    options.build = options.build.resolve()
    if not (options.build / "sim" / "sim").exists():
        print(f"no {options.build / 'sim/sim'}: SimGrid (libsimgrid-dev) was not there when it was "
              "built")
        return 77
    simulator = Simulator(options)
    results = {name: simulator.all(name, make(options.quick)) for name, make in SETS.items()}
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
