# SPDX-License-Identifier: BSD-3-Clause
"""The figures of applications: what each shows of the JSON of its part, and the sentence beside it.

Named in the table of figures.py, which has what is said of each; made with figure_kit.py. A
function gets {part: JSON} and returns Shown, or None where the parts have nothing of it. Invariant:
sentences are computed from these data.
"""
import dataclasses
import statistics

import plots
from figure_kit import (OUR_WAYS, RANKS, Shown, at, by_ranks, bytes_text, fastest, headline,
                        in_order, is_mpi, middle, processors, ranks, sentence, times)
from plots import Axis, Bars, Lanes, Lines, Ratio, Stacked


WORK = ("computes", "waits", "sends")  # what is drawn last is on top
TICK = 0.003  # of the whole time: the least width that is drawn


def diagrams(parts):
    """When each rank works, a panel for each trace; an interval is at least a tick long."""
    panels, said, records = [], [], parts["diagrams"]["records"]
    for r in records:
        tick = 1e3 * r["seconds"] * TICK
        lanes = {lane: [(begin, max(end, begin + tick), kind) for begin, end, kind in
                        sorted(spans, key=lambda span: WORK.index(span[2]))]
                 for lane, spans in r["lanes"].items()}
        panels.append(Lanes(Axis("time", "ms"), lanes, tuple(map(tuple, r["arrows"])), r["title"]))
        said.append(f"{r['title']}: {plots.number(1e3 * r['seconds'])} ms, in which a rank "
                    f"computes {100 * r['shares']['computes']:.0f} % of the time and waits "
                    f"{100 * r['shares']['waits']:.0f} %")
    return Shown(panels, sentence("", said), columns=1) if panels else None


def panels_by_ranks(data, keep, names, ratio=None, y=Axis("time of an iteration", "ms", log=True)):
    out = []
    for panel in dict.fromkeys(r["panel"] for r in data["records"]):
        series = in_order(by_ranks(data, panel, keep=keep), names)
        if series:
            base = ratio if ratio in series else None
            out.append(Lines(RANKS, y, series, panel, crowded=processors(data), ratio=Ratio(
                "over " + base.split(": ")[-1], base, inverse=True) if base else None))
    return out


def as_bars(panel):
    """A panel of lines whose points all have one x is easier to read as bars."""
    xs = {p[0] for line in panel.series.values() for p in line}
    if len(xs) != 1:
        return panel
    groups = {n: {n: tuple(line[0][1:]) if len(line[0]) == 4 else line[0][1]}
              for n, line in panel.series.items() if line}
    return Bars(dataclasses.replace(panel.y, log=False), groups,
                f"{panel.title}, {ranks(xs.pop())}")


def pipeline_c(parts):
    panels = panels_by_ranks(parts["pipeline"],
                             lambda line: not line.startswith(("Fortran", "OpenCo")), OUR_WAYS)
    if not panels:
        return None
    said = []
    for panel in panels:
        x = headline(panel)
        ours = fastest(panel.series, x, OUR_WAYS)
        peer = fastest(panel.series, x, filter(is_mpi, panel.series))
        barrier = at(panel.series, "barrier", x)
        if ours and barrier:
            text = f"{panel.title} on {ranks(x)}: {ours[0]}, {plots.number(ours[1])} ms (a " \
                   f"barrier takes {times(barrier / ours[1])} that"
            text += f", {peer[0]} {times(peer[1] / ours[1])} that" if peer else ""
            said.append(text + ")")
    return Shown([as_bars(p) for p in panels], sentence("Fastest: ", said))


def pipeline_fortran(parts):
    names = [f"Fortran: {n}" for n in ("sync all", "sync images", "event", "attached event")]
    panels = panels_by_ranks(parts["pipeline"],
                             lambda line: line.startswith(("Fortran", "OpenCo")), names)
    if not panels:
        return None
    said = []
    for panel in panels:
        x = headline(panel)
        event, attached, every = (at(panel.series, names[i], x) for i in (2, 3, 0))
        if event and attached and every:
            said.append(f"{panel.title} on {ranks(x)}: an attached event takes "
                        f"{times(attached / event)} a posted one, sync all "
                        f"{times(every / attached)} the attached one")
    return Shown([as_bars(p) for p in panels], sentence("", said))


def is_fortran(panel):
    return "Fortran" in panel.title or panel.title.startswith("events")


def is_shown(line):
    """The lines of a figure of hosts, without variants that differ little."""
    return not line.endswith(", overlapped") and line not in ("flag", "semaphore")


