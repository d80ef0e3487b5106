# SPDX-License-Identifier: BSD-3-Clause
"""The figures of single operations: what each shows of the JSON of its parts, and the sentence
beside it: latency, depth, bandwidth, several links, overlap, and the ways of UPC.

Named in the table of figures.py, which has what is said of each; made with figure_kit.py. A
function gets {part: JSON} and returns Shown, or None where the parts have nothing of it. Invariant:
sentences are computed from these data.
"""
import plots
import plots_axis
from figure_kit import (BYTES, Shown, at, by_bytes, fastest, is_mpi, last_x, link_name, middle,
                        sentence, times)
from plots import Axis, Lines

NEAR = {"put, blocking": ("tombolo", "put_blocking"), "put, non-blocking": ("tombolo", "put_nb"),
        "put, implicit": ("tombolo", "put"), "get, blocking": ("tombolo", "get_blocking"),
        "put with signal": ("tombolo", "signal"), "message": ("tombolo", "message"),
        "Open MPI two-sided": ("openmpi", "message"), "Open MPI one-sided": ("openmpi", "put"),
        "MPICH two-sided": ("mpich", "message"), "memcpy": ("memcpy", "put"),
        "TCP": ("tcp", "message"), "libfabric": ("libfabric", "message")}
PLACES = {"ops": "smp: shared memory", "opsfar": "udp: loopback", "opsofi": "ofi: tcp, loopback",
          "opsmpi": "mpi: over MPICH in shared memory", "opshosts": "two hosts: udp, 1 Gbit/s"}


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
        put, notified = (at(panel.series, n, small) for n in ("put, blocking", "put with signal"))
        peer = fastest(panel.series, small, filter(is_mpi, panel.series))
        if put and notified:
            text = f"{panel.title.split(':')[0]}: put {plots.number(put)} us, put with signal " \
                   f"{plots.number(notified)} us"
            text += f", {peer[0]} {plots.number(peer[1])} us" if peer else ""
            said.append(text)
    return Shown(panels, sentence(f"At {small} B, ", said))


def depth(parts):
    panels = ops_figure("depth", Axis("time per operation, 8 B", "us", log=True),
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
        ticks = tuple(n * data["rate"] / 1e6 for n in sorted(limits))
        panels.append(Lines(BYTES, Axis("bandwidth", "MB/s", log=True, ticks=ticks), series, panel,
                            bounds=bounds))
        most = max(limits)
        x = last_x(series)
        one, all_links = (at(series, link_name(n), x) for n in (min(limits), most))
        if one and all_links:
            said.append(f"{panel} of {plots_axis.size(x)}B: {plots.number(one)} MB/s over one, "
                        f"{plots.number(all_links)} MB/s over {most}")
    return Shown(panels, sentence("", said)) if panels else None


HIDES = ({"put": "put", "get": "get", "put with signal": "signal"},
         {"broadcast": "broadcast", "all-reduce": "allreduce", "all-to-all": "exchange"})
HIDDEN_IN = {"smp": "smp: shared memory", "udp": "udp: loopback", "ofi": "ofi: tcp, loopback"}


def hidden_panel(data, place, kinds):
    """One place, operations or collectives: ours with the conduit's thread, and Open MPI's."""
    chosen = {"records": [r for r in data["records"] if r["place"] == place]}
    lines = {}
    for called, name in kinds.items():
        lines[called] = ("thread", f"{name}_overlap")
    peers = {f"Open MPI {c}": ("openmpi", f"{n}_overlap") for c, n in kinds.items()} \
        if "broadcast" in kinds else {"Open MPI two-sided": ("openmpi", "message_overlap"),
                                      "Open MPI one-sided": ("openmpi", "put_overlap")}
    series = by_bytes(chosen, "", {**lines, **peers})
    title = HIDDEN_IN.get(place) or f"two hosts, {place}".replace("1gbit", "1 Gbit/s")
    title += ", collectives" if "broadcast" in kinds else ""
    axis = Axis("share of the time hidden", log=False, low=0, high=1.03)
    return Lines(BYTES, axis, series, title) if series else None


def overlap(parts):
    panels, said = [], []
    for data in parts.values():
        for place in dict.fromkeys(r["place"] for r in data["records"]):
            some = [p for p in (hidden_panel(data, place, kinds) for kinds in HIDES) if p]
            panels += some
            x = last_x(some[0].series) if some else None
            bare = by_bytes({"records": [r for r in data["records"] if r["place"] == place]}, "",
                            {"put": ("no thread", "put_overlap")})
            on, off = at(some[0].series if some else {}, "put", x), at(bare, "put", x)
            if on is not None:
                text = f"{some[0].title.split(':')[0]} {100 * on:.0f} %"
                said.append(text + (f" ({100 * off:.0f} % without the conduit's thread)"
                                    if off is not None else ""))
    if not panels:
        return None
    return Shown(panels, sentence(
        f"Of a put of {plots_axis.size(x)}B a computation as long hides: ", said))


def upc(parts):
    data = parts["upc"]
    lines = {"memput + strict flag": ("upc", "strict"), "memput + fence + flag": ("upc", "fence"),
             "semaphore": ("upc", "semaphore"), "memput_signal": ("upc", "signal"),
             "Open MPI two-sided": ("openmpi", "message"), "MPICH two-sided": ("mpich", "message")}
    panels, said = [], []
    for panel in dict.fromkeys(r.get("place", "") for r in data["records"]):
        chosen = {"records": [r for r in data["records"] if r.get("place", "") == panel]}
        series = by_bytes(chosen, "", {c: (s, f"{n}_latency") for c, (s, n) in lines.items()})
        ours = {p[0] for n, points in series.items() if not is_mpi(n) for p in points}
        if not ours:
            continue
        series = {n: [p for p in points if min(ours) <= p[0] <= max(ours)]
                  for n, points in series.items()}
        axis = Axis("data and notification, one way", "us", log=True)
        panels.append(Lines(BYTES, axis, series, panel))
        small = min((p[0] for p in series.get("memput_signal", ())), default=8)
        strict, signal = (at(series, n, small) for n in ("memput + strict flag", "memput_signal"))
        if strict and signal:
            said.append(f"{panel}: memput and strict flag take {times(strict / signal)} "
                        f"memput_signal ({plots.number(signal)} us)")
    return Shown(panels, sentence(f"At {small} B, ", said)) if panels else None
