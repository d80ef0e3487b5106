# SPDX-License-Identifier: BSD-3-Clause
"""What the figures of the study are made with: Figure, Shown, medians and words for sentences.

Used by figures.py and figures_*.py. Knows the JSON of scaling.py and series.py, and Axis and
panels of plots.py. Invariant: nothing here depends on which figures there are; words are true for
any value that they are given.
"""
import dataclasses
import re
import statistics

import plots
import plots_axis
from plots import Axis


RANKS = Axis("ranks")
BYTES = Axis("size", "bytes", scale="bytes")
OUR_WAYS = ("barrier", "pairwise", "flag", "signal", "semaphore", "tagged")


@dataclasses.dataclass
class Shown:
    panels: list
    says: str
    heads: list = dataclasses.field(default_factory=list)  # of the table
    rows: list = dataclasses.field(default_factory=list)
    columns: int | None = None  # panels in a row; None: one alone, else two


@dataclasses.dataclass
class Figure:
    name: str
    title: str
    parts: tuple
    about: str  # what is shown
    show: object  # function({part: JSON}) -> Shown or None
    spread: str = "line: median of the runs; band: least to most of them"
    repeat: str = ""  # the command; empty: study/study.py PART...


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
    """{label: points} of rows "NAME BYTES MEDIAN LEAST MOST". sides: {label: (side, name of the
    row)}; row: prefix of all names."""
    series = {}
    for called, (side, name) in sides.items():
        points = [(r["bytes"], *of_rounds(r, side, scale)) for r in data["records"]
                  if r["name"] == row + name and side in r["sides"]]
        if points:
            series[called] = sorted(points)
    return series


def bytes_text(size):
    return f"{size} B" if size < 1024 else f"{plots_axis.size(size)}B"


def link_name(count):
    return f"{count} link{'' if count == 1 else 's'}"


def at(series, line, x):
    return next((p[1] for p in series.get(line, ()) if p[0] == x), None)


def last_x(series):
    return max((p[0] for points in series.values() for p in points), default=None)


def processors(data):
    """Processors of the machine that a part ran on, or None."""
    found = re.search(r"(\d+) processors", data.get("study", {}).get("machine", ""))
    return int(found[1]) if found else None


def headline(panel):
    """The x of a sentence: the most ranks that have a processor each, else the last."""
    xs = {p[0] for points in panel.series.values() for p in points}
    return max((x for x in xs if panel.crowded and 1 < x <= panel.crowded),
               default=last_x(panel.series))


def fastest(series, x, among):
    """(line, value) of the least value at x, or None."""
    found = [(at(series, line, x), line) for line in among if at(series, line, x) is not None]
    return min(found)[::-1] if found else None


def times(ratio):
    """A ratio of times in words, as "3.2 times as long as" or "80 % of the time of"."""
    if 0.95 <= ratio <= 1.05:
        return "as long as"
    return f"{plots.number(ratio)} times as long as" if ratio > 1 else \
        f"{plots.number(100 * ratio)} % of the time of"


class Said(str):
    """A sentence that keeps its parts: begin, and items, one for each panel."""
    begin, items = "", ()


def sentence(begin, said):
    """Joins the items of all panels into one sentence."""
    text = f"{begin}{'; '.join(said)}." if said else "Nothing here can be compared in this run."
    out = Said(text)
    out.begin, out.items = begin.strip(" ,:"), tuple(said)
    return out


def in_order(series, names):
    """Those lines first, in this order, then all others."""
    return {n: series[n] for n in [*(n for n in names if n in series),
                                   *(n for n in series if n not in names)]}


def ranks(count):
    return f"{count} rank{'' if count == 1 else 's'}"


def is_mpi(line):
    return line.startswith(("Open MPI", "MPICH"))
