# SPDX-License-Identifier: BSD-3-Clause
"""What each figure of the simulation shows of the results of study/simulate.py.

`specs(results)` makes one dictionary a figure: title, what is shown, one sentence that is computed
from the numbers, the command that repeats it, and panels in words of plots.py. sim_figures.py keeps
and draws them. Published points come from study/published. Invariant: no number in a sentence is
written by hand.
"""
import json
import statistics
import sys
from pathlib import Path

import plots
import plots_axis

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
NAMES = {"sync-all": "sync all", "sync-images": "sync images", "queue": "message + queue",
         "flag": "put + flag", "atomic": "put + atomic", "signal": "put with signal",
         "message": "MPI send, receive"}
FT_NAMES = {"slabs": "slabs", "collective": "collective", "packed": "packed",
            "packed2": "two-sided packed", "slabs2": "two-sided slabs"}
RANKS = {"label": "ranks", "log": True}
CORES = {"label": "cores", "log": True}
BYTES = {"label": "size", "unit": "bytes", "scale": "bytes", "log": True}


def published():
    """{fact: value} of all files."""
    facts = {}
    for path in sorted((HERE / "published").glob("*.json")):
        facts |= {k: f["value"] for k, f in json.loads(path.read_text())["facts"].items()}
    return facts


def short(value):
    return float(f"{value:.6g}")


def lines(x, y, series, **more):
    series = {n: sorted([p, short(v)] for p, v in line) for n, line in series.items() if line}
    for key in ("bounds", "published"):
        if key in more:
            more[key] = {n: sorted([p, short(v)] for p, v in ps) for n, ps in more[key].items()}
    return {"kind": "Lines", "x": x, "y": y, "series": series, **more}


def bars(axis, series, x, title):
    """A bar a line, of its value at x."""
    values = {n: short(at(line, x)) for n, line in series.items() if at(line, x) is not None}
    return {"kind": "Bars", "x": axis, "title": title,
            "groups": {n: {n: v} for n, v in values.items()}}


def series(results, name, x=-1, value="seconds", scale=1.0):
    """{line: [(x, y)]}; name: key -> line or None; x: place in the key."""
    out = {}
    for key, one in results.items():
        if name(key):
            out.setdefault(name(key), []).append((key[x], scale * one[value]))
    return {n: sorted(p) for n, p in out.items()}


def at(line, x):
    return next((v for p, v in line if p == x), None)


def over(a, b):
    """[(x, a / b)] of two lines."""
    return [(x, v / at(b, x)) for x, v in a if at(b, x)]


def number(value):
    return plots.number(value)


def last(all_lines):
    return max(x for line in all_lines.values() for x, _ in line)


# ---- applications
def pipeline(r):
    found = series(r["pipeline"], lambda k: NAMES[k[0]] if k[1] == 32768 else None)
    found = {n: found[n] for n in NAMES.values() if n in found}
    x, signal, top = last(found), found["put with signal"], found["put + flag"]
    gains = over(top, signal)
    best = max(gains, key=lambda p: p[1])
    wins = sum(v <= min(at(line, p) for line in found.values()) for p, v in signal)
    return [{
        "name": "sim-pipeline", "machine": "aries",
        "title": "Pipeline, 32768 x 32768, strong scaling (simulated)",
        "about": "Time of one sweep of the synchronised pipeline, one value a row to the right "
                 "neighbour, by the method of notification.",
        "says": f"Put with signal is fastest on {wins} of {len(signal)} numbers of ranks; on "
                f"{best[0]} put + flag takes {number(best[1])} times as long, on {x} sync all "
                f"{number(at(found['sync all'], x) / at(signal, x))} times.",
        "command": "tombolo sim pipeline --machine aries --rows 32768 --columns 32768 --ranks N "
                   "--way WAY",
        "panels": [lines(RANKS, {"label": "time", "unit": "s", "log": True}, found,
                         ratio={"label": "time / that of put with signal",
                                "base": "put with signal", "inverse": True})]}]


