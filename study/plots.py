# SPDX-License-Identifier: BSD-3-Clause
"""Every drawing of the study and of the simulator, on Matplotlib. Knows nothing of what is drawn.

    svg = plots.draw("Barrier", plots.Lines(plots.Axis("ranks"), plots.Axis("time", "us"),
                     {"signal": [(1, 0.2), (2, 0.5, 0.4, 0.9)], "MPI": [(1, 0.3), (2, 0.8)]}))

A drawing is a title, panels (Lines, Bars, Stacked, Lanes) and one legend for all of them:
  Lines    curves: series {name: [(x, y) or (x, median, least, most)]}; the band is least to most.
           published {name: [(x, y)]}: stars, "NAME, published", in the colour of line NAME.
           bounds {name: [(x, y)]}: thin dotted lines without markers: limits, computed bounds.
           ratio Ratio(label, base): a panel below; base / line, or line / base where inverse.
  Bars     groups {group: {name: value or (median, least, most)}}: horizontal, whiskers for spread.
  Stacked  bars {bar: {part: value}}: parts of a whole, horizontal, the sum at the end of the bar;
           spread {bar: (median, least, most)}: below it, and the median instead of the sum.
  Lanes    lanes {lane: [(begin, end, kind)]}, arrows [(begin, lane, end, lane)]: who works when.
Axis(label, unit): logarithmic where the values ask for it (or log=True/False); scale "bytes"
writes powers of two. A name has one look in a drawing: colour, dash and marker (hatch for bars),
also in grey. Names of peers (PEERS) are grey and dashed. `figure` and `problems` are for tests:
texts that overlap or leave the drawing, axes without label. Invariant: the same
arguments and the same Matplotlib give the same bytes. Without Matplotlib `missing()` says why, draw
raises.
"""
import dataclasses
import io
import math
import re
import sys
import textwrap

from plots_axis import Axis, digits, number, round_ticks, set_axis, wants_log

WIDTH = 8.6  # inches: 826 pixels of a browser, the width of a page of text
TITLE, LEGEND_ROW, LEFT, RIGHT, BELOW = 0.42, 0.21, 0.78, 0.18, 0.55
HEIGHT, RATIO_HEIGHT, BAR = 2.75, 1.0, 0.19
RATIO_LABEL = 16  # characters of a line of it: a panel's height
TEXT, SMALL = 9.5, 8.5  # points
PAPER, INK, FAINT = "#fcfcfa", "#1c1c1c", "#d9d9d6"
# Colours for the colour-blind, too (Okabe and Ito), in an order that differs in grey.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8a6d00", "#7a3b9a", "#b02030")
GREYS = ("#000000", "#6e6e6e", "#9a9a9a", "#444444")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
DASHES = ("-", (0, (6, 2)), (0, (3, 1.5, 1, 1.5)), (0, (1.2, 1.2)), (0, (9, 2, 2, 2)))
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "----", "oo")
PEERS = ("MPI", "Open MPI", "MPICH", "OpenCoarrays", "ScaLAPACK", "FFTW", "memcpy", "TCP",
         "libfabric", "raw socket", "raw UDP", "two-sided")
DEBIAN = "/usr/lib/python3/dist-packages"  # Matplotlib of Debian, for another Python of its version
SETTINGS = {
    "svg.hashsalt": "tombolo", "svg.fonttype": "none", "font.family": "DejaVu Sans",
    "font.size": TEXT, "axes.titlesize": TEXT, "axes.labelsize": TEXT, "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL, "legend.fontsize": SMALL, "axes.edgecolor": "#555555",
    "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
    "axes.facecolor": PAPER, "figure.facecolor": PAPER, "savefig.facecolor": PAPER,
    "axes.grid": True, "grid.color": FAINT, "grid.linewidth": 0.6, "axes.axisbelow": True,
    "lines.linewidth": 1.5, "lines.markersize": 4.5, "hatch.linewidth": 0.5,
    "axes.spines.top": False, "axes.spines.right": False,
}


