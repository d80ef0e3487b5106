# SPDX-License-Identifier: BSD-3-Clause
"""The JSON of study/data: of each point the least, median and most; a line for each record.

Used by whatever keeps results: figures.py, sim_figures.py, targets.py, compare/cells.py and
compare/sim_real.py. The raw JSON of a run stays in the run's folder. Invariants: a drawing needs no
more than three values of a point; the least, the median and the most of these three are those of
all; packing twice changes nothing.
"""
import json
import statistics

RUNS = ("values", "rounds", "samples", "seconds", "us", "least", "stolen", "figures")
MOST = 100  # characters of an entry that stays in one line


def three(values):
    """The least, the median and the most of more than three numbers; fewer stay as they are."""
    if len(values) <= 3 or not all(isinstance(v, (int, float)) for v in values):
        return [packed(v) for v in values]
    return [min(values), statistics.median(values), max(values)]


def packed(value, runs=False):
    """A copy of what JSON holds, with three numbers of each list of runs. runs: within such."""
    if isinstance(value, dict):
        return {k: packed(v, runs or k in RUNS) for k, v in value.items()}
    if isinstance(value, list):
        return three(value) if runs else [packed(v) for v in value]
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
    """Writes data, packed unless all of it is to be kept."""
    data = data if whole else packed(data)
    path.write_text("{\n" + ",\n".join(f"{line(k)}: {lines(v)}" for k, v in data.items()) + "\n}\n")