def grids(r):
    found = series(r["pipeline"], lambda k: NAMES[k[0]] if k[2] == 128 else None, x=1, scale=1e3)
    found = {n: found[n] for n in NAMES.values() if n in found}
    x = min(p for line in found.values() for p, _ in line)
    return [{
        "name": "sim-pipeline-grids", "machine": "aries",
        "title": "Pipeline on 128 ranks, by the side of the grid (simulated)",
        "about": "Time of one sweep on four nodes of 32 ranks, grids of equal sides.",
        "says": f"The smaller the grid, the more the notification counts: at {x} x {x} sync all "
                f"takes {number(at(found['sync all'], x) / at(found['put with signal'], x))} times "
                "as long as put with signal, at the largest "
                f"{number(found['sync all'][-1][1] / found['put with signal'][-1][1])} times.",
        "command": "tombolo sim pipeline --machine aries --ranks 128 --rows N --columns N --way "
                   "WAY",
        "panels": [lines({"label": "side of the grid", "log": True},
                         {"label": "time", "unit": "ms", "log": True}, found,
                         ratio={"label": "time / that of put with signal",
                                "base": "put with signal", "inverse": True})]}]


def events(r):
    by_size = series(r["events"], lambda k: NAMES[k[0]] if k[1] == "aries" else None, scale=1e6)
    by_size = {n: by_size[n] for n in NAMES.values() if n in by_size}
    groups = {}
    for (way, machine, size), one in r["events"].items():
        if size == 8:
            groups.setdefault(machine, {})[NAMES[way]] = short(one["seconds"] * 1e6)
    ratios = [g["put + flag"] / g["put with signal"] for g in groups.values()]
    small = at(by_size["put + flag"], 8) / at(by_size["put with signal"], 8)
    size = last(by_size)
    large = at(by_size["put + flag"], size) / at(by_size["put with signal"], size)
    return [{
        "name": "sim-events", "machine": "aries",
        "title": "Data with their notification, by size (simulated)",
        "about": "Time from the start of a put until its target knows that the data are there, "
                 "between nodes, for the four methods of events and for send and receive.",
        "says": f"At 8 bytes put + flag takes {number(small)} times as long as put with signal; "
                f"at {plots_axis.size(size)}B {number(large)} times.",
        "command": "tombolo sim event --machine aries --ranks 256 --bytes N --way WAY",
        "panels": [lines(BYTES, {"label": "time", "unit": "us", "log": True}, by_size,
                         ratio={"label": "time / that of put with signal",
                                "base": "put with signal", "inverse": True})]}, {
        "name": "sim-events-machines", "machine": ", ".join(groups),
        "title": "Data of 8 bytes with their notification, on four machines (simulated)",
        "about": "The same time on the machines of tools/sim/machines.",
        "says": f"Put + flag takes {number(min(ratios))} to {number(max(ratios))} times as long "
                "as put with signal, by the machine.",
        "command": "tombolo sim event --machine MACHINE --ranks 256 --bytes 8 --way WAY",
        "panels": [{"kind": "Bars", "x": {"label": "time", "unit": "us", "log": True},
                    "groups": groups}]}]


STENCIL = {"signal": "put with signal", "flag": "put + flag", "queue": "message + queue",
           "message": "MPI send, receive"}


def stencil_lines(results, kind):
    """({line: [(ranks, ms)]}, {line: [(ranks, us that communication adds)]})"""
    time, added = {}, {}
    for (k, way, overlap, n), one in results.items():
        if k == kind:
            name = STENCIL[way] + ("" if overlap else ", no overlap")
            time.setdefault(name, []).append((n, 1e3 * one["seconds"]))
            added.setdefault(name, []).append((n, 1e6 * (one["seconds"] - one["compute_s"])))
    order = [n + m for n in STENCIL.values() for m in ("", ", no overlap")]
    return tuple({n: d[n] for n in order if n in d} for d in (time, added))


ADDED = {"label": "added by communication", "unit": "us", "log": False}


