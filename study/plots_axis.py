# SPDX-License-Identifier: BSD-3-Clause
"""An axis of a drawing: its label, scale and ticks, and numbers as short texts.

Used by plots.py, which draws what is on it, and by whoever writes a number into a sentence. Knows
nothing of panels. Invariant: a tick has a label that has room.
"""
import dataclasses
import math


@dataclasses.dataclass
class Axis:
    """label and unit are printed; log None: by the values; scale: "number" or "bytes"; ticks: where
    they are (default: by the values); low, high: ends (default: by the values)."""
    label: str
    unit: str = ""
    log: bool | None = None
    scale: str = "number"
    ticks: tuple = ()
    low: float | None = None
    high: float | None = None

    def text(self):
        return f"{self.label} ({self.unit})" if self.unit else self.label


def number(value):
    """A short form of a value, as 12, 0.034, 16384, 4.2M."""
    if value == int(value) and abs(value) < 1e5:
        return f"{value:.0f}"
    for limit, mark in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            return f"{value / limit * (10 if mark == 'k' else 1):.3g}{mark}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def digits(value):
    """A value with three digits, also where the last is 0, as 1.90, 19.0, 282, 2825, 23.3k."""
    for limit, unit, mark in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if abs(value) >= limit:
            return digits(value / unit) + mark
    return f"{value:#.3g}".rstrip(".") if abs(value) < 999.5 else f"{value:.0f}"


def size(value):
    """Bytes by powers of two, as 64, 4 Ki, 1 Mi."""
    for limit, mark in ((1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")):
        if value >= limit:
            return f"{value / limit:.3g} {mark}"
    return f"{value:.3g}"


def power(value):
    """A tick of a logarithmic axis, as 0.1, 1000, 10k, 100k, 1M."""
    for least, unit, mark in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if value >= least:
            return f"{value / unit:g}{mark}"
    return f"{value:g}"


def wants_log(values, over=15):
    return bool(values) and min(values) > 0 and max(values) / min(values) > over


def round_ticks(low, high, most=7):
    """1, 2, 5, 10, or 1, 3, 10, or powers of ten: the first of these that has at most `most` ticks;
    more in a range so short that it would have fewer than three."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))

    def among(parts, step=1):
        start = math.floor(first / step) * step
        every = [float(f"{m}e{e}") for e in range(start, last + 1, step) for m in parts]
        return [t for t in every if low * 0.999 <= t <= high * 1.001]

    for parts in ((1, 2, 5), (1, 3), (1,)):
        ticks = among(parts)
        if len(ticks) <= most:
            return ticks if len(ticks) > 2 else among((1, 1.5, 2, 3, 4, 6, 8))
    return among((1,), max(2, round((last - first) / 6)))


def thin(ticks, most):
    """At most `most` of them, the first always, evenly."""
    step = math.ceil(len(ticks) / most)
    return ticks[::step]


def spaced(ticks, low, high):
    """Those of a logarithmic axis whose labels have room: an eighth of the axis for each."""
    kept = []
    for tick in ticks:
        if not kept or math.log(tick / kept[-1]) > 0.12 * math.log(high / low):
            kept.append(tick)
    return kept


def set_axis(ax, which, axis, values, most=0):
    """Scale, limits and ticks of one axis; values: all that are drawn, with ends of bands; most:
    ticks, 0: as many as a panel of usual size has room for."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator
    values = [v for v in values if v is not None and math.isfinite(v)]
    log = wants_log(values, 3.9 if which == "x" else 15) if axis.log is None else axis.log
    line = ax.xaxis if which == "x" else ax.yaxis
    limits = ax.set_xlim if which == "x" else ax.set_ylim
    (ax.set_xlabel if which == "x" else ax.set_ylabel)(axis.text())
    if not values:
        return
    low, high = min(values), max(values)
    most = most or (8 if which == "x" else 7)
    if log:
        low, high = min(v for v in values if v > 0), max(high, 1e-12)
        (ax.set_xscale if which == "x" else ax.set_yscale)("log")
        room = max(high / low, 1.5) ** 0.06
        low, high = axis.low or low / room, axis.high or high * room
        if which == "x":
            ticks = list(axis.ticks) or thin(sorted(set(values)), most)
            ticks = spaced(ticks, low, high) if axis.scale == "bytes" else ticks
        else:
            ticks = list(axis.ticks) or round_ticks(low, high, most)
            if len(ticks) < 2:
                ticks = [float(f"{v:.2g}") for v in (min(values), max(values))]
        write = size if axis.scale == "bytes" else power if which == "y" else number
        line.set_major_locator(FixedLocator(ticks))
        line.set_major_formatter(FixedFormatter([write(t) for t in ticks]))
        line.set_minor_locator(NullLocator())
    else:
        room = 0.06 * (high - low or abs(high) or 1)
        least = 0 if low >= 0 and which == "y" else low - room
        low, high = (least if axis.low is None else axis.low), (axis.high or high + room)
        if axis.ticks:
            line.set_major_locator(FixedLocator(axis.ticks))
            line.set_major_formatter(FixedFormatter([number(t) for t in axis.ticks]))
    limits(low, high)
