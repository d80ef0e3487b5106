# SPDX-License-Identifier: BSD-3-Clause
"""Drawings of bench/study.py: bars and curves as SVG text, without any library.

Invariants: a side has the same colour in every drawing of a report; a curve's axes are logarithmic
(a fraction's vertical one is linear), its band goes from the least to the most of all samples.
"""
import html
import math

COLOURS = ("#2a6f97", "#d1495b", "#edae49", "#66a182", "#8d6a9f", "#4d4d4d")
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 420, 250, 56, 24, 34
KEY = 150  # right of the curves


def number(value):
    """A short form of a value, as 12, 0.034, 4.2k."""
    for limit, mark in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.3g}{mark}"
    return f"{value:.3g}"


def bars(sides):
    """One bar a side on a common scale; sides: {side: (value, unit, least, most)}."""
    top = max(value for value, *_ in sides.values()) or 1
    out = []
    for i, (side, (value, unit, *_)) in enumerate(sides.items()):
        colour = COLOURS[0] if side.startswith("tombolo") else "#b0b0b0"
        out.append(f'<text x="0" y="{i * 16 + 11}">{html.escape(side)}</text>'
                   f'<rect x="150" y="{i * 16 + 2}" width="{240 * value / top:.1f}" height="11" '
                   f'fill="{colour}"/><text x="395" y="{i * 16 + 11}">{value:.4g} {unit}</text>')
    return f'<svg width="490" height="{16 * len(sides)}" font-size="11">{"".join(out)}</svg>'


class Scale:
    """Maps values to pixels, by their logarithm or as they are."""

    def __init__(self, values, first, last, logarithmic):
        self.log = logarithmic
        low, high = min(values), max(values)
        if logarithmic:
            low, high = math.floor(math.log10(low)), math.ceil(math.log10(high) + 1e-9)
        else:
            low, high = min(low, 0), max(high, 1)
        self.low, self.high, self.first, self.last = low, max(high, low + 1e-9), first, last

    def at(self, value):
        x = math.log10(value) if self.log else value
        return self.first + (x - self.low) / (self.high - self.low) * (self.last - self.first)

    def ticks(self):
        if not self.log:
            return [self.low + i * (self.high - self.low) / 4 for i in range(5)]
        step = max(1, round((self.high - self.low) / 5))
        return [10.0 ** e for e in range(int(self.low), int(self.high) + 1, step)]


def axes(title, xs, x_name, horizontal, vertical):
    bottom, right = HEIGHT - BOTTOM, WIDTH
    out = [f'<text x="{LEFT}" y="14" font-weight="bold">{html.escape(title)}</text>',
           f'<text x="{(LEFT + right) / 2:.0f}" y="{HEIGHT - 4}" text-anchor="middle">{x_name}'
           '</text>', f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}" '
           'fill="none" stroke="#999"/>']
    for x in xs:
        out.append(f'<text x="{horizontal.at(x):.1f}" y="{bottom + 13}" text-anchor="middle">'
                   f"{number(x)}</text>")
    for y in vertical.ticks():
        at = vertical.at(y)
        out.append(f'<line x1="{LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}" stroke="#eee"/>'
                   f'<text x="{LEFT - 4}" y="{at + 4:.1f}" text-anchor="end">{number(y)}</text>')
    return out


def curve(points, colour, horizontal, vertical):
    """points: [(x, median, least, most)]"""
    def path(column):
        return " ".join(f"{horizontal.at(p[0]):.1f},{vertical.at(p[column]):.1f}" for p in points)
    band = path(2) + " " + " ".join(reversed(path(3).split()))
    dots = "".join(f'<circle cx="{horizontal.at(p[0]):.1f}" cy="{vertical.at(p[1]):.1f}" r="2.5" '
                   f'fill="{colour}"/>' for p in points)
    return (f'<polygon points="{band}" fill="{colour}" fill-opacity="0.12"/><polyline '
            f'points="{path(1)}" fill="none" stroke="{colour}" stroke-width="1.6"/>{dots}')


def curves(title, x_name, series, fraction=False):
    """A drawing of {name: [(x, median, least, most)]}; fraction: values from 0 to 1."""
    floor = 0 if fraction else 1e-4
    series = {name: sorted((x, *(max(v, floor) for v in values)) for x, *values in points)
              for name, points in series.items() if points}
    if not series:
        return ""
    xs = sorted({p[0] for points in series.values() for p in points})
    # The band may leave the drawing: one late sample should not flatten all curves.
    medians = [p[1] for points in series.values() for p in points]
    horizontal = Scale([xs[0], xs[-1] if len(xs) > 1 else xs[0] * 2], LEFT + 12, WIDTH - 12, True)
    horizontal.low, horizontal.high = math.log10(xs[0]), math.log10(xs[-1]) + 1e-9
    vertical = Scale(medians, HEIGHT - BOTTOM, TOP, not fraction)
    out = axes(title, xs, x_name, horizontal, vertical)
    clip = f"clip{abs(hash((title, x_name))) % 10 ** 8}"
    out.append(f'<clipPath id="{clip}"><rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT}" '
               f'height="{HEIGHT - BOTTOM - TOP}"/></clipPath><g clip-path="url(#{clip})">')
    names = list(series)
    out += [curve(series[name], COLOURS[i % len(COLOURS)], horizontal, vertical)
            for i, name in enumerate(names)]
    out.append("</g>")
    for i, name in enumerate(names):
        y = TOP + 10 + 16 * i
        out.append(f'<rect x="{WIDTH + 10}" y="{y - 8}" width="12" height="8" '
                   f'fill="{COLOURS[i % len(COLOURS)]}"/><text x="{WIDTH + 26}" y="{y}">'
                   f"{html.escape(name)}</text>")
    return (f'<svg width="{WIDTH + KEY}" height="{HEIGHT}" font-size="11">{"".join(out)}</svg>')