def stencil(r):
    (_, added), (_, alone), (weak, weakly) = (stencil_lines(r["stencil"], k)
                                                 for k in ("strong", "alone", "weak"))
    signal, slow = "put with signal", "MPI send, receive, no overlap"
    x, y, z = last(added), last(alone), last(weakly)
    word = "tombolo sim stencil --machine aries --width 1 --times 4 --ranks N --way WAY " \
           "--overlap 0|1 "
    about = "with overlap a rank computes and puts its edge first, then computes the rest. " \
            "Communication adds what is not hidden"
    return [{
        "name": "sim-stencil-strong", "machine": "aries",
        "title": "Five-point stencil, 65536 x 65536, strong scaling (simulated)",
        "about": f"What communication adds to an iteration, columns divided: {about}. With 32 "
                 f"ranks a node ({x} ranks), and with one ({y} ranks).",
        "says": "With 32 ranks a node, copying between neighbours in memory decides: "
                f"{number(at(added[signal], x))} us on {x} ranks by put with signal, "
                f"{number(at(added[slow], x))} us by MPI without overlap. With one a node "
                f"the put is hidden: {number(at(alone[signal], y))} us on {y} ranks, "
                f"{number(at(alone[signal + ', no overlap'], y))} us without overlap.",
        "command": word + "--rows 65536 --columns 65536 --grid 1d [--set cores_per_node=1]",
        "panels": [bars(ADDED, added, x, "32 ranks a node"),
                   bars(ADDED, alone, y, "one rank a node")]}, {
        "name": "sim-stencil-weak", "machine": "aries",
        "title": "Five-point stencil, 512 x 512 points a rank, weak scaling (simulated)",
        "about": "What communication adds to the computing of an iteration, both sides divided.",
        "says": f"On {z} ranks an iteration takes {number(1e3 * at(weak[signal], z))} us by put "
                f"with signal; of these communication adds {number(at(weakly[signal], z))} us, "
                f"{number(at(weakly['put + flag'], z))} us with put + flag, "
                f"{number(at(weakly[slow], z))} us with MPI without overlap.",
        "command": word + "--rows 512*PY --columns 512*PX",
        "panels": [lines(RANKS, ADDED, weakly)]}]


def hydro(r):
    time = series(r["hydro"], lambda k: NAMES[k[0]], scale=1e3)
    time = {n: time[n] for n in NAMES.values() if n in time}
    base = time["sync all"]
    gain = {n: [(x, 1 - v) for x, v in over(line, base)] for n, line in time.items()
            if n != "sync all"}
    x, facts = last(time), published()
    best = gain["put with signal"]
    return [{
        "name": "sim-hydro", "machine": "aries-manycore",
        "title": "Hydrodynamics, 7680 x 3840 cells (simulated)",
        "about": "A time step of the mini-application: five exchanges of halos and the smallest "
                 "of all ranks. The share of the time of sync all that is saved.",
        "says": f"Put with signal saves {number(100 * at(best, 512))} % of the time of sync all "
                f"on 512 ranks and {number(100 * at(best, x))} % on {x}; published is almost "
                f"{number(100 * facts['hydro_gain'])} % on 512.",
        "command": "tombolo sim hydro --machine aries-manycore --rows 3840 --columns 7680 --times "
                   "4 --ranks N --way WAY",
        "panels": [lines(RANKS, {"label": "saved over sync all", "unit": "share", "log": False},
                         gain, published={"put with signal": [(512, facts["hydro_gain"])]})]}]


def atomics(r):
    names = {("aries", "nic"): "aries, adapter", ("aries", "owner"): "aries, owner's processor",
             ("torus", "owner"): "torus, owner's processor"}
    facts = published()

    def panel(place):
        return series(r["atomics"], lambda k: names[k[0], k[1]] if k[2] == place else None,
                      value="operations_per_s", scale=1e-6)

    hot, spread = panel("hot"), panel("spread")
    x = last(hot)
    one = {m: r["atomics"]["aries", m, "next", 2]["seconds"] * 1e6 for m in ("nic", "owner")}
    return [{
        "name": "sim-fetch-add", "machine": "aries, torus",
        "title": "Fetch-and-add, operations a second of all ranks (simulated)",
        "about": "Each rank does one operation after the other, on one word of rank 0 (hot) or "
                 "on words of random ranks (spread); executed by the owner's processor or by "
                 "the adapter.",
        "says": f"On {x} ranks one hot word takes {number(at(hot[names['aries', 'nic']], x))} "
                f"million operations a second by the adapter and "
                f"{number(at(hot[names['aries', 'owner']], x))} by its owner's processor. One "
                f"between nodes takes {number(one['nic'])} us by the adapter (published "
                f"{facts['atomic_nic']}) and {number(one['owner'])} us by the processor "
                f"(published {facts['atomic_owner']}).",
        "command": "tombolo sim fetch-add --machine MACHINE --ranks N --kind hot|spread "
                   "--algorithm owner|nic --count 16",
        "panels": [lines(RANKS, {"label": "million operations a second", "log": True}, hot,
                         title="one hot word"),
                   lines(RANKS, {"label": "million operations a second", "log": True}, spread,
                         title="spread")]}]