@dataclasses.dataclass
class Ratio:
    label: str
    base: str
    inverse: bool = False
    among: tuple = ()  # names; empty: all but the base


@dataclasses.dataclass
class Lines:
    x: Axis
    y: Axis
    series: dict
    title: str = ""
    published: dict = dataclasses.field(default_factory=dict)
    bounds: dict = dataclasses.field(default_factory=dict)
    ratio: Ratio | None = None
    crowded: int | None = None  # processors: from there on there are more ranks

    def names(self):
        return list(self.series)

    def height(self):
        return HEIGHT + (RATIO_HEIGHT + 0.12 if self.ratio else 0)


@dataclasses.dataclass
class Bars:
    x: Axis
    groups: dict
    title: str = ""
    mark: float | None = None  # a line through all bars

    def names(self):
        return list(dict.fromkeys(name for group in self.groups.values() for name in group))

    def height(self):
        bars = sum(len(group) for group in self.groups.values()) + 0.7 * len(self.groups)
        return max(0.9, BAR * bars + 0.2)


@dataclasses.dataclass
class Stacked:
    x: Axis
    bars: dict
    title: str = ""
    spread: dict = dataclasses.field(default_factory=dict)

    def names(self):
        return list(dict.fromkeys(part for bar in self.bars.values() for part in bar))

    def height(self):
        return max(0.9, 0.38 * len(self.bars) + 0.2)


@dataclasses.dataclass
class Lanes:
    x: Axis
    lanes: dict
    arrows: tuple = ()
    title: str = ""

    def names(self):
        return list(dict.fromkeys(kind for lane in self.lanes.values() for *_, kind in lane))

    def height(self):
        return max(0.9, 0.42 * len(self.lanes) + 0.2)


def load():
    """Returns Matplotlib, also that of Debian where another Python of its version runs."""
    try:
        import matplotlib
    except ImportError:
        if DEBIAN in sys.path:
            raise
        sys.path.append(DEBIAN)
        import matplotlib
    matplotlib.use("Agg")
    return matplotlib


def missing():
    """Why nothing can be drawn; None where it can."""
    try:
        load()
    except ImportError as error:
        return f"no Matplotlib ({error}): install the Debian package python3-matplotlib"
    return None


# ---- colours and markers of names
@dataclasses.dataclass
class Look:
    colour: str
    dash: object
    marker: str
    hatch: str
    filled: bool = True


def is_peer(name):
    return name.startswith(PEERS)


def marks(look):
    """Arguments of a curve in this look."""
    return {"color": look.colour, "linestyle": look.dash, "marker": look.marker,
            "markeredgecolor": PAPER if look.filled else look.colour,
            "markeredgewidth": 0.4 if look.filled else 1.0,
            "markersize": 7.5 if look.marker == "*" else SETTINGS["lines.markersize"],
            "markerfacecolor": look.colour if look.filled else PAPER}


def beside(names):
    """The names in their order, but "NAME, VARIANT" behind NAME and its other variants, so that a
    legend has them together."""
    out = []
    for name in names:
        base = name.rpartition(", ")[0]
        of_base = [i for i, n in enumerate(out) if n == base or n.rpartition(", ")[0] == base]
        out.insert(of_base[-1] + 1 if base in out else len(out), name)
    return out


def looks(names):
    """{name: Look}: ours in colours, peers in greys; no two alike. "NAME, VARIANT" beside NAME has
    its colour, another dash, and a hollow marker."""
    out, ours, peers = {}, 0, 0
    for name in names:
        base = out.get(name.rpartition(", ")[0])
        if base:
            dash = DASHES[(DASHES.index(base.dash) + 2) % 5]
            out[name] = Look(base.colour, dash, base.marker, "//" + base.hatch, False)
        elif is_peer(name):
            out[name] = Look(GREYS[peers % 4], DASHES[(1 + peers) % 5], MARKERS[(5 + peers) % 10],
                             HATCHES[(1 + peers) % 8])
            peers += 1
        else:
            out[name] = Look(COLOURS[ours % 8], DASHES[ours % 5], MARKERS[ours % 10],
                             HATCHES[ours % 8])
            ours += 1
    return out


