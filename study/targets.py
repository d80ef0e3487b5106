#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The targets of the study: which are met, which are missed and why; a section of study/RESULTS.md.

Takes the rows with a target of each part that a folder of the study has, keeps them as JSON in
study/data/targets.json and writes the section from that alone. A part that the folder lacks
keeps what it had, with its own date. Why a target is missed stands in study/targets_why.json, by
part and pattern of the row; a reason shows only while its row is missed. The rows of `cells` have a
table of their own (study/compare/cells.py). study/figures.py --adopt calls adopt() here.
  study/targets.py [--adopt STUDY] [--check]
"""
import argparse
import json
import re
import sys
from pathlib import Path

import kept as store
import report
import study

ROOT = Path(__file__).resolve().parent.parent
PAGE, KEPT = ROOT / "study" / "RESULTS.md", ROOT / "study" / "data" / "targets.json"
WHY = ROOT / "study" / "targets_why.json"
MARK = ("<!-- study: written by study/figures.py --adopt -->\n", "<!-- end of study -->\n")
CELLS = "cells"
ALONE = re.compile(r", computing alone ([\d.]+)$")
OURS = ("tombolo", "upc")  # how names of our sides begin


def known_parts():
    """{part: (title, function that makes rows)} of the parts that may have targets."""
    options = argparse.Namespace(quick=False, build=ROOT, out=ROOT, hosts=None, ranks="",
                                 rounds=None)
    return {name: (title, rows) for name, (title, _, rows) in study.parts(options).items()}


def taken(data, title, rows):
    """The kept rows of a part: [name, {side: (median, unit, least, most)}, ratio, target, met];
    None without any."""
    found = [[what, sides, ratio and float(f"{ratio:.4g}"), target, met]
             for what, sides, ratio, target, met in rows(data) if met is not None]
    said = data.get("study", {})
    facts = {key: said.get(key) for key in ("date", "revision", "machine", "mode", "load", "cut")}
    return {"title": title, **facts, "rows": found} if found else None


def collect(folder, before):
    """`before`, with the parts of the folder in place of the old ones."""
    kept = dict(before)
    for name, (title, rows) in known_parts().items():
        raw = folder / f"{name}.json"
        if not raw.exists():
            continue
        part = taken(json.loads(raw.read_text()), title, rows)
        if part:
            kept[name] = part
    return {name: kept[name] for name in known_parts() if name in kept}


# ---- the section
def day(part):
    return (part["date"] or "?").split(" ")[0].split("T")[0]


def counts(part):
    met = sum(row[4] for row in part["rows"])
    return met, len(part["rows"]) - met


def why_of(reasons, name, what):
    """Why the row is missed, or "" if nothing is recorded."""
    return next((reason["why"] for reason in reasons
                 if name in reason["parts"] and re.search(reason["what"], what)), "")


def bound_why(row):
    """The sentence about the bound of a row, if its name has one (study.py), or "". The times of
    computing alone and of ours are ratios to the best peer; their quotient is its part of ours."""
    found = ALONE.search(row[0])
    if not found or not row[2]:
        return ""
    alone, ratio = float(found[1]), row[2]
    part = min(1.0, min(alone, ratio) / max(alone, ratio))
    return f"computing alone is {part:.2f} of our time"


def why_text(reasons, name, row):
    """Bound and recorded reason of a row that misses its target."""
    said = [bound_why(row), why_of(reasons, name, row[0]),
            "met in our best round" if at_edge(row) else ""]
    return "; ".join(filter(None, said)) or "not known"


def number(value):
    return "-" if value is None else f"{value:.3g}"


def wanted(row):
    """The target of a row that is missed: the ratio is above an upper limit or below a lower."""
    ratio, target = row[2], row[3]
    if ratio is None or target is None:
        return number(target)
    return f"{'<=' if ratio > target else '>='} {target:.3g}"


def best(sides, ours):
    """(side, value) of the fastest of our sides, or of the others: least time, most of a rate."""
    chosen = {n: v for n, v in sides.items() if n.startswith(OURS) == ours}
    if not chosen:
        return None
    rate = next(iter(chosen.values()))[1].endswith("/s")
    return (max if rate else min)(chosen.items(), key=lambda side: side[1][0])


def at_edge(row):
    """Whether our best round over the median of the other side meets the target; for rows whose
    ratio is that of the two medians."""
    ours, other = (best(row[1], mine) for mine in (True, False))
    if not ours or not other or row[2] is None or row[3] is None or not other[1][0]:
        return False
    (median, _, least, most), beside = ours[1], other[1][0]
    if abs(median / beside - row[2]) > 0.02 * row[2]:
        return False
    return least / beside <= row[3] if row[2] > row[3] else most / beside >= row[3]


def side_text(side):
    return f"{side[0]}: {report.cell(*side[1])}" if side else "-"


def missed_lines(kept, reasons):
    for name, part in kept.items():
        for row in part["rows"]:
            if row[4] or name == CELLS:
                continue
            why = why_text(reasons, name, row)
            yield (f"| `{name}` | {row[0]} | {side_text(best(row[1], True))} | "
                   f"{side_text(best(row[1], False))} | {number(row[2])} | {wanted(row)} | {why} |")


def head(kept):
    """Totals, and the facts that all parts share."""
    total = [sum(c) for c in zip(*(counts(part) for part in kept.values()))] or [0, 0]

    def all_of(key):
        return "; ".join(dict.fromkeys(str(part[key]) for part in kept.values()))

    return [f"`make study`, {'; '.join(dict.fromkeys(map(day, kept.values())))}, revision "
            f"{all_of('revision')}; {all_of('machine')}: **{total[0]} targets met, {total[1]} "
            "missed.**", ""]


def markdown(kept, reasons):
    """The section."""
    lines = head(kept) + ["| part | what | measured | mode | load before | met | missed |",
                          "|---|---|---|---|---|---|---|"]
    for name, part in kept.items():
        met, missed = counts(part)
        cut = f"; {part['cut']}" if part["cut"] else ""
        lines.append(f"| `{name}` | {part['title']} | {day(part)}{cut} | {part['mode']} | "
                     f"{part['load']} | {met} | {missed} |")
    missed = list(missed_lines(kept, reasons))
    if missed:
        lines += ["", "These are missed. The ratio is that of the report: over the floor, or over "
                  "the best peer. Those of `cells` have a table of their own below.", "",
                  "| part | what | ours, median (least..most) | beside it | ratio | wanted | why |",
                  "|---|---|---|---|---|---|---|", *missed]
    return "\n".join(lines) + "\n"


def parts_of(text):
    """The text of the page before, between and after the marks."""
    before, found, rest = text.partition(MARK[0])
    section, ended, after = rest.partition(MARK[1])
    if not found or not ended:
        sys.exit(f"targets: {PAGE} has no lines {MARK[0].strip()} and {MARK[1].strip()}")
    return before, section, after


def load(path, default):
    return json.loads(path.read_text()) if path.exists() else default


def adopt(folder):
    """Copies the targets of a study's folder into the kept JSON and the page."""
    kept = collect(folder, load(KEPT, {}))
    before, _, after = parts_of(PAGE.read_text())
    store.keep(KEPT, kept)
    PAGE.write_text(before + MARK[0] + markdown(kept, load(WHY, [])) + MARK[1] + after)
    print(f"targets: {KEPT}, {PAGE}: {', '.join(kept) or 'nothing'}")


def check():
    """0 if the page is that of the kept JSON."""
    if parts_of(PAGE.read_text())[1] == markdown(load(KEPT, {}), load(WHY, [])):
        return 0
    print(f"targets: the section of {PAGE} is not that of {KEPT} and {WHY}: "
          "run study/targets.py")
    return 1


def main():
    parser = argparse.ArgumentParser(description="Writes the targets of the study into "
                                     "study/RESULTS.md, from what is kept.")
    parser.add_argument("--adopt", type=Path, metavar="STUDY",
                        help="first take the JSON of this study")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit with 1 if the page differs")
    options = parser.parse_args()
    if options.check:
        return check()
    adopt(options.adopt or Path("/nonexistent"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
