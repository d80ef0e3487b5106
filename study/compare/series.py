# SPDX-License-Identifier: BSD-3-Clause
"""What ops.py and forms.py share: runs of programs that print "NAME BYTES MEDIAN LEAST MOST", in
rounds that alternate between the sides; for each figure the median over the rounds, and the least
and most of any sample."""
import re
import statistics
import subprocess

ROW = re.compile(r"^([a-z_]+) (\d+) ([\d.]+) ([\d.]+) ([\d.]+)$", re.M)


def run(side, command, budget, environment=None):
    """Runs one side once. Returns its rows {(name, bytes): (median, least, most)}, also if it timed
    out."""
    text, _ = budget.run(side, command, environment, errors=subprocess.DEVNULL)
    return {(m[1], int(m[2])): tuple(float(x) for x in m.groups()[2:])
            for m in ROW.finditer(text)}


def merge(all_rows, side, rows):
    """Adds the rows of one run to {key: {side: [samples]}}."""
    for key, values in rows.items():
        all_rows.setdefault(key, {}).setdefault(side, []).append(values)


def records(all_rows, sides):
    """[{name, bytes, sides: {side: [median, least, most]}, rounds: {side: [median of a round]}}]"""
    out = []
    for (name, size), by_side in all_rows.items():
        values = {side: [statistics.median(v[0] for v in by_side[side]),
                         min(v[1] for v in by_side[side]), max(v[2] for v in by_side[side])]
                  for side in sides if side in by_side}
        out.append({"name": name, "bytes": size, "sides": values,
                    "rounds": {side: [v[0] for v in by_side[side]] for side in values}})
    return out


def show(rows, sides):
    """Prints a table: medians, a column a side."""
    width = max((len(r["name"]) for r in rows), default=0) + 1
    each = max(18, *(len(s) + 2 for s in sides))
    print(" " * width + f"{'bytes':>8}" + "".join(f"{s:>{each}}" for s in sides))
    for r in rows:
        cells = "".join(f"{r['sides'][s][0]:>{each}.3f}" if s in r["sides"] else f"{'-':>{each}}"
                        for s in sides)
        print(f"{r['name']:<{width}}{r['bytes']:>8}{cells}", flush=True)