# ---- panels
def whole(point):
    """(x, median, least, most) of a point that may have no spread."""
    return tuple(point) if len(point) == 4 else (point[0], point[1], point[1], point[1])


def draw_band(ax, points, look):
    xs, _, least, most = zip(*points)
    if least != most:
        ax.fill_between(xs, least, most, color=look.colour, alpha=0.13, linewidth=0)


def draw_crowded(ax, processors, xs):
    """Shades the part of the axis where ranks share processors."""
    beyond = [x for x in xs if x > processors]
    within = [x for x in xs if x <= processors]
    if not beyond or not within:
        return
    low, high = ax.get_xlim()
    ax.axvspan((max(within) * min(beyond)) ** 0.5, high, color=INK, alpha=0.06, linewidth=0,
               zorder=0)
    ax.set_xlim(low, high)


def draw_lines(ax, below, panel, by_name):
    series = {n: sorted(map(whole, p)) for n, p in panel.series.items() if p}
    for name, points in series.items():
        look = by_name[name]
        draw_band(ax, points, look)
        ax.plot([p[0] for p in points], [p[1] for p in points], **marks(look))
    for name, points in panel.bounds.items():
        ax.plot(*zip(*sorted(points)), color=bound_colour(panel, name), linewidth=1.1,
                linestyle=bound_dash(panel, name))
    for name, points in panel.published.items():
        look = by_name.get(name)
        ax.plot(*zip(*points), linestyle="none", marker="*", markersize=11, markerfacecolor=PAPER,
                markeredgecolor=look.colour if look else INK, markeredgewidth=1.2)
    others = [p for many in (panel.bounds, panel.published) for line in many.values() for p in line]
    xs = [p[0] for line in series.values() for p in line] + [p[0] for p in others]
    ys = [y for line in series.values() for p in line for y in p[1:]] + [p[1] for p in others]
    set_axis(ax, "y", panel.y, ys)
    few = tuple(sorted(set(xs)))  # a short range: ticks where the points are
    x = panel.x if panel.x.ticks or len(few) > 6 else dataclasses.replace(panel.x, ticks=few)
    set_axis(ax, "x", x, xs)
    if panel.crowded:
        draw_crowded(ax, panel.crowded, few)
    if below is not None:
        draw_ratio(below, panel, series, by_name)
        set_axis(below, "x", x, xs)
        ax.set_xlabel("")
        ax.tick_params(labelbottom=False)
        ax.set_label("above")


def draw_ratio(ax, panel, series, by_name):
    ratio, values = panel.ratio, [1.0]
    base = {p[0]: p[1] for p in series.get(ratio.base, ())}
    for name in ratio.among or [n for n in series if n != ratio.base]:
        points = [(x, y / base[x] if ratio.inverse else base[x] / y)
                  for x, y, *_ in series.get(name, ()) if x in base and y and base[x]]
        if points:
            values += [y for _, y in points]
            ax.plot(*zip(*points), **marks(by_name[name]))
    ax.axhline(1, color=INK, linewidth=0.8)
    label = textwrap.fill(ratio.label, RATIO_LABEL)
    set_axis(ax, "y", Axis(label, log=wants_log(values)), values, 4)
    if not wants_log(values):
        from matplotlib.ticker import MaxNLocator
        room = max(0.08, 0.08 * (max(values) - min(values)))  # whole markers
        ax.set_ylim(min(values) - room, max(values) + room)
        ax.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))


def bound_colour(panel, name):
    return ("#333333", "#888888")[list(panel.bounds).index(name) % 2]


def bound_dash(panel, name):
    return ((0, (1, 2)), (0, (4, 1.5, 1, 1.5)), (0, (2, 3)))[list(panel.bounds).index(name) % 3]


def triple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value, value, value)