def hosts(parts, wanted=lambda panel: not is_fortran(panel)):
    """Applications on hosts, a panel each; the sentence has the fastest of each side."""
    data = parts["hosts"]
    panels, said = [], []
    names = ["signal", "put with signal", "Fortran: sync all", "Fortran: sync images",
             "Fortran: event", "Fortran: attached event"]
    for panel in filter(wanted, panels_by_ranks(data, is_shown, names)):
        panel = dataclasses.replace(panel, x=Axis("hosts, one rank each"))
        panels.append(panel)
        x = headline(panel)
        ours = fastest(panel.series, x, [n for n in panel.series if not is_mpi(n)])
        if not ours:
            continue
        slowest = max((at(panel.series, n, x), n) for n in panel.series
                      if not is_mpi(n) and at(panel.series, n, x))
        peer = fastest(panel.series, x, filter(is_mpi, panel.series))
        text = f"{panel.title}, {x} hosts: {ours[0]} ({plots.number(ours[1])} ms)"
        text += f", {slowest[1]} ({plots.number(slowest[0])} ms)" if slowest[1] != ours[0] else ""
        said.append(text + (f", {peer[0]} ({plots.number(peer[1])} ms)" if peer else ""))
    return Shown(panels, sentence("Fastest and slowest method" + (
        ", and the fastest MPI: " if "MPI" in "".join(said) else ": "), said)) if panels else None


def hosts_fortran(parts):
    return hosts(parts, is_fortran)


def events(parts):
    names = ("put with signal", "put + flag", "put + atomic", "message + queue")
    panels = panels_by_ranks(parts["events"], lambda line: line in names, names, names[0])
    said = []
    for panel in panels:
        x = headline(panel)
        signal = at(panel.series, names[0], x)
        others = [(at(panel.series, n, x), n) for n in names[1:] if at(panel.series, n, x)]
        if signal and others:
            said.append(f"{panel.title.split(', ')[-1]}, {ranks(x)}: the fastest other method, "
                        f"{min(others)[1]}, takes {times(min(others)[0] / signal)} put with "
                        "signal")
    return Shown(panels, sentence("Events ", said)) if panels else None


def stencil(parts):
    data = parts["stencil"]
    names = [n + o for n in ("signal", "put + flag", "message") for o in ("", ", overlapped")]
    every = panels_by_ranks(data, lambda line: not line.startswith("MPICH"), names,
                            y=Axis("time of an iteration", "ms"))
    said, panels = [], []
    for panel in every:
        panels += [dataclasses.replace(panel, title=f"{panel.title}{of}", series={
            n.replace(", overlapped", ""): points for n, points in panel.series.items()
            if n.endswith(", overlapped") == bool(of)}) for of in ("", ", overlapped")]
        x = headline(panel)
        off, on = (at(panel.series, n, x) for n in ("signal", "signal, overlapped"))
        peer = fastest(panel.series, x, filter(is_mpi, panel.series))
        if off and on:
            text = f"{panel.title}, {ranks(x)}: with overlap, put with signal takes " \
                   f"{times(on / off)} without"
            text += f"; {peer[0]} takes {times(peer[1] / min(on, off))} ours" if peer else ""
            said.append(text)
    return Shown(panels, sentence("", said)) if panels else None


def applications(parts):
    """A bar an application and size: the time of our fastest form beside the fastest MPI's."""
    groups, won, equal, lost, clear = {}, [], [], [], 0
    for app, data in parts.items():
        for panel in panels_by_ranks(data, lambda line: "OpenCoarrays" not in line, []):
            x = headline(panel)
            points = {n: next((p[1:] for p in line if p[0] == x), None)
                      for n, line in panel.series.items()}
            peers = [(p, n) for n, p in points.items()
                     if p and (is_mpi(n) or n.startswith("ScaLAPACK"))]
            ours = [(p, n) for n, p in points.items() if p and (p, n) not in peers]
            if not peers or not ours or x > (panel.crowded or x):
                continue
            (mine, mine_least, mine_most), (theirs, least, most) = min(ours)[0], min(peers)[0]
            name = f"{app} {panel.title}"
            groups[name] = {"our time / best MPI's": (mine / theirs, mine_least / most,
                                                      mine_most / least)}
            clear += mine_most < least
            (won if mine < 0.98 * theirs else lost if mine > 1.02 * theirs else equal).append(
                f"{name} ({plots.number(mine / theirs)}, {min(ours)[1]} beside {min(peers)[1]})")
    bars = Bars(Axis("our time / that of the best MPI", log=False), groups, mark=1)
    said = sentence("", [f"The median is shorter than that of the best MPI on {len(won)} of "
                         f"{len(groups)}, and our slowest run shorter than its fastest "
                         f"on {clear}",
                         "equal within 2 %: " + (", ".join(equal) or "none"),
                         "MPI is faster on " + (", ".join(lost) or "none")])
    return Shown([bars], said) if groups else None


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
        crowded = processors(data)
        times_of = Lines(RANKS, Axis("time of a step", "ms", log=True), series, panel,
                         crowded=crowded)
        panels.append(times_of)
        gains = {line: [(x, 1 - y / at(series, base, x)) for x, y, *_ in points
                        if at(series, base, x)]
                 for line, points in series.items() if line in names[1:]}
        panels.append(Lines(RANKS, Axis("saved over sync all", "share", log=False, low=min(
            0, *(p[1] for points in gains.values() for p in points)) - 0.05), gains, panel,
                            crowded=crowded))
        x = headline(times_of)
        best = max((y, line) for line, points in gains.items() for at_x, y in points if at_x == x)
        said.append(f"{panel}, {ranks(x)}: {best[1]} saves {100 * best[0]:.0f} % of the time "
                    "of sync all")
    return Shown(panels, sentence("", said)) if panels else None