# ---- collectives
BARRIERS = {"interrupt": "interrupt network", "torus": "torus, along lines",
            "nodes": "two-level", "dissemination": "dissemination", "binomial": "binomial tree"}


def barriers(r):
    panels = []
    for machine in ("torus", "aries"):
        found = series(r["barriers"], lambda k, m=machine: BARRIERS[k[1]] if k[0] == m else None,
                       scale=1e6)
        panels.append(lines(RANKS, {"label": "time", "unit": "us", "log": True},
                            {n: found[n] for n in BARRIERS.values() if n in found},
                            title=machine))
    on = {n: dict(map(tuple, p)) for n, p in panels[0]["series"].items()}
    x = max(on["binomial tree"])
    listed = ", ".join(f"{n} {number(on[n][x])}" for n in BARRIERS.values())
    return [{
        "name": "sim-barrier", "machine": "torus, aries", "title": "Barrier by ranks (simulated)",
        "about": "A barrier of all ranks by each algorithm, on the Blue Gene/P and on the Cray.",
        "says": f"On {x} ranks of the torus, in us: {listed}; published is the order interrupt "
                "network, torus, binomial tree.",
        "command": "tombolo sim barrier --machine MACHINE --ranks N --algorithm ALGORITHM",
        "panels": panels}]


def measured_start(panel):
    """[(ranks, median)] of this library on the reference machine; empty: not measured."""
    path = ROOT / "study/data/start.json"
    records = json.loads(path.read_text())["records"] if path.exists() else []
    return [(one["ranks"], statistics.median(one["values"])) for one in records
            if (one["panel"], one["line"]) == (panel, "Tombolo")]


WHOLE, AGENTS, OF_16 = "whole start", "agents, over ssh", "memory, hosts of 16 processors"


def starts(r):
    steps = {WHOLE: "seconds", AGENTS: "agents_s", "processes of each host": "processes_s",
             "exchange of the ranks' addresses": "cards_s"}
    one = series(r["start"], lambda k: "simulated" if k[0] == "one host" else None)
    real = {"measured": measured_start("start")}
    parts = {n: series(r["start"], lambda k, n=n: n if k[0] == "ethernet" else None,
                       value=value)[n] for n, value in steps.items()}
    memory = {name: series(r["start"], lambda k, m=m: m if k[0] == m else None,
                           value="memory_bytes", scale=1 / 1024)[m]
              for m, name in (("one host", "memory, one host"), ("ethernet", OF_16))}
    both = [(x, at(one["simulated"], x) / v) for x, v in real["measured"]
            if at(one["simulated"], x)]
    x = last(parts)
    ratio = (f"From {both[0][0]} to {both[-1][0]} ranks of one host the simulated time is "
             f"{number(min(v for _, v in both))} to {number(max(v for _, v in both))} times the "
             "measured one. " if both else "")
    return [{
        "name": "sim-start", "machine": "ethernet, and one host of two processors",
        "title": "Start of a job, memory of a rank (simulated)",
        "about": "From the start of the launcher until all ranks have left their first barrier. "
                 "The costs of a process and of a peer are those of study/GROWTH.md. The measured "
                 "time also has the launcher's own start and end in it.",
        "says": f"{ratio}{x} ranks on hosts of 16 processors start in "
                f"{number(at(parts[WHOLE], x))} s, {number(at(parts[AGENTS], x))} s of it for "
                f"agents; a rank keeps {number(at(memory[OF_16], x))} KiB.",
        "command": "tombolo sim start --machine ethernet --ranks N",
        "panels": [lines(RANKS, {"label": "time", "unit": "s", "log": True},
                         {**one, **real}, title="one host, two processors"),
                   lines(RANKS, {"label": "time", "unit": "s", "log": True},
                         {n: [(p, v) for p, v in line if v] for n, line in parts.items()},
                         title="hosts of 16 processors"),
                   lines(RANKS, {"label": "memory of a rank", "unit": "KiB", "log": False},
                         memory, title="memory")]}]


NETS = {"tree": "tree network", "torus": "torus, all links", "native": "native puts",
        "this library": "Tombolo", "point-to-point": "MPI-like point-to-point"}
KINDS = {"broadcast": "broadcast", "allreduce": "all-reduce", "exchange": "all-to-all"}