def horizontal(ax, places, names, axis, values):
    """Draws the axes of a panel of bars: names at the left, the first on top."""
    ax.set_yticks(places, names)
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.tick_params(axis="y", length=0)
    log = wants_log(values) if axis.log is None else axis.log
    set_axis(ax, "x", dataclasses.replace(axis, log=log), values, 6)
    if not log:
        ax.set_xlim(0, (axis.high or max(values)) * 1.13)
    else:
        from matplotlib.ticker import FixedFormatter, FixedLocator
        low, high = min(v for v in values if v > 0) / 2, max(values) * 1.1
        ticks = round_ticks(low, high, 6)
        ax.xaxis.set_major_locator(FixedLocator(ticks))
        ax.xaxis.set_major_formatter(FixedFormatter([number(t) for t in ticks]))
        ax.set_xlim(low, high * (high / low) ** 0.14)


def draw_bars(ax, panel, by_name):
    at, places, values = 0.0, [], []
    labels = []
    for group in panel.groups.values():
        first = at
        for name, value in group.items():
            median, least, most = triple(value)
            look = by_name[name]
            ax.barh(at, median, height=0.86, color=look.colour, hatch=look.hatch,
                    edgecolor=PAPER, linewidth=0)
            if least != most:
                ax.plot((least, most), (at, at), color=INK, linewidth=1.1, marker="|",
                        markersize=5)
            values += [median, most]
            labels.append((max(median, most), at, digits(median)))
            at += 1
        places.append((first + at - 1) / 2)
        at += 0.7
    horizontal(ax, places, list(panel.groups), panel.x, values or [1])
    if panel.mark is not None:
        ax.axvline(panel.mark, color=INK, linewidth=1, linestyle=(0, (4, 2)))
    ax.set_ylim(at - 0.7, -0.9)  # as much room above the first bar as below the last, at any number
    # Paper below a number hides the line that it would lie on.
    paper = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.6}
    for x, y, text in labels:
        ax.annotate(text, (min(x, ax.get_xlim()[1]), y), (4, 0), textcoords="offset points",
                    va="center", fontsize=SMALL - 0.5, zorder=3,
                    bbox=paper if panel.mark is not None else None)


def draw_stacked(ax, panel, by_name):
    ends = []  # (where the number stands, what it is)
    for at, (bar, parts) in enumerate(panel.bars.items()):
        left = 0.0
        for part, value in parts.items():
            look = by_name[part]
            ax.barh(at, value, left=left, height=0.66, color=look.colour, hatch=look.hatch,
                    edgecolor=PAPER, linewidth=0.5)
            left += value
        median, least, most = panel.spread.get(bar, (left, left, left))
        if bar in panel.spread:
            ax.plot((least, most), (at + 0.43, at + 0.43), color=INK, linewidth=0.9, marker="|",
                    markersize=4)
            ax.plot(median, at + 0.43, color=INK, marker="o", markersize=3.5)
        ends.append((max(left, most), median))
    horizontal(ax, range(len(ends)), list(panel.bars), dataclasses.replace(panel.x, log=False),
               [x for x, _ in ends] or [1])
    for at, (x, value) in enumerate(ends):
        ax.annotate(digits(value), (x, at), (4, 0), textcoords="offset points", va="center",
                    fontsize=SMALL)


def draw_lanes(ax, panel, by_name):
    row = {lane: at for at, lane in enumerate(panel.lanes)}
    ends = [0.0]
    for lane, spans in panel.lanes.items():
        for begin, end, kind in spans:
            look = by_name[kind]
            ax.barh(row[lane], end - begin, left=begin, height=0.6, color=look.colour,
                    hatch=look.hatch, edgecolor=PAPER, linewidth=0.3)
            ends.append(end)
    for begin, source, end, target in panel.arrows:
        ax.annotate("", (end, row[target]), (begin, row[source]), arrowprops={
            "arrowstyle": "->", "color": INK, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 0})
    horizontal(ax, range(len(row)), list(row), dataclasses.replace(panel.x, log=False), ends)
    ax.set_xlim(0, max(ends) * 1.02)