def beside_scalapack(app, panel, series, most):
    """The sentence about one problem, at the largest number of ranks that both sides have run, at
    most `most`."""
    ours = {n: dict(p[:2] for p in points) for n, points in series.items()
            if not n.startswith("ScaLAPACK")}
    theirs = {n: dict(p[:2] for p in points) for n, points in series.items()
              if n.startswith("ScaLAPACK")}
    both = {x for p in ours.values() for x in p} & {x for p in theirs.values() for x in p}
    if not both:
        return f"{app} {panel}: nothing to compare"
    x = max((x for x in both if x <= most), default=max(both))
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
            one = Lines(RANKS, Axis("rate", "GFlop/s", log=False), series, f"{app}, {panel}",
                        crowded=processors(data))
            panels.append(one)
            said.append(beside_scalapack(app, panel, series, headline(one)))
    return Shown(panels, sentence("", said)) if panels else None


FT_PHASES = {"fft": "transform", "evolve": "evolve", "movement": "movement in memory",
             "communication": "communication", "synchronisation": "waiting for others"}
FT_PLACES = {"ft1": "2 ranks, shared memory", "ft2d": "4 ranks as 2 x 2, shared memory",
             "ft": "4 hosts, 1 Gbit/s"}


def ft_way(way):
    return way.replace("tombolo ", "").replace("openmpi", "Open MPI").replace("mpich", "MPICH")


def puts_of(count, size):
    """Number and size of the puts of a rank in the exchanges of one team."""
    return f"{count} x {bytes_text(round(size / count))}" if count else "-"


def ft_rows(place, data):
    """Rows of the table: a variant, its time, and the puts of both rounds."""
    for way, seconds in data["seconds"].items():
        if not seconds:
            continue
        detail = data["details"].get(way, {})
        rounds = [puts_of(*detail[team]) for team in ("rows", "columns") if team in detail]
        if not rounds and detail.get("puts"):
            rounds = ["-", puts_of(detail["puts"], detail["bytes"])]
        yield [place, ft_way(way), f"{statistics.median(seconds):.3f} s",
               f"{min(seconds):.3f}..{max(seconds):.3f}", *(rounds or ["-", "-"])]


def ft_says(place, data):
    medians = {way: statistics.median(v) for way, v in data["seconds"].items() if v}
    ours = min((v, w) for w, v in medians.items() if w.startswith("tombolo"))
    peers = [(v, w) for w, v in medians.items() if not w.startswith("tombolo")]
    text = f"{place}: fastest is {ours[1][8:]}, {ours[0]:.3f} s"
    slabs, collective = (medians.get(f"tombolo {w}") for w in ("slabs", "collective"))
    if slabs and collective:
        text += f", the exchange as a collective takes {times(collective / slabs)} slabs"
    return text + (f", the fastest peer, {ft_way(min(peers)[1])}, takes "
                   f"{times(min(peers)[0] / ours[0])} that" if peers else "")


def ft(parts):
    panels, rows, said = [], [], []
    for part, place in FT_PLACES.items():
        data = parts.get(part)
        bars = {ft_way(way): {FT_PHASES[k]: v for k, v in detail["phases"].items()
                              if k in FT_PHASES}
                for way, detail in data.get("details", {}).items()} if data else {}
        if bars:
            title = f"{place}, class {data['class']}"
            spread = {ft_way(way): middle(v) for way, v in data["seconds"].items()
                      if v and ft_way(way) in bars}
            panels.append(Stacked(Axis("time of all iterations, mean of the ranks", "s"), bars,
                                  title, spread))
            rows += ft_rows(place, data)
            said.append(ft_says(place, data))
    if not panels:
        return None
    return Shown(panels, sentence("", said), ["where", "variant", "median", "least..most",
                                              "puts a rank, rows", "puts a rank, columns"], rows)
