#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# nightly: yes
# timeout: 240
"""The page of `tombolo view` in a headless Chromium: errors, keys, looks, a million events.

Usage: view_page.py [--write]. With --write the coarse pictures of tests/data/view_page.json are
renewed: look at the page before.
"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import browser  # noqa: E402
import traces  # noqa: E402

LOOKS = ROOT / "tests" / "data" / "view_page.json"
GRID = 16, 12
OFF_MAX = 24  # of 255, mean over the grid; fonts differ from machine to machine
EVENTS_MANY = 1000000
OPEN_MAX_S = 30  # a loaded machine; on an idle one it takes about a second


def check(what, got, want):
    """Ends the test when two values differ."""
    if got != want:
        sys.exit(f"view_page: {what}: {got!r}, should be {want!r}")


def coarse(png):
    """Mean colours of a picture in a grid: [[r, g, b], ...], by rows."""
    width, height = struct.unpack(">II", png[16:24])
    channels = {2: 3, 6: 4}[png[25]]
    data, at = b"", 8
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + size]
        at += size + 12
    rows = unfilter(zlib.decompress(data), width * channels, height, channels)
    cells = []
    for row in range(GRID[1]):
        ys = range(row * height // GRID[1], (row + 1) * height // GRID[1], 3)
        for column in range(GRID[0]):
            xs = range(column * width // GRID[0], (column + 1) * width // GRID[0], 3)
            cells.append([round(sum(rows[y][x * channels + c] for y in ys for x in xs) /
                                (len(ys) * len(xs))) for c in range(3)])
    return cells


def unfilter(data, stride, height, step):
    """Rows of a PNG's pixels: the filters of its specification, section 9, undone."""
    rows, above = [], bytearray(stride)
    for y in range(height):
        kind = data[y * (stride + 1)]
        row = bytearray(data[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride if kind else 0):
            left = row[i - step] if i >= step else 0
            corner = above[i - step] if i >= step else 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = above[i]
            elif kind == 3:
                guess = (left + above[i]) // 2
            else:
                base = left + above[i] - corner
                guess = min((left, above[i], corner), key=lambda value: abs(base - value))
            row[i] = (row[i] + guess) & 255
        rows.append(row)
        above = row
    return rows


def view(*arguments):
    """Runs `tombolo view`."""
    done = subprocess.run([os.environ["TOMBOLO"], "view", *arguments], capture_output=True,
                          text=True, check=False)
    check("exit code of tombolo view " + " ".join(arguments) + done.stderr, done.returncode, 0)


def clean(page):
    """Nothing went wrong in the page, and it has asked for nothing but itself."""
    check("errors", page.errors, [])
    check("requests that are no files", [r for r in page.requests if not r.startswith("file:")], [])


def keys(page):
    """Every part can be reached and used by keys alone."""
    reached, visible = set(), True
    for _ in range(80):
        page.key("Tab")
        reached.add(page.run("document.activeElement.id"))
        visible = visible and page.run(
            "document.activeElement === document.body ||"
            " getComputedStyle(document.activeElement).outlineStyle !== 'none'")
    for name in ("zoom-in", "search", "overview", "timeline-canvas", "matrix", "show-path"):
        check(f"{name} is reached by Tab", name in reached, True)
    check("what has the focus can be seen", visible, True)
    page.run("timeline.focus()")
    page.key("ArrowRight")
    first = page.run("view.selected")
    page.key("ArrowRight")
    check("ArrowRight selects the next event", page.run("view.selected"), first + 1)
    check("what is selected is said", page.run("detail.textContent.startsWith('rank 0')"), True)
    page.key("ArrowDown")
    check("ArrowDown goes to rank 1", page.run("rankOf(view.selected)"), 1)
    page.key("Home")
    check("the first event of rank 1", page.run("nameOf(ev.name[view.selected])"), "wait: signal")
    check("why it waits",
          page.run("detail.textContent.includes(\"It waits for rank 0's put\")"), True)
    page.key("f")
    check("f goes to the sender", page.run("rankOf(view.selected)"), 0)
    page.key("+")
    check("+ zooms", page.run("Math.round(spanUnits / (view.to - view.from))"), 2)
    place = page.run("placeText()")
    selected = page.run("view.selected")
    page.key("0")
    page.run("select(-1)")
    page.run(f"history.replaceState(null, '', '{place}'); goToPlace()")
    check("a link keeps the zoom", page.run("placeText()"), place)
    check("and the selection", page.run("view.selected"), selected)
    page.key("0")
    page.key("/")
    page.type("barrier")
    check("matches of a search", page.run("matches.value"), "16 matches")
    page.key("Enter")
    check("Enter goes to a match", page.run("nameOf(ev.name[view.selected])"), "barrier")
    page.run("document.getElementById('matrix').focus()")
    page.key("ArrowRight")
    check("a cell of the matrix is said",
          page.run("document.getElementById('matrix-note').textContent.startsWith('rank 0 to "
                   "rank 1: 40 operations')"), True)
    page.run("document.querySelector('#wait-table th button').click()")
    check("a table is sorted", page.run(
        "document.querySelector('#wait-table th').getAttribute('aria-sort')"), "descending")
    page.run("window.scrollTo(0, 0)")
    page.run("select(-1)")
    page.run("search('')")
    page.run("document.activeElement.blur()")


def looks(page, known):
    """The page looks as it did, coarsely, in each of its forms. Returns how it looks."""
    found = {}
    for name, scheme, width in (("light", "light", 1280), ("dark", "dark", 1280),
                                ("narrow", "light", 420)):
        page.colours(scheme)
        page.resize(width, 1000)
        found[name] = coarse(page.picture())
        check(f"{name}: nothing is wider than the page",
              page.run("document.documentElement.scrollWidth <= window.innerWidth"), True)
        if known is None:
            continue
        off = [abs(a - b) for x, y in zip(found[name], known[name]) for a, b in zip(x, y)]
        mean = sum(off) / len(off)
        print(f"view_page: {name}: {mean:.1f} of 255 off the known picture")
        if mean > OFF_MAX:
            sys.exit(f"view_page: {name} looks otherwise; look at it, then run this with --write")
    clean(page)
    return found


def many(folder):
    """A million events open."""
    path = os.path.join(folder, "many.json")
    events = traces.write(path, 16, EVENTS_MANY // 47, hosts=4)
    view(path)
    with browser.Browser() as page:
        took = page.open(os.path.join(folder, "many.html"))
        print(f"view_page: {events} events open in {took:.2f} s, the page is ready after "
              f"{page.run('document.body.dataset.ready')} ms")
        check("the page is ready", page.run("Number(document.body.dataset.ready) > 0"), True)
        check("events", page.run("ev.start.length"), events)
        check("it opens in time", took < OPEN_MAX_S, True)
        drawn = page.run("(() => { const t = performance.now(); for (let i = 0; i < 5; i++)"
                         " drawNow(); return (performance.now() - t) / 5; })()")
        print(f"view_page: drawing all of it takes {drawn:.1f} ms")
        page.run("document.getElementById('fold').click()")
        check("hosts are folded", page.run("rows.length"), 4)
        page.frame()
        clean(page)


def main():
    if not browser.find():
        print("view_page: skipped: no Chromium (package chromium)")
        sys.exit(77)
    known = None if "--write" in sys.argv else json.loads(LOOKS.read_text())
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "few.json")
        traces.write(path, 4, 40)
        view(path)
        with browser.Browser() as page:
            page.open(os.path.join(folder, "few.html"))
            clean(page)
            keys(page)
            found = looks(page, known)
        if known is None:
            LOOKS.write_text(json.dumps(found) + "\n")
        many(folder)


if __name__ == "__main__":
    main()
