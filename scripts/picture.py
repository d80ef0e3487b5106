#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the pictures of docs/pictures: NAME.txt becomes NAME.svg.

Usage: picture.py [--write] [FOLDER]
Without --write the script only compares, and exits 1 when a picture is not what its text says. The
lines of the text are described at its top. Colours follow the reader's light or dark scheme.
"""

import argparse
import html
import math
import sys
from pathlib import Path

STYLE = """
.back { fill: #ffffff }
.frame { stroke: #57606a; stroke-width: 1.2 }
.edge, .tip { stroke: #57606a }
.edge { stroke-width: 1.4 }
.tip { fill: #57606a }
text { fill: #1f2328; text-anchor: middle }
.title { font: bold 15px sans-serif }
.line { font: 13px sans-serif }
.label { font: italic 12px sans-serif; text-anchor: start }
.centre { font: italic 12px sans-serif }
.cell { font: 12px sans-serif }
.dashed { stroke-dasharray: 4 4 }
.client { fill: #eef1f4 }
.public { fill: #d8e8fb }
.core { fill: #dcefdc }
.edge-box { fill: #fdebd0 }
.base { fill: #e8e2f2 }
@media (prefers-color-scheme: dark) {
.back { fill: #0d1117 }
.frame { stroke: #9198a1 }
.edge, .tip { stroke: #9198a1 }
.tip { fill: #9198a1 }
text { fill: #f0f6fc }
.client { fill: #262c36 }
.public { fill: #14304f }
.core { fill: #173620 }
.edge-box { fill: #47310f }
.base { fill: #2e2640 }
}
"""
TIP = 7  # pixels: length of an arrow's head


def draw_text(style, x, y, text):
    return f'<text class="{style}" x="{x:g}" y="{y:g}">{html.escape(text)}</text>'


class Box:
    """A rectangle with a title and lines below it."""

    def __init__(self, words, texts):
        self.x, self.y, self.width, self.height = (int(word) for word in words[1:5])
        self.kind = "edge-box" if words[5] == "edge" else words[5]
        self.texts = texts

    def draw(self):
        middle = self.x + self.width / 2
        yield (
            f'<rect class="frame {self.kind}" x="{self.x}" y="{self.y}" width="{self.width}" '
            f'height="{self.height}" rx="5"/>'
        )
        y = self.y + self.height / 2 + 6 - 9 * (len(self.texts) - 1)
        for i, text in enumerate(self.texts):
            yield draw_text("line" if i else "title", middle, y + 19 * i, text)


def draw_arrow(first, second, x, label):
    """From the lower edge of `first` down to the upper edge of `second`."""
    left = max(first.x, second.x)
    right = min(first.x + first.width, second.x + second.width)
    x = (left + right) / 2 if x is None else x
    top, end = first.y + first.height, second.y
    yield f'<path class="edge" d="M{x:g} {top}V{end - TIP}"/>'
    yield f'<path class="tip" d="M{x:g} {end}l-4 -{TIP}h8z"/>'
    if label:
        yield draw_text("label", x + 8, (top + end) / 2 + 3, label)


def draw_flow(first, second, y):
    """From the right edge of `first` to the left edge of `second`."""
    start, end = first.x + first.width, second.x
    yield f'<path class="edge" d="M{start} {y}H{end - TIP}"/>'
    yield f'<path class="tip" d="M{end} {y}l-{TIP} -4v8z"/>'


def draw_cells(numbers, kind, texts):
    """A row of equal boxes from the place in `numbers`, each of that width and height."""
    x, y, width, height = numbers
    for i, text in enumerate(texts):
        left = x + i * width
        yield (
            f'<rect class="frame {"edge-box" if kind == "edge" else kind}" x="{left}" y="{y}" '
            f'width="{width}" height="{height}"/>'
        )
        yield draw_text("cell", left + width / 2, y + height / 2 + 4, text)


def draw_line(numbers, options, text):
    """Between two points; `options` are those of the line `line` (see the top of a text)."""
    x1, y1, x2, y2 = numbers
    length = math.hypot(x2 - x1, y2 - y1)
    along = ((x2 - x1) / length, (y2 - y1) / length)
    end = (x2, y2)
    if "arrow" in options:
        end = (x2 - TIP * along[0], y2 - TIP * along[1])
    style = "edge dashed" if "dashed" in options else "edge"
    yield f'<path class="{style}" d="M{x1:g} {y1:g}L{end[0]:g} {end[1]:g}"/>'
    if "arrow" in options:
        left = (end[0] - 4 * along[1], end[1] + 4 * along[0])
        right = (end[0] + 4 * along[1], end[1] - 4 * along[0])
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in ((x2, y2), left, right))
        yield f'<polygon class="tip" points="{points}"/>'
    if text:
        beside = abs(along[1]) > 0.9  # a steep line has its text on the right, others above
        above = 8 + 3.5 * len(text) * abs(along[1] / along[0]) if not beside else -4
        x, y = (x1 + x2) / 2 + (8 if beside else 0), (y1 + y2) / 2 - above
        yield draw_text("label" if beside else "centre", x, y, text)


def draw_free(words, texts):
    """What does not refer to a box: cells, line, text."""
    numbers = [int(word) for word in words[1:] if word.lstrip("-").isdigit()]
    if words[0] == "cells":
        return draw_cells(numbers, words[5], texts)
    if words[0] == "line":
        return draw_line(numbers, words[5:], texts[0] if texts else "")
    return [draw_text(words[3], *numbers, texts[0])]


def shapes_of(text):
    """The size of a picture and the shapes in it."""
    size, boxes, shapes = (0, 0), {}, []
    for line in text.split("\n"):
        words, *texts = (part.strip() for part in line.partition("#")[0].split("|"))
        words = words.split()
        if not words:
            continue
        if words[0] == "size":
            size = (int(words[1]), int(words[2]))
        elif words[0] == "box":
            boxes[words[1]] = Box(words[1:], texts)
            shapes += boxes[words[1]].draw()
        elif words[0] == "arrow":
            x = float(words[3]) if len(words) > 3 else None
            shapes += draw_arrow(boxes[words[1]], boxes[words[2]], x, texts[0])
        elif words[0] == "flow":
            shapes += draw_flow(boxes[words[1]], boxes[words[2]], int(words[3]))
        elif words[0] in ("cells", "line", "text"):
            shapes += draw_free(words, texts)
        else:
            raise SystemExit(f"{words[0]}: expected size, box, arrow, flow, cells, line or text")
    return size, shapes


def style_of(scheme):
    """The style sheet: of the reader's scheme, or always of `light` or `dark`."""
    light, dark = STYLE.split("@media (prefers-color-scheme: dark) {\n")
    if not scheme:
        return STYLE
    dark = dark.rpartition("}")[0] if scheme == "dark" else ""
    return light + dark + ".back { fill: none }\n"


def draw(text, scheme=None):
    """The SVG of one picture's text; with a scheme it has no background and only its colours."""
    (width, height), shapes = shapes_of(text)
    view = f'viewBox="0 0 {width} {height}" width="{width}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {view}>'
    back = f'<rect class="back" width="{width}" height="{height}"/>'
    return "\n".join([head, f"<style>{style_of(scheme)}</style>", back, *shapes, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the pictures that differ")
    default = Path(__file__).resolve().parent.parent / "docs/pictures"
    parser.add_argument("folder", nargs="?", type=Path, default=default)
    options = parser.parse_args()
    sources = sorted(options.folder.glob("*.txt"))
    differ = 0
    for source in sources:
        target = source.with_suffix(".svg")
        drawn = draw(source.read_text(encoding="utf-8"))
        if target.is_file() and target.read_text(encoding="utf-8") == drawn:
            continue
        differ += 1
        if options.write:
            target.write_text(drawn, encoding="utf-8")
        else:
            print(f"{target} is not what {source.name} says: scripts/picture.py --write")
    print(f"picture: {len(sources)} pictures, {differ} {'written' if options.write else 'differ'}")
    return 1 if not sources or (differ and not options.write) else 0


if __name__ == "__main__":
    sys.exit(main())
