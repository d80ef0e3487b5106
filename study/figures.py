#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The figures of the study: what each shows of the JSON of a part, and the sentence beside it.

A Figure names the parts that it draws from; its function gets their JSON and returns Shown: panels
of plots.py, one sentence that is computed from these data, and a table where numbers say more.
Invariants: no number is written here that a run could change; a line that a run lacks is left out,
a figure without any line is not shown. study/report.py makes pages of them. As a program it draws
all figures again from kept JSON (`make figures`); the same JSON gives the same bytes. --adopt takes
the JSON of a study first, and its targets into study/RESULTS.md (targets.py).
  study/figures.py [--data study/data] [--out study/figures] [--page study/FIGURES.md]
                   [--adopt STUDY] [--check]
"""
import argparse
import json
import sys
from pathlib import Path

import kept
import plots
import report
import sim_figures
import sim_specs
from figure_kit import (BYTES, RANKS, Figure, Shown, at, bytes_text, fastest, is_mpi, in_order,
                        last_x, middle, of_rounds, ranks, sentence)
from figures_apps import (applications, diagrams, events, ft, hosts, hosts_fortran, hydro, linear,
                          pipeline_c, pipeline_fortran, stencil)
from figures_ops import PLACES, bandwidth, depth, latency, links, overlap, upc
from plots import Axis, Bars, Lines

HERE = Path(__file__).resolve().parent


# ---- collectives, words, start
CHOICE = "Tombolo's choice"
FORM_NAMES = {"board": "shared board", "tree": "dissemination / trees", "flat": "one root",
              "bare": "puts with signal by hand", "default": CHOICE,
              "openmpi all": "Open MPI", "mpich all": "MPICH"}
# Barriers on one host and between two pretended ones: {form: label}; "by hand" is made of puts with
# signal.
LIBRARY = "Tombolo's"
NEAR_BARRIERS = {"default": LIBRARY, "barrier root": "one root, by hand",
                 "barrier binomial": "binomial tree, by hand",
                 "barrier dissemination": "dissemination, by hand",
                 "openmpi": "Open MPI", "mpich": "MPICH"}
FAR_BARRIERS = {"far library": LIBRARY, "far root": "one root, by hand",
                "far binomial": "binomial tree, by hand",
                "far dissemination": "dissemination, by hand", "far nodes": "two-level, by hand"}


def forms_series(data, name, size, names=None):
    """{label of a form: points by ranks} of one collective of one size."""
    series, names = {}, names or FORM_NAMES
    for job in data["jobs"]:
        for r in job["records"]:
            for form in r["sides"] if (r["name"], r["bytes"]) == (name, size) else ():
                if form in names:
                    series.setdefault(names[form], []).append((job["ranks"], *of_rounds(r, form)))
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
    panels, said = [], []
    axis = Axis("time of a barrier", "us", log=True)
    for title, names in (("one host: shared memory", NEAR_BARRIERS),
                         ("two pretended hosts: udp, loopback", FAR_BARRIERS)):
        series = forms_series(parts["forms"], "barrier", 0, names)
        series = in_order({n: sorted(p) for n, p in series.items()}, names.values())
        if LIBRARY not in series:
            continue
        panels.append(Lines(RANKS, axis, series, title))
        x = series[LIBRARY][-1][0]
        ours, other = at(series, LIBRARY, x), fastest(series, x, [n for n in series
                                                                  if n != LIBRARY])
        text = f"{title.split(':')[0]}, {x} ranks: Tombolo's barrier takes " \
               f"{plots.number(ours)} us"
        said.append(text + (f", the fastest other, {other[0]}, {plots.number(other[1])} us"
                            if other else ""))
    return Shown(panels, sentence("", said)) if panels else None


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
        x = min(p[0] for p in series[CHOICE])
        ours = at(series, CHOICE, x)
        peer = fastest(series, x, [n for n in series if plots.is_peer(n)])
        text = f"{panels[-1].title} {plots.number(ours)} us"
        said.append(text + (f" ({peer[0]} {plots.number(peer[1])} us)" if peer else ""))
    return Shown(panels, sentence(f"{chosen} ranks, at the least size of each: ", said)) \
        if panels else None


def by_ranks_of(parts, name, size):
    """One collective of one size by ranks: each of our forms, and MPI where measured."""
    series = forms_series(parts["forms"], name, size)
    for part in ("coll", "coll4", "coll8"):
        for peer, points in coll_points(parts[part], name).items() if part in parts else ():
            found = [p for p in points if p[0] == size]
            if found and parts[part]["ranks"] not in {p[0] for p in series.get(peer, ())}:
                series.setdefault(peer, []).append((parts[part]["ranks"], *found[0][1:]))
    return {n: sorted(p) for n, p in series.items()}


def collectives_ranks(parts):
    panels, said = [], []
    sizes = sorted({r["bytes"] for job in parts["forms"]["jobs"] for r in job["records"]} - {0})
    for name in ("broadcast", "allreduce", "exchange"):
        for size in (sizes[0], sizes[-1]) if sizes else ():
            series = by_ranks_of(parts, name, size)
            choice = series.get(CHOICE)
            if not choice:
                continue
            title = {"exchange": "all-to-all", "allreduce": "all-reduce"}.get(name, name)
            panels.append(Lines(RANKS, Axis("time", "us", log=True), series,
                                f"{title}, {bytes_text(size)}"))
            said.append(f"{panels[-1].title} {plots.number(choice[-1][1])} us with "
                        f"{choice[-1][0]} ranks")
    return Shown(panels, sentence("Tombolo's choice: ", said)) if panels else None


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


def start_series(data, panel):
    series = {}
    for r in data["records"]:
        if r["panel"] == panel:
            series.setdefault(r["line"], []).append((r["ranks"], *middle(r["values"])))
    return {n: sorted(p) for n, p in series.items()}


def start(parts):
    series, memory = (start_series(parts["start"], panel) for panel in ("start", "memory"))
    if "Tombolo" not in series:
        return None
    panels = [Lines(RANKS, Axis("time of the whole job", "s", log=True), series, "time")]
    x, ours, *_ = series["Tombolo"][-1]
    says = f"`tombolo run` starts, synchronises and ends {x} ranks in {plots.number(ours)} s"
    said = [f"{n} {plots.number(series[n][-1][1])} s for {series[n][-1][0]}"
            for n in series if is_mpi(n)]
    says += f"; {', '.join(said)}." if said else "."
    if "Tombolo" in memory:
        panels.append(Lines(RANKS, Axis("memory of a rank", "KiB", log=True), memory, "memory"))
        x, ours, *_ = memory["Tombolo"][-1]
        says += f" Of {x} ranks one needs {plots.number(ours)} KiB"
        said = [f"{n} {plots.number(memory[n][-1][1])} KiB with {memory[n][-1][0]}"
                for n in memory if is_mpi(n)]
        says += f"; {', '.join(said)}." if said else "."
    return Shown(panels, says)


def silent(parts):
    records = parts["silent"]["records"]
    took, stolen = {}, {}
    for r in records:
        name = f"conduit {r['conduit']}"
        took.setdefault(r["operation"], {})[name] = middle(r["us"])
        if r["stolen"]:
            stolen.setdefault(r["operation"], {})[name] = middle(r["stolen"])
    if not took:
        return None
    put = took.get("put 8 B", {})
    said = [f"over {name.split()[1]} in {plots.number(v[0])} us" for name, v in put.items()]
    panels = [Bars(Axis("time of an operation", "us", log=True), took, "time")]
    if stolen:
        panels.append(Bars(Axis("taken from the target's computation", "%", log=False, low=0),
                           stolen, "taken from the target"))
    return Shown(panels, sentence("A put of 8 B to a target that computes is done ", said)) \
        if said else Shown(panels, "No put of 8 B was measured in this run.")


REAL = {"allreduce": "all-reduce", "exchange": "all-to-all", "hydro": "hydrodynamics"}


def ratios(records, by_panel):
    """{panel: {line: [(ranks, simulated over real)]}}; by_panel: record -> (panel, line)."""
    out = {}
    for r in records:
        panel, line = by_panel(r)
        out.setdefault(REAL.get(panel, panel), {}).setdefault(line, []).append(
            (r["ranks"], r["simulated_s"] / r["real_s"]))
    return out


def signed(percent):
    return f"{round(percent):+d}" if round(percent) else "0"


def sim_real(parts):
    """Simulated over real time, by ranks, a panel for each collective and application; both checks
    as a table."""
    data, panels, rows, said = parts["simreal"], [], [], []
    kinds = {"collectives": lambda r: (r["collective"], bytes_text(r["bytes"])),
             "applications": lambda r: (r["application"], r["way"])}
    found = {kind: ratios(data.get(kind, ()), named) for kind, named in kinds.items()}
    every = [y for of in found.values() for s in of.values() for p in s.values() for _, y in p]
    for kind, named in kinds.items():
        for r in data.get(kind, ()):
            rows.append([str(r["ranks"]), ", ".join(named(r)),
                         *(f"{plots.number(1e3 * r[s])} ms" for s in ("real_s", "simulated_s")),
                         f"{signed(100 * (r['simulated_s'] / r['real_s'] - 1))} %"])
        for panel, series in found[kind].items():
            ends = [min(p[0] for v in series.values() for p in v), last_x(series)]
            bounds = {f"{limit:+d} %": [(x, 1 + limit / 100) for x in ends] for limit in (-20, 20)}
            axis = Axis("simulated / real", log=False, low=min(0.6, *every) - 0.05,
                        high=max(1.4, *every) + 0.05)
            panels.append(Lines(RANKS, axis, series, panel, bounds=bounds))
        of = [y for series in found[kind].values() for p in series.values() for _, y in p]
        if of:
            said.append(f"{kind}: {sum(0.8 <= y <= 1.2 for y in of)} of {len(of)}")
    return Shown(panels, sentence("Within 20 % are, of ", said),
                 ["ranks", "what", "real", "simulated", "deviation"], rows) if panels else None


OPS = tuple(PLACES)
BAND_SAMPLES = "line: median of the rounds' medians; band: least to most of them"
FIGURES = [
    Figure("latency", "Latency by size", OPS,
           "One operation at a time: put and get until they are done, put with signal and message "
           "until the target can use the data. Two ranks.", latency, BAND_SAMPLES),
    Figure("applications", "Applications beside the best MPI",
           ("pipeline", "stencil", "hydro", "matmul", "cholesky"),
           "A bar an application and size, with a processor for each rank: the time of the fastest "
           "form on Tombolo over that of the fastest MPI (for matrices ScaLAPACK). Below 1 ours "
           "takes less.", applications,
           "bar: ratio of the medians; whisker: our least over their most to our most over their "
           "least"),
    Figure("pipeline", "Pipeline (sync_p2p), strong scaling, in C", ("pipeline",),
           "A wavefront over a grid (Parallel Research Kernels, Synch_p2p). The columns are "
           "divided among the ranks; a row waits for one number from the left neighbour. Only the "
           "method of notification differs.", pipeline_c),
    Figure("pipeline-fortran", "Pipeline (sync_p2p), strong scaling, in coarray Fortran",
           ("pipeline",), "The same kernel in coarray Fortran, by form of synchronisation.",
           pipeline_fortran),
    Figure("diagrams", "Pipeline on four ranks: who works when", ("diagrams",),
           "From traces (`tombolo run --trace`) of examples/diagram.c: each rank has the same "
           "work, a sleep, and needs the left neighbour's numbers. An arrow runs from a put with "
           "signal to the wait that it ends. `tombolo view --diagram` draws any trace like this.",
           diagrams, "one run, from its trace: no spread"),
    Figure("events", "Events of coarray Fortran, by four methods", ("events",),
           "The pipeline in coarray Fortran; TOMBOLO_TEST_CAF_EVENTS chooses how its events are "
           "built. "
           "Posted: an assignment, then EVENT POST. Attached: the assignment is the post, which "
           "put with signal makes one operation; the other methods wait for the data, then post.",
           events),
    Figure("stencil", "Stencil, strong and weak scaling, overlap off and on", ("stencil",),
           "A star stencil with exchange of halos (Parallel Research Kernels, Stencil). "
           "Overlapped: points that need no halo are computed while halos travel.", stencil),
    Figure("hydro", "Hydrodynamics by form of synchronisation", ("hydro",),
           "A step of compressible hydrodynamics (of CloverLeaf's class) in coarray Fortran, and "
           "in C with put with signal and on MPI. Right: the part of the time of sync all that is "
           "saved.", hydro),
    Figure("hosts", "Applications on two to eight hosts", ("hosts",),
           "Pipeline, stencil and hydrodynamics in C on hosts (network namespaces of this "
           "machine) with links of 1 Gbit/s, conduit udp, beside MPI over TCP. All hosts share "
           "this machine's processors.", hosts),
    Figure("hosts-fortran", "Coarray Fortran on two to eight hosts", ("hosts",),
           "Pipeline and hydrodynamics by form of synchronisation, and events by the four methods, "
           "on the same hosts.", hosts_fortran),
    Figure("linear", "Matrix product and Cholesky factorisation", ("matmul", "cholesky"),
           "Block-cyclic matrices. In C: blocking, ahead: team collectives; get, direct, signal: "
           "by hand. UPC (where it is built): puts that post a semaphore. Beside ScaLAPACK, with "
           "the same BLAS.", linear),
    Figure("ft", "NAS FT: where the time goes, by schedule", ("ft1", "ft2d", "ft"),
           "The 3-D transform of NAS FT with its exchange in one packed put a rank, as a "
           "collective for each plane, or plane by plane (slabs), blocking or not, with signals; "
           "in UPC in bulk, with non-blocking puts, with puts that post a semaphore; "
           "MPI_Alltoall and point-to-point MPI on the same layout. The table has all variants, "
           "with number and size of the puts of a rank in both rounds of exchanges: rows of the "
           "process grid, which are there with 2 x 2 only, and columns.", ft,
           "bar: one run, mean over its ranks; dot and number: median of the runs; "
           "line below it: least to most of them"),
    Figure("depth", "Inverse throughput by depth", OPS,
           "Time an operation of 8 B when 1 to 256 are started before the first is waited for.",
           depth, BAND_SAMPLES),
    Figure("bandwidth", "Bandwidth by size", OPS, "Many operations in flight, one after the other.",
           bandwidth, BAND_SAMPLES),
    Figure("links", "Bandwidth over one to four links", ("rails",),
           "Two hosts (network namespaces) joined by links of 1 Gbit/s each; a transfer is shared "
           "among the links in use.", links),
    Figure("overlap", "Overlap by size", ("overlap", "overlapnet"),
           "The share of an operation's time that a computation of the same length hides. 1: all "
           "of it. Left: puts and gets; right: collectives, in which the other rank takes part "
           "without computing. In shared "
           "memory and over loopback the processors themselves copy.", overlap, BAND_SAMPLES),
    Figure("upc", "UPC: methods to hand over data", ("upc",),
           "Data and the notification that they are there, from one thread to another, one way.",
           upc,
           BAND_SAMPLES),
    Figure("barrier", "Barrier by algorithm", ("forms",),
           "All ranks on this machine, in shared memory and on two pretended hosts, whose ranks "
           "share no memory with the other's (TOMBOLO_PLACES=2). By hand: made of puts with "
           "signal; two-level: inside a host to one rank, dissemination among these, and back.",
           barrier, BAND_SAMPLES),
    Figure("collectives", "Collectives by size", ("forms", "coll", "coll4", "coll8"),
           "Broadcast, all-reduce and all-to-all in each form, and MPI's.", collectives,
           BAND_SAMPLES),
    Figure("collectives-ranks", "Collectives by number of ranks",
           ("forms", "coll", "coll4", "coll8"),
           "The same at the least and the greatest size.",
           collectives_ranks, BAND_SAMPLES),
    Figure("fetchadd", "Fetch-and-add by number of processes", ("fetchadd",),
           "Each process adds as fast as it can: all to one word, or each to the word of its right "
           "neighbour. In shared memory, and on pretended hosts of one rank each, where the "
           "owner's processor adds.", fetchadd),
    Figure("start", "Start and memory of a job", ("start",),
           "Time from the start of the launcher to its end: processes start, join, pass a barrier "
           "and end. Memory that a rank needs after the barrier, mean of the ranks (Pss: a page "
           "that n processes share counts 1/n).", start),
    Figure("silent", "Operations whose target makes no call", ("silent",),
           "The target computes; a thread of the conduit serves it. One operation at a time, and "
           "what they take from the target's computation. Two ranks that share no memory. The "
           "last four kinds are done once in 0.5 s: their handlers and notifications wait for the "
           "target's calls, and the time is that of the origin's call.",
           silent, "bar: median of the runs' medians; whisker: least to most of them"),
    Figure("sim-real", "Simulated beside real", ("simreal",),
           "Collectives and applications on eight hosts with slow links, real and by `tombolo sim` "
           "from the costs of messages measured here. No parameter is fitted to them. "
           "`make sim-check` measures them again; RESULTS_SIMULATION.md says why they differ.",
           sim_real, "point: median of the real runs", "make sim-check"),
]


def shown(figure, data):
    """Shown of one figure, or None where its parts have nothing. data: {part: JSON}."""
    have = {part: data[part] for part in figure.parts if data.get(part)}
    if not have or (figure.parts[0] == "forms" and "forms" not in have):
        return None  # the others only stand beside the forms
    return figure.show(have)


def all_shown(data, failed=None):
    """[(Figure, Shown)] of all figures that have data. failed: called with a figure whose data are
    malformed, and the error; without it the error is raised."""
    found = []
    for figure in FIGURES:
        try:
            one = shown(figure, data)
        except (LookupError, ValueError, TypeError, ArithmeticError, StopIteration) as error:
            if not failed:
                raise
            failed(figure, error)
            continue
        if one and one.panels:
            found.append((figure, one))
    return found


def simulated(data):
    """[(Figure, Shown)] of the results of simulate.py. data: its JSON, or None."""
    if not data:
        return []
    results = {name: {tuple(one["key"]): one for one in found}
               for name, found in data.get("results", {}).items()}
    return [(Figure(spec["name"], spec["title"], ("sim",), spec["about"], None,
                    "computed: no spread", spec["command"]),
             Shown([sim_figures.panel_of(panel) for panel in spec["panels"]], spec["says"]))
            for spec in sim_specs.specs(results)]


def drawing(figure, one):
    return plots.draw(figure.title, *one.panels, columns=one.columns)


# ---- the kept figures: study/figures
def load(folder):
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


def adopt(study, folder):
    """Keeps the JSON of a study's parts that figures are drawn from. Returns the names."""
    wanted = dict.fromkeys(part for figure in FIGURES for part in figure.parts)
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for part in wanted:
        source = study / f"{part}.json"
        if source.exists():
            data = json.loads(source.read_text())
            if data.get("study", {}).get("revision", "").endswith("-dirty"):
                sys.exit(f"figures: {source} is of a changed tree, which nobody can build again: "
                         "commit, and measure it again")
            kept.keep(folder / source.name, data)
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


def unreadable(data):
    """Texts of the drawings that overlap or are cut off; empty is good."""
    return [f"{figure.name}: {text}" for figure, one in all_shown(data)
            for text in plots.problems(plots.figure(figure.title, *one.panels,
                                                    columns=one.columns))]


def main():
    parser = argparse.ArgumentParser(description="Draws the figures of study/figures again.")
    parser.add_argument("--data", type=Path, default=HERE / "data", help="folder of the kept JSON")
    parser.add_argument("--out", type=Path, default=HERE / "figures", help="folder of the SVGs")
    parser.add_argument("--page", type=Path, default=HERE / "FIGURES.md",
                        help="page that lists all figures")
    parser.add_argument("--adopt", type=Path, metavar="STUDY",
                        help="first take the JSON of this folder")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit with 1 if files differ")
    options = parser.parse_args()
    reason = plots.missing()
    if reason:
        print(f"figures: {reason}", file=sys.stderr)
        return 77
    if options.adopt:
        print(f"figures: from {options.adopt}: {', '.join(adopt(options.adopt, options.data))}")
        import targets  # which imports this module: by study
        targets.adopt(options.adopt)
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
    found = unreadable(load(options.data))
    print("".join(f"figures: {text}\n" for text in found), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