def collectives(r):
    facts = published()
    panels = [lines({**BYTES, "ticks": [8, 64, 512, 4096, 65536]},
                    {"label": "time", "unit": "us", "log": True},
                    series(r["collectives"], lambda k, kind=kind: NETS[k[1]]
                           if k[0] == kind else None, scale=1e6), title=title)
              for kind, title in KINDS.items()]
    one = panels[0]["series"]
    gain = {n: statistics.mean(v for _, v in over(one[NETS["point-to-point"]], one[NETS[n]]))
            for n in ("tree", "torus")}
    swap = panels[2]["series"]
    both = statistics.mean(v for _, v in over(swap[NETS["point-to-point"]], swap[NETS["native"]]))
    out = [{
        "name": "sim-collectives", "machine": "torus",
        "title": "Collectives by size (simulated)",
        "about": "Broadcast and all-reduce on 1024 ranks, all-to-all on 128: over the machine's "
                 "own networks, by this library's schedules, by send and receive.",
        "says": f"In the mean, a broadcast over the tree network is {number(gain['tree'])} times "
                "as fast as over point-to-point, over all links of the torus "
                f"{number(gain['torus'])} times (published 3 to 4); an all-to-all by native puts "
                f"{number(both)} times (published 2 to 3: {facts['exchange']}).",
        "command": "tombolo sim native|collective --machine torus --ranks N --bytes N --kind KIND",
        "panels": panels}]
    panels = []
    for kind, size, title in (("broadcast", 8, "broadcast, 8 B"),
                              ("broadcast", 32768, "broadcast, 32 KiB"),
                              ("allreduce", 8, "all-reduce, 8 B"),
                              ("allreduce", 32768, "all-reduce, 32 KiB"),
                              ("exchange", 512, "all-to-all, 512 B a pair")):
        panels.append(lines(RANKS, {"label": "time", "unit": "us", "log": True},
                            series(r["byranks"], lambda k, t=(kind, size): NETS[k[1]]
                                   if (k[0], k[2]) == t else None, scale=1e6), title=title))
    found = panels[0]["series"]
    x = last(found)
    listed = ", ".join(f"{n} {number(at(line, x))}" for n, line in found.items())
    return [*out, {
        "name": "sim-collectives-ranks", "machine": "torus",
        "title": "Collectives by ranks (simulated)",
        "about": "The same collectives at two sizes, by the number of ranks.",
        "says": f"A broadcast of 8 bytes on {x} ranks takes, in us: {listed}.",
        "command": "tombolo sim native|collective --machine torus --ranks N --bytes N --kind KIND",
        "panels": panels}]


def links(r):
    facts, panels, gain = published(), [], {}
    sizes = sorted({k[2] for k in r["links"]})
    rate = r["machine"]["torus",]["link_bytes_per_s"] / 1e6
    counts = sorted({k[1] for k in r["links"]})
    for way, title in (("put", "put"), ("message", "send and receive")):
        found = {f"{n} link{'s' if n > 1 else ''}": [] for n in counts}
        for (w, n, size), one in r["links"].items():
            if w == way:
                found[f"{n} link{'s' if n > 1 else ''}"].append((size, one["bytes_per_s"] / 1e6))
        panels.append(lines(BYTES, {"label": "MB/s out of the node", "log": True}, found,
                            title=title, bounds={
                                "limit of one link": [(sizes[0], rate), (sizes[-1], rate)],
                                "limit of six links": [(sizes[0], 6 * rate),
                                                       (sizes[-1], 6 * rate)]}))
    for name in panels[0]["series"]:
        gain[name] = over(panels[0]["series"][name], panels[1]["series"][name])
    panels.append(lines(BYTES, {"label": "put over send and receive", "log": False, "low": 0.9},
                        gain, title="gain", published={"2 links": [(8192, facts["links2"])],
                                                 "4 links": [(8192, facts["links4"])]}))
    return [{
        "name": "sim-links", "machine": "torus",
        "title": "Bandwidth over one to six links (simulated)",
        "about": "One core of a node sends to its neighbours and gets as much from them, 16 "
                 "messages in flight to each.",
        "says": f"At 8 KiB put is {number(at(gain['2 links'], 8192))} times as fast as send and "
                f"receive on two links (published {facts['links2']}), "
                f"{number(at(gain['4 links'], 8192))} on four (published {facts['links4']}), "
                f"{number(at(gain['6 links'], 8192))} on six, and "
                f"{number(at(gain['6 links'], 1 << 20))} at 1 MiB (published: the same).",
        "command": "tombolo sim links --machine torus --ranks 2048 --links N --bytes N --way "
                   "put|message --count 128",
        "panels": panels}]


