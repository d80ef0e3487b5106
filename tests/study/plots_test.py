#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Drawings of study/plots.py: texts can be read, equal data give equal bytes, looks differ.

Each kind of panel is drawn, and it is shown that `problems` finds what it is meant to find."""

import sys
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "study"))
import plots  # noqa: E402
import plots_axis  # noqa: E402
from plots import Axis, Bars, Lanes, Lines, Ratio, Stacked  # noqa: E402

NAMES = ("barrier", "pairwise", "flag", "signal", "semaphore", "tagged", "MPI two-sided",
         "MPI one-sided", "MPICH")


def curve(k):
    return [(n, k / n, 0.9 * k / n, 1.2 * k / n) for n in (1, 2, 4, 8)]


def drawings():
    lines = Lines(Axis("ranks"), Axis("time", "ms"), {n: curve(9 - i) for i, n in enumerate(NAMES)},
                  "400 x 400", ratio=Ratio("of barrier", "barrier"))
    sizes = Lines(Axis("size", "bytes", scale="bytes"), Axis("rate", "GB/s"),
                  {n: [(8 ** i, 8 ** i / (100 + 8 ** i)) for i in range(8)] for n in NAMES},
                  "smp", bounds={"limit": [(1, 2), (8 ** 7, 2)]}, published={"signal": [(512, 1)]})
    yield "two panels", [lines, sizes]
    yield "bars", [Bars(Axis("rate", "GFlop/s"), {g: {n: (i + 1, i, i + 2) for i, n in
                                                     enumerate(NAMES)} for g in ("2000", "4000")})]
    yield "parts", [Stacked(Axis("time", "s"), {n: {"compute": 1.0, "wait": 0.5, "send": 0.1}
                                                for n in NAMES})]
    yield "lanes", [Lanes(Axis("time", "us"), {f"rank {r}": [(r, r + 2, "compute"),
                                                             (r + 2, r + 3, "wait")]
                                               for r in range(4)}, ((1, "rank 0", 2, "rank 1"),))]


def check(title, panels):
    problems = plots.problems(plots.figure(title, *panels))
    assert not problems, (title, problems)
    text = plots.draw(title, *panels)
    assert text == plots.draw(title, *panels), f"{title}: two drawings of the same data differ"
    assert "<metadata" not in text and "<dc:date" not in text, "it has the date"
    xml.etree.ElementTree.fromstring(text)
    for panel in panels:
        for name in panel.names():
            assert f">{name}</text>" in text, f"{title}: no {name} in the legend"
        for axis in (panel.x, getattr(panel, "y", panel.x)):
            assert f">{axis.text()}</text>" in text, f"{title}: no {axis.text()}"


def check_finds():
    """`problems` sees texts that overlap, texts outside and an axis without label."""
    bars = Bars(Axis("rate", "GFlop/s"), {"a" * 10: {"one": 1}})
    drawn = plots.figure("x", bars)
    drawn.text(0.02, 0.5, "over the name at the left, and long")
    drawn.text(0.95, 0.1, "far too long for this place")
    found = " ".join(plots.problems(drawn))
    assert "overlap" in found and "outside" in found, found
    marked = plots.figure("x", Bars(Axis("ratio", low=0), {"pipeline": {"one": 0.9}}, mark=1))
    assert [t for t in marked.axes[0].texts if t.get_bbox_patch()], "a line crosses the number"
    drawn = plots.figure("x", Lines(Axis("ranks"), Axis(""), {"one": [(1, 1), (2, 3)]}))
    assert any("no label of y" in p for p in plots.problems(drawn))


def check_scales():
    """A logarithmic axis has three ticks or more, however short; values keep their last digit."""
    for low, high in ((24, 110), (45, 6000), (0.002, 400), (280, 770), (1, 1e12), (0.3, 0.9)):
        for most in (4, 7):
            ticks = plots_axis.round_ticks(low, high, most)
            assert len(ticks) >= 3 and ticks == sorted(set(ticks)), (low, high, ticks)
            assert low * 0.999 <= ticks[0] and ticks[-1] <= high * 1.001, (low, high, ticks)
            assert len(ticks) <= 7, (low, high, ticks)
    assert plots_axis.round_ticks(1, 100) == [1, 2, 5, 10, 20, 50, 100]
    assert [plots_axis.digits(v) for v in (1.9, 19, 0.11, 282, 999.7, 2825, 12000, 0)] == [
        "1.90", "19.0", "0.110", "282", "1000", "2825", "12.0k", "0.00"]


def check_room():
    """Whiskers are explained; bars fill their panel; a panel of ratios shows whole markers."""
    many = {f"group {i}": {"one": (2, 1, 3), "two": 4} for i in range(20)}
    drawn = plots.figure("bars", Bars(Axis("rate", "MB/s"), many))
    assert any("bar: median; whisker: least to most" in t.get_text() for t in drawn.texts)
    bottom, top = drawn.axes[0].get_ylim()
    bars = [patch.get_y() for patch in drawn.axes[0].patches]
    assert min(bars) - top < 1 and bottom - max(bars) < 2, (bottom, top, min(bars), max(bars))
    drawn = plots.figure("ratio", Lines(Axis("ranks"), Axis("time", "ms", log=True), {
        "a": [(1, 1), (2, 1)], "b": [(1, 14), (2, 5)]}, ratio=Ratio("over a", "a", inverse=True)))
    assert drawn.axes[1].get_ylim()[1] > 14.5, "the highest marker is cut"
    assert not plots.problems(drawn)
    for log in (True, False):
        drawn = plots.figure("band", Lines(Axis("ranks"), Axis("time", "ms", log=log), {
            "a": [(1, 1, 0.5, 1), (2, 1, 1, 9)]}))
        low, high = drawn.axes[0].get_ylim()
        assert low <= 0.5 and high >= 9, ("a band is cut", log, low, high)


def main():
    reason = plots.missing()
    if reason:
        print(f"skipped: {reason}")
        return 77
    assert plots.beside(["put", "get", "put, blocking", "get, late", "put, late"]) == [
        "put", "put, blocking", "put, late", "get", "get, late"], "variants stand beside their name"
    assert plots.beside(["put, blocking", "get"]) == ["put, blocking", "get"]
    looks = plots.looks(NAMES + tuple(f"way {i}" for i in range(4)))
    assert len({(v.colour, str(v.dash), v.marker) for v in looks.values()}) == len(looks)
    assert len({(str(v.dash), v.marker) for v in looks.values()}) == len(looks), "alike in grey"
    peers = plots.looks(["Open MPI two-sided", "Open MPI one-sided", "MPICH two-sided", "memcpy",
                         "TCP", "FFTW"])
    assert len({(v.colour, str(v.dash)) for v in peers.values()}) == len(peers), "alike but markers"
    for title, panels in drawings():
        check(title, panels)
    check_finds()
    check_scales()
    check_room()
    assert [plots_axis.size(v) for v in (1, 4096, 1 << 22)] == ["1", "4 Ki", "4 Mi"]
    assert [plots.number(v) for v in (0.034, 12, 4096, 16384, 2e9)] == ["0.034", "12", "4096",
                                                                       "16384", "2G"]
    assert [plots_axis.power(v) for v in (0.1, 1000, 1e4, 2e5, 1e6)] == [
        "0.1", "1000", "10k", "200k", "1M"]
    print("plots: every drawing can be read and is the same each time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
