# SPDX-License-Identifier: BSD-3-Clause
"""The JSON of study/data: of each point at most five values; a line for each record.

Used by whatever keeps results: figures.py, sim_figures.py, targets.py, compare/cells.py and
compare/sim_real.py, and by report.py, which says how many runs the points have. The raw JSON of a
run stays in the run's folder. Invariants: the least, the median and the most of what is kept of a
point are those of all its runs; a point of fewer than five values has as many runs; packing twice
changes nothing.
"""
import collections
import json
import statistics

RUNS = ("values", "rounds", "samples", "seconds", "us", "least", "stolen", "figures")
POINTS = ("values", "rounds", "seconds", "us")  # names of lists whose numbers a drawing shows
ENOUGH = 5  # runs of a point
MOST = 100  # characters of an entry that stays in one line


def five(values):
    """Least, quartiles and most of more than five numbers; fewer stay as they are."""
    if len(values) <= ENOUGH or not all(isinstance(v, (int, float)) for v in values):
        return [packed(v) for v in values]
    return [min(values), *statistics.quantiles(values, n=4, method="inclusive"), max(values)]


def runs_of_points(value, found=None, point=False):
    """{number of runs: points with that number} of a part; ENOUGH also counts points with more."""
    found = collections.Counter() if found is None else found
    if isinstance(value, dict):
        for key, member in value.items():
            runs_of_points(member, found, point or key in POINTS)
    elif isinstance(value, list) and point:
        if value and all(isinstance(v, (int, float)) for v in value):
            found[min(len(value), ENOUGH)] += 1
    elif isinstance(value, list):
        for member in value:
            runs_of_points(member, found)
    return found


def packed(value, runs=False):
    """A copy of JSON data, each list of runs reduced to five numbers; runs: `value` is one."""
    if isinstance(value, dict):
        return {k: packed(v, runs or k in RUNS) for k, v in value.items()}
    if isinstance(value, list):
        return five(value) if runs else [packed(v) for v in value]
    return value


def line(value):
    return json.dumps(value, separators=(",", ":"))


def lines(value):
    """An entry: in one line, or with a line for each of its members."""
    if not value or not isinstance(value, (dict, list)) or len(line(value)) <= MOST:
        return line(value)
    if isinstance(value, dict):
        return "{\n" + ",\n".join(f"  {line(k)}: {line(v)}" for k, v in value.items()) + "}"
    return "[\n" + ",\n".join(f"  {line(v)}" for v in value) + "]"


def keep(path, data, whole=False):
    """Writes data. whole: every run, not five numbers of each list."""
    data = data if whole else packed(data)
    path.write_text("{\n" + ",\n".join(f"{line(k)}: {lines(v)}" for k, v in data.items()) + "\n}\n")