# ---- the drawing
def handles(panels, by_name):
    """The entries of the legend: every name once, then bounds and published points."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    curves = {n for p in panels if isinstance(p, Lines) for n in p.names()}
    out = {}
    for name, look in by_name.items():
        out[name] = Line2D([], [], **marks(look)) if name in curves else \
            Patch(facecolor=look.colour, hatch=look.hatch, edgecolor=PAPER, linewidth=0)
    for panel in panels:
        if not isinstance(panel, Lines):
            continue
        for name in panel.bounds:
            out.setdefault(name, Line2D([], [], color=bound_colour(panel, name), linewidth=1.1,
                                        linestyle=bound_dash(panel, name)))
        for name in panel.published:
            look = by_name.get(name)
            out.setdefault(f"{name}, published", Line2D(
                [], [], linestyle="none", marker="*", markersize=10, markerfacecolor=PAPER,
                markeredgecolor=look.colour if look else INK, markeredgewidth=1.2))
    return out


def has_bands(panels):
    return any(len(point) == 4 and point[2] != point[3] for panel in panels
               if isinstance(panel, Lines) for line in panel.series.values() for point in line)


def has_whiskers(panels):
    return any(triple(value)[1] != triple(value)[2] for panel in panels if isinstance(panel, Bars)
               for group in panel.groups.values() for value in group.values())


def band_note(panels):
    """The explanation of bands and whiskers; empty without any."""
    if any(isinstance(panel, Stacked) and panel.spread for panel in panels):
        return "bar: one run; dot and number: median of the runs; line below: least to most"
    marks_of = [("line", "band")] * has_bands(panels) + [("bar", "whisker")] * has_whiskers(panels)
    middles, ends = (", ".join(words) for words in zip(*marks_of)) if marks_of else ("", "")
    return f"{middles}: median; {ends}: least to most" if marks_of else ""


def spread_note(panels):
    """The explanation of lines, bands and the shaded part."""
    shaded = any(getattr(p, "crowded", None) and max(
        (x for line in p.series.values() for x, *_ in line), default=0) > p.crowded for p in panels)
    notes = [band_note(panels), "shaded: more ranks than processors" if shaded else ""]
    return "; ".join(note for note in notes if note)


def left_of(panel):
    """Inches that the names at the left of a panel need."""
    if isinstance(panel, Lines):
        return LEFT
    names = list(panel.groups if isinstance(panel, Bars) else
                 panel.bars if isinstance(panel, Stacked) else panel.lanes)
    longest = max((len(line) for name in names for line in name.split("\n")), default=0)
    return 0.2 + 0.077 * longest


def add_axes(figure, panel, box, inches):
    """box: (left, bottom, width, height) of the panel's inside in inches; inches: of the whole."""
    left, bottom, width, height = box
    scaled = [left / WIDTH, bottom / inches, width / WIDTH, height / inches]
    if not (isinstance(panel, Lines) and panel.ratio):
        return figure.add_axes(scaled), None
    low = RATIO_HEIGHT / inches
    upper = figure.add_axes([scaled[0], scaled[1] + low + 0.12 / inches, scaled[2],
                             scaled[3] - low - 0.12 / inches])
    return upper, figure.add_axes([scaled[0], scaled[1], scaled[2], low])


def draw_panel(figure, panel, box, inches, by_name):
    ax, below = add_axes(figure, panel, box, inches)
    if isinstance(panel, Lines):
        draw_lines(ax, below, panel, by_name)
    else:
        {Bars: draw_bars, Stacked: draw_stacked, Lanes: draw_lanes}[type(panel)](ax, panel, by_name)
    if panel.title:
        ax.set_title(panel.title, loc="left")


