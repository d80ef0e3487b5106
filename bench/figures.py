#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The figures of the study: what each shows of the JSON of a part, and the sentence beside it.

A Figure names the parts that it draws from; its function gets their JSON and returns Shown: panels
of plots.py, one sentence that is computed from these data, and a table where numbers say more.
Invariants: no number is written here that a run could change; a line that a run lacks is left out,
a figure without any line is not shown. bench/report.py makes pages of them. As a program it draws
all figures again from kept JSON (`make figures`); the same JSON gives the same bytes.
  bench/figures.py [--data docs/figures/data] [--out docs/figures] [--page docs/FIGURES.md]
                   [--adopt STUDY] [--check]
"""
import argparse
import dataclasses
import json
import shutil
import statistics
import sys
from pathlib import Path

import plots
import report
from plots import Axis, Bars, Lines, Ratio, Stacked

ROOT = Path(__file__).resolve().parent.parent
RANKS = Axis("ranks")
BYTES = Axis("size", "bytes", scale="bytes")
OUR_WAYS = ("barrier", "pairwise", "flag", "signal", "semaphore", "tagged")


@dataclasses.dataclass
class Shown:
    panels: list
    says: str
    heads: list = dataclasses.field(default_factory=list)  # of the table
    rows: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Figure:
    name: str
    title: str
    parts: tuple
    about: str  # what is shown
    show: object  # function({part: JSON}) -> Shown or None
    spread: str = "line: median of the runs; band: least to most of them"


# ---- helpers
def middle(values, scale=1.0):
    """(median, least, most) in other units."""
    return (scale * statistics.median(values), scale * min(values), scale * max(values))


def by_ranks(data, panel, scale=1e3, keep=lambda line: True):
    """{line: [(ranks, median, least, most)]} of a part made by scaling.py."""
    series = {}
    for r in data["records"]:
        if r["panel"] == panel and keep(r["line"]):
            series.setdefault(r["line"], []).append((r["ranks"], *middle(r["values"], scale)))
    return {line: sorted(points) for line, points in series.items()}


def of_rounds(row, side, scale=1.0):
    """(median, least, most) of the medians of the rounds of a row of series.py."""
    return middle(row.get("rounds", {}).get(side) or row["sides"][side][:1], scale)


def by_bytes(data, row, sides, scale=1.0):
    """{what it is called: points} of rows "NAME BYTES MEDIAN LEAST MOST"; sides: {called: (side,
    row's name)}, row: prefix of all names."""
    series = {}
    for called, (side, name) in sides.items():
        points = [(r["bytes"], *of_rounds(r, side, scale)) for r in data["records"]
                  if r["name"] == row + name and side in r["sides"]]
        if points:
            series[called] = sorted(points)
    return series


def link_name(count):
    return f"{count} link{'' if count == 1 else 's'}"


def at(series, line, x):
    return next((p[1] for p in series.get(line, ()) if p[0] == x), None)


def last_x(series):
    return max((p[0] for points in series.values() for p in points), default=None)


def fastest(series, x, among):
    """(line, value) of the least value at x, or None."""
    found = [(at(series, line, x), line) for line in among if at(series, line, x) is not None]
    return min(found)[::-1] if found else None


def times(ratio):
    """How many times, in words that are true for any ratio."""
    if 0.95 <= ratio <= 1.05:
        return "as long as"
    return f"{plots.number(ratio)} times as long as" if ratio > 1 else \
        f"{plots.number(100 * ratio)} % of the time of"


def sentence(begin, said):
    """One sentence of what was said of each panel."""
    return f"{begin}{'; '.join(said)}." if said else "Nothing here can be compared in this run."


def in_order(series, names):
    """Those lines first, in this order, then all others."""
    return {n: series[n] for n in [*(n for n in names if n in series),
                                   *(n for n in series if n not in names)]}


def ranks(count):
    return f"{count} rank{'' if count == 1 else 's'}"


def is_mpi(line):
    return line.startswith(("Open MPI", "MPICH"))


# ---- applications
def panels_by_ranks(data, keep, names, ratio=None, y=Axis("time of an iteration", "ms", log=True)):
    out = []
    for panel in dict.fromkeys(r["panel"] for r in data["records"]):
        series = in_order(by_ranks(data, panel, keep=keep), names)
        if series:
            base = ratio if ratio in series else None
            out.append(Lines(RANKS, y, series, panel, ratio=Ratio(
                "over " + base.split(": ")[-1], base, inverse=True) if base else None))
    return out


def pipeline_c(parts):
    panels = panels_by_ranks(parts["pipeline"],
                             lambda line: not line.startswith(("Fortran", "OpenCo")), OUR_WAYS)
    if not panels:
        return None
    said = []
    for panel in panels:
        x = last_x(panel.series)
        ours = fastest(panel.series, x, OUR_WAYS)
        peer = fastest(panel.series, x, filter(is_mpi, panel.series))
        barrier = at(panel.series, "barrier", x)
        if ours and barrier:
            text = f"{panel.title} on {ranks(x)}: {ours[0]}, {plots.number(ours[1])} ms (a " \
                   f"barrier {plots.number(barrier / ours[1])} times as long"
            text += f", {peer[0]} {plots.number(peer[1] / ours[1])} times" if peer else ""
            said.append(text + ")")
    return Shown(panels, sentence("Fastest: ", said))


def pipeline_fortran(parts):
    names = [f"Fortran: {n}" for n in ("sync all", "sync images", "event", "attached event")]
    panels = panels_by_ranks(parts["pipeline"],
                             lambda line: line.startswith(("Fortran", "OpenCo")), names)
    if not panels:
        return None
    said = []
    for panel in panels:
        x = last_x(panel.series)
        event, attached, every = (at(panel.series, names[i], x) for i in (2, 3, 0))
        if event and attached and every:
            said.append(f"{panel.title} on {ranks(x)}: an attached event takes "
                        f"{times(attached / event)} a posted one, sync all "
                        f"{times(every / attached)} the attached one")
    return Shown(panels, sentence("", said))


def events(parts):
    names = ("put with signal", "put + flag", "put + atomic", "message + queue")
    panels = panels_by_ranks(parts["events"], lambda line: line in names, names, names[0])
    said = []
    for panel in panels:
        x = last_x(panel.series)
        signal = at(panel.series, names[0], x)
        others = [(at(panel.series, n, x), n) for n in names[1:] if at(panel.series, n, x)]
        if signal and others:
            said.append(f"{panel.title.split(', ')[-1]}, {ranks(x)}: the fastest other way, "
                        f"{min(others)[1]}, takes {times(min(others)[0] / signal)} put with "
                        "signal")
    return Shown(panels, sentence("Events ", said)) if panels else None


def stencil(parts):
    data = parts["stencil"]
    names = [n + o for n in ("signal", "put + flag", "message") for o in ("", ", overlapped")]
    panels = panels_by_ranks(data, lambda line: not line.startswith("MPICH"), names,
                             y=Axis("time of an iteration", "ms"))
    said = []
    for panel in panels:
        x = last_x(panel.series)
        off, on = (at(panel.series, n, x) for n in ("signal", "signal, overlapped"))
        peer = fastest(panel.series, x, filter(is_mpi, panel.series))
        if off and on:
            text = f"{panel.title}, {ranks(x)}: with overlap, put with signal takes " \
                   f"{times(on / off)} without"
            text += f"; {peer[0]} takes {times(peer[1] / min(on, off))} ours" if peer else ""
            said.append(text)
    return Shown(panels, sentence("", said)) if panels else None


def hydro(parts):
    data = parts["hydro"]
    base = "Fortran: sync all"
    names = [base, "Fortran: sync images", "Fortran: event", "Fortran: attached event", "signal"]
    panels, said = [], []
    for panel in dict.fromkeys(r["panel"] for r in data["records"]):
        series = in_order(by_ranks(data, panel, keep=lambda line: line in names or is_mpi(line)),
                          names)
        if base not in series:
            continue
        panels.append(Lines(RANKS, Axis("time of a step", "ms", log=True), series, panel))
        gains = {line: [(x, 1 - y / at(series, base, x)) for x, y, *_ in points
                        if at(series, base, x)]
                 for line, points in series.items() if line in names[1:]}
        panels.append(Lines(RANKS, Axis("1 - t / t(sync all)", log=False, low=min(
            0, *(p[1] for points in gains.values() for p in points)) - 0.05), gains, panel))
        x = last_x(series)
        best = max((points[-1][1], line) for line, points in gains.items() if points[-1][0] == x)
        said.append(f"{panel}, {ranks(x)}: {best[1]} saves {100 * best[0]:.0f} % of the time "
                    "of sync all")
    return Shown(panels, sentence("", said)) if panels else None


def beside_scalapack(app, panel, series):
    """What one sees of one problem, at the largest number of ranks that both sides have done."""
    ours = {n: dict(p[:2] for p in points) for n, points in series.items()
            if not n.startswith("ScaLAPACK")}
    theirs = {n: dict(p[:2] for p in points) for n, points in series.items()
              if n.startswith("ScaLAPACK")}
    both = {x for p in ours.values() for x in p} & {x for p in theirs.values() for x in p}
    if not both:
        return f"{app} {panel}: nothing to compare"
    x = max(both)
    best, name = max((p[x], n) for n, p in ours.items() if x in p)
    peer, other = max((p[x], n) for n, p in theirs.items() if x in p)
    return f"{app} {panel}, {ranks(x)}: {name} reaches {plots.number(best / peer)} times the " \
           f"rate of {other}"


def linear(parts):
    panels, said = [], []
    for app in ("matmul", "cholesky"):
        data = parts.get(app)
        for panel in dict.fromkeys(r["panel"] for r in data["records"]) if data else ():
            series = {}
            for r in data["records"]:
                if r["panel"] == panel and r["work"]:
                    rates = [r["work"] / v / 1e9 for v in r["values"]]
                    series.setdefault(r["line"], []).append((r["ranks"], *middle(rates)))
            names = ["blocking", "ahead", "get", "direct", "signal", "UPC"]
            series = in_order({n: sorted(p) for n, p in series.items()}, names)
            panels.append(Lines(RANKS, Axis("rate", "GFlop/s", log=False), series,
                                f"{app}, {panel}"))
            said.append(beside_scalapack(app, panel, series))
    return Shown(panels, sentence("", said)) if panels else None


def ft(parts):
    data = parts["ft1"]
    names = {"fft": "transform", "evolve": "evolve", "movement": "movement in memory",
             "communication": "communication", "synchronisation": "waiting for others"}
    bars, rows = {}, []
    for way, detail in data.get("details", {}).items():
        called = way.replace("tombolo ", "").replace("openmpi", "Open MPI").replace("mpich",
                                                                                    "MPICH")
        bars[called] = {names[k]: v for k, v in detail["phases"].items() if k in names}
        seconds = data["seconds"][way]
        row = [called, f"{statistics.median(seconds):.3f} s",
               f"{min(seconds):.3f}..{max(seconds):.3f}"]
        if detail.get("puts"):
            row += [str(detail["puts"]), plots.size(detail["bytes"] / detail["puts"]) + "B"]
        rows.append(row + ["-"] * (5 - len(row)))
    if not bars:
        return None
    medians = {way: statistics.median(v) for way, v in data["seconds"].items() if v}
    ours = min((v, w) for w, v in medians.items() if w.startswith("tombolo"))
    peers = [(v, w) for w, v in medians.items() if not w.startswith("tombolo")]
    says = f"Our fastest schedule is {ours[1][8:]} ({ours[0]:.3f} s, verified)"
    says += f"; {min(peers)[1]}, the fastest peer, takes {times(min(peers)[0] / ours[0])} ours." \
        if peers else "."
    return Shown([Stacked(Axis("time of all iterations, mean of the ranks", "s"), bars)], says,
                 ["way", "median", "least..most", "puts a rank", "bytes of a put"], rows)


# ---- single operations
NEAR = {"put, blocking": ("tombolo", "put_blocking"), "put, non-blocking": ("tombolo", "put_nb"),
        "put, implicit": ("tombolo", "put"), "get, blocking": ("tombolo", "get_blocking"),
        "put with signal": ("tombolo", "signal"), "message": ("tombolo", "message"),
        "Open MPI two-sided": ("openmpi", "message"), "Open MPI one-sided": ("openmpi", "put"),
        "MPICH two-sided": ("mpich", "message"), "memcpy": ("memcpy", "put"),
        "TCP": ("tcp", "message"), "libfabric": ("libfabric", "message")}
PLACES = {"ops": "smp: shared memory", "opsfar": "udp: loopback", "opsofi": "ofi: tcp, loopback",
          "opsmpi": "mpi: over MPICH"}


def ops_figure(row, y, scale=1.0, invert=False, keep=lambda name: True, x=BYTES):
    """A function that draws a row of ops.py, a panel a conduit."""
    def show(parts):
        panels = []
        for part, title in PLACES.items():
            if part not in parts:
                continue
            series = by_bytes(parts[part], "", {c: (s, f"{n}_{row}") for c, (s, n) in NEAR.items()
                                                if keep(c)}, scale)
            if invert:
                series = {n: [(b, b / m / 1e3, b / most / 1e3, b / least / 1e3)
                              for b, m, least, most in points] for n, points in series.items()}
            if series:
                panels.append(Lines(x, y, series, title))
        return panels
    return show


def latency(parts):
    panels = ops_figure("latency", Axis("latency", "us", log=True))(parts)
    if not panels:
        return None
    said = []
    for panel in panels:
        small = min(p[0] for points in panel.series.values() for p in points)
        put, told = (at(panel.series, n, small) for n in ("put, blocking", "put with signal"))
        peer = fastest(panel.series, small, filter(is_mpi, panel.series))
        if put and told:
            text = f"{panel.title.split(':')[0]}: put {plots.number(put)} us, put with signal " \
                   f"{plots.number(told)} us"
            text += f", {peer[0]} {plots.number(peer[1])} us" if peer else ""
            said.append(text)
    return Shown(panels, sentence(f"At {small} B, ", said))


def depth(parts):
    panels = ops_figure("depth", Axis("time an operation of 8 B", "us", log=True),
                        x=Axis("operations in flight"))(parts)
    if not panels:
        return None
    said = []
    for panel in panels:
        points = panel.series.get("put, implicit")
        if points:
            said.append(f"{panel.title.split(':')[0]}: from {plots.number(points[0][1])} us alone "
                        f"to {plots.number(points[-1][1])} us with {points[-1][0]} in flight")
    return Shown(panels, sentence("A put of 8 B takes, ", said))


def bandwidth(parts):
    panels = ops_figure("gap", Axis("bandwidth", "GB/s", log=True), invert=True)(parts)
    if not panels:
        return None
    said = []
    for panel in panels:
        top = {n: max(p[1] for p in points) for n, points in panel.series.items()}
        peers = [(v, n) for n, v in top.items() if plots.is_peer(n)]
        if "put, implicit" in top:
            text = f"{panel.title.split(':')[0]}: puts reach {plots.number(top['put, implicit'])}" \
                   " GB/s"
            text += f", {max(peers)[1]} {plots.number(max(peers)[0])} GB/s" if peers else ""
            said.append(text)
    return Shown(panels, sentence("", said))


def links(parts):
    data = parts["rails"]
    panels, said = [], []
    for panel in dict.fromkeys(r["panel"] for r in data["records"]):
        series, limits = {}, {}
        for r in data["records"]:
            if r["panel"] == panel:
                series.setdefault(r["line"], []).append((r["bytes"], *middle(r["values"], 1e-6)))
                limits.setdefault(r["links"], set()).add(r["bytes"])
        bounds = {f"limit of {link_name(n)}": [
            (b, n * data["rate"] / 1e6) for b in sorted(limits[n])]
            for n in (min(limits), max(limits))}
        series = {n: sorted(p) for n, p in series.items()}
        panels.append(Lines(BYTES, Axis("bandwidth", "MB/s", log=True), series, panel,
                            bounds=bounds))
        most = max(limits)
        x = last_x(series)
        one, all_links = (at(series, link_name(n), x) for n in (min(limits), most))
        if one and all_links:
            said.append(f"{panel} of {plots.size(x)}B: {plots.number(one)} MB/s over one, "
                        f"{plots.number(all_links)} MB/s over {most}")
    return Shown(panels, sentence("", said)) if panels else None


def overlap(parts):
    panels = ops_figure("overlap", Axis("share hidden", log=False, low=0, high=1.03),
                        keep=lambda name: name not in ("memcpy", "TCP"))(parts)
    if not panels:
        return None
    said = []
    for panel in panels:
        x = last_x(panel.series)
        put = at(panel.series, "put, implicit", x)
        if put is not None:
            said.append(f"{panel.title.split(':')[0]} {100 * put:.0f} %")
    return Shown(panels, sentence(
        f"Of a put of {plots.size(x)}B a computation as long hides: ", said))


def upc(parts):
    data = parts["upc"]
    lines = {"memput + strict flag": ("upc", "strict"), "memput + fence + flag": ("upc", "fence"),
             "semaphore": ("upc", "semaphore"), "memput_signal": ("upc", "signal"),
             "Open MPI two-sided": ("openmpi", "message"), "MPICH two-sided": ("mpich", "message")}
    panels, said = [], []
    for panel in dict.fromkeys(r.get("place", "") for r in data["records"]):
        chosen = {"records": [r for r in data["records"] if r.get("place", "") == panel]}
        series = by_bytes(chosen, "", {c: (s, f"{n}_latency") for c, (s, n) in lines.items()})
        if not series:
            continue
        panels.append(Lines(BYTES, Axis("data and notice, one way", "us", log=True), series, panel))
        small = min((p[0] for p in series.get("memput_signal", ())), default=8)
        strict, told = (at(series, n, small) for n in ("memput + strict flag", "memput_signal"))
        if strict and told:
            said.append(f"{panel}: memput and strict flag take {times(strict / told)} memput_signal"
                        f" ({plots.number(told)} us)")
    return Shown(panels, sentence(f"At {small} B, ", said)) if panels else None


# ---- collectives, words, start
FORM_NAMES = {"board": "shared board", "tree": "dissemination / trees", "flat": "one root",
              "bare": "puts with signal by hand", "default": "the library's choice"}


def forms_series(data, name, size):
    series = {}
    for job in data["jobs"]:
        for r in job["records"]:
            for form in r["sides"] if (r["name"], r["bytes"]) == (name, size) else ():
                series.setdefault(FORM_NAMES[form], []).append((job["ranks"], *of_rounds(r, form)))
    return series


def forms_sizes(data, name, count):
    series = {}
    for job in data["jobs"]:
        for r in job["records"] if job["ranks"] == count else ():
            for form in r["sides"] if r["name"] == name else ():
                series.setdefault(FORM_NAMES[form], []).append((r["bytes"], *of_rounds(r, form)))
    return series


def coll_points(data, kind):
    names = {"openmpi": "Open MPI", "mpich": "MPICH"}
    series = {}
    for r in data["records"]:
        for side, v in r.get("samples", {}).items() if r["collective"] == kind else ():
            if side in names and v:
                series.setdefault(names[side], []).append((r["bytes"], *middle(v)))
    return series


def barrier(parts):
    series = forms_series(parts["forms"], "barrier", 0)
    for part in ("coll", "coll4", "coll8"):
        for name, points in coll_points(parts[part], "barrier").items() if part in parts else ():
            series.setdefault(name, []).append((parts[part]["ranks"], *points[0][1:]))
    series = {n: sorted(p) for n, p in series.items()}
    if "the library's choice" not in series:
        return None
    x = series["the library's choice"][-1][0]
    ours = at(series, "the library's choice", x)
    slow = max((at(series, n, x), n) for n in series if at(series, n, x))
    return Shown([Lines(RANKS, Axis("time of a barrier", "us", log=True), series)],
                 f"With {x} ranks the library's choice takes {plots.number(ours)} us, the slowest "
                 f"form ({slow[1]}) {plots.number(slow[0])} us.")


def collectives(parts):
    panels, said = [], []
    every = [j["ranks"] for j in parts["forms"]["jobs"]]
    chosen = 4 if 4 in every else every[-1]
    coll = next((p for p in ("coll4", "coll", "coll8") if p in parts
                 and parts[p]["ranks"] == chosen), None)
    for name in ("broadcast", "allreduce", "exchange"):
        series = forms_sizes(parts["forms"], name, chosen)
        if coll:
            series.update(coll_points(parts[coll], name))
        series = {n: sorted(p) for n, p in series.items()}
        if not series:
            continue
        panels.append(Lines(BYTES, Axis("time", "us", log=True), series,
                            {"exchange": "all-to-all", "allreduce": "all-reduce"}.get(name, name)))
        x = min(p[0] for p in series["the library's choice"])
        ours = at(series, "the library's choice", x)
        peer = fastest(series, x, [n for n in series if plots.is_peer(n)])
        text = f"{panels[-1].title} {plots.number(ours)} us"
        said.append(text + (f" ({peer[0]} {plots.number(peer[1])} us)" if peer else ""))
    return Shown(panels, sentence(f"{chosen} ranks, at the least size of each: ", said)) \
        if panels else None


def fetchadd(parts):
    data = parts["fetchadd"]
    panels, said = [], []
    for panel in dict.fromkeys(r["panel"] for r in data["records"]):
        series = {}
        for r in data["records"]:
            if r["panel"] == panel:
                series.setdefault(r["line"], []).append((r["ranks"], *middle(r["values"], 1e-6)))
        series = {n: sorted(p) for n, p in series.items()}
        panels.append(Lines(Axis("processes"), Axis("rate of all together", "million/s", log=True),
                            series, panel))
        x = last_x({"": series.get("Tombolo", [(0, 0)])})
        ours, peer = at(series, "Tombolo", x), [
            (at(series, n, x), n) for n in series if is_mpi(n) and at(series, n, x)]
        if ours:
            text = f"{panel}, {x} processes: {plots.number(ours)} million/s"
            said.append(text + (f" ({max(peer)[1]} {plots.number(max(peer)[0])})" if peer else ""))
    return Shown(panels, sentence("", said)) if panels else None


def start(parts):
    data = parts["start"]
    series = {}
    for r in data["records"]:
        series.setdefault(r["line"], []).append((r["ranks"], *middle(r["values"])))
    series = {n: sorted(p) for n, p in series.items()}
    if "Tombolo" not in series:
        return None
    x, ours, *_ = series["Tombolo"][-1]
    shared = [n for n in series if is_mpi(n)]
    said = [f"{n} {plots.number(series[n][-1][1])} s for {series[n][-1][0]}" for n in shared]
    says = f"`tombolo run` starts, synchronises and ends {x} ranks in {plots.number(ours)} s"
    return Shown([Lines(RANKS, Axis("time of the whole job", "s", log=True), series)],
                 says + (f"; {', '.join(said)}." if said else "."))


OPS = tuple(PLACES)
BAND_SAMPLES = "line: median of the rounds' medians; band: least to most of them"
FIGURES = [
    Figure("latency", "Latency by size", OPS,
           "One operation at a time: put and get until they are done, put with signal and message "
           "until the target can use the data. Two ranks.", latency, BAND_SAMPLES),
    Figure("pipeline", "Pipeline (sync_p2p), strong scaling, in C", ("pipeline",),
           "A wavefront over a grid (Parallel Research Kernels, Synch_p2p). The columns are "
           "divided among the ranks; a row waits for one number from the left neighbour. Only the "
           "way of giving notice differs.", pipeline_c),
    Figure("pipeline-fortran", "Pipeline (sync_p2p), strong scaling, in coarray Fortran",
           ("pipeline",), "The same kernel in coarray Fortran, by form of synchronisation.",
           pipeline_fortran),
    Figure("events", "Events of coarray Fortran, in four ways", ("events",),
           "The pipeline in coarray Fortran; TOMBOLO_CAF_EVENTS chooses how its events are built. "
           "Posted: an assignment, then EVENT POST. Attached: the assignment is the post, which "
           "put with signal makes one operation; the other ways wait for the data, then post.",
           events),
    Figure("stencil", "Stencil, strong and weak scaling, overlap off and on", ("stencil",),
           "A star stencil with exchange of halos (Parallel Research Kernels, Stencil). "
           "Overlapped: points that need no halo are computed while halos travel.", stencil),
    Figure("hydro", "Hydrodynamics by form of synchronisation", ("hydro",),
           "A step of compressible hydrodynamics (of CloverLeaf's class) in coarray Fortran, and "
           "in C with put with signal and on MPI. Right: the part of the time of sync all that is "
           "saved.", hydro),
    Figure("linear", "Matrix product and Cholesky factorisation", ("matmul", "cholesky"),
           "Block-cyclic matrices. In C: blocking, ahead: team collectives; get, direct, signal: "
           "by hand. UPC (where it is built): puts that post a semaphore. Beside ScaLAPACK, with "
           "the same BLAS.", linear),
    Figure("ft", "NAS FT: where the time goes, by schedule", ("ft1",),
           "The 3-D transform of NAS FT with its exchange in one packed put a rank, or plane by "
           "plane (slabs), blocking or not, with signals; MPI_Alltoall and point-to-point MPI on "
           "the same layout.", ft, "bar: mean over the ranks of the last run"),
    Figure("depth", "Inverse throughput by depth", OPS,
           "Time an operation of 8 B when 1 to 256 are started before the first is waited for.",
           depth, BAND_SAMPLES),
    Figure("bandwidth", "Bandwidth by size", OPS, "Many operations in flight, one after the other.",
           bandwidth, BAND_SAMPLES),
    Figure("links", "Bandwidth over one to four links", ("rails",),
           "Two hosts (network namespaces) joined by links of 1 Gbit/s each; a transfer is shared "
           "among the links in use.", links),
    Figure("overlap", "Overlap by size", OPS,
           "The share of a transfer that a computation as long as it hides. 1: all. In shared "
           "memory the processor itself copies.", overlap,
           BAND_SAMPLES),
    Figure("upc", "UPC: ways to hand over data", ("upc",),
           "Data and the notice that they are there, from one thread to another, one way.", upc,
           BAND_SAMPLES),
    Figure("barrier", "Barrier by algorithm", ("forms", "coll", "coll4", "coll8"),
           "All ranks on this machine; MPI's barrier beside it.", barrier, BAND_SAMPLES),
    Figure("collectives", "Collectives by size", ("forms", "coll", "coll4", "coll8"),
           "Broadcast, all-reduce and all-to-all in each form, and MPI's.", collectives,
           BAND_SAMPLES),
    Figure("fetchadd", "Fetch-and-add by number of processes", ("fetchadd",),
           "Each process adds as fast as it can: all to one word, or each to the word of its right "
           "neighbour.", fetchadd),
    Figure("start", "Start of a job", ("start",),
           "From the launcher's begin to its end: processes start, join, pass a barrier and end.",
           start),
]


def shown(figure, data):
    """Shown of one figure, or None where its parts have nothing. data: {part: JSON}."""
    have = {part: data[part] for part in figure.parts if data.get(part)}
    first = figure.parts[0]
    if not have or (figure.parts is not OPS and figure.name != "linear" and first not in have):
        return None
    return figure.show(have)


def all_shown(data):
    """[(Figure, Shown)] of all that can be drawn."""
    found = []
    for figure in FIGURES:
        one = shown(figure, data)
        if one and one.panels:
            found.append((figure, one))
    return found


def drawing(figure, one):
    return plots.draw(figure.title, *one.panels)


# ---- the kept figures: docs/figures
def load(folder):
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


def adopt(study, folder):
    """Copies the JSON of a study's parts that figures are drawn from. Returns the names."""
    wanted = dict.fromkeys(part for figure in FIGURES for part in figure.parts)
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for part in wanted:
        source = study / f"{part}.json"
        if source.exists():
            shutil.copyfile(source, folder / source.name)
            found.append(part)
    return found


def write(data, out, page):
    """Writes the SVGs and the page. Returns {path: text}."""
    texts = {}
    figures = all_shown(data)
    for figure, one in figures:
        texts[out / f"{figure.name}.svg"] = drawing(figure, one)
    texts[page] = report.figures_page(figures, data, out.relative_to(page.parent))
    return texts


def main():
    parser = argparse.ArgumentParser(description="Draws the figures of docs/figures again.")
    docs = ROOT / "docs"
    parser.add_argument("--data", type=Path, default=docs / "figures" / "data", help="kept JSON")
    parser.add_argument("--out", type=Path, default=docs / "figures", help="folder of the SVGs")
    parser.add_argument("--page", type=Path, default=docs / "FIGURES.md", help="all figures")
    parser.add_argument("--adopt", type=Path, metavar="STUDY", help="first take its JSON")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if files differ")
    options = parser.parse_args()
    reason = plots.missing()
    if reason:
        print(f"figures: {reason}", file=sys.stderr)
        return 77
    if options.adopt:
        print(f"figures: from {options.adopt}: {', '.join(adopt(options.adopt, options.data))}")
    drawn = f"(Matplotlib {plots.load().__version__})"
    if options.check and options.page.exists() and drawn not in options.page.read_text():
        print(f"figures: {options.page} was drawn by another Matplotlib than this one {drawn}")
        return 77
    texts = write(load(options.data), options.out, options.page)
    if options.check:
        differ = [str(p) for p, text in texts.items() if not p.exists() or p.read_text() != text]
        print("\n".join(f"figures: {p} differs: run make figures" for p in differ))
        return 1 if differ else 0
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    print(f"figures: {len(texts) - 1} drawings in {options.out}, {options.page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