def dense(r):
    names = {"collective": "team collectives", "hand": "hand-rolled puts",
             "library": "two-sided rings (PBLAS, ScaLAPACK)"}
    facts, panels, said = published(), [], []
    order = {"label": "order of the matrix", "log": True}
    for app, title in (("matmul", "matrix multiplication"), ("cholesky", "Cholesky")):
        speed = series(r["dense"], lambda k, a=app: names[k[1]] if k[0] == a else None,
                       value="flops_per_s", scale=1e-9)
        panels.append(lines(order, {"label": "GFlop/s", "log": False}, speed, title=title))
    for app, panel in zip(("matmul", "cholesky"), list(panels)):
        base = panel["series"][names["library"]]
        gain = {n: over(line, base) for n, line in panel["series"].items() if line is not base}
        ends = [x for x, _ in base]
        axis = {"label": "over two-sided rings", "log": False, "low": 0.8}
        panels.append(lines(order, axis, gain, bounds={"published gain": [
            (min(ends), facts[app]), (max(ends), facts[app])]}))
        ours = [v for _, v in gain[names["collective"]]]
        said.append(f"{app} by team collectives is {number(min(ours))} to {number(max(ours))} "
                    f"times as fast (published {facts[app]})")
    return [{
        "name": "sim-dense", "machine": "torus",
        "title": "Matrix multiplication and Cholesky on 256 cores (simulated)",
        "about": "Panels of 64 columns go along rows and columns of a 16 x 16 grid of ranks: by "
                 "broadcasts of teams, by rings of puts with signals, by rings of two-sided "
                 "messages.",
        "says": "; ".join(said) + ", by the order of the matrix.",
        "command": "tombolo sim matmul|cholesky --machine torus --ranks 256 --rows N --block 64 "
                   "--way WAY",
        "panels": panels}]


# ---- FT
def speeds(results, unit):
    found = series(results, lambda k: FT_NAMES.get(k[0]), value="flops_per_s", scale=1 / unit)
    return {n: found[n] for n in FT_NAMES.values() if n in found}


def bisection(results, unit):
    """The limit that the narrowest cut of the network sets for the whole transform."""
    return {"bound by the bisection": sorted(
        (n, one["flops_per_s"] * one["seconds"] / one["bisection_s"] / unit)
        for (way, n), one in results.items() if way == "slabs")}


def ft_scaling(r):
    out, facts = [], published()
    base = {"label": "gain of slabs", "base": "slabs"}
    speed = speeds(r["strong"], 1e9)
    means = {n: statistics.mean(v for x, v in over(speed["slabs"], speed[n]) if x <= 4096)
             for n in ("two-sided packed", "two-sided slabs")}
    out.append({
        "name": "sim-ft-strong", "machine": "torus",
        "title": "FT, 2048 x 1024 x 1024, strong scaling (simulated)",
        "about": "Rate of a forward transform by the variant of the exchange, with the bound that "
                 "the narrowest cut of the torus sets.",
        "says": f"In the mean of 256 to 4096 cores slabs are "
                f"{number(means['two-sided packed'])} times as fast as two-sided packed "
                f"(published {facts['strong_packed2']}) and "
                f"{number(means['two-sided slabs'])} times as two-sided slabs (published "
                f"{facts['strong_slabs2']}).",
        "command": "tombolo sim ft --machine torus --ranks N --points 2048x1024x1024 --way WAY "
                   "--flows share",
        "panels": [lines(CORES, {"label": "GFlop/s", "log": True}, speed, ratio=base,
                         bounds=bisection(r["strong"], 1e9))]})
    speed = speeds(r["weak"], 1e12)
    best = max(at(speed[n], 16384) for n in ("two-sided packed", "two-sided slabs"))
    top = at(speed["slabs"], 16384)
    out.append({
        "name": "sim-ft-weak", "machine": "torus",
        "title": "FT, D/8 on 256 cores to 8 D on 16,384, weak scaling (simulated)",
        "about": "The same, with as many points a core; D is 2048 x 1024 x 1024.",
        "says": f"On 16,384 cores slabs reach {number(top)} TFlop/s (published "
                f"{facts['weak_top']}) and the best two-sided variant {number(best)} (published "
                f"{facts['weak_best2']}): {number(top / best)} times (published "
                f"{number(facts['weak_ratio'])}).",
        "command": "tombolo sim ft --machine torus --ranks N --points NXxNYxNZ --way WAY --flows "
                   "share",
        "panels": [lines(CORES, {"label": "TFlop/s", "log": True}, speed, ratio=base,
                         bounds=bisection(r["weak"], 1e12),
                         published={"slabs": [(16384, facts["weak_top"])],
                                    "two-sided packed": [(16384, facts["weak_best2"])]})]})
    return out