def figure(title, *panels, columns=None):
    """The drawing as a figure of Matplotlib; panels row by row, `columns` in a row (default: one
    alone, else two)."""
    matplotlib = load()
    from matplotlib.figure import Figure
    columns = columns or min(2, len(panels))
    rows = [panels[i:i + columns] for i in range(0, len(panels), columns)]
    by_name = looks(beside(dict.fromkeys(n for panel in panels for n in panel.names())))
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **SETTINGS, "backend": "Agg"}):
        shown = handles(panels, by_name)
        longest = max(map(len, shown), default=1)
        across = max(1, min(len(shown), int((WIDTH - 0.3) / (0.075 * longest + 0.62))))
        legend = LEGEND_ROW * math.ceil(len(shown) / across) + 0.12 if len(shown) > 1 else 0.05
        note = spread_note(panels)
        legend += 0.2 if note else 0
        heads = [0.3 if any(p.title for p in row) else 0.08 for row in rows]
        heights = [max(p.height() for p in row) for row in rows]
        inches = TITLE + legend + sum(heights) + sum(heads) + BELOW * len(rows)
        out = Figure(figsize=(WIDTH, inches))
        out.text(0.12 / WIDTH, 1 - 0.27 / inches, title, fontsize=TEXT + 2, fontweight="bold")
        top = inches - TITLE
        for row, head, height in zip(rows, heads, heights):
            each = WIDTH / columns
            for i, panel in enumerate(row):
                left = left_of(panel)
                width = (each if len(row) > 1 or len(panels) > 1 else WIDTH) - left - RIGHT
                draw_panel(out, panel, (i * each + left, top - head - height, width, height),
                           inches, by_name)
            top -= head + height + BELOW
        if len(shown) > 1:
            out.legend(list(shown.values()), list(shown), loc="lower center", ncol=across,
                       bbox_to_anchor=(0.5, (0.22 if note else 0.02) / inches),
                       frameon=False, handlelength=3.2, columnspacing=1.4, borderpad=0.1,
                       labelspacing=0.4)
        if note:
            out.text(0.5, 0.09 / inches, note, ha="center", fontsize=SMALL - 0.5, color="#555555")
    return out


def draw(title, *panels, columns=None):
    """The drawing as SVG text; equal arguments give equal bytes."""
    matplotlib = load()
    drawn = figure(title, *panels, columns=columns)
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **SETTINGS, "backend": "Agg"}):
        out = io.StringIO()
        drawn.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = re.sub(r"<metadata>.*?</metadata>", "", out.getvalue(), flags=re.S)
    text = re.sub(r"^.*?(?=<svg)", "", text, flags=re.S)
    title = title.replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"(<svg[^>]*>)", rf"\1\n <title>{title}</title>", text, count=1)


# ---- for tests
def hidden_ticks(drawn):
    """Texts of ticks that lie outside their axis and are not drawn."""
    found = set()
    for ax in drawn.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            room = 1e-9 * (high - low)
            for tick in axis.get_major_ticks() + axis.get_minor_ticks():
                if not low - room <= tick.get_loc() <= high + room:
                    found |= {tick.label1, tick.label2}
    return found


def problems(drawn):
    """Texts that overlap or are cut off; empty is good. drawn: a result of `figure`."""
    load()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text
    canvas = FigureCanvasAgg(drawn)
    canvas.draw()
    renderer, found, boxes = canvas.get_renderer(), [], []
    frame, hidden = drawn.bbox, hidden_ticks(drawn)
    for item in drawn.findobj(Text):
        if not item.get_text().strip() or not item.get_visible() or item in hidden:
            continue
        box = item.get_window_extent(renderer)
        if box.width == 0:
            continue
        outside = box.x0 < -1 or box.y0 < -1 or box.x1 > frame.x1 + 1 or box.y1 > frame.y1 + 1
        if outside:
            found.append(f"outside the drawing: {item.get_text()!r}")
        boxes.append((item.get_text(), box))
    for i, (text, box) in enumerate(boxes):
        found += [f"overlap: {text!r} and {other!r}" for other, b in boxes[i + 1:]
                  if box.x0 < b.x1 and b.x0 < box.x1 and box.y0 < b.y1 and b.y0 < box.y1]
    for ax in drawn.axes:
        if not ax.get_xlabel() and ax.get_label() != "above":
            found.append(f"no label of x: {ax.get_title(loc='left')!r}")
        if not ax.get_ylabel() and not ax.yaxis_inverted():
            found.append(f"no label of y: {ax.get_title(loc='left')!r}")
    return found