def ft_parts(one):
    """Seconds of a rank: each activity, and the rest, which is waiting."""
    parts = {"transforms": one["compute_s"], "movement in memory": one["movement_s"],
             "software of messages": one["software_s"]}
    return {**parts, "waiting for the wire": one["seconds"] - sum(parts.values())}


def ft_breakdown(r):
    bars, n = {}, 16384
    for way, name in FT_NAMES.items():
        bars[name] = {k: short(v) for k, v in ft_parts(r["weak"][way, n]).items()}
    one = r["weak"]["slabs", n]
    wire = one["row_wire_s"] + one["column_wire_s"]
    hidden = 1 - bars["slabs"]["waiting for the wire"] / wire
    return [{
        "name": "sim-ft-breakdown", "machine": "torus",
        "title": "FT, 4096 x 2048 x 2048 on 16,384 cores: where the time goes (simulated)",
        "about": "Parts of the time of a rank; the last one is what of the wire's time is not "
                 "hidden.",
        "says": f"The wire needs {number(wire)} s for both exchanges; slabs hide "
                f"{number(100 * hidden)} % of it behind transforms, and the software of all "
                f"their messages takes {number(1e3 * bars['slabs']['software of messages'])} ms.",
        "command": "tombolo sim ft --machine torus --ranks 16384 --points 4096x2048x2048 --way "
                   "WAY --flows share",
        "panels": [{"kind": "Stacked", "x": {"label": "time", "unit": "s"}, "bars": bars}]}]


def ft_collective(r):
    facts, panels, said = published(), [], []
    for key, title, fact in (("strong", "2048 x 1024 x 1024", "collective_strong"),
                             ("weak", "D/8 to 8 D", "collective_weak")):
        speed = speeds(r[key], 1e9)
        gain = {n: over(speed[n], speed["two-sided packed"]) for n in ("collective", "slabs")}
        panels.append(lines(CORES, {"label": "over two-sided packed", "log": False, "low": 0.9},
                            gain, title=title, published={"collective": [(16384, facts[fact])]}))
        x = last(gain)
        said.append(f"{title}: {number(at(gain['collective'], x))} on {x} cores (published "
                    f"{facts[fact]})")
    return [{
        "name": "sim-ft-collective", "machine": "torus",
        "title": "FT with the exchange as a collective, over MPI's (simulated)",
        "about": "How many times as fast as packed two-sided exchanges: one exchange of the team "
                 "for each plane, and slabs by puts.",
        "says": "; ".join(said) + ".",
        "command": "tombolo sim ft --machine torus --ranks N --points NXxNYxNZ --way collective",
        "panels": panels}]


FIGURES = {pipeline: ("pipeline",), grids: ("pipeline",), events: ("events",),
           stencil: ("stencil",), hydro: ("hydro",), atomics: ("atomics",),
           barriers: ("barriers",), starts: ("start",), collectives: ("collectives", "byranks"),
           links: ("links", "machine"), dense: ("dense",), ft_scaling: ("strong", "weak"),
           ft_breakdown: ("weak",), ft_collective: ("strong", "weak")}


def specs(results):
    """All figures that have enough results; each other one is named on stderr. order: place of a
    figure among all, so that it does not depend on those that are missing."""
    out = []
    for i, (make, needs) in enumerate(FIGURES.items()):
        missing = [name for name in needs if not results.get(name)]
        if missing:
            print(f"simulate: no figure {make.__name__}: needs --only {' '.join(missing)}",
                  file=sys.stderr)
            continue
        try:
            out += [{"order": 10 * i + j, **spec} for j, spec in enumerate(make(results))]
        except (LookupError, ValueError, TypeError, ArithmeticError) as error:
            print(f"simulate: no figure {make.__name__} of {', '.join(needs)}: "
                  f"{type(error).__name__} {error}", file=sys.stderr)
    return out
